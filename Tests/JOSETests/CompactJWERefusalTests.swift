import Bytes
import Crypto
import JSON
import TestSupport
import Testing

@testable import JOSE

private let head = encoded(#"{"alg":"ECDH-ES","enc":"A128GCM"}"#)

/// Texts that are no JWE of ours.
private let refused: [(text: String, fault: JOSEFault)] = [
  ("", .malformed("compact form")),
  ("\(head)..AA.AA", .malformed("compact form")),
  ("\(head)..AA.AA.AA.AA", .malformed("compact form")),
  ("\(head).=.AA.AA.AA", .malformed("compact form")),
  ("\(head)=..AA.AA.AA", .malformed("compact form")),
  ("\(head)..AA==.AA.AA", .malformed("compact form")),
  ("\(head)..AA.AA=.AA", .malformed("compact form")),
  ("\(head)..AA.AA.AA==", .malformed("compact form")),
  ("\(head)..AA.AB.AA", .malformed("compact form")),
  ("\(head)..AA.A.AA", .malformed("compact form")),
  ("\(head)..AA.A/.AA", .malformed("compact form")),
  ("\(head)..AA.AA.AA ", .malformed("compact form")),
  ("\(head)..AA.\u{FFFD}A.AA", .malformed("compact form")),
  ("..AA.AA.AA", .malformed("header")),
  ("\(encoded("[1]"))..AA.AA.AA", .malformed("header")),
  ("\(encoded("{\"alg\":\"ECDH-ES\""))..AA.AA.AA", .malformed("header")),
  ("\(encoded(#"{"alg":"ECDH-ES","enc":"A128GCM","enc":"A128GCM"}"#))..AA.AA.AA", .malformed("header")),
  ("\(encoded(#"{"alg":"ECDH-ES","enc":"A128GCM","epk":{"kty":"EC","kty":"EC"}}"#))..AA.AA.AA", .malformed("header")),
  ("\(Base64.url.encode([0x7b, 0x22, 0xc3, 0x22, 0x3a, 0x31, 0x7d]))..AA.AA.AA", .malformed("header")),
  ("\(encoded(#"{"enc":"A128GCM"}"#))..AA.AA.AA", .malformed("alg")),
  ("\(encoded(#"{"alg":"ECDH-ES"}"#))..AA.AA.AA", .malformed("enc")),
  ("\(encoded(#"{"alg":"ECDH-ES","enc":1}"#))..AA.AA.AA", .malformed("enc")),
  ("\(encoded(#"{"alg":"ECDH-ES","enc":"A128GCM","kid":1}"#))..AA.AA.AA", .malformed("kid")),
  ("\(encoded(#"{"alg":"ECDH-ES","enc":"A128GCM","apu":null}"#))..AA.AA.AA", .malformed("apu")),
  ("\(encoded(#"{"alg":"ECDH-ES","enc":"A128GCM","apu":"Qm9i="}"#))..AA.AA.AA", .malformed("apu")),
  ("\(encoded(#"{"alg":"ECDH-ES","enc":"A128GCM","apv":"Q"}"#))..AA.AA.AA", .malformed("apv")),
  ("\(encoded(#"{"alg":"ECDH-ES","enc":"A128GCM","crit":[]}"#))..AA.AA.AA", .unsupported("crit")),
  ("\(encoded(#"{"alg":"ECDH-ES","enc":"A128GCM","zip":"DEF"}"#))..AA.AA.AA", .unsupported("zip")),
  ("\(encoded(#"{"alg":"PBES2-HS256+A128KW","enc":"A128GCM","p2c":1000000}"#))..AA.AA.AA", .unsupported("p2c")),
]

@Suite("Refusals of compact JWE")
struct CompactJWERefusalTests {
  /// A token for Bob, with everything that can be in a header.
  private func token(_ encryption: ContentEncryption = .a256GCM) throws -> String {
    try CompactJWE.encrypt(
      Array("plaintext".utf8), to: JSONWebKey(bob().publicKey, id: "1"), encryption: encryption,
      partyU: [1], partyV: [2])
  }

  /// What decrypting it as Bob throws; nil when it decrypts.
  private func fault(_ text: String) -> JOSEFault? {
    thrown(JOSEFault.self) { _ = try CompactJWE(reading: text).decrypted(with: bob()) }
  }

  @Test("what is not of the form is refused, with the reason")
  func refusals() {
    for (text, fault) in refused {
      #expect(thrown(JOSEFault.self) { _ = try CompactJWE(reading: text) } == fault, "\(text)")
    }
  }

  @Test("a change of any part is found, and none is told from another")
  func tampering() throws {
    for encryption in ContentEncryption.allCases {
      let text = try token(encryption)
      #expect(fault(text) == nil)
      for part in [2, 3, 4] {
        #expect(fault(replacing(part, of: text, with: withOneBitOff)) == .decryption, "\(encryption) part \(part)")
        #expect(fault(replacing(part, of: text) { _ in "" }) == .decryption, "\(encryption) without part \(part)")
        #expect(fault(replacing(part, of: text) { $0 + "AAAA" }) == .decryption, "\(encryption) longer part \(part)")
        let shorter = replacing(part, of: text) { part in
          Base64.url.encode(((try? Base64.url.decode(part)) ?? []).dropLast())
        }
        #expect(fault(shorter) == .decryption, "\(encryption) shorter part \(part)")
      }
      for (name, value): (String, JSONValue?) in [
        ("kid", "2"), ("kid", nil), ("apu", "AA"), ("apu", nil), ("apv", "AA"), ("apv", nil), ("new", 1),
      ] {
        #expect(fault(changingHeader(of: text, name, to: value)) == .decryption, "\(encryption) \(name)")
      }
      let other = JSONWebKey(try PrivateKey.generate(.p256).publicKey).json
      #expect(fault(changingHeader(of: text, "epk", to: other)) == .decryption)
    }
  }

  @Test("the same header in other words is another header")
  func reencoded() throws {
    let text = try token()
    let spaced = replacing(0, of: text) { part in
      Base64.url.encode(((try? Base64.url.decode(part)) ?? []) + [0x20])
    }
    #expect(fault(spaced) == .decryption)
  }

  @Test("a content encryption that was not used, of whatever kind, is refused")
  func otherEncryption() throws {
    let text = try token(.a128GCM)
    for encryption in ContentEncryption.allCases where encryption != .a128GCM {
      #expect(fault(changingHeader(of: text, "enc", to: .string(encryption.rawValue))) == .decryption)
    }
    for name in ["A128CBC", "a128gcm", "XC20P", "dir", "", "A128GCM\u{0}"] {
      #expect(fault(changingHeader(of: text, "enc", to: .string(name))) == .unsupported("enc"), "\(name)")
    }
  }

  @Test("no other key agreement or encryption of keys is taken")
  func otherAlgorithms() throws {
    let text = try token()
    for name in [
      "RSA-OAEP", "RSA-OAEP-256", "RSA1_5", "ECDH-ES+A128KW", "ECDH-ES+A256KW", "dir", "A128KW", "A256GCMKW",
      "PBES2-HS256+A128KW", "ecdh-es", "ECDH-1PU", "none", "", "ECDH-ES\u{0}",
    ] {
      #expect(fault(changingHeader(of: text, "alg", to: .string(name))) == .unsupported("alg"), "\(name)")
    }
    #expect(fault(replacing(1, of: text) { _ in "AAAA" }) == .malformed("encrypted key"))
  }

  @Test("an ephemeral key that is none, private, off its curve or on another curve is refused before it is used")
  func ephemeralKeys() throws {
    let text = try token()
    let good = JSONWebKey(try PrivateKey.generate(.p256).publicKey)
    let x = Base64.url.encode(good.key.x)
    let y = Base64.url.encode(good.key.y)
    let zero = Base64.url.encode([UInt8](repeating: 0, count: 32))
    let p384 = JSONWebKey(try PrivateKey.generate(.p384).publicKey).json
    let x25519 = JSONWebKey(try PrivateKey.generate(.x25519).publicKey).json
    let cases: [(JSONValue?, JOSEFault)] = [
      (nil, .malformed("epk")),
      ("key", .malformed("jwk")),
      ([:], .key("kty")),
      (["kty": "EC", "crv": "P-256", "x": .string(x), "y": .string(x)], .key("not on the curve")),
      (["kty": "EC", "crv": "P-256", "x": .string(zero), "y": .string(zero)], .key("not on the curve")),
      (["kty": "EC", "crv": "P-256", "x": .string(x), "y": true], .key("y")),
      (["kty": "EC", "crv": "P-256", "x": .string(x)], .key("y")),
      (["kty": "EC", "crv": "P-256", "x": .string(x), "y": .string(y), "d": .string(x)], .key("private")),
      (["kty": "EC", "crv": "P-384", "x": .string(x), "y": .string(y)], .key("x")),
      (["kty": "EC", "crv": "secp256k1", "x": .string(x), "y": .string(y)], .key("crv")),
      (p384, .key("epk")),
      (x25519, .key("epk")),
    ]
    for (value, expected) in cases {
      #expect(fault(changingHeader(of: text, "epk", to: value)) == expected, "\(value?.text ?? "none")")
    }
  }

  @Test("a private key on a curve that libjose has not is refused")
  func privateKeys() throws {
    for curve in [Curve.x25519, .brainpoolP256r1] {
      let key = try PrivateKey.generate(curve)
      let other = curve == .x25519 ? JSONWebKey(try PrivateKey.generate(curve).publicKey).json : nil
      let text = try other.map { changingHeader(of: try token(), "epk", to: $0) } ?? token()
      let fault = thrown(JOSEFault.self) { _ = try CompactJWE(reading: text).decrypted(with: key) }
      #expect(fault == (curve == .x25519 ? .key("crv") : .key("epk")))
    }
  }

  @Test("nothing is encrypted to a key that is for something else")
  func recipients() throws {
    let key = try bob().publicKey
    var cases: [(JSONWebKey, JOSEFault)] = [
      (JSONWebKey(key, use: "sig"), .key("use")),
      (JSONWebKey(key, algorithm: "ES256"), .key("alg")),
      (JSONWebKey(key, algorithm: "ECDH-ES+A128KW"), .key("alg")),
    ]
    for curve in [Curve.x25519, .ed25519, .brainpoolP256r1] {
      cases.append((JSONWebKey(try PrivateKey.generate(curve).publicKey), .key("crv")))
    }
    for (recipient, expected) in cases {
      let fault = thrown(JOSEFault.self) { _ = try CompactJWE.encrypt([1], to: recipient, encryption: .a128GCM) }
      #expect(fault == expected)
    }
  }

  @Test("a text beyond the limit is neither read nor made")
  func size() throws {
    let rest = "\(head)..AA..AA".utf8.count
    let text = String(repeating: "A", count: CompactJWE.maximumSize - rest + 1)
    #expect(thrown(JOSEFault.self) { _ = try CompactJWE(reading: "\(head)..AA.\(text).AA") } == .tooLarge)
    let payload = [UInt8](repeating: 0, count: CompactJWE.maximumSize / 4 * 3 + 3)
    let key = JSONWebKey(try bob().publicKey)
    #expect(
      thrown(JOSEFault.self) { _ = try CompactJWE.encrypt(payload, to: key, encryption: .a128GCM) } == .tooLarge)
  }
}
