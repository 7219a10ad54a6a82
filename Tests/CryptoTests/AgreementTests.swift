import Bytes
import Testing

@testable import Crypto

@Suite struct AgreementTests {
  @Test("both sides get the same secret of the field's size", arguments: agreeingCurves)
  func roundTrip(curve: Curve) throws {
    let one = try PrivateKey.generate(curve)
    let two = try PrivateKey.generate(curve)
    let first = try one.sharedSecret(with: two.publicKey).withBytes(Array.init)
    let second = try two.sharedSecret(with: one.publicKey).withBytes(Array.init)
    let other = try one.sharedSecret(with: one.publicKey).withBytes(Array.init)
    #expect(first == second && first != other)
    #expect(first.count == curve.fieldSize)
  }

  @Test("a secret with a leading zero byte keeps its full length")
  func leadingZero() throws {
    let own = try PrivateKey.generate(.p256)
    var found = false
    for _ in 0..<4096 where !found {
      let peer = try PrivateKey.generate(.p256)
      let secret = try own.sharedSecret(with: peer.publicKey).withBytes(Array.init)
      #expect(secret.count == 32)
      found = secret[0] == 0
    }
    #expect(found)
  }

  @Test("a peer on any other curve gives no secret", arguments: agreeingCurves)
  func otherCurve(curve: Curve) throws {
    let own = try PrivateKey.generate(curve)
    for other in Curve.allCases where other != curve {
      let peer = try PrivateKey.generate(other).publicKey
      #expect(throws: CryptoError.agreementFailed) { _ = try own.sharedSecret(with: peer) }
    }
    #expect(queueIsEmpty())
  }

  @Test("points of low order, whose output is all zero, give no secret")
  func zeroOutput() throws {
    let zero = [UInt8](repeating: 0, count: 32)
    let one = [1] + zero.dropLast()
    let order8 = try hex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800")
    let minusOne = try hex("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f")
    let own = try PrivateKey.generate(.x25519)
    for raw in [zero, one, order8, minusOne] {
      let peer = try PublicKey(curve: .x25519, raw: raw)
      #expect(throws: CryptoError.agreementFailed) { _ = try own.sharedSecret(with: peer) }
    }
    let long = try PrivateKey.generate(.x448)
    for raw in [zero + zero.prefix(24), one + zero.prefix(24)] {
      let peer = try PublicKey(curve: .x448, raw: raw)
      #expect(throws: CryptoError.agreementFailed) { _ = try long.sharedSecret(with: peer) }
    }
    #expect(queueIsEmpty())
  }

  @Test(
    "the figures of RFC 7748 sections 5.2, 6.1 and 6.2 come out",
    arguments: [
      (
        Curve.x25519, "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
        "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
        "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"
      ),
      (
        .x25519, "a046e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449a44",
        "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
        "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
      ),
      (
        .x448,
        "9a8f4925d1519f5775cf46b04b5800d4ee9ee8bae8bc5565d498c28dd9c9baf574a9419744897391006382a6f127ab1d9ac2d8c0a59872"
          + "6b",
        "3eb7a829b0cd20f5bcfc0b599b6feccf6da4627107bdb0d4f345b43027d8b972fc3e34fb4232a13ca706dcb57aec3dae07bdc1c67bf336"
          + "09",
        "07fff4181ac6cc95ec1c16a94a0f74d12da232ce40a77552281d282bb60c0b56fd2464c335543936521c24403085d59a449a5037514a87"
          + "9d"
      ),
    ])
  func montgomeryFigures(curve: Curve, scalar: String, peer: String, secret: String) throws {
    let own = try PrivateKey(curve: curve, scalar: hex(scalar))
    let result = try own.sharedSecret(with: PublicKey(curve: curve, raw: hex(peer)))
    #expect(result.withBytes { $0.hex } == secret)
  }

  @Test("the session keys of ISO/IEC 18013-5 Annex D come out on both sides, and its MAC key")
  func annexD() throws {
    let device = try PrivateKey(
      curve: .p256, scalar: hex("c1917a1579949a042f1ba9fc53a2df9b1bc47adf31c10f813ed75702d1c1f136"))
    let reader = try PrivateKey(
      curve: .p256, scalar: hex("de3b4b9e5f72dd9b58406ae3091434da48a6f9fd010d88fcb0958e2cebec947c"))
    let documentKey = try PrivateKey(
      curve: .p256, scalar: hex("6ed542ad4783f0b18c833fadf2171273a35d969c581691ef704359cc7cf1e8c0"))
    let salt = try hex("f823ac566e22b2106c9b7c02fadc7482e559a1de8a809b56c828779e6d67570e")[...]
    #expect(device.publicKey.x.hex == "5a88d182bce5f42efa59943f33359d2e8a968ff289d93e5fa444b624343167fe")
    #expect(device.publicKey.y.hex == "b16e8cf858ddc7690407ba61d4c338237a8cfcf3de6aa672fc60a557aa32fc67")
    for (own, peer) in [(device, reader), (reader, device)] {
      let secret = try own.sharedSecret(with: peer.publicKey)
      #expect(
        secret.withBytes { $0.hex } == "6423502f843d8cda01fbd9fa46cb397534a740ab1ec3d1076fbcb12e1dca2589")
      let toDevice = hkdfSHA256(secret: secret, salt: salt, info: ArraySlice("SKReader".utf8), count: 32)
      let toReader = hkdfSHA256(secret: secret, salt: salt, info: ArraySlice("SKDevice".utf8), count: 32)
      #expect(
        toDevice.withBytes { $0.hex } == "58d277d8719e62a1561d248f403f477e9e6c37bf5d5fc5126f8f4c727c22dfc9")
      #expect(
        toReader.withBytes { $0.hex } == "81d170e07fbdac93c1a676242c2576124a380d87bb73ed9ce4834de2272cf409")
      // a message of ours under the Annex D key, computed with another implementation
      let sealed = try AES256GCM(key: toDevice).seal(
        ArraySlice("reader message 1".utf8), nonce: hex("000000000000000000000001"))
      #expect(sealed.hex == "82afb5ada9b78a92f9da49890ebac0399801efd1a7686d9b14d1970db7c2d5c8")
    }
    let macSecret = try documentKey.sharedSecret(with: reader.publicKey)
    let macKey = hkdfSHA256(secret: macSecret, salt: salt, info: ArraySlice("EMacKey".utf8), count: 32)
    #expect(macKey.withBytes { $0.hex } == "dc2b9566fdaaae3c06baa40993cd0451aeba15e7677ef5305f6531f3533c35dd")
  }
}
