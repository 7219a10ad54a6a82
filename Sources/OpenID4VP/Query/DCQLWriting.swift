import Bytes
import JSON

extension DCQLQuery {
  /// `dcql_query` as a verifier sends it.
  package var json: JSONValue {
    .object([
      "credentials": .array(credentials.map(\.json)),
      "credential_sets": sets.isEmpty
        ? nil
        : .array(
          sets.map { set in
            .object([
              "options": .array(set.options.map { .array($0.map(JSONValue.string)) }),
              "required": set.isRequired ? nil : .bool(false),
            ])
          }),
    ])
  }
}

extension DCQLQuery.CredentialQuery {
  fileprivate var json: JSONValue {
    let format: String
    let docType: String?
    switch subject {
    case .mdoc(let type), .unknownAuthorities(let type): (format, docType) = ("mso_mdoc", type)
    case .other(let name): (format, docType) = (name, nil)
    }
    let keys = authorities.map { JSONValue.string(Base64.url.encode($0)) }
    return .object([
      "id": .string(id), "format": .string(format),
      "meta": .object(["doctype_value": docType.map(JSONValue.string)]),
      "claims": claims.isEmpty ? nil : .array(claims.map(\.json)),
      "claim_sets": claimSets.isEmpty ? nil : .array(claimSets.map { .array($0.map(JSONValue.string)) }),
      "trusted_authorities": authorities.isEmpty ? nil : [["type": "aki", "values": .array(keys)]],
      "multiple": allowsMultiple ? .bool(true) : nil,
    ])
  }
}

extension DCQLQuery.ClaimQuery {
  fileprivate var json: JSONValue {
    .object([
      "id": id.map(JSONValue.string), "path": [.string(nameSpace), .string(element)],
      "intent_to_retain": intentToRetain ? .bool(true) : nil,
      "values": values.isEmpty
        ? nil
        : .array(
          values.map { value in
            switch value {
            case .text(let text): .string(text)
            case .integer(let number): .integer(number)
            case .bool(let flag): .bool(flag)
            }
          }),
    ])
  }
}
