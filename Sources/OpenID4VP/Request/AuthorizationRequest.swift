import Bytes
import Crypto
import JOSE
import JSON
import Mdoc
import Web

/// A verifier's request, checked as far as it can be without asking the holder: who asks, for what, where the answer goes and
/// how. Only `PresentationExchange` makes one.
package struct AuthorizationRequest: Sendable {
  /// What starts a wallet; `https` for links that lead to one.
  package static let schemes = ["openid4vp", "haip", "haip-vp", "eudi-openid4vp", "mdoc-openid4vp", "https"]

  /// By which text the answer is made.
  package enum Form: String, CaseIterable, Sendable {
    /// OpenID4VP 1.0.
    case final
    /// ISO/IEC 18013-7:2024 Annex B.
    case annexB
  }

  /// How the answer travels.
  package enum ResponseMode: String, CaseIterable, Sendable {
    case directPost = "direct_post"
    case directPostJWT = "direct_post.jwt"
  }

  package let form: Form
  /// As it was sent, prefix included; it goes into the transcript.
  package let clientID: String
  package let verifier: VerifierIdentity
  package let responseMode: ResponseMode
  package let responseURI: WebAddress
  package let nonce: String
  package let state: String?
  package let query: DCQLQuery
  /// Of `presentation_definition`; nil in the final form.
  package let definitionID: String?
  /// Nil for an answer that is not encrypted.
  package let encryption: ResponseEncryption?
  /// Why the verifier asks, in its own words, where it says so: `client_metadata.client_name` and the like.
  package let purpose: String?

  /// The transcript of an answer.
  ///
  /// - Parameters:
  ///   - mdocGeneratedNonce: the wallet's own nonce, which Annex B alone has.
  ///   - deviation: one thing in it that is another's on purpose.
  package func transcript(mdocGeneratedNonce: String, deviation: AnswerDeviation? = nil) -> SessionTranscript {
    let clientID = deviation == .transcriptClient ? "another" : clientID
    let nonce = deviation == .transcriptNonce ? "another" : nonce
    let address = deviation == .transcriptAddress ? "https://another.example" : responseURI.text
    switch form {
    case .final:
      let thumbprint = deviation == .transcriptThumbprint ? nil : encryption?.key.key.jwkThumbprint
      return SessionTranscript(
        online: .openID4VP(
          clientID: clientID, nonce: nonce, encryptionKeyThumbprint: thumbprint, responseURI: address))
    case .annexB:
      return SessionTranscript(
        online: .annexB(
          clientID: clientID, responseURI: address, nonce: nonce, mdocGeneratedNonce: mdocGeneratedNonce))
    }
  }
}

extension AuthorizationRequest {
  /// Reads the parameters of a request.
  ///
  /// - Parameters:
  ///   - claims: all parameters, whoever vouches for them.
  ///   - form: by the scheme that started the wallet.
  ///   - identify: who asks, for this client.
  init(
    _ claims: JSONValue, form: Form, identify: (ClientIdentifier) throws(RequestFault) -> VerifierIdentity
  ) throws(RequestFault) {
    func text(_ name: String) throws(RequestFault) -> String? {
      guard let member = claims[name] else { return nil }
      guard let text = member.string, !text.isEmpty, text.utf8.count <= 8192 else {
        throw .parameter(name, .malformed)
      }
      return text
    }
    func required(_ name: String) throws(RequestFault) -> String {
      guard let text = try text(name) else { throw .parameter(name, .missing) }
      return text
    }
    let type = try required("response_type")
    guard type == "vp_token" else { throw .parameter("response_type", .unsupported(printable(type, limit: 60))) }
    let mode = try required("response_mode")
    guard let responseMode = ResponseMode(rawValue: mode) else {
      throw .parameter("response_mode", .unsupported(printable(mode, limit: 60)))
    }
    // A wallet that cannot keep a promise about a transaction must not answer (section 8.4).
    if claims["transaction_data"] != nil { throw .parameter("transaction_data", .unsupported("of any type")) }
    if claims["scope"] != nil, claims["dcql_query"] == nil, claims["presentation_definition"] == nil {
      throw .parameter("scope", .unsupported("instead of a query"))
    }
    clientID = try required("client_id")
    let scheme = try text("client_id_scheme")
    let client: ClientIdentifier
    switch (form, scheme) {
    case (.annexB, let scheme?): client = try ClientIdentifier(clientID, scheme: scheme)
    case (.annexB, nil): client = .dnsName(clientID)
    // What a draft calls a scheme is the prefix now; both at once would leave open which one counts.
    case (.final, _?):
      throw .parameter("client_id_scheme", .unsupported("in OpenID4VP 1.0, where client_id has a prefix"))
    case (.final, nil): client = try ClientIdentifier(clientID)
    }
    if case .redirectURI = client, responseMode == .directPostJWT, form == .annexB { throw .clientUnsigned }
    let address = try required("response_uri")
    guard claims["redirect_uri"] == nil else { throw .parameter("redirect_uri", .conflicting) }
    guard let responseURI = WebAddress(address) else { throw .parameter("response_uri", .malformed) }
    guard responseURI.isConfidential else { throw .parameter("response_uri", .insecure) }
    nonce = try required("nonce")
    guard nonce.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .parameter("nonce", .malformed) }
    state = try text("state")
    verifier = try identify(client)
    switch client {
    case .dnsName(let name):
      guard responseURI.hostName == name.lowercased() else { throw .clientHostMismatch }
    case .redirectURI(let uri):
      guard uri == address else { throw .parameter("response_uri", .conflicting) }
    case .certificateHash: break
    }
    let metadata = claims["client_metadata"]
    if let formats = metadata?["vp_formats_supported"] ?? metadata?["vp_formats"], formats["mso_mdoc"] == nil {
      throw .parameter("vp_formats_supported", .unsupported("without mso_mdoc"))
    }
    (query, definitionID) = try AuthorizationRequest.query(claims, form: form)
    encryption =
      responseMode == .directPostJWT ? try ResponseEncryption(metadata: metadata, form: form) : nil
    if form == .annexB, encryption == nil { throw .parameter("response_mode", .unsupported("direct_post in Annex B")) }
    self.form = form
    self.responseMode = responseMode
    self.responseURI = responseURI
    purpose = (metadata?["client_name"]?.string).map { printable($0) }
  }

  /// What the high assurance profile asks beside OpenID4VP: a client known by its certificate's hash, and an encrypted answer.
  func checkAssurance() throws(RequestFault) {
    guard case .certificateHash? = try? ClientIdentifier(clientID) else {
      throw .clientUnsupported("other than x509_hash in the high assurance profile")
    }
    guard encryption != nil else {
      throw .parameter("response_mode", .unsupported("direct_post in the high assurance profile"))
    }
  }

  private static func query(
    _ claims: JSONValue, form: Form
  ) throws(RequestFault) -> (DCQLQuery, definitionID: String?) {
    do throws(QueryFault) {
      switch (form, claims["dcql_query"], claims["presentation_definition"]) {
      case (_, _?, _?): throw QueryFault("presentation_definition", .duplicate)
      case (.final, let query?, nil): return (try DCQLQuery(reading: query), nil)
      case (.final, nil, _?): throw QueryFault("presentation_definition", .outdated(instead: "dcql_query"))
      case (.annexB, nil, let definition?):
        let definition = try PresentationDefinition(reading: definition)
        return (definition.query, definition.id)
      case (.annexB, _, nil): throw QueryFault("presentation_definition", .missing)
      case (.final, nil, nil): throw QueryFault("dcql_query", .missing)
      }
    } catch {
      throw .query(error)
    }
  }
}
