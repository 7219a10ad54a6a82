import Bytes
import Foundation
import Testing

@testable import Crypto

@Suite struct SignatureTests {
  private static let message = Array("a message".utf8)

  @Test("every curve signs and verifies; a changed message, signature or key is not valid", arguments: signingCurves)
  func roundTrip(curve: Curve) throws {
    let key = try PrivateKey.generate(curve)
    let hash = listedHash(curve)
    let message = Self.message
    let signature = try key.signature(for: message, hash: hash)
    #expect(signature.count == curve.signatureSize)
    #expect(key.publicKey.isValid(signature: signature, for: message, hash: hash))
    #expect(key.publicKey.isValid(signature: ([0] + signature)[1...], for: ([0] + message)[1...], hash: hash))
    #expect(!key.publicKey.isValid(signature: signature, for: message + [0], hash: hash))
    #expect(!key.publicKey.isValid(signature: signature, for: [], hash: hash))
    for place in [0, signature.count / 2, signature.count - 1] {
      var changed = signature
      changed[place] ^= 1
      #expect(!key.publicKey.isValid(signature: changed, for: message, hash: hash))
    }
    #expect(!(try PrivateKey.generate(curve)).publicKey.isValid(signature: signature, for: message, hash: hash))
    let empty = try key.signature(for: [], hash: hash)
    #expect(key.publicKey.isValid(signature: empty, for: [], hash: hash))
    #expect(queueIsEmpty())
  }

  @Test("ECDSA takes every hash, and only the one that was signed", arguments: weierstrassCurves)
  func hashes(curve: Curve) throws {
    let key = try PrivateKey.generate(curve)
    for hash in [HashAlgorithm.sha256, .sha384, .sha512] {
      let signature = try key.signature(for: Self.message, hash: hash)
      for other in [HashAlgorithm.sha256, .sha384, .sha512] {
        #expect(key.publicKey.isValid(signature: signature, for: Self.message, hash: other) == (other == hash))
      }
      #expect(!key.publicKey.isValid(signature: signature, for: Self.message, hash: nil))
    }
  }

