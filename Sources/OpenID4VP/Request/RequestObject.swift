import CivilTime
import Crypto
import JOSE
import JSON

/// A request as its sender signed it (RFC 9101; OpenID4VP 1.0, section 5): a JWS whose certificates say who that is. Only a
/// signature that holds makes one.
struct RequestObject {
  static let type = "oauth-authz-req+jwt"
  static let mediaType = "application/oauth-authz-req+jwt"
  /// For wallets whose own address the verifier does not know (section 5.8).
  static let audience = "https://self-issued.me/v2"
  /// What clocks may differ by.
  static let skewSeconds: Int64 = 300

  /// All parameters of the request.
  let claims: JSONValue
  let leaf: Certificate
  let chain: [Certificate]

  /// - Throws: what keeps it from being a request, or from being one for this wallet and this time.
  init(_ text: String, now: UnixTime) throws(RequestFault) {
    let object: CompactJWS
    let encoded: [[UInt8]]
    do throws(JOSEFault) {
      object = try CompactJWS(reading: text)
      encoded = try object.certificates()
    } catch {
      throw .requestObject(error)
    }
    guard object.type == RequestObject.type else { throw .requestObjectType }
    guard let claims = object.claims else { throw .requestObject(.malformed("payload")) }
    guard !encoded.isEmpty else { throw .clientCertificateMissing }
    var certificates: [Certificate] = []
    for der in encoded.prefix(10) {
      guard let certificate = try? Certificate(der) else { throw .clientCertificateMalformed }
      certificates.append(certificate)
    }
    leaf = certificates[0]
    chain = Array(certificates.dropFirst())
    guard let key = try? leaf.publicKey.get() else { throw .clientCertificateMalformed }
    guard object.isSigned(by: key) else { throw .requestObjectSignature }
    let audiences = claims["aud"].map { $0.string.map { [$0] } ?? $0.strings } ?? []
    guard audiences.contains(RequestObject.audience) else { throw .requestObjectAudience }
    try RequestObject.checkTimes(of: claims, now: now)
    self.claims = claims
  }

  private static func checkTimes(of claims: JSONValue, now: UnixTime) throws(RequestFault) {
    func instant(_ name: String) throws(RequestFault) -> UnixTime? {
      guard let member = claims[name] else { return nil }
      switch member {
      case .integer(let seconds): return UnixTime(seconds: Int64(seconds))
      case .double(let seconds) where abs(seconds) < 1e15: return UnixTime(seconds: Int64(seconds))
      default: throw .parameter(name, .malformed)
      }
    }
    if let end = try instant("exp"), end.adding(seconds: skewSeconds) < now { throw .requestObjectExpired }
    for name in ["nbf", "iat"] {
      if let start = try instant(name), now.adding(seconds: skewSeconds) < start { throw .requestObjectExpired }
    }
  }

  /// Checks that the signer is who `client_id` says (section 5.9.3).
  func check(_ client: ClientIdentifier) throws(RequestFault) {
    switch client {
    case .dnsName(let name):
      let names = leaf.subjectAltName.value?.dnsNames ?? []
      guard names.contains(where: { $0.lowercased() == name.lowercased() }) else { throw .clientNameMismatch }
    case .certificateHash(let hash):
      guard hash == leaf.fingerprint else { throw .clientHashMismatch }
    case .redirectURI:
      // Such a request cannot be signed, for nobody is named whose key it could be.
      throw .parameter("client_id", .unsupported("redirect_uri in a signed request"))
    }
  }
}
