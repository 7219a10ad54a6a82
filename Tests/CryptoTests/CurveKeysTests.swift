import Bytes
import TestSupport
import Testing

@testable import Crypto

@Suite struct CurveKeysTests {
  private static let message = Array("a message".utf8)

  /// Somebody who signs: the coordinates of the key, and a signature.
  private struct Signer: Sendable {
    let curve: Curve
    let x: [UInt8]
    let y: [UInt8]
    let signature: [UInt8]

    init(_ curve: Curve) throws {
      let key = try PrivateKey.generate(curve)
      self.curve = curve
      x = key.publicKey.x
      y = key.publicKey.y
      signature = try key.signature(for: message, hash: .sha256)
    }

    func key() throws -> PublicKey { try PublicKey(curve: curve, x: x[...], y: y[...]) }

    func hasSigned(with key: PublicKey) -> Bool { key.isValid(signature: signature, for: message, hash: .sha256) }
  }

  @Test(
    "a key that served one signer and now another verifies what the other signed alone", arguments: weierstrassCurves)
  func another(curve: Curve) throws {
    let signers = try (0..<3).map { _ in try Signer(curve) }
    // More often than keys are kept, so that each of them has served somebody else before
    for round in 0..<(3 * CurveKeys.mostSpare) {
      let signer = signers[round % signers.count]
      let key = try signer.key()
      for other in signers { #expect(other.hasSigned(with: key) == (other.x == signer.x)) }
    }
    #expect(queueIsEmpty())
  }

  @Test("many keys at once, more than are kept, stay what they are", arguments: [Curve.p256, .brainpoolP512r1])
  func many(curve: Curve) throws {
    let signers = try (0..<(2 * CurveKeys.mostSpare)).map { _ in try Signer(curve) }
    for _ in 0..<2 {
      let keys = try signers.map { try $0.key() }
      for (signer, key) in zip(signers, keys) {
        #expect(signer.hasSigned(with: key))
        #expect(key.x == signer.x && key.y == signer.y)
      }
      for (signer, key) in zip(signers, keys.dropFirst()) { #expect(!signer.hasSigned(with: key)) }
    }
  }

  @Test("a point off the curve leaves nothing behind for the key that comes after", arguments: weierstrassCurves)
  func refused(curve: Curve) throws {
    let signer = try Signer(curve)
    for _ in 0..<(2 * CurveKeys.mostSpare) {
      #expect(signer.hasSigned(with: try signer.key()))
      var wrong = signer.y
      wrong[wrong.count - 1] ^= 1
      #expect(
        thrown(CryptoError.self) { _ = try PublicKey(curve: curve, x: signer.x[...], y: wrong[...]) } == .notOnCurve)
    }
    #expect(queueIsEmpty())
  }

  @Test("a key that was given back is the generator's: nothing tells whose it was")
  func givenBack() throws {
    let keys = try #require(CurveKeys.of(.p256))
    let signer = try Signer(.p256)
    let key = try #require(keys.take(point: [4] + signer.x + signer.y))
    #expect(try #require(PublicKey.coordinates(of: key.evp, curve: .p256)).x == signer.x)
    keys.giveBack(key)
    // The x of the generator, FIPS 186-4 section D.1.2.3
    let generator = try hex("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")
    #expect(try #require(PublicKey.coordinates(of: key.evp, curve: .p256)).x == generator)
  }

  @Test("a key from a compressed point leaves a key that others can be made of")
  func compressed() throws {
    let signer = try Signer(.p384)
    for _ in 0..<(2 * CurveKeys.mostSpare) {
      let isOdd = signer.y[signer.y.count - 1] & 1 == 1
      #expect(signer.hasSigned(with: try PublicKey(curve: .p384, x: signer.x, yIsOdd: isOdd)))
      #expect(!signer.hasSigned(with: try PublicKey(curve: .p384, x: signer.x, yIsOdd: !isOdd)))
      #expect(signer.hasSigned(with: try signer.key()))
    }
  }

  @Test("an agreement is with the key that was named, whomever it served before")
  func agreement() throws {
    let own = try PrivateKey.generate(.p256)
    let peers = try (0..<3).map { _ in try PrivateKey.generate(.p256) }
    for round in 0..<(3 * CurveKeys.mostSpare) {
      let peer = peers[round % peers.count]
      let key = try PublicKey(curve: .p256, x: peer.publicKey.x[...], y: peer.publicKey.y[...])
      let ours = try own.sharedSecret(with: key).withBytes { Array($0) }
      let theirs = try peer.sharedSecret(with: own.publicKey).withBytes { Array($0) }
      #expect(ours == theirs)
    }
  }

  @Test("threads that verify at the same time get each other's keys in no case")
  func threads() async throws {
    let signers = try (0..<4).map { _ in try Signer(.p256) }
    let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
      for signer in signers {
        group.addTask {
          var wrong = 0
          for _ in 0..<100 {
            let key = try signer.key()
            for other in signers where other.hasSigned(with: key) != (other.x == signer.x) { wrong += 1 }
          }
          return wrong
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(wrong == 0)
  }
}
