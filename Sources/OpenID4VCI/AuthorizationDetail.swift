import JSON

/// An authorization detail of type `openid_credential` (RFC 9396; OpenID4VCI 1.0, sections 5.1.1 and 6.2): one credential that the
/// wallet asks leave for, or has leave for.
package struct AuthorizationDetail: Equatable, Sendable {
  package let configurationID: String
  /// The credential issuer, where the authorization server serves several.
  package let locations: [String]
  /// Name space and element of what is asked for; empty for everything.
  package let claims: [ElementPath]
  /// In a token answer: what to ask the issuer for, one credential each. Empty elsewhere.
  package let identifiers: [String]

  package static let type = "openid_credential"

  /// A path of two texts.
  package struct ElementPath: Equatable, Sendable {
    package let nameSpace: String
    package let element: String

    package init(_ nameSpace: String, _ element: String) {
      self.nameSpace = nameSpace
      self.element = element
    }
  }

  package init(
    configurationID: String, locations: [String] = [], claims: [ElementPath] = [], identifiers: [String] = []
  ) {
    self.configurationID = configurationID
    self.locations = locations
    self.claims = claims
    self.identifiers = identifiers
  }

  package var json: JSONValue {
    .object([
      "type": .string(AuthorizationDetail.type),
      "locations": locations.isEmpty ? nil : .array(locations.map(JSONValue.string)),
      "credential_configuration_id": .string(configurationID),
      "claims": claims.isEmpty
        ? nil
        : .array(
          claims.map { claim in
            .object(["path": .array([.string(claim.nameSpace), .string(claim.element)])])
          }),
      "credential_identifiers": identifiers.isEmpty ? nil : .array(identifiers.map(JSONValue.string)),
    ])
  }

  /// Reads one; nil for a detail of another type.
  init?(_ members: MemberReading) throws(IssuanceError) {
    guard try members.requiredText("type") == AuthorizationDetail.type else { return nil }
    configurationID = try members.requiredText("credential_configuration_id")
    locations = try members.texts("locations", most: 100) ?? []
    identifiers = try members.texts("credential_identifiers", most: IssuanceLimits.credentialIdentifiers) ?? []
    var claims: [ElementPath] = []
    for claim in try members.list("claims", most: IssuanceLimits.claims) ?? [] {
      guard case .array(let path)? = claim["path"], path.count == 2, let nameSpace = path[0].string,
        let element = path[1].string
      else { throw claim.failure(.malformed("path")) }
      claims.append(ElementPath(nameSpace, element))
    }
    self.claims = claims
  }

  /// Reads a list of details, those of other types left out.
  ///
  /// - Parameters:
  ///   - party: whose list it is.
  package static func list(
    _ json: JSONValue, of party: IssuanceError.Party, at step: IssuanceError.Step
  ) throws(IssuanceError) -> [AuthorizationDetail] {
    let key = "authorization_details"
    let wrapped = try MemberReading(.object([JSONValue.Member(key, json)]), of: party, at: step)
    var details: [AuthorizationDetail] = []
    for entry in try wrapped.list(key, most: IssuanceLimits.offeredConfigurations) ?? [] {
      if let detail = try AuthorizationDetail(entry) { details.append(detail) }
    }
    return details
  }
}
