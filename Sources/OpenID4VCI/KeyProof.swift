import Bytes
import CivilTime
import Crypto
import JOSE
import JSON

/// A proof that the wallet holds a key, for one issuer and one nonce (OpenID4VCI 1.0, Annex F.1): a JWT signed by that key, which
/// it names in its header.
package struct KeyProof: Sendable {
  /// The key that is proved, whose signature has been checked.
  package let key: PublicKey
  /// `aud`: the credential issuer identifier.
  package let audience: String
  /// `iat`.
  package let issuedAt: UnixTime
  /// Nil when there is none.
  package let nonce: String?
  /// `iss`; nil when the wallet is anonymous.
  package let clientID: String?

  package static let type = "openid4vci-proof+jwt"

  /// The one algorithm made and taken here.
  package static let algorithm = "ES256"

  /// Makes a proof. A nonce that is not there is left out, never null.
  static func make(
    _ key: PrivateKey, audience: String, at now: UnixTime, nonce: String?, clientID: String?
  ) throws(JOSEFault) -> String {
    try CompactJWS.sign(
      .object([
        "iss": clientID.map(JSONValue.string), "aud": .string(audience), "iat": .integer(Int(now.seconds)),
        "nonce": nonce.map(JSONValue.string),
      ]),
      header: [
        JSONValue.Member("typ", .string(type)), JSONValue.Member("jwk", JSONWebKey(key.publicKey).json),
      ], with: key)
  }

  /// Why a text is no key proof, or not one for this issuer now.
  package enum Fault: String, Error, CaseIterable, Sendable {
    case notCompactJWT = "no compact JWT"
    case type = "typ"
    case algorithm = "alg"
    /// Not exactly one key in the header, or a kind of naming it that is not taken.
    case keyNaming = "not exactly jwk in the header"
    /// The key is private, no key, or on another curve than the algorithm's.
    case key = "jwk"
    case signature
    case claims = "aud, iat or nonce is malformed"
    case audience = "aud"
    case issuedAt = "iat is outside the window"
    case clientID = "iss"
  }

  /// Reads a proof and checks everything that is in it: type, algorithm, key and signature.
  package init(reading text: String) throws(Fault) {
    guard let token = try? CompactJWS(reading: text), let claims = token.claims, case .object = claims else {
      throw .notCompactJWT
    }
    guard token.type == KeyProof.type else { throw .type }
    guard token.algorithm == KeyProof.algorithm else { throw .algorithm }
    guard token.header["jwk"] != nil, token.header["kid"] == nil, token.header["x5c"] == nil else { throw .keyNaming }
    guard let embedded = try? token.embeddedKey(), embedded.key.curve == .p256 else { throw .key }
    guard token.isSigned(by: embedded.key) else { throw .signature }
    guard let audience = claims["aud"]?.string, let issuedAt = claims["iat"]?.integer, issuedAt >= 0 else {
      throw .claims
    }
    if let nonce = claims["nonce"], nonce.string == nil { throw .claims }
    if let issuer = claims["iss"], issuer.string == nil { throw .claims }
    key = embedded.key
    self.audience = audience
    self.issuedAt = UnixTime(seconds: Int64(issuedAt))
    nonce = claims["nonce"]?.string
    clientID = claims["iss"]?.string
  }

  /// What stands against it at this issuer and instant, the nonce apart; nil for nothing.
  ///
  /// - Parameters:
  ///   - clientID: of the token; nil for an anonymous one, which must not be named.
  ///   - window: seconds that `iat` may lie before or after now.
  package func fault(audience: String, clientID: String?, at now: UnixTime, window: Int64 = 300) -> Fault? {
    guard self.audience.utf8.elementsEqual(audience.utf8) else { return .audience }
    guard now.adding(seconds: -window) <= issuedAt, issuedAt <= now.adding(seconds: window) else { return .issuedAt }
    if let named = self.clientID { guard named == clientID else { return .clientID } }
    return nil
  }
}
