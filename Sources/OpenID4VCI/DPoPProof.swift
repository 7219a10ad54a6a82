import Bytes
import CivilTime
import Crypto
import JOSE
import JSON
import Web

/// A proof of possession of the key that a token is bound to (RFC 9449): a JWT for one request.
package struct DPoPProof: Sendable {
  /// The key, whose signature has been checked.
  package let key: JSONWebKey
  /// `jti`: none comes twice.
  package let identifier: String
  /// `htm`.
  package let method: String
  /// `htu`: the address without query.
  package let target: String
  package let issuedAt: UnixTime
  /// The server's; nil when there is none.
  package let nonce: String?
  /// `ath`: of the access token that goes along; nil at the token endpoint.
  package let tokenDigest: String?

  package static let type = "dpop+jwt"
  package static let algorithm = "ES256"
  /// The header that carries it.
  package static let headerName = "DPoP"
  /// The header in which a server gives its nonce.
  package static let nonceHeaderName = "DPoP-Nonce"

  /// Makes a proof for a request.
  ///
  /// - Parameter identifier: fresh for each.
  static func make(
    _ key: PrivateKey, for request: WebRequest, token: String?, nonce: String?, identifier: String, at now: UnixTime
  ) throws(JOSEFault) -> String {
    try CompactJWS.sign(
      .object([
        "jti": .string(identifier), "htm": .string(request.method.rawValue),
        "htu": .string(request.address.withoutQuery), "iat": .integer(Int(now.seconds)),
        "nonce": nonce.map(JSONValue.string), "ath": token.map { .string(digest(of: $0)) },
      ]),
      header: [
        JSONValue.Member("typ", .string(type)), JSONValue.Member("jwk", JSONWebKey(key.publicKey).json),
      ], with: key)
  }

  /// `ath` of a token (RFC 9449, section 4.2).
  static func digest(of token: String) -> String { Base64.url.encode(Crypto.digest(.sha256, Array(token.utf8))) }

  /// Reads a proof: nil for anything that is none, or whose signature is not by the key it names.
  package init?(reading text: String) {
    guard let token = try? CompactJWS(reading: text), let claims = token.claims, token.type == DPoPProof.type,
      token.algorithm == DPoPProof.algorithm, let key = try? token.embeddedKey(), key.key.curve == .p256,
      token.isSigned(by: key.key), let identifier = claims["jti"]?.string, !identifier.isEmpty,
      let method = claims["htm"]?.string, let target = claims["htu"]?.string, let issuedAt = claims["iat"]?.integer
    else { return nil }
    self.key = key
    self.identifier = identifier
    self.method = method
    self.target = target
    self.issuedAt = UnixTime(seconds: Int64(issuedAt))
    nonce = claims["nonce"]?.string
    tokenDigest = claims["ath"]?.string
  }

  /// Whether it is for this call now. What the server has to remember, nonce and identifier, is left to it.
  package func fits(
    method: WebRequest.Method, target: String, token: String?, at now: UnixTime, window: Int64 = 300
  ) -> Bool {
    self.method == method.rawValue && self.target == target && tokenDigest == token.map(DPoPProof.digest)
      && now.adding(seconds: -window) <= issuedAt && issuedAt <= now.adding(seconds: window)
  }
}
