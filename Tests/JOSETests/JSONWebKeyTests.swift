import Bytes
import Crypto
import JSON
import TestSupport
import Testing

@testable import JOSE

private let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
private let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"

private let refused: [(text: String, fault: JOSEFault)] = [
  (#"["EC"]"#, .malformed("jwk")),
  ("{}", .key("kty")),
  (#"{"kty":"RSA","n":"AQ","e":"AQAB"}"#, .key("kty")),
  (#"{"kty":1,"crv":"P-256","x":"\#(x)","y":"\#(y)"}"#, .key("kty")),
  (#"{"kty":"oct","k":"AAAA"}"#, .key("private")),
  (
    #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"}"#,
    .key("private")
  ),
  (#"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","d":null}"#, .key("private")),
  (#"{"kty":"EC","x":"\#(x)","y":"\#(y)"}"#, .key("crv")),
  (#"{"kty":"EC","crv":"secp256k1","x":"\#(x)","y":"\#(y)"}"#, .key("crv")),
  (#"{"kty":"EC","crv":"brainpoolP256r1","x":"\#(x)","y":"\#(y)"}"#, .key("crv")),
  (#"{"kty":"EC","crv":"X25519","x":"\#(x)","y":"\#(y)"}"#, .key("crv")),
  (#"{"kty":"OKP","crv":"P-256","x":"\#(x)","y":"\#(y)"}"#, .key("crv")),
  (#"{"kty":"EC","crv":"P-384","x":"\#(x)","y":"\#(y)"}"#, .key("x")),
  (#"{"kty":"EC","crv":"P-256","x":"AA\#(x)","y":"\#(y)"}"#, .key("x")),
  (#"{"kty":"EC","crv":"P-256","x":"\#(x)=","y":"\#(y)"}"#, .key("x")),
  (#"{"kty":"EC","crv":"P-256","x":"\#(x)"}"#, .key("y")),
  (#"{"kty":"EC","crv":"P-256","x":"\#(x)","y":true}"#, .key("y")),
  (#"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y.dropLast(2))"}"#, .key("y")),
  (#"{"kty":"EC","crv":"P-256","x":"\#(y)","y":"\#(x)"}"#, .key("not on the curve")),
  (#"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","kid":1}"#, .key("kid")),
  (#"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","use":[]}"#, .key("use")),
  (#"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","alg":null}"#, .key("alg")),
]

@Suite("JSON web keys")
struct JSONWebKeyTests {
  @Test("a key is read with what is said about it, and other members are ignored")
  func reading() throws {
    let read = try JSONWebKey(
      reading: json(
        #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","kid":"1","use":"sig","alg":"ES256","key_ops":[],"new":{}}"#
      ))
    let key = try PublicKey(curve: .p256, x: Base64.url.decode(x), y: Base64.url.decode(y))
    #expect(read == JSONWebKey(key, id: "1", use: "sig", algorithm: "ES256"))
    #expect(
      read.json.text == #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","kid":"1","use":"sig","alg":"ES256"}"#)
  }

  @Test("keys of all curves with a name in JOSE are written and read again")
  func roundTrip() throws {
    for curve in [Curve.p256, .p384, .p521, .x25519, .x448, .ed25519, .ed448] {
      let key = JSONWebKey(try PrivateKey.generate(curve).publicKey, id: curve.rawValue)
      #expect(try JSONWebKey(reading: key.json) == key)
      #expect((key.json["y"] != nil) == (curve.kind == .weierstrass))
    }
  }

  @Test("what is no public key of ours is refused, with the reason")
  func refusals() {
    for (text, fault) in refused {
      #expect(thrown(JOSEFault.self) { _ = try JSONWebKey(reading: json(text)) } == fault, "\(text)")
    }
  }

  @Test("a thumbprint is that of the key alone")
  func thumbprint() throws {
    let bare = try JSONWebKey(reading: json(#"{"y":"\#(y)","x":"\#(x)","crv":"P-256","kty":"EC"}"#))
    // the key of RFC 7515 appendix A.3; the figure is that of jwcrypto
    #expect(Base64.url.encode(bare.thumbprint) == "oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U")
    #expect(JSONWebKey(bare.key, id: "1", use: "enc", algorithm: "ECDH-ES").thumbprint == bare.thumbprint)
    let edwards = try JSONWebKey(
      reading: json(#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#))
    #expect(Base64.url.encode(edwards.thumbprint) == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")  // RFC 8037 A.3
  }
}
