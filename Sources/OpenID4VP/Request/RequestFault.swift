import JOSE
import Web

/// Why a request is not answered, or an answer did not arrive. `code` is stable; no case carries a secret or a value.
package enum RequestFault: Error, Equatable, Sendable {
  package enum Problem: Equatable, Sendable {
    case missing
    case malformed
    /// Not what this program can do; what was asked for.
    case unsupported(String)
    /// In two places, with different contents.
    case conflicting
    /// http to another machine, where only https will do.
    case insecure
  }

  /// The address that started it is none: no scheme, or fields that cannot be read.
  case invocation
  /// A scheme that is not of OpenID4VP.
  case scheme(String)
  /// A parameter of the request.
  case parameter(String, Problem)
  /// Both `request` and `request_uri`, or a request that is signed and says things beside what is signed.
  case ambiguousRequest
  /// The query.
  case query(QueryFault)
  /// The request object is no JWS that is taken here.
  case requestObject(JOSEFault)
  /// Its `typ` is not `oauth-authz-req+jwt`, or the server's media type not that of one.
  case requestObjectType
  /// It was signed by another key than its certificate's.
  case requestObjectSignature
  /// It is for other wallets: `aud`.
  case requestObjectAudience
  /// It is over, or not yet valid: `exp`, `nbf`, `iat`.
  case requestObjectExpired
  /// It does not repeat the nonce that this wallet sent.
  case walletNonce
  /// A kind of client that is not known here.
  case clientUnsupported(String)
  /// A request that has to be signed and is not.
  case clientUnsigned
  /// A signed request without certificates.
  case clientCertificateMissing
  case clientCertificateMalformed
  /// The name in `client_id` is none of the certificate's DNS names.
  case clientNameMismatch
  /// The hash in `client_id` is not the certificate's.
  case clientHashMismatch
  /// The answer would go to another host than the one that the certificate names.
  case clientHostMismatch
  /// Nobody known vouches for the verifier, and a known one was demanded.
  case clientUntrusted(VerifierIdentity.Distrust)
  /// An encrypted answer is wanted, and there is no key of the verifier's that it could be encrypted to.
  case encryptionKey
  /// Ways of encryption that are not known here.
  case encryptionUnsupported(String)
  /// The answer could not be encrypted.
  case encryption
  /// The wallet has not what is needed.
  case notSatisfied
  /// No answer of the verifier's server: which step, and why.
  case exchange(Step, ExchangeFailure)
  /// An answer of the verifier's server that means no: which step, its status, and what it says of it.
  case refused(Step, status: Int, error: String?)
  /// An answer of the verifier's server that cannot be understood.
  case answer(Step)

  /// What was going on.
  package enum Step: String, Equatable, Sendable {
    case requestObject = "fetching the request"
    case response = "sending the answer"
    case refusal = "sending the refusal"
  }

  /// Stable, for programs and tests.
  package var code: String {
    switch self {
    case .invocation: "invocationMalformed"
    case .scheme: "schemeUnsupported"
    case .parameter(_, .missing): "parameterMissing"
    case .parameter(_, .malformed): "parameterMalformed"
    case .parameter(_, .unsupported): "parameterUnsupported"
    case .parameter(_, .conflicting): "parameterConflicting"
    case .parameter(_, .insecure): "addressInsecure"
    case .ambiguousRequest: "requestAmbiguous"
    case .query: "queryMalformed"
    case .requestObject: "requestObjectMalformed"
    case .requestObjectType: "requestObjectType"
    case .requestObjectSignature: "requestObjectSignature"
    case .requestObjectAudience: "requestObjectAudience"
    case .requestObjectExpired: "requestObjectExpired"
    case .walletNonce: "walletNonceMismatch"
    case .clientUnsupported: "clientUnsupported"
    case .clientUnsigned: "clientUnsigned"
    case .clientCertificateMissing: "clientCertificateMissing"
    case .clientCertificateMalformed: "clientCertificateMalformed"
    case .clientNameMismatch: "clientNameMismatch"
    case .clientHashMismatch: "clientHashMismatch"
    case .clientHostMismatch: "clientHostMismatch"
    case .clientUntrusted: "clientUntrusted"
    case .encryptionKey: "encryptionKeyMissing"
    case .encryptionUnsupported: "encryptionUnsupported"
    case .encryption: "encryptionFailed"
    case .notSatisfied: "notSatisfied"
    case .exchange(_, let failure): failure.code
    case .refused: "verifierRefused"
    case .answer: "verifierAnswerMalformed"
    }
  }
}

extension RequestFault: CustomStringConvertible {
  /// For people: party, step, and what was expected.
  package var description: String {
    switch self {
    case .invocation: "the address is no request of OpenID4VP: a scheme and a query were expected"
    case .scheme(let scheme):
      "the scheme \(scheme) is not one of \(AuthorizationRequest.schemes.joined(separator: ", "))"
    case .parameter(let name, .missing): "the verifier's request has no \(name)"
    case .parameter(let name, .malformed): "the verifier's request: \(name) is not of its form"
    case .parameter(let name, .unsupported(let value)): "the verifier's request: \(name) \(value) is not supported"
    case .parameter(let name, .conflicting): "the verifier's request says two different things about \(name)"
    case .parameter(let name, .insecure): "the verifier's request: \(name) is not https, and not this machine"
    case .ambiguousRequest: "the verifier's request comes in two ways at once"
    case .query(let fault): "the verifier's query: \(fault)"
    case .requestObject(let fault): "the verifier's request object cannot be used: \(fault)"
    case .requestObjectType: "the verifier's request object is not of the type oauth-authz-req+jwt"
    case .requestObjectSignature: "the verifier's request object: the signature is not that of its certificate"
    case .requestObjectAudience:
      "the verifier's request object is for another wallet: aud is not https://self-issued.me/v2"
    case .requestObjectExpired: "the verifier's request object is over, or not yet valid"
    case .walletNonce: "the verifier's request object does not repeat this wallet's nonce"
    case .clientUnsupported(let kind): "the verifier's client_id is of a kind that is not supported: \(kind)"
    case .clientUnsigned: "the verifier did not sign its request, as such a client has to"
    case .clientCertificateMissing: "the verifier's request object has no certificate (x5c)"
    case .clientCertificateMalformed: "the verifier's certificate cannot be read"
    case .clientNameMismatch: "the verifier's client_id is none of the DNS names in its certificate"
    case .clientHashMismatch: "the verifier's client_id is not the hash of its certificate"
    case .clientHostMismatch: "the verifier wants the answer at another host than its certificate names"
    case .clientUntrusted(let reason): "the verifier is not one to trust: \(reason.rawValue)"
    case .encryptionKey: "the verifier wants an encrypted answer and gives no key for ECDH-ES"
    case .encryptionUnsupported(let names): "the verifier takes only encryption that is not supported: \(names)"
    case .encryption: "the answer could not be encrypted to the verifier's key"
    case .notSatisfied: "this wallet has not what the verifier needs"
    case .exchange(let step, let failure):
      "\(step.rawValue): \(failure.code)" + (failure.detail.isEmpty ? "" : " (\(failure.detail))")
    case .refused(let step, let status, let error):
      "\(step.rawValue): the verifier's server answers \(status)" + (error.map { ", \($0)" } ?? "")
    case .answer(let step): "\(step.rawValue): the verifier's server answers with what cannot be understood"
    }
  }
}
