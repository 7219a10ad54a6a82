import JSON

/// `presentation_definition` as ISO/IEC 18013-7:2024 Annex B has it: an input descriptor for each document, whose id is the doc
/// type. Nothing of DIF Presentation Exchange beyond that is taken.
package struct PresentationDefinition: Equatable, Sendable {
  package let id: String
  /// The same question as a query; ids of credentials are doc types.
  package let query: DCQLQuery

  package init(reading value: JSONValue) throws(QueryFault) {
    guard value.members != nil else { throw QueryFault("presentation_definition", .wrongKind) }
    guard let id = value["id"]?.string, !id.isEmpty else { throw QueryFault("id", .missing) }
    guard let descriptors = value["input_descriptors"]?.elements else {
      throw QueryFault("input_descriptors", .missing)
    }
    guard !descriptors.isEmpty else { throw QueryFault("input_descriptors", .empty) }
    guard descriptors.count <= DCQLQuery.most else { throw QueryFault("input_descriptors", .tooMany) }
    // A rule for choosing among descriptors cannot be kept by asking for all of them.
    if value["submission_requirements"] != nil { throw QueryFault("submission_requirements", .wrongKind) }
    var docTypes = Set<String>()
    var queries: [DCQLQuery.CredentialQuery] = []
    for (place, descriptor) in descriptors.enumerated() {
      let path = "input_descriptors[\(place)]"
      guard let docType = descriptor["id"]?.string, !docType.isEmpty else { throw QueryFault(path + ".id", .missing) }
      guard docTypes.insert(docType).inserted else { throw QueryFault(path + ".id", .duplicate) }
      if let format = descriptor["format"], format["mso_mdoc"] == nil { throw QueryFault(path + ".format", .wrongKind) }
      guard let fields = descriptor["constraints"]?["fields"]?.elements else {
        throw QueryFault(path + ".constraints.fields", .missing)
      }
      guard fields.count <= DCQLQuery.most else { throw QueryFault(path + ".constraints.fields", .tooMany) }
      var claims: [DCQLQuery.ClaimQuery] = []
      for (place, field) in fields.enumerated() {
        claims.append(try PresentationDefinition.claim(field, at: "\(path).constraints.fields[\(place)]"))
      }
      queries.append(DCQLQuery.CredentialQuery(id: docType, subject: .mdoc(docType: docType), claims: claims))
    }
    self.id = id
    query = DCQLQuery(credentials: queries)
  }

  private static func claim(_ field: JSONValue, at path: String) throws(QueryFault) -> DCQLQuery.ClaimQuery {
    // Annex B has no filters: an answer regardless of one would not be what was asked for.
    if field["filter"] != nil { throw QueryFault(path + ".filter", .wrongKind) }
    guard let member = field["path"] else { throw QueryFault(path + ".path", .missing) }
    guard let paths = member.elements, paths.count == 1, let text = paths[0].string, let parts = split(text) else {
      throw QueryFault(path + ".path", .wrongKind)
    }
    return DCQLQuery.ClaimQuery(
      nameSpace: parts.nameSpace, element: parts.element, intentToRetain: field["intent_to_retain"]?.bool ?? false,
      isOptional: field["optional"]?.bool ?? false)
  }

  /// `$['name space']['element']`, in single or double quotation marks.
  private static func split(_ text: String) -> (nameSpace: String, element: String)? {
    var rest = text.utf8[...]
    guard rest.popFirst() == UInt8(ascii: "$") else { return nil }
    func part() -> String? {
      guard rest.popFirst() == UInt8(ascii: "["), let quote = rest.popFirst(),
        quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\""), let end = rest.firstIndex(of: quote)
      else { return nil }
      let name = String(Substring(rest[..<end]))
      rest = rest[end...].dropFirst()
      guard rest.popFirst() == UInt8(ascii: "]"), !name.isEmpty, !name.contains("\\") else { return nil }
      return name
    }
    guard let nameSpace = part(), let element = part(), rest.isEmpty else { return nil }
    return (nameSpace, element)
  }

  /// The definition as a verifier sends it.
  package static func json(id: String, _ query: DCQLQuery, algorithms: [String] = ["ES256", "ES384", "ES512"])
    -> JSONValue
  {
    let descriptors = query.credentials.map { credential -> JSONValue in
      let fields = credential.claims.map { claim -> JSONValue in
        [
          "path": [.string("$['\(claim.nameSpace)']['\(claim.element)']")],
          "intent_to_retain": .bool(claim.intentToRetain),
        ]
      }
      return [
        "id": .string(credential.docType ?? credential.id),
        "format": ["mso_mdoc": ["alg": .array(algorithms.map(JSONValue.string))]],
        "constraints": ["limit_disclosure": "required", "fields": .array(fields)],
      ]
    }
    return ["id": .string(id), "input_descriptors": .array(descriptors)]
  }
}

extension DCQLQuery.CredentialQuery {
  /// The doc type; nil for other formats.
  package var docType: String? {
    switch subject {
    case .mdoc(let docType), .unknownAuthorities(let docType, _): docType
    case .other: nil
    }
  }
}
