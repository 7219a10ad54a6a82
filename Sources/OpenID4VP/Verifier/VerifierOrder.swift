import JOSE

/// What a verifier wants in one transaction, and how it asks.
package struct VerifierOrder: Sendable {
  /// How it names itself.
  package enum ClientKind: String, CaseIterable, Sendable {
    case x509SANDNS = "x509_san_dns"
    case x509Hash = "x509_hash"
    case redirectURI = "redirect_uri"
  }

  package var query: DCQLQuery
  package var form = AuthorizationRequest.Form.final
  package var responseMode = AuthorizationRequest.ResponseMode.directPostJWT
  package var client = ClientKind.x509SANDNS
  /// In the order of preference; Annex B names the first.
  package var encryptions = [ContentEncryption.a128GCM, .a256GCM]
  /// Whether the wallet is told to fetch the request by POST, with a nonce of its own.
  package var fetchesByPost = false
  /// Whether the wallet is sent on to a page when it has answered.
  package var redirects = false
  /// One thing that is done wrong on purpose.
  package var deviation: VerifierDeviation?

  package init(_ query: DCQLQuery) { self.query = query }
}
