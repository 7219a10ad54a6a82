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
    var trusted: JSONValue?
    switch subject {
    case .mdoc:
      format = "mso_mdoc"
      let keys = authorities.map { JSONValue.string(Base64.url.encode($0)) }
      trusted = keys.isEmpty ? nil : [["type": "aki", "values": .array(keys)]]
    case .unknownAuthorities(_, let type):
      format = "mso_mdoc"
      trusted = [["type": .string(type), "values": ["-"]]]
    case .other(let name): format = name
    }
    return .object([
      "id": .string(id), "format": .string(format),
      "meta": .object(["doctype_value": docType.map(JSONValue.string)]),
      "claims": claims.isEmpty ? nil : .array(claims.map(\.json)),
      "claim_sets": claimSets.isEmpty ? nil : .array(claimSets.map { .array($0.map(JSONValue.string)) }),
      "trusted_authorities": trusted,
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