  @Test("other lengths are not valid, DER included", arguments: signingCurves)
  func lengths(curve: Curve) throws {
    let key = try PrivateKey.generate(curve)
    let hash = listedHash(curve)
    let signature = try key.signature(for: Self.message, hash: hash)
    for wrong in [[], Array(signature.dropLast()), Array(signature.dropFirst()), signature + [0], [0] + signature] {
      #expect(!key.publicKey.isValid(signature: wrong, for: Self.message, hash: hash))
    }
    if curve.kind == .weierstrass {
      let half = signature.count / 2
      #expect(
        !key.publicKey.isValid(
          signature: [0] + signature[..<half] + [0] + signature[half...], for: Self.message, hash: hash))
      let der = try key.derOrRawSignature(for: Self.message, hash: hash)
      #expect(key.publicKey.isValid(derSignature: der, for: Self.message, hash: hash))
      #expect(!key.publicKey.isValid(derSignature: der + [0], for: Self.message, hash: hash))
      #expect(!key.publicKey.isValid(derSignature: signature, for: Self.message, hash: hash))
      #expect(!key.publicKey.isValid(signature: der, for: Self.message, hash: hash))
    }
    #expect(queueIsEmpty())
  }

  @Test(
    "an integer of a signature has its fewest bytes, and a sign byte where the first bit is set",
    arguments: [
      ("01", "020101"), ("7f", "02017f"), ("80", "02020080"), ("ff", "020200ff"), ("007f", "02017f"),
      ("0080", "02020080"), ("0000", "020100"), ("0100", "02020100"), ("00000180", "02020180"),
    ])
  func integers(number: String, der: String) throws {
    let number = try hex(number)
    let made = derSignature(r: number[...], s: [1])
    #expect(made.hex == "30" + String(format: "%02x", der.utf8.count / 2 + 3) + der + "020101")
    // OpenSSL's reader refuses integers that are not as short as can be
    let padding = [UInt8](repeating: 0, count: 4 - number.count)
    #expect(rawSignature(der: made, size: 4) == padding + number + [0, 0, 0, 1])
  }

  @Test("the longest signature has a length of two bytes")
  func longest() throws {
    let most = [UInt8](repeating: 0xff, count: 66)
    let made = derSignature(r: most[...], s: most[...])
    #expect(made.prefix(7).elementsEqual([0x30, 0x81, 138, 0x02, 67, 0, 0xff]))
    #expect(rawSignature(der: made, size: 66) == most + most)
  }

  @Test("DER of exactly the raw length is not valid as a raw signature")
  func derOfRawLength() throws {
    // short integers make the DER as long as r || s: 30 3e 02 1c .. 02 1e ..
    let key = try PrivateKey.generate(.p256)
    var der: [UInt8] = [0x30, 0x3e, 0x02, 0x1c] + [UInt8](repeating: 1, count: 28)
    der += [0x02, 0x1e] + [UInt8](repeating: 1, count: 30)
    #expect(der.count == 64)
    #expect(!key.publicKey.isValid(signature: der, for: Self.message, hash: .sha256))
  }

  @Test("zeros and values of the order or above are not valid")
  func range() throws {
    let key = try PrivateKey.generate(.p256)
    let good = try key.signature(for: Self.message, hash: .sha256)
    let zero = [UInt8](repeating: 0, count: 32)
    let order = try hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    for (r, s) in [(zero, zero), (zero, Array(good[32...])), (Array(good[..<32]), zero), (order, order)] {
      #expect(!key.publicKey.isValid(signature: r + s, for: Self.message, hash: .sha256))
    }
    #expect(!key.publicKey.isValid(signature: [UInt8](repeating: 255, count: 64), for: Self.message, hash: .sha256))
  }

  @Test("signatures with a zero or a high first byte of r and of s verify")
  func firstBytes() throws {
    let key = try PrivateKey.generate(.p256)
    var wanted: Set<String> = ["r zero", "s zero", "r high", "s high"]
    for number in 0..<16_384 where !wanted.isEmpty {
      let message = [UInt8(number >> 8), UInt8(number & 255)]
      let signature = try key.signature(for: message, hash: .sha256)
      for (name, byte) in [("r", signature[0]), ("s", signature[32])] {
        guard byte == 0 || byte >= 128, wanted.remove("\(name) \(byte == 0 ? "zero" : "high")") != nil else { continue }
        #expect(signature.count == 64)
        #expect(key.publicKey.isValid(signature: signature, for: message, hash: .sha256))
      }
    }
    #expect(wanted.isEmpty)
  }

  @Test("a curve is not asked for what it cannot do")
  func unsuitable() throws {
    let agreement = try PrivateKey.generate(.x25519)
    #expect(throws: CryptoError.unsuitableCurve(.x25519)) { try agreement.signature(for: [1], hash: nil) }
    #expect(!agreement.publicKey.isValid(signature: [UInt8](repeating: 1, count: 64), for: [1], hash: nil))
    #expect(!agreement.publicKey.isValid(signature: [UInt8](repeating: 1, count: 64), for: [1], hash: .sha256))
    let edwards = try PrivateKey.generate(.ed25519)
    #expect(throws: CryptoError.unsuitableCurve(.ed25519)) { try edwards.signature(for: [1], hash: .sha512) }
    let good = try edwards.signature(for: [1], hash: nil)
    #expect(!edwards.publicKey.isValid(signature: good, for: [1], hash: .sha512))
    let weierstrass = try PrivateKey.generate(.p256)
    #expect(throws: CryptoError.unsuitableCurve(.p256)) { try weierstrass.signature(for: [1], hash: nil) }
    #expect(throws: CryptoError.agreementFailed) { _ = try edwards.sharedSecret(with: edwards.publicKey) }
  }

  @Test(
    "the figures of RFC 8032 sections 7.1 and 7.4 come out",
    arguments: [
      (
        Curve.ed25519, "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe"
          + "24655141438e7a100b"
      ),
      (
        .ed25519, "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302a"
          + "eeb00d291612bb0c00"
      ),
      (
        .ed25519, "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed2"
          + "8dc027beceea1ec40a"
      ),
      (
        .ed448,
        "6c82a562cb808d10d632be89c8513ebf6c929f34ddfa8c9f63c9960ef6e348a3528c8a3fcc2f044e39a3fc5b94492f8f032e7549a20098"
          + "f95b",
        "5fd7449b59b461fd2ce787ec616ad46a1da1342485a70e1f8a0ea75d80e96778edf124769b46c7061bd6783df1e50f6cd1fa1abeafe825"
          + "6180", "",
        "533a37f6bbe457251f023c0d88f976ae2dfb504a843e34d2074fd823d41a591f2b233f034f628281f2fd7a22ddd47d7828c59bd0a21bfd"
          + "3980ff0d2028d4b18a9df63e006c5d1c2d345b925d8dc00b4104852db99ac5c7cdda8530a113a0f4dbb61149f05a7363268c71d95808"
          + "ff2e652600"
      ),
    ])
  func edwardsFigures(curve: Curve, seed: String, publicKey: String, message: String, signature: String) throws {
    let key = try PrivateKey(curve: curve, scalar: hex(seed))
    #expect(key.publicKey.x.hex == publicKey)
    #expect(try key.signature(for: hex(message), hash: nil).hex == signature)
    #expect(
      try PublicKey(curve: curve, raw: hex(publicKey)).isValid(
        signature: hex(signature), for: hex(message), hash: nil))
  }
}
