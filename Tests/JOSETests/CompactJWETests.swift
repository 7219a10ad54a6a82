import Bytes
import Crypto
import JSON
import TestSupport
import Testing

@testable import JOSE

@Suite("Compact JWE")
struct CompactJWETests {
  @Test("the example of RFC 7520 with ECDH-ES decrypts")
  func cookbook() throws {
    let token = try CompactJWE(reading: Figures.cookbook)
    let key = try privateKey(.p256, "r_kHyZ-a06rmxM3yESK84r1otSg-aQcVStkRhA-iCM8")
    #expect(token.text == Figures.cookbook)
    #expect(token.algorithm == "ECDH-ES" && token.encryption == "A128CBC-HS256")
    #expect(token.keyID == "meriadoc.brandybuck@buckland.example")
    #expect(token.partyU == nil && token.partyV == nil)
    let text = try String(decoding: token.decrypted(with: key), as: UTF8.self)
    #expect(text.hasPrefix("You can trust us to stick with you through thick and thin\u{2013}to the bitter end. "))
    #expect(text.hasSuffix(" We are your friends, Frodo."))
  }

  @Test("the key derivation is that of RFC 7518 appendix C: what its derived key encrypted decrypts")
  func appendixC() throws {
    let token = try CompactJWE(reading: Figures.appendixC)
    #expect(token.partyU == Array("Alice".utf8) && token.partyV == Array("Bob".utf8))
    #expect(try token.decrypted(with: bob()) == Array("appendix C".utf8))
  }

