import Bytes
import CivilTime
import Crypto
import JOSE
import JSON
import Web

/// The wallet's steps of a presentation online (OpenID4VP 1.0; ISO/IEC 18013-7 Annex B): get the request, then answer or refuse.
/// Nothing is sent without the holder's word, and nothing follows where a server points.
package struct PresentationExchange {
  /// Under these the high assurance profile (HAIP 1.0) holds, whatever a request says.
  static let assuringSchemes = ["haip", "haip-vp"]

  /// Most bytes of a request object and of the verifier's answers.
  package static let sizeLimit = 1 << 20

  private let exchange: WebExchange
  private let roots: [Certificate]
  private let demandsTrust: Bool
  private let now: UnixTime
  private let walletNonce: String

  /// - Parameters:
  ///   - roots: of verifiers; without any, nobody is known.
  ///   - demandsTrust: refuses requests of verifiers that no root vouches for.
  ///   - walletNonce: sent where the request is fetched by POST; it has to come back in it (section 5.10).
  package init(
    exchange: WebExchange, roots: [Certificate] = [], demandsTrust: Bool = false, now: UnixTime,
    walletNonce: String = Base64.url.encode(randomBytes(16))
  ) {
    self.exchange = exchange
    self.roots = roots
    self.demandsTrust = demandsTrust
    self.now = now
    self.walletNonce = walletNonce
  }

  /// The request that an address stands for, fetched where it is elsewhere.
  package func request(_ text: String) throws(RequestFault) -> AuthorizationRequest {
    guard let invocation = InvocationURI(text) else { throw .invocation }
    guard AuthorizationRequest.schemes.contains(invocation.scheme) else {
      throw .scheme(printable(invocation.scheme, limit: 40))
    }
    let fields = invocation.fields
    let object: String?
    switch (fields["request"], fields["request_uri"]) {
    case (_?, _?): throw .ambiguousRequest
    case (let given?, nil): object = given
    case (nil, let address?): object = try fetch(address, method: fields["request_uri_method"])
    case (nil, nil): object = nil
    }
    let request = try read(object, fields, scheme: invocation.scheme)
    if PresentationExchange.assuringSchemes.contains(invocation.scheme) { try request.checkAssurance() }
    if demandsTrust, let distrust = request.verifier.distrust { throw .clientUntrusted(distrust) }
    return request
  }

  private func read(
    _ object: String?, _ fields: FormFields, scheme: String
  ) throws(RequestFault) -> AuthorizationRequest {
    guard let object else {
      let claims = try PresentationExchange.claims(of: fields)
      return try AuthorizationRequest(claims, form: form(claims, scheme)) { client throws(RequestFault) in
        guard case .redirectURI(let address) = client else { throw .clientUnsigned }
        return .anonymous(responseURI: printable(address))
      }
    }
    let signed = try RequestObject(object, now: now)
    if fields["request_uri_method"] == "post", fields["request_uri"] != nil {
      guard signed.claims["wallet_nonce"]?.string == walletNonce else { throw .walletNonce }
    }
    // Parameters beside a request object count for nothing (RFC 9101, section 6.3), but who asks has to be the same.
    guard let outer = fields["client_id"] else { throw .parameter("client_id", .missing) }
    guard signed.claims["client_id"]?.string == outer else { throw .parameter("client_id", .conflicting) }
    return try AuthorizationRequest(signed.claims, form: form(signed.claims, scheme)) { client throws(RequestFault) in
      try signed.check(client)
      return VerifierIdentity(
        name: printable(outer), chain: [signed.leaf] + signed.chain, roots: roots, now: now)
    }
  }

  /// The scheme of ISO/IEC 18013-7 stands for Annex B, unless the query is one that only the final text has. All others stand
  /// for the final text, so that nobody is led back to an older one.
  private func form(_ claims: JSONValue, _ scheme: String) -> AuthorizationRequest.Form {
    scheme == "mdoc-openid4vp" && claims["dcql_query"] == nil ? .annexB : .final
  }

  /// Parameters in an address: texts, and JSON where that is what they are.
  private static func claims(of fields: FormFields) throws(RequestFault) -> JSONValue {
    var members: [JSONValue.Member] = []
    for field in fields.fields {
      switch field.name {
      case "dcql_query", "client_metadata", "presentation_definition", "transaction_data":
        guard let value = JSONValue(reading: Array(field.value.utf8)) else { throw .parameter(field.name, .malformed) }
        members.append(.init(field.name, value))
      default: members.append(.init(field.name, .string(field.value)))
      }
    }
    return .object(members)
  }

  private func fetch(_ text: String, method: String?) throws(RequestFault) -> String {
    guard let address = WebAddress(text) else { throw .parameter("request_uri", .malformed) }
    guard address.isConfidential else { throw .parameter("request_uri", .insecure) }
    let request: WebRequest
    switch method {
    case nil, "get": request = .get(address, accept: RequestObject.mediaType)
    case "post":
      let metadata: JSONValue = [
        "vp_formats_supported": ["mso_mdoc": ["issuerauth_alg_values": [-7, -9], "deviceauth_alg_values": [-7, -9]]],
        "client_id_prefixes_supported": ["x509_san_dns", "x509_hash", "redirect_uri"],
      ]
      request = .post(
        address, form: ["wallet_metadata": metadata.text, "wallet_nonce": walletNonce], accept: RequestObject.mediaType)
    case let other?: throw .parameter("request_uri_method", .unsupported(printable(other, limit: 20)))
    }
    let answer = try carry(request, .requestObject)
    guard answer.mediaType == RequestObject.mediaType else { throw .requestObjectType }
    guard let object = String(validating: answer.body, as: UTF8.self) else { throw .answer(.requestObject) }
    return object.filter { !$0.isWhitespace }
  }

  /// What the verifier's server said to an answer or refusal.
  package struct Completion: Equatable, Sendable {
    /// Where the holder's browser should go on; never followed from here.
    package let redirect: String?
  }

  /// Sends the answer.
  ///
  /// - Parameters:
  ///   - presentations: at least one; in Annex B exactly one, with all documents.
  ///   - mdocGeneratedNonce: the one that the transcript was made with.
  ///   - deviation: one thing that is done wrong on purpose.
  package func answer(
    _ request: AuthorizationRequest, with presentations: [Presentation], mdocGeneratedNonce: String,
    deviation: AnswerDeviation? = nil
  ) throws(RequestFault) -> Completion {
    let form = try AuthorizationAnswer(
      request, presentations, mdocGeneratedNonce: mdocGeneratedNonce, deviation: deviation
    ).form
    let completion = try post(form, to: request, .response)
    return deviation == .answersTwice ? try post(form, to: request, .response) : completion
  }

  /// Tells the verifier that there will be no answer.
  ///
  /// - Parameter error: `access_denied` where the holder refused, others of RFC 6749 and OpenID4VP section 8.5.
  package func refuse(_ request: AuthorizationRequest, error: String) throws(RequestFault) -> Completion {
    try post(["error": error, "state": request.state], to: request, .refusal)
  }

  private func post(
    _ form: FormFields, to request: AuthorizationRequest, _ step: RequestFault.Step
  ) throws(RequestFault) -> Completion {
    let answer = try carry(.post(request.responseURI, form: form), step)
    guard answer.mediaType == "application/json", !answer.body.isEmpty else { return Completion(redirect: nil) }
    guard let value = JSONValue(reading: answer.body), value.members != nil else { throw .answer(step) }
    return Completion(redirect: value["redirect_uri"]?.string.map { printable($0, limit: 2000) })
  }

  private func carry(_ request: WebRequest, _ step: RequestFault.Step) throws(RequestFault) -> WebAnswer {
    let answer: WebAnswer
    do throws(ExchangeFailure) {
      answer = try exchange(request, limits: WebLimits(size: PresentationExchange.sizeLimit))
    } catch {
      throw .exchange(step, error)
    }
    guard answer.status == 200 else {
      let body = answer.mediaType == "application/json" ? JSONValue(reading: answer.body) : nil
      let said = [body?["error"]?.string, body?["error_description"]?.string].compactMap { $0 }
      throw .refused(
        step, status: answer.status, error: said.isEmpty ? nil : printable(said.joined(separator: ": "), limit: 120))
    }
    return answer
  }
}
