import Bytes
import JSON

extension DCQLQuery {
  /// Most members of each list in a query.
  static let most = 100

  /// Reads `dcql_query`. Members that nobody knows are passed over (section 6); those of earlier drafts are named.
  package init(reading value: JSONValue) throws(QueryFault) {
    guard value.members != nil else { throw QueryFault("dcql_query", .wrongKind) }
    let credentials = try list(value, "credentials", at: "")
    var ids = Set<String>()
    self.credentials = try eachIndexed(credentials, "credentials") { element, path throws(QueryFault) in
      let query = try CredentialQuery(reading: element, at: path)
      guard ids.insert(query.id).inserted else { throw QueryFault(path + ".id", .duplicate) }
      return query
    }
    guard value["credential_sets"] != nil else {
      sets = []
      return
    }
    sets = try eachIndexed(try list(value, "credential_sets", at: ""), "credential_sets") {
      element, path throws(QueryFault) in
      let options = try eachIndexed(try list(element, "options", at: path), path + ".options") {
        option, path throws(QueryFault) in
        try readIDs(option, known: ids, at: path)
      }
      return CredentialSet(options: options, isRequired: try flag(element, "required", at: path) ?? true)
    }
  }
}

extension DCQLQuery.CredentialQuery {
  fileprivate init(reading value: JSONValue, at path: String) throws(QueryFault) {
    guard value.members != nil else { throw QueryFault(path, .wrongKind) }
    let id = try readID(value, at: path)
    let format = try text(value, "format", at: path)
    let meta = value["meta"]
    let isMdoc = format == "mso_mdoc"
    let docType = isMdoc ? try DCQLQuery.CredentialQuery.docType(meta, at: path + ".meta") : ""
    var claims: [DCQLQuery.ClaimQuery] = []
    var claimSets: [[String]] = []
    // Claims of other formats have paths of other kinds.
    if isMdoc, value["claims"] != nil {
      var ids = Set<String>()
      claims = try eachIndexed(try list(value, "claims", at: path), path + ".claims") {
        element, path throws(QueryFault) in
        let claim = try DCQLQuery.ClaimQuery(reading: element, at: path)
        if let id = claim.id, !ids.insert(id).inserted { throw QueryFault(path + ".id", .duplicate) }
        return claim
      }
      if value["claim_sets"] != nil {
        if let place = claims.firstIndex(where: { $0.id == nil }) {
          throw QueryFault("\(path).claims[\(place)].id", .missing)
        }
        claimSets = try eachIndexed(try list(value, "claim_sets", at: path), path + ".claim_sets") {
          option, path throws(QueryFault) in
          try readIDs(option, known: ids, at: path)
        }
      }
    } else if isMdoc, value["claim_sets"] != nil {
      throw QueryFault(path + ".claims", .missing)
    }
    let authorities = isMdoc ? try DCQLQuery.CredentialQuery.authorities(value, at: path) : nil
    _ = try flag(value, "require_cryptographic_holder_binding", at: path)
    let subject: DCQLQuery.Subject =
      if !isMdoc {
        .other(format: format)
      } else if let authorities, authorities.keys.isEmpty {
        .unknownAuthorities(docType: docType, type: authorities.unknown)
      } else {
        .mdoc(docType: docType)
      }
    self.init(
      id: id, subject: subject, claims: claims, claimSets: claimSets, authorities: authorities?.keys ?? [],
      allowsMultiple: try flag(value, "multiple", at: path) ?? false)
  }

  private static func docType(_ meta: JSONValue?, at path: String) throws(QueryFault) -> String {
    guard let meta else { throw QueryFault(path, .missing) }
    for old in ["doctype", "docType", "doctype_values"] where meta["doctype_value"] == nil && meta[old] != nil {
      throw QueryFault(path + "." + old, .outdated(instead: "doctype_value"))
    }
    return try text(meta, "doctype_value", at: path)
  }

  /// The key identifiers, and a type that is not known here; nil where any issuer will do.
  private static func authorities(
    _ value: JSONValue, at path: String
  ) throws(QueryFault) -> (keys: [[UInt8]], unknown: String)? {
    guard value["trusted_authorities"] != nil else { return nil }
    var keys: [[UInt8]] = []
    var unknown = ""
    let path = path + ".trusted_authorities"
    for (place, element) in try list(value, "trusted_authorities", at: "", named: path).enumerated() {
      let path = "\(path)[\(place)]"
      let type = try text(element, "type", at: path)
      guard type == "aki" else {
        unknown = type
        continue
      }
      keys += try eachIndexed(try list(element, "values", at: path), path + ".values") {
        value, path throws(QueryFault) -> [UInt8] in
        guard let bytes = value.string.flatMap({ try? Base64.url.decode($0) }), !bytes.isEmpty else {
          throw QueryFault(path, .wrongKind)
        }
        return bytes
      }
    }
    return (keys, unknown)
  }
}

