import Bytes
import Crypto
import JSON
import TestSupport
import Testing

@testable import JOSE

private let head = encoded(#"{"alg":"ES256"}"#)
private let body = encoded("{}")

/// Texts that are no JWS of ours. The parts behind the header are good where it is not about them.
private let refused: [(text: String, fault: JOSEFault)] = [
  ("", .malformed("compact form")),
  ("\(head).\(body)", .malformed("compact form")),
  ("\(head).\(body).AA.AA", .malformed("compact form")),
  ("\(head).\(body).", .malformed("compact form")),
  ("\(head)=.\(body).AA", .malformed("compact form")),
  ("\(head).\(body)=.AA", .malformed("compact form")),
  ("\(head).\(body).AA==", .malformed("compact form")),
  ("\(head).\(body).AB", .malformed("compact form")),
  ("\(head).\(body).A+", .malformed("compact form")),
  ("\(head). \(body).AA", .malformed("compact form")),
  ("\(head).\(body).AA\n", .malformed("compact form")),
  ("\(head).\(body).\u{00E4}A", .malformed("compact form")),
  (".\(body).AA", .malformed("header")),
  ("\(encoded("[]")).\(body).AA", .malformed("header")),
  ("\(encoded("\"ES256\"")).\(body).AA", .malformed("header")),
  ("\(encoded(#"{"alg":"ES256"} x"#)).\(body).AA", .malformed("header")),
  ("\(encoded(#"{"alg":"none","alg":"ES256"}"#)).\(body).AA", .malformed("header")),
  ("\(Base64.url.encode([0x7b, 0x22, 0x61, 0xff, 0x22, 0x3a, 0x31, 0x7d])).\(body).AA", .malformed("header")),
  ("\(encoded("{}")).\(body).AA", .malformed("alg")),
  ("\(encoded(#"{"alg":["ES256"]}"#)).\(body).AA", .malformed("alg")),
  ("\(encoded(#"{"alg":"ES256","typ":1}"#)).\(body).AA", .malformed("typ")),
  ("\(encoded(#"{"alg":"none"}"#)).\(body).AA", .unsupported("alg")),
  ("\(encoded(#"{"alg":"nOnE"}"#)).\(body).AA", .unsupported("alg")),
  ("\(encoded(#"{"alg":"ES256","crit":["exp"],"exp":1}"#)).\(body).AA", .unsupported("crit")),
  ("\(encoded(#"{"alg":"ES256","crit":["b64"],"b64":false}"#)).\(body).AA", .unsupported("crit")),
  ("\(encoded(#"{"alg":"ES256","b64":false}"#)).\(body).AA", .unsupported("b64")),
]

@Suite("Compact JWS")
struct CompactJWSTests {
  @Test("the examples of RFC 7515 with ES256 and ES512 verify")
  func examples() throws {
    let first = try CompactJWS(reading: Figures.es256)
    let firstKey = try privateKey(.p256, "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI").publicKey
    #expect(first.text == Figures.es256)
    #expect(first.algorithm == "ES256" && first.type == nil)
    #expect(first.claims?["exp"] == 1_300_819_380)
    #expect(first.isSigned(by: firstKey))
    let second = try CompactJWS(reading: Figures.es512)
    let secondKey = try privateKey(
      .p521, "AY5pb7A0UFiB3RELSD64fTLOSV_jazdF7fLYyuTw8lOfRhWg6Y6rUrPAxerEzgdRhajnu0ferB0d53vM9mE15j2C"
    ).publicKey
    #expect(second.payload == Array("Payload".utf8))
    #expect(second.claims == nil)
    #expect(second.isSigned(by: secondKey))
    #expect(!first.isSigned(by: secondKey) && !second.isSigned(by: firstKey))
  }

  @Test("the key proof of OpenID4VCI is signed by the key in its header")
  func proof() throws {
    let proof = try CompactJWS(reading: Figures.proof)
    let key = try #require(try proof.embeddedKey())
    #expect(proof.type == "openid4vci-proof+jwt")
    #expect(proof.claims?["nonce"] == "LarRGSbmUPYtRYO6BQ4yn8")
    #expect(try proof.certificates().isEmpty)
    #expect(proof.isSigned(by: key.key))
  }

