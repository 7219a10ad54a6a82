import Bytes
import Foundation
import TestSupport
import Testing

@testable import Crypto

/// One case and the group it stands in.
private struct Entry {
  let group: [String: Any]
  let values: [String: Any]

  var id: Int { values["tcId"] as? Int ?? 0 }
  var result: String { values["result"] as? String ?? "" }
  var comment: String { values["comment"] as? String ?? "" }

  var description: String { "case \(id) (\(result), \(comment))" }

  func bytes(_ name: String) throws -> [UInt8] { try hex(#require(values[name] as? String)) }
  func groupBytes(_ name: String, _ inner: String) throws -> [UInt8] {
    try hex(#require((group[name] as? [String: Any])?[inner] as? String))
  }
}

/// A file of the folder and what it exercises.
private struct File: CustomTestStringConvertible, Sendable {
  enum Face: Sendable {
    case sealing, derivation, authentication
    case agreement(Curve)
    case signature(Curve, HashAlgorithm?, der: Bool)
  }

  let name: String
  let cases: Int
  let face: Face
  var testDescription: String { name }

  static let all = [
    File(name: "aes_gcm_test.json", cases: 316, face: .sealing),
    File(name: "ecdh_brainpoolP256r1_test.json", cases: 804, face: .agreement(.brainpoolP256r1)),
    File(name: "ecdh_brainpoolP384r1_test.json", cases: 936, face: .agreement(.brainpoolP384r1)),
    File(name: "ecdh_secp256r1_ecpoint_test.json", cases: 355, face: .agreement(.p256)),
    File(name: "ecdh_secp384r1_ecpoint_test.json", cases: 790, face: .agreement(.p384)),
    File(name: "ecdh_secp521r1_ecpoint_test.json", cases: 661, face: .agreement(.p521)),
    File(
      name: "ecdsa_brainpoolP256r1_sha256_p1363_test.json", cases: 261,
      face: .signature(.brainpoolP256r1, .sha256, der: false)),
    File(
      name: "ecdsa_brainpoolP320r1_sha384_p1363_test.json", cases: 265,
      face: .signature(.brainpoolP320r1, .sha384, der: false)),
    File(
      name: "ecdsa_brainpoolP384r1_sha384_p1363_test.json", cases: 292,
      face: .signature(.brainpoolP384r1, .sha384, der: false)),
    File(
      name: "ecdsa_brainpoolP512r1_sha512_p1363_test.json", cases: 337,
      face: .signature(.brainpoolP512r1, .sha512, der: false)),
    File(name: "ecdsa_secp256r1_sha256_p1363_test.json", cases: 262, face: .signature(.p256, .sha256, der: false)),
    File(name: "ecdsa_secp256r1_sha256_test.json", cases: 484, face: .signature(.p256, .sha256, der: true)),
    File(name: "ecdsa_secp384r1_sha384_p1363_test.json", cases: 280, face: .signature(.p384, .sha384, der: false)),
    File(name: "ecdsa_secp384r1_sha384_test.json", cases: 504, face: .signature(.p384, .sha384, der: true)),
    File(name: "ecdsa_secp521r1_sha512_p1363_test.json", cases: 318, face: .signature(.p521, .sha512, der: false)),
    File(name: "ed25519_test.json", cases: 151, face: .signature(.ed25519, nil, der: false)),
    File(name: "ed448_test.json", cases: 87, face: .signature(.ed448, nil, der: false)),
    File(name: "hkdf_sha256_test.json", cases: 86, face: .derivation),
    File(name: "hmac_sha256_test.json", cases: 174, face: .authentication),
    File(name: "x25519_test.json", cases: 518, face: .agreement(.x25519)),
    File(name: "x448_test.json", cases: 510, face: .agreement(.x448)),
  ]
}

@Suite struct WycheproofTests {
  @Test("every file of the folder is consumed")
  func files() throws {
    let found = try sharedCases(in: "vectors/wycheproof")
    guard !found.isEmpty else { return }
    #expect(found == File.all.map(\.name).sorted())
  }

  @Test("every case that our face can express comes out as the file says", arguments: File.all)
  private func outcomes(file: File) throws {
    guard let root = try sharedJSON("vectors/wycheproof/\(file.name)") as? [String: Any] else { return }
    let groups = try #require(root["testGroups"] as? [[String: Any]])
    var tally = VectorTally("wycheproof \(file.name)")
    for group in groups {
      for values in try #require(group["tests"] as? [[String: Any]]) {
        let entry = Entry(group: group, values: values)
        #expect(["valid", "invalid", "acceptable"].contains(entry.result))
        switch file.face {
        case .sealing: try sealing(entry, &tally)
        case .derivation: try derivation(entry, &tally)
        case .authentication: try authentication(entry, &tally)
        case .agreement(let curve): try agreement(entry, curve, &tally)
        case .signature(let curve, let hash, let der): try signature(entry, curve, hash, der: der, &tally)
        }
      }
    }
    print(tally)
    #expect(tally.failures == [] && tally.run > 0)
    #expect(tally.cases == file.cases)
    #expect(queueIsEmpty())
  }

  private func sealing(_ entry: Entry, _ tally: inout VectorTally) throws {
    let key = try entry.bytes("key")
    let nonce = try entry.bytes("iv")
    let plaintext = try entry.bytes("msg")
    let sealed = try entry.bytes("ct") + entry.bytes("tag")
    guard key.count == 32 else { return tally.leaveOut("with another key size") }
    guard try entry.bytes("aad").isEmpty else { return tally.leaveOut("with additional data") }
    let cipher = AES256GCM(key: SecretBytes(copying: key))
    guard nonce.count == AES256GCM.nonceSize else {
      #expect(throws: CryptoError.wrongSize(expected: 12, actual: nonce.count)) {
        _ = try cipher.open(sealed[...], nonce: nonce)
      }
      return tally.leaveOut("with another nonce size (refused as such)")
    }
    if entry.result == "valid" {
      let opened = try cipher.open(sealed[...], nonce: nonce)
      tally.count(
        entry.description, passes: try opened == plaintext && cipher.seal(plaintext[...], nonce: nonce) == sealed)
    } else {
      var refused = false
      do throws(CryptoError) {
        _ = try cipher.open(sealed[...], nonce: nonce)
      } catch {
        refused = error == .authenticationFailed
      }
      tally.count(entry.description, passes: refused)
    }
  }

  private func derivation(_ entry: Entry, _ tally: inout VectorTally) throws {
    let secret = try entry.bytes("ikm")
    let size = try #require(entry.values["size"] as? Int)
    var output = [UInt8](repeating: 0, count: size)
    let (salt, info) = (try entry.bytes("salt")[...], try entry.bytes("info")[...])
    let good = output.withUnsafeMutableBufferPointer { output in
      secret.withUnsafeBufferPointer { deriveSHA256(secret: $0, salt: salt, info: info, into: output) }
    }
    if !good { _ = openSSLError("EVP_KDF_derive") }
    if entry.result == "valid" {
      tally.count(entry.description, passes: try good && output == entry.bytes("okm"))
    } else {
      tally.count(entry.description, passes: !good)
    }
  }

  private func authentication(_ entry: Entry, _ tally: inout VectorTally) throws {
    let tag = try entry.bytes("tag")
    let made = hmacSHA256(key: SecretBytes(copying: try entry.bytes("key")), message: try entry.bytes("msg")[...])
    // groups with 16-byte tags take the first half
    let equal = isEqualInConstantTime(made.prefix(tag.count), tag)
    tally.count(entry.description, passes: equal == (entry.result == "valid"))
  }

  private func agreement(_ entry: Entry, _ curve: Curve, _ tally: inout VectorTally) throws {
    var secret: [UInt8]?
    do throws(CryptoError) {
      let peer = try peerKey(entry.group["encoding"] as? String, bytes(of: entry, "public"), curve: curve)
      let own = try PrivateKey(curve: curve, scalar: scalar(bytes(of: entry, "private"), of: curve))
      secret = try own.sharedSecret(with: peer).withBytes(Array.init)
    } catch {
      // a refusal has its own case; this one is for calls that should not fail
      if case .openSSL = error { Issue.record("case \(entry.id): \(error)") }
    }
    let expected = try entry.bytes("shared")
    switch entry.result {
    case "valid": tally.count(entry.description, passes: secret == expected)
    case "invalid": tally.count(entry.description, passes: secret == nil)
    default:
      // allowed either way, except that an all-zero output never is a secret
      let isZero = expected.allSatisfy { $0 == 0 }
      tally.count(entry.description, passes: secret == nil || (secret == expected && !isZero))
    }
  }

  private func bytes(of entry: Entry, _ name: String) -> [UInt8] { (try? entry.bytes(name)) ?? [] }

  private func peerKey(_ encoding: String?, _ bytes: [UInt8], curve: Curve) throws(CryptoError) -> PublicKey {
    switch encoding {
    case "asn":
      return try PublicKey(subjectPublicKeyInfo: bytes)
    case "ecpoint":
      switch bytes.first {
      case 4 where bytes.count % 2 == 1:
        let half = bytes.count / 2
        return try PublicKey(curve: curve, x: bytes[1...half], y: bytes[(half + 1)...])
      case 2, 3: return try PublicKey(curve: curve, x: bytes[1...], yIsOdd: bytes.first == 3)
      default: throw .invalidKey
      }
    default:
      return try PublicKey(curve: curve, raw: bytes)
    }
  }

  /// The files write scalars as DER integers do: with a sign byte, or shorter than the field.
  private func scalar(_ bytes: [UInt8], of curve: Curve) -> [UInt8] {
    guard curve.kind == .weierstrass else { return bytes }
    let digits = Array(bytes.drop { $0 == 0 })
    return [UInt8](repeating: 0, count: max(0, curve.fieldSize - digits.count)) + digits
  }

  private func signature(
    _ entry: Entry, _ curve: Curve, _ hash: HashAlgorithm?, der: Bool, _ tally: inout VectorTally
  ) throws {
    let key: PublicKey
    if curve.kind == .weierstrass {
      let point = try entry.groupBytes("publicKey", "uncompressed")
      let half = point.count / 2
      key = try PublicKey(curve: curve, x: point[1...half], y: point[(half + 1)...])
    } else {
      key = try PublicKey(curve: curve, raw: entry.groupBytes("publicKey", "pk"))
    }
    #expect(try PublicKey(subjectPublicKeyInfo: hex(#require(entry.group["publicKeyDer"] as? String))) == key)
    let (message, signature) = (try entry.bytes("msg"), try entry.bytes("sig"))
    let valid =
      der
      ? key.isValid(derSignature: signature, for: message, hash: hash)
      : key.isValid(signature: signature, for: message, hash: hash)
    tally.count(entry.description, passes: valid == (entry.result == "valid"))
  }
}