extension DCQLQuery.ClaimQuery {
  fileprivate init(reading value: JSONValue, at path: String) throws(QueryFault) {
    guard value.members != nil else { throw QueryFault(path, .wrongKind) }
    for (old, instead) in [("namespace", "path"), ("claim_name", "path")]
    where value[old] != nil && value["path"] == nil {
      throw QueryFault(path + "." + old, .outdated(instead: instead + ", an array of name space and element"))
    }
    let place = path + ".path"
    guard let member = value["path"] else { throw QueryFault(place, .missing) }
    if member.string != nil {
      throw QueryFault(place, .outdated(instead: "an array of name space and element"))
    }
    guard let parts = member.elements, parts.count == 2, parts.allSatisfy({ $0.string?.isEmpty == false }) else {
      throw QueryFault(place, .wrongKind)
    }
    var values: [DCQLQuery.ClaimValue] = []
    if value["values"] != nil {
      values = try eachIndexed(try list(value, "values", at: path), path + ".values") {
        element, path throws(QueryFault) -> DCQLQuery.ClaimValue in
        switch element {
        case .string(let text): return .text(text)
        case .integer(let number): return .integer(number)
        case .bool(let flag): return .bool(flag)
        default: throw QueryFault(path, .wrongKind)
        }
      }
    }
    self.init(
      id: value["id"] == nil ? nil : try readID(value, at: path), nameSpace: parts[0].string ?? "",
      element: parts[1].string ?? "", intentToRetain: try flag(value, "intent_to_retain", at: path) ?? false,
      values: values)
  }
}

// MARK: - Parts

/// A list with at least one member, and not more than anybody needs.
private func list(
  _ value: JSONValue, _ name: String, at path: String, named: String? = nil
) throws(QueryFault) -> [JSONValue] {
  let place = named ?? (path.isEmpty ? name : path + "." + name)
  guard let member = value[name] else { throw QueryFault(place, .missing) }
  guard let elements = member.elements else { throw QueryFault(place, .wrongKind) }
  guard !elements.isEmpty else { throw QueryFault(place, .empty) }
  guard elements.count <= DCQLQuery.most else { throw QueryFault(place, .tooMany) }
  return elements
}

private func eachIndexed<Result>(
  _ elements: [JSONValue], _ path: String, _ read: (JSONValue, String) throws(QueryFault) -> Result
) throws(QueryFault) -> [Result] {
  var results: [Result] = []
  for (place, element) in elements.enumerated() { results.append(try read(element, "\(path)[\(place)]")) }
  return results
}

private func text(_ value: JSONValue, _ name: String, at path: String) throws(QueryFault) -> String {
  guard let member = value[name] else { throw QueryFault(path + "." + name, .missing) }
  guard let text = member.string else { throw QueryFault(path + "." + name, .wrongKind) }
  guard !text.isEmpty else { throw QueryFault(path + "." + name, .empty) }
  return text
}

private func flag(_ value: JSONValue, _ name: String, at path: String) throws(QueryFault) -> Bool? {
  guard let member = value[name] else { return nil }
  guard let flag = member.bool else { throw QueryFault(path + "." + name, .wrongKind) }
  return flag
}

/// An id: letters, digits, `_` and `-` (sections 6.1 and 6.3).
private func readID(_ value: JSONValue, at path: String) throws(QueryFault) -> String {
  let id = try text(value, "id", at: path)
  let isPlain = id.utf8.allSatisfy { byte in
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
  guard isPlain, id.utf8.count <= 200 else { throw QueryFault(path + ".id", .characters) }
  return id
}

private func readIDs(_ value: JSONValue, known: Set<String>, at path: String) throws(QueryFault) -> [String] {
  guard let elements = value.elements else { throw QueryFault(path, .wrongKind) }
  guard !elements.isEmpty else { throw QueryFault(path, .empty) }
  guard elements.count <= DCQLQuery.most else { throw QueryFault(path, .tooMany) }
  return try eachIndexed(elements, path) { element, path throws(QueryFault) in
    guard let id = element.string else { throw QueryFault(path, .wrongKind) }
    guard known.contains(id) else { throw QueryFault(path, .unknown) }
    return id
  }
}
