import JSON
import Web

/// A credential that an issuer can make (OpenID4VCI 1.0, section 12.2.4 and Annex A.2).
package struct CredentialConfiguration: Equatable, Sendable {
  /// Its name in offers and requests.
  package let id: String
  /// `mso_mdoc` for those that this wallet takes.
  package let format: String
  /// Nil for other formats than `mso_mdoc`.
  package let docType: String?
  /// What to ask the authorization server for; nil where only authorization details do.
  package let scope: String?
  package let display: [Display]
  /// What will be in it, as far as the issuer says.
  package let claims: [Claim]
  /// How a key may be named in it: `cose_key`. Empty where the issuer does not say.
  package let bindingMethods: [String]
  /// COSE numbers, or names, of the algorithms it may be signed with. Empty where the issuer does not say.
  package let signingAlgorithms: [String]
  /// Whether a key proof is possible that this wallet can make: a JWT with ES256. True where the issuer does not say.
  package let acceptsES256Proofs: Bool
  /// Whether the issuer wants a statement of the key store's maker about the keys.
  package let requiresKeyAttestation: Bool

  /// The format of mdoc documents.
  package static let mdocFormat = "mso_mdoc"

  package var isMdoc: Bool { format == CredentialConfiguration.mdocFormat }

  /// For people: the first display name, else the configuration's.
  package var name: String { display.first?.name ?? shown(id) }

  /// How a thing is called in one language.
  package struct Display: Equatable, Sendable {
    package let name: String
    /// BCP 47; nil when nothing is said.
    package let locale: String?
  }

  /// One element that the credential has or may have.
  package struct Claim: Equatable, Sendable {
    package let nameSpace: String
    package let element: String
    /// Whether every credential of the configuration has it.
    package let isMandatory: Bool
    package let display: [Display]
  }
}

extension CredentialConfiguration {
  /// Reads one member of `credential_configurations_supported`.
  init(id: String, _ members: MemberReading) throws(IssuanceError) {
    self.id = id
    format = try members.requiredText("format", most: 256)
    docType = try members.text("doctype", most: 1024)
    scope = try members.opaque("scope")
    let metadata = try members.members("credential_metadata")
    display = try CredentialConfiguration.displays(of: metadata)
    bindingMethods = try members.texts("cryptographic_binding_methods_supported", most: 100) ?? []
    signingAlgorithms = try CredentialConfiguration.algorithms("credential_signing_alg_values_supported", members) ?? []
    guard format == CredentialConfiguration.mdocFormat else {
      // Others are kept by name only: what they mean is not for this wallet to judge.
      claims = []
      acceptsES256Proofs = false
      requiresKeyAttestation = false
      return
    }
    guard docType != nil else { throw members.failure(.missing("doctype")) }
    var claims: [Claim] = []
    for entry in try metadata?.list("claims", most: IssuanceLimits.claims) ?? [] {
      if let claim = try Claim(entry) { claims.append(claim) }
    }
    self.claims = claims
    let types = try members.members("proof_types_supported")
    let jwt = try types?.members("jwt")
    let algorithms = try jwt.flatMap {
      (jwt) throws(IssuanceError) in
      try CredentialConfiguration.algorithms("proof_signing_alg_values_supported", jwt)
    }
    acceptsES256Proofs = types == nil || (jwt != nil && algorithms?.contains(where: isES256) ?? true)
    requiresKeyAttestation = jwt?["key_attestations_required"] != nil
  }

  static func displays(of members: MemberReading?) throws(IssuanceError) -> [Display] {
    var displays: [Display] = []
    for entry in try members?.list("display", most: IssuanceLimits.displays) ?? [] {
      guard let name = try entry.text("name") else { continue }
      displays.append(Display(name: shown(name), locale: try entry.text("locale", most: 100).map { printable($0) }))
    }
    return displays
  }

  /// Names, or numbers as text: drafts and issuers write both.
  private static func algorithms(_ key: String, _ members: MemberReading) throws(IssuanceError) -> [String]? {
    guard let value = members[key] else { return nil }
    guard case .array(let elements) = value, elements.count <= 100 else { throw members.failure(.malformed(key)) }
    var names: [String] = []
    for element in elements {
      guard let name = element.string ?? element.integer.map(String.init) else {
        throw members.failure(.malformed(key))
      }
      names.append(name)
    }
    return names
  }
}

/// ES256 by its name in JOSE, and by its two numbers in COSE (RFC 9053, RFC 9864), which some issuers write.
private func isES256(_ name: String) -> Bool { ["ES256", "-7", "-9"].contains(name) }

extension CredentialConfiguration.Claim {
  /// Nil for a path that is not name space and element: it may go deeper, which says nothing about whole elements.
  init?(_ claim: MemberReading) throws(IssuanceError) {
    guard case .array(let path)? = claim["path"], (1...IssuanceLimits.pathParts).contains(path.count) else {
      throw claim.failure(.malformed("path"))
    }
    guard path.count == 2, let nameSpace = path[0].string, let element = path[1].string else { return nil }
    self.nameSpace = nameSpace
    self.element = element
    isMandatory = try claim.flag("mandatory") ?? false
    display = try CredentialConfiguration.displays(of: claim)
  }
}
