import Bytes
import JSON
import Web

/// What an authorization server publishes about itself (RFC 8414), as far as an issuance needs it.
package struct AuthorizationServerMetadata: Equatable, Sendable {
  /// The issuer identifier: to the character the one it was asked by.
  package let issuer: WebAddress
  /// Nil when users cannot sign in here.
  package let authorizationEndpoint: WebAddress?
  package let tokenEndpoint: WebAddress
  /// RFC 9126; nil when requests cannot be pushed.
  package let pushedRequestEndpoint: WebAddress?
  package let requiresPushedRequests: Bool
  /// Nil when nothing is said.
  package let grantTypes: [String]?
  /// RFC 7636; nil when nothing is said.
  package let codeChallengeMethods: [String]?
  /// RFC 9449: algorithms for proofs of possession; empty when nothing is said.
  package let dpopAlgorithms: [String]
  /// RFC 9207: whether every authorization response names its server.
  package let namesItselfInResponses: Bool
  /// Whether a pre-authorized code is taken without a client identifier.
  package let allowsAnonymousPreAuthorized: Bool

  /// The name under which metadata is to be had.
  package static let wellKnownName = "oauth-authorization-server"

  /// Whether this server takes a grant, as far as it says.
  package func takes(_ grant: GrantType) -> Bool {
    if grant == .authorizationCode, authorizationEndpoint == nil { return false }
    return grantTypes?.contains(grant.rawValue) ?? true
  }
}

extension AuthorizationServerMetadata {
  /// Reads a metadata document that was asked for under `issuer`.
  ///
  /// - Parameter hosts: host names its endpoints may be on beside the server's own.
  package init(reading json: JSONValue?, of issuer: WebAddress, hosts: Set<String> = []) throws(IssuanceError) {
    let members = try MemberReading(json, of: .authorizationServer, at: .serverMetadata)
    guard try members.requiredText("issuer").utf8.elementsEqual(issuer.text.utf8) else {
      throw members.failure(.otherIdentifier)
    }
    let rules = ContactRules(issuer: issuer, furtherHosts: hosts)
    guard let token = try rules.address("token_endpoint", in: members) else {
      throw members.failure(.missing("token_endpoint"))
    }
    self.issuer = issuer
    tokenEndpoint = token
    authorizationEndpoint = try rules.address("authorization_endpoint", in: members)
    pushedRequestEndpoint = try rules.address("pushed_authorization_request_endpoint", in: members)
    requiresPushedRequests = try members.flag("require_pushed_authorization_requests") ?? false
    grantTypes = try members.texts("grant_types_supported", most: 100)
    codeChallengeMethods = try members.texts("code_challenge_methods_supported", most: 100)
    dpopAlgorithms = try members.texts("dpop_signing_alg_values_supported", most: 100) ?? []
    namesItselfInResponses = try members.flag("authorization_response_iss_parameter_supported") ?? false
    allowsAnonymousPreAuthorized = try members.flag("pre-authorized_grant_anonymous_access_supported") ?? false
  }
}