  @Test("the key proof of the reference data is the one of these tests, and verifies")
  func sharedProof() throws {
    guard let bytes = try sharedBytes("vectors/openid/openid4vci-1.0/proof-jwt.json") else { return }
    let vector = try #require(JSONValue(reading: bytes))
    let text = try #require(vector["jwt"]?.string)
    #expect(text == Figures.proof)
    let proof = try CompactJWS(reading: text)
    #expect(proof.header == vector["header"] && proof.claims == vector["claims"])
    #expect(try proof.embeddedKey().map { proof.isSigned(by: $0.key) } == (vector["signature"] == "valid"))
  }

  @Test("what is signed with a key of each curve reads back and verifies with that key alone")
  func roundTrip() throws {
    for (curve, algorithm) in josePairs {
      let key = try PrivateKey.generate(curve)
      let header: [JSONValue.Member] = [.init("typ", "test+jwt"), .init("jwk", JSONWebKey(key.publicKey).json)]
      let token = try CompactJWS(reading: CompactJWS.sign(["iss": "m\u{fc}ller"], header: header, with: key))
      #expect(token.header == .object([.init("alg", .string(algorithm))] + header))
      #expect(token.claims == ["iss": "m\u{fc}ller"])
      #expect(try token.embeddedKey() == JSONWebKey(key.publicKey))
      #expect(token.isSigned(by: key.publicKey))
      #expect(try !token.isSigned(by: PrivateKey.generate(curve).publicKey))
      for part in 0..<3 {
        // a changed header is still one: its first byte is the brace, so another byte is changed there
        let changed = replacing(part, of: token.text) {
          part == 0
            ? encoded(
              #"{"alg":"\#(algorithm)","typ":"other"}"#) : withOneBitOff($0)
        }
        #expect(try !CompactJWS(reading: changed).isSigned(by: key.publicKey), "\(curve) part \(part)")
      }
      let shorter = replacing(2, of: token.text) { String($0.dropLast(4)) }
      #expect((try? CompactJWS(reading: shorter))?.isSigned(by: key.publicKey) != true)
    }
  }

  @Test("a signature verifies by Crypto as well: r and s in fixed length over the two parts")
  func independently() throws {
    let hashes: [HashAlgorithm] = [.sha256, .sha384, .sha512]
    for ((curve, _), hash) in zip(josePairs, hashes) {
      let key = try PrivateKey.generate(curve)
      let text = try CompactJWS.sign(["a": 1], header: [], with: key)
      let dot = try #require(text.lastIndex(of: "."))
      let signature = try Base64.url.decode(text[text.index(after: dot)...])
      #expect(key.publicKey.isValid(signature: signature[...], for: Array(text[..<dot].utf8)[...], hash: hash))
    }
  }

  @Test("an algorithm that is not that of the key's curve is not valid, whoever signed")
  func mismatch() throws {
    let key = try PrivateKey.generate(.p256)
    let payload = encoded("{}")
    for algorithm in ["ES384", "ES512", "ES256K", "HS256", "RS256", "PS256", "EdDSA", "es256", ""] {
      let signed = encoded(#"{"alg":"\#(algorithm)"}"#) + "." + payload
      // with the hash of the name too: libjose would take ES384 by a key on P-256
      for hash in HashAlgorithm.allCases {
        let signature = try key.signature(for: Array(signed.utf8), hash: hash)
        let token = try CompactJWS(reading: signed + "." + Base64.url.encode(signature))
        #expect(!token.isSigned(by: key.publicKey), "\(algorithm)")
      }
    }
    let token = try CompactJWS(reading: Figures.es256)
    for curve in [Curve.p384, .brainpoolP256r1, .ed25519, .x25519] {
      #expect(try !token.isSigned(by: PrivateKey.generate(curve).publicKey))
    }
  }

  @Test("a MAC with the public key as its secret is no signature")
  func publicKeyAsSecret() throws {
    let key = try PrivateKey.generate(.p256).publicKey
    let signed = encoded(#"{"alg":"HS256"}"#) + "." + encoded("{}")
    for secret in [Array(JSONWebKey(key).json.text.utf8), [4] + key.x + key.y, key.x] {
      let mac = hmacSHA256(key: SecretBytes(copying: secret), message: Array(signed.utf8)[...])
      #expect(try !CompactJWS(reading: signed + "." + Base64.url.encode(mac)).isSigned(by: key))
    }
  }

  @Test("certificates are the DER of x5c, in its order")
  func certificates() throws {
    let key = try PrivateKey.generate(.p256)
    func token(_ value: JSONValue) throws -> CompactJWS {
      try CompactJWS(reading: CompactJWS.sign([:], header: [.init("x5c", value)], with: key))
    }
    #expect(try token(["MAA=", "+/8="]).certificates() == [[0x30, 0], [0xfb, 0xff]])
    let wrong: [JSONValue] = ["MAA=", [], [1], ["MAA"], ["MA A="], ["-_8="], [""], ["MAA=", .null]]
    for value in wrong {
      let token = try token(value)
      #expect(thrown(JOSEFault.self) { _ = try token.certificates() } == .malformed("x5c"), "\(value.text)")
    }
  }

  @Test("an embedded key that is private or of no known kind is refused")
  func embedded() throws {
    let key = try PrivateKey.generate(.p256)
    let wrong: [(JSONValue, JOSEFault)] = [
      ("key", .malformed("jwk")), (["kty": "RSA"], .key("kty")), (["kty": "EC", "d": "AA"], .key("private")),
    ]
    for (value, fault) in wrong {
      let token = try CompactJWS(reading: CompactJWS.sign([:], header: [.init("jwk", value)], with: key))
      #expect(thrown(JOSEFault.self) { _ = try token.embeddedKey() } == fault)
    }
  }

  @Test("what is not of the form is refused, with the reason")
  func refusals() {
    for (text, fault) in refused {
      #expect(thrown(JOSEFault.self) { _ = try CompactJWS(reading: text) } == fault, "\(text)")
    }
  }

  @Test("a payload may be anything, and is claims only when it is one object")
  func payloads() throws {
    for text in ["", "{", "[]", "1", #"{"a":1,"a":2}"#, "\u{0}"] {
      let token = try CompactJWS(reading: "\(head).\(encoded(text)).AA")
      #expect(token.payload == Array(text.utf8) && token.claims == nil)
    }
    #expect(try CompactJWS(reading: "\(head).\(Base64.url.encode([0x7b, 0xff, 0x7d])).AA").claims == nil)
  }

  @Test("a text at the limit is read, one beyond it is not, and none such is made")
  func size() throws {
    let rest = "\(head)..AA".utf8.count
    let longest = String(repeating: "A", count: CompactJWS.maximumSize - rest)
    #expect(try CompactJWS(reading: "\(head).\(longest).AA").payload.count == longest.utf8.count / 4 * 3)
    #expect(thrown(JOSEFault.self) { _ = try CompactJWS(reading: "\(head).\(longest)AAAA.AA") } == .tooLarge)
    let key = try PrivateKey.generate(.p256)
    #expect(
      thrown(JOSEFault.self) { _ = try CompactJWS.sign(["a": .string(longest)], header: [], with: key) } == .tooLarge)
  }

  @Test("a header that would say something else than what is done is refused when signing")
  func signingRefusals() throws {
    let key = try PrivateKey.generate(.p256)
    for name in ["alg", "crit", "b64"] {
      let fault = thrown(JOSEFault.self) { _ = try CompactJWS.sign([:], header: [.init(name, "ES256")], with: key) }
      #expect(fault == .unsupported(name))
    }
    let twice = thrown(JOSEFault.self) {
      _ = try CompactJWS.sign([:], header: [.init("kid", "1"), .init("kid", "2")], with: key)
    }
    #expect(twice == .malformed("header"))
    for curve in [Curve.brainpoolP256r1, .ed25519, .x25519] {
      let other = try PrivateKey.generate(curve)
      #expect(thrown(JOSEFault.self) { _ = try CompactJWS.sign([:], header: [], with: other) } == .key("crv"))
    }
  }
}
