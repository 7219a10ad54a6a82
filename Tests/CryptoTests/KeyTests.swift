import Bytes
import Testing

@testable import Crypto

private let signing = Curve.allCases.filter { $0.signatureSize != nil }
private let agreeing = Curve.allCases.filter { $0.kind != .edwards }

func listedHash(_ curve: Curve) -> HashAlgorithm? {
  switch curve {
  case .p256, .brainpoolP256r1: .sha256
  case .p384, .brainpoolP320r1, .brainpoolP384r1: .sha384
  case .p521, .brainpoolP512r1: .sha512
  default: nil
  }
}

@Suite struct KeyTests {
  @Test("every signing curve signs and verifies, and a changed message or signature is not valid", arguments: signing)
  func signatures(curve: Curve) throws {
    let key = try PrivateKey.generate(curve)
    let hash = listedHash(curve)
    let message = Array("a message".utf8)
    let signature = try key.signature(for: message, hash: hash)
    #expect(signature.count == curve.signatureSize)
    #expect(key.publicKey.isValid(signature: signature, for: message, hash: hash))
    #expect(key.publicKey.isValid(signature: signature[...], for: message[...], hash: hash))
    #expect(!key.publicKey.isValid(signature: signature, for: message + [0], hash: hash))
    #expect(!key.publicKey.isValid(signature: signature, for: [], hash: hash))
    for place in [0, signature.count / 2, signature.count - 1] {
      var changed = signature
      changed[place] ^= 1
      #expect(!key.publicKey.isValid(signature: changed, for: message, hash: hash))
    }
    let other = try PrivateKey.generate(curve)
    #expect(!other.publicKey.isValid(signature: signature, for: message, hash: hash))
  }

  @Test("every agreeing curve gives both sides the same secret of the field's size", arguments: agreeing)
  func agreement(curve: Curve) throws {
    let one = try PrivateKey.generate(curve)
    let two = try PrivateKey.generate(curve)
    let first = try one.sharedSecret(with: two.publicKey).withBytes(Array.init)
    let second = try two.sharedSecret(with: one.publicKey).withBytes(Array.init)
    #expect(first == second)
    #expect(first.count == curve.fieldSize)
  }
}