  @Test("what another implementation encrypted decrypts, with every content encryption and on every curve")
  func peer() throws {
    for encryption in ContentEncryption.allCases {
      let token = try CompactJWE(reading: #require(Figures.peer[encryption.rawValue]))
      #expect(try token.decrypted(with: bob()) == Array(#"{"enc":"\#(encryption.rawValue)"}"#.utf8))
    }
    let p384 = try privateKey(.p384, Figures.p384Scalar)
    let p521 = try privateKey(.p521, Figures.p521Scalar)
    #expect(try CompactJWE(reading: Figures.peerP384).decrypted(with: p384) == Array("P-384".utf8))
    #expect(try CompactJWE(reading: Figures.peerP521).decrypted(with: p521) == Array("P-521".utf8))
  }

  @Test("a shared secret that begins with zero counts in full length")
  func leadingZero() throws {
    let token = try CompactJWE(reading: Figures.leadingZero)
    let point = try JSONWebKey(reading: #require(token.header["epk"])).key
    #expect(try bob().sharedSecret(with: point).withBytes { $0[0] } == 0)
    #expect(try token.decrypted(with: bob()) == Array("leading zero".utf8))
  }

  @Test("what is encrypted on each curve with each content encryption decrypts with that key alone")
  func roundTrip() throws {
    for curve in josePairs.map(\.curve) {
      let key = try PrivateKey.generate(curve)
      for encryption in ContentEncryption.allCases {
        for size in [0, 1, 15, 16, 17, 5000] {
          let plaintext = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
          let recipient = JSONWebKey(key.publicKey, id: "key 1", use: "enc", algorithm: "ECDH-ES")
          let token = try CompactJWE(reading: CompactJWE.encrypt(plaintext, to: recipient, encryption: encryption))
          #expect(token.algorithm == "ECDH-ES" && token.encryption == encryption.rawValue)
          #expect(token.keyID == "key 1")
          guard case .object(let members) = token.header else { return }
          #expect(Set(members.map(\.key)) == ["alg", "enc", "kid", "epk"])
          #expect(try JSONWebKey(reading: #require(token.header["epk"])).key.curve == curve)
          #expect(try token.decrypted(with: key) == plaintext)
          let other = try PrivateKey.generate(curve)
          #expect(thrown(JOSEFault.self) { _ = try token.decrypted(with: other) } == .decryption)
        }
      }
    }
  }

  @Test("every message has an ephemeral key and an IV of its own")
  func fresh() throws {
    let key = JSONWebKey(try bob().publicKey)
    let tokens = try (0..<8).map { _ in
      try CompactJWE(reading: CompactJWE.encrypt([1], to: key, encryption: .a128GCM))
    }
    #expect(Set(tokens.map { $0.header["epk"]?.text }).count == 8)
    #expect(Set(tokens.map { $0.text.split(separator: ".")[1] }).count == 8)
  }

  @Test("party information is taken as it is: absent, empty, or any bytes up to the limit")
  func partyInformation() throws {
    let key = try PrivateKey.generate(.p256)
    let longest = [UInt8](repeating: 0xff, count: 1024)
    for (u, v): ([UInt8]?, [UInt8]?) in [
      (nil, nil), ([], []), (nil, [1]), ([0], nil), (Array("Alice".utf8), []), (longest, longest),
    ] {
      let text = try CompactJWE.encrypt(
        [7], to: JSONWebKey(key.publicKey), encryption: .a256GCM, partyU: u, partyV: v)
      let token = try CompactJWE(reading: text)
      #expect(token.partyU == u && token.partyV == v && token.keyID == nil)
      #expect((token.header["apu"] == nil) == (u == nil) && (token.header["apv"] == nil) == (v == nil))
      #expect(try token.decrypted(with: key) == [7])
    }
    for (u, v): ([UInt8]?, [UInt8]?) in [(longest + [0], nil), (nil, longest + [0])] {
      let fault = thrown(JOSEFault.self) {
        _ = try CompactJWE.encrypt([7], to: JSONWebKey(key.publicKey), encryption: .a256GCM, partyU: u, partyV: v)
      }
      #expect(fault == .tooLarge)
    }
    let text = Base64.url.encode(longest + [0])
    let token = try CompactJWE.encrypt([7], to: JSONWebKey(key.publicKey), encryption: .a256GCM)
    for name in ["apu", "apv"] {
      let changed = changingHeader(of: token, name, to: .string(text))
      #expect(thrown(JOSEFault.self) { _ = try CompactJWE(reading: changed) } == .tooLarge)
    }
  }

  @Test("the wallet's response of the reference data decrypts to what it is said to be")
  func interop() throws {
    guard let bytes = try sharedBytes("vectors/openid/jwe/ecdh-es-a256gcm-interop.json") else { return }
    let vector = try #require(JSONValue(reading: bytes))
    let token = try CompactJWE(reading: #require(vector["compactJwe"]?.string))
    let scalar = try #require(vector["recipientPrivateJwk"]?["d"]?.string)
    #expect(token.header == vector["header"])
    #expect(token.partyU?.count == 12 && token.partyV?.count == 6)
    let plaintext = try token.decrypted(with: privateKey(.p256, scalar))
    #expect(digest(.sha256, plaintext).hex == vector["plaintextSha256"]?.string)
    guard case .object(let members)? = JSONValue(reading: plaintext) else {
      Issue.record("the response is no object")
      return
    }
    #expect(members.map(\.key).sorted() == vector["plaintextMembers"]?.strings)
  }

  @Test("the responses of the reference data with the keys of RFC 7518 decrypt")
  func generated() throws {
    guard let bytes = try sharedBytes("vectors/openid/jwe/generated-with-rfc7518-keys.json") else { return }
    let vector = try #require(JSONValue(reading: bytes))
    guard case .array(let cases)? = vector["cases"], cases.count >= 3 else {
      Issue.record("there are no cases")
      return
    }
    for entry in cases {
      let token = try CompactJWE(reading: #require(entry["compactJwe"]?.string))
      let plaintext = try token.decrypted(with: bob())
      #expect(String(decoding: plaintext, as: UTF8.self) == entry["plaintext"]?.string, "\(entry["name"]?.text ?? "")")
    }
  }

  @Test("the figure of appendix C in these tests has the keys and party information of the reference data")
  func sharedAppendixC() throws {
    guard let bytes = try sharedBytes("vectors/openid/jwe/rfc7518-appendix-c.json") else { return }
    let vector = try #require(JSONValue(reading: bytes))
    let token = try CompactJWE(reading: Figures.appendixC)
    for name in ["enc", "apu", "apv"] { #expect(token.header[name] == vector[name]) }
    let scalar = try #require(vector["recipientPrivate"]?["d"]?.string)
    let recipient = try privateKey(.p256, scalar)
    let point = try JSONWebKey(reading: #require(token.header["epk"])).key
    for name in ["x", "y"] { #expect(token.header["epk"]?[name] == vector["ephemeralPrivate"]?[name]) }
    #expect(try recipient.sharedSecret(with: point).withBytes { Array($0).hex } == vector["zHex"]?.string)
    #expect(try token.decrypted(with: recipient) == Array("appendix C".utf8))
  }

  @Test("threads do not get in each other's way")
  func threads() async throws {
    let key = try PrivateKey.generate(.p256)
    let count = try await withThrowingTaskGroup(of: Int.self) { group in
      for task in 0..<8 {
        group.addTask {
          var good = 0
          for round in 0..<20 {
            let plaintext = [UInt8](repeating: UInt8(task), count: 100 * round)
            let text = try CompactJWE.encrypt(plaintext, to: JSONWebKey(key.publicKey), encryption: .a256GCM)
            if try CompactJWE(reading: text).decrypted(with: key) == plaintext { good += 1 }
            let broken = try CompactJWE(reading: replacing(4, of: text, with: withOneBitOff))
            if (try? broken.decrypted(with: key)) != nil { good -= 1 }
            let signed = try CompactJWS(reading: CompactJWS.sign([:], header: [], with: key))
            if !signed.isSigned(by: key.publicKey) { good -= 1 }
          }
          return good
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(count == 160)
  }
}
