// seed: eyJhbGciOiJFUzI1NiJ9.UGF5bG9hZA.AAAA
// seed: {"alg":"ES256","typ":"openid4vci-proof+jwt","jwk":{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"},"x5c":["MAA="]}
// seed: {"alg":"ECDH-ES","enc":"A128GCM","kid":"1","apu":"QWxpY2U","apv":"Qm9i","epk":{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}}
// seed: {"alg":"ECDH-ES","enc":"A256CBC-HS512","epk":{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}}
// seeds text: openid/openid4vci-1.0/proof-jwt.json openid/jwe/generated-with-rfc7518-keys.json
// options: -max_len=4096
import Bytes
import Crypto
import JOSE
import JSON

/// A key that has signed nothing, and for which nothing was encrypted.
private let key = try! PrivateKey(curve: .p256, scalar: [UInt8](repeating: 5, count: 32))

/// Tokens as they come, and tokens around a header: no key but the right one ever takes them, and what is read of a key is
/// written and read again as the same.
func fuzz(_ input: [UInt8]) {
  let text = String(decoding: input, as: UTF8.self)
  let header = Base64.url.encode(input)
  let body = Base64.url.encode([UInt8](repeating: 7, count: 64))
  let tag = Base64.url.encode(input.prefix(16))
  for token in [text, "\(header).\(body).\(body)"] {
    guard let token = try? CompactJWS(reading: token) else { continue }
    _ = try? token.certificates()
    _ = token.claims
    expect(!token.isSigned(by: key.publicKey), "nobody signs with a key that is not theirs")
    if let embedded = try? token.embeddedKey() { _ = token.isSigned(by: embedded.key) }
  }
  for token in [text, "\(header)..\(tag).\(body).\(tag)", "\(header)..AAECAwQFBgcICQoL.\(body).\(tag)"] {
    guard let token = try? CompactJWE(reading: token) else { continue }
    expect((try? token.decrypted(with: key)) == nil, "what was not encrypted for a key does not decrypt")
  }
  if let value = JSONValue(reading: input), let read = try? JSONWebKey(reading: value) {
    expect((try? JSONWebKey(reading: read.json)) == read, "a key reads back as it was")
    _ = read.thumbprint
    if let token = try? CompactJWE.encrypt(input, to: read, encryption: .a128GCM) {
      expect((try? CompactJWE(reading: token))?.encryption == "A128GCM", "what was encrypted has the form")
    }
  }
}
