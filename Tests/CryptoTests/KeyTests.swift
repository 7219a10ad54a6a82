import Bytes
import TestSupport
import Testing

@testable import Crypto

/// The hash that protocol/01 pairs with a curve; nil for EdDSA.
func listedHash(_ curve: Curve) -> HashAlgorithm? {
  switch curve {
  case .p256, .brainpoolP256r1: .sha256
  case .p384, .brainpoolP320r1, .brainpoolP384r1: .sha384
  case .p521, .brainpoolP512r1: .sha512
  case .x25519, .x448, .ed25519, .ed448: nil
  }
}

let signingCurves = Curve.allCases.filter { $0.signatureSize != nil }
let agreeingCurves = Curve.allCases.filter { $0.kind != .edwards }
let weierstrassCurves = Curve.allCases.filter { $0.kind == .weierstrass }
let rawCurves = Curve.allCases.filter { $0.kind != .weierstrass }

/// Fixed bytes of a test, written as hexadecimal text.
func hex(_ text: String) throws -> [UInt8] { try #require(bytes(hex: text)) }

/// Whether OpenSSL's error queue of this thread is empty.
func queueIsEmpty() -> Bool { openSSLError("probe") == .openSSL(call: "probe", reasons: []) }

@Suite struct KeyTests {
  @Test("sizes are those of the curve table")
  func sizes() {
    #expect(Curve.allCases.map(\.fieldSize) == [32, 48, 66, 32, 56, 32, 57, 32, 40, 48, 64])
    #expect(Curve.allCases.map(\.signatureSize) == [64, 96, 132, nil, nil, 64, 114, 64, 80, 96, 128])
  }

  @Test("a public key rebuilt from its coordinates is the same key and verifies", arguments: weierstrassCurves)
  func rebuilt(curve: Curve) throws {
    let key = try PrivateKey.generate(curve)
    #expect(key.publicKey.x.count == curve.fieldSize && key.publicKey.y.count == curve.fieldSize)
    let full = try PublicKey(curve: curve, x: key.publicKey.x[...], y: key.publicKey.y[...])
    let odd = key.publicKey.y.last.map { $0 & 1 == 1 } ?? false
    let compressed = try PublicKey(curve: curve, x: key.publicKey.x, yIsOdd: odd)
    let mirrored = try PublicKey(curve: curve, x: key.publicKey.x, yIsOdd: !odd)
    #expect(full == key.publicKey)
    #expect(compressed == key.publicKey)
    #expect(mirrored != key.publicKey && mirrored.x == key.publicKey.x)
    let signature = try key.signature(for: [1, 2, 3], hash: .sha256)
    #expect(full.isValid(signature: signature, for: [1, 2, 3], hash: .sha256))
    #expect(compressed.isValid(signature: signature, for: [1, 2, 3], hash: .sha256))
    #expect(!mirrored.isValid(signature: signature, for: [1, 2, 3], hash: .sha256))
  }

  @Test("the scalar of a key comes out as it went in, in full length", arguments: weierstrassCurves)
  func scalar(curve: Curve) throws {
    let small = [UInt8](repeating: 0, count: curve.fieldSize - 1) + [7]
    let scalar = try PrivateKey(curve: curve, scalar: small).scalar()
    #expect(scalar.withBytes { Array($0) } == small)
    let key = try PrivateKey.generate(curve)
    let own = try key.scalar().withBytes { Array($0) }
    #expect(try PrivateKey(curve: curve, scalar: own).publicKey == key.publicKey)
  }

  @Test("keys of the other kinds have no scalar", arguments: rawCurves)
  func noScalar(curve: Curve) throws {
    let key = try PrivateKey.generate(curve)
    #expect(thrown(CryptoError.self) { _ = try key.scalar() } == .unsuitableCurve(curve))
    #expect(queueIsEmpty())
  }

  @Test("coordinates with leading zeros keep their full length")
  func leadingZeros() throws {
    var found = 0
    for number in 1...4096 where found < 2 {
      let scalar = [UInt8](repeating: 0, count: 30) + [UInt8(number >> 8), UInt8(number & 255)]
      let key = try PrivateKey(curve: .p256, scalar: scalar).publicKey
      guard key.x[0] == 0 || key.y[0] == 0 else { continue }
      found += 1
      #expect(key.x.count == 32 && key.y.count == 32)
      #expect(try PublicKey(curve: .p256, x: key.x, y: key.y) == key)
      #expect(try PublicKey(curve: .p256, x: key.x, yIsOdd: key.y[31] & 1 == 1) == key)
    }
    #expect(found == 2)
  }

  @Test("coordinates of the wrong length are refused with both lengths", arguments: weierstrassCurves)
  func wrongLength(curve: Curve) throws {
    let key = try PrivateKey.generate(curve).publicKey
    let size = curve.fieldSize
    for (x, y) in [(Array(key.x.dropFirst()), key.y), (key.x, Array(key.y.dropLast()))] {
      #expect(throws: CryptoError.wrongSize(expected: size, actual: size - 1)) {
        try PublicKey(curve: curve, x: x, y: y)
      }
    }
    #expect(throws: CryptoError.wrongSize(expected: size, actual: size + 1)) {
      try PublicKey(curve: curve, x: [0] + key.x, y: key.y)
    }
    #expect(throws: CryptoError.wrongSize(expected: size, actual: 0)) {
      try PublicKey(curve: curve, x: [], yIsOdd: true)
    }
    #expect(queueIsEmpty())
  }

  @Test("a point off the curve, zero and coordinates beyond the field are refused", arguments: weierstrassCurves)
  func offCurve(curve: Curve) throws {
    let key = try PrivateKey.generate(curve).publicKey
    let zero = [UInt8](repeating: 0, count: curve.fieldSize)
    let most = [UInt8](repeating: 255, count: curve.fieldSize)
    var changed = key.y
    changed[curve.fieldSize - 1] ^= 1
    for (x, y) in [(key.x, changed), (key.y, key.x), (zero, zero), (most, most), (key.x, most)] {
      #expect(throws: CryptoError.notOnCurve) { try PublicKey(curve: curve, x: x, y: y) }
    }
    #expect(throws: CryptoError.notOnCurve) { try PublicKey(curve: curve, x: most, yIsOdd: false) }
    #expect(queueIsEmpty())
  }

  @Test("each kind of curve takes its own form of key only")
  func kinds() {
    let bytes = [UInt8](repeating: 9, count: 32)
    #expect(throws: CryptoError.unsuitableCurve(.p256)) { try PublicKey(curve: .p256, raw: bytes) }
    #expect(throws: CryptoError.unsuitableCurve(.x25519)) { try PublicKey(curve: .x25519, x: bytes, y: bytes) }
    #expect(throws: CryptoError.unsuitableCurve(.ed25519)) { try PublicKey(curve: .ed25519, x: bytes, yIsOdd: true) }
  }

  @Test("a raw key of another length is refused with both lengths", arguments: rawCurves)
  func rawLength(curve: Curve) throws {
    let raw = try PrivateKey.generate(curve).publicKey.x
    #expect(raw.count == curve.fieldSize)
    #expect(try PublicKey(curve: curve, raw: raw[...]).x == raw)
    #expect(try PublicKey(curve: curve, raw: raw).y.isEmpty)
    for wrong in [Array(raw.dropLast()), raw + [0], []] {
      #expect(throws: CryptoError.wrongSize(expected: curve.fieldSize, actual: wrong.count)) {
        try PublicKey(curve: curve, raw: wrong)
      }
    }
  }

  @Test("scalars of zero, of the order and of another length are refused")
  func scalars() throws {
    let order = try hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    let zero = [UInt8](repeating: 0, count: 32)
    #expect(throws: CryptoError.invalidKey) { try PrivateKey(curve: .p256, scalar: zero) }
    #expect(throws: CryptoError.invalidKey) { try PrivateKey(curve: .p256, scalar: order) }
    #expect(throws: CryptoError.wrongSize(expected: 32, actual: 31)) {
      try PrivateKey(curve: .p256, scalar: zero.dropLast())
    }
    #expect(throws: CryptoError.wrongSize(expected: 57, actual: 32)) { try PrivateKey(curve: .ed448, scalar: zero) }
    var last = order
    last[31] -= 1  // order - 1: the generator's mirror image
    let mirror = try PrivateKey(curve: .p256, scalar: last).publicKey
    let generator = try PrivateKey(curve: .p256, scalar: zero.dropLast() + [1]).publicKey
    #expect(generator.x.hex == "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")
    #expect(mirror.x == generator.x && mirror.y != generator.y)
    #expect(queueIsEmpty())
  }

  @Test("a key file written is read back as the same key", arguments: Curve.allCases)
  func keyFiles(curve: Curve) throws {
    let key = try PrivateKey.generate(curve)
    let text = try key.pkcs8PEM()
    #expect(text.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    let read = try PrivateKey(pem: text)
    #expect(read.publicKey == key.publicKey)
    #expect(try read.pkcs8PEM() == text)
  }

  @Test("the older form of an EC key file is read")
  func olderKeyFile() throws {
    let key = try PrivateKey(
      pem: """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEILBQfvzZVUkT+SyTniy5WO1VvLpyij/gQl9IboIUfkE3oAoGCCqGSM49
        AwEHoUQDQgAEI9a6X1sQtd1BM2GwaCcneUziW7za1pYxfEy2RfXTCFBc4X7NCL4o
        7/ULw+PmXrOmisZqoSBXz92O8cGpt9jW9A==
        -----END EC PRIVATE KEY-----
        """)
    #expect(key.publicKey.x.hex == "23d6ba5f5b10b5dd413361b0682727794ce25bbcdad696317c4cb645f5d30850")
  }

  @Test("a key file with a point that does not belong to its scalar is refused")
  func mismatchedKeyFile() throws {
    // the file above with the generator as its public point
    let scalar = "b0507efcd9554913f92c939e2cb958ed55bcba728a3fe0425f486e82147e4137"
    let point =
      "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
      + "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
    let der = try hex("30770201010420" + scalar + "a00a06082a8648ce3d030107a14403420004" + point)
    let text = "-----BEGIN EC PRIVATE KEY-----\n\(Base64.standard.encode(der))\n-----END EC PRIVATE KEY-----\n"
    #expect(throws: CryptoError.invalidKey) { try PrivateKey(pem: text) }
    #expect(queueIsEmpty())
  }

  @Test("an encrypted key file is refused without a question at the terminal; so is text that is no key")
  func unreadableKeyFiles() {
    let encrypted = """
      -----BEGIN ENCRYPTED PRIVATE KEY-----
      MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgge6p0HnY8pgICCAAw
      DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEKJmQM0tgZsz9pu4l4kMPv0EgZCm
      Cj21kUZpOZ0kJ9mHpyd2mAjkaHes4y6VtdaAhuU0HiAWO4hbEDOlsE2E4O4txGDB
      S/UFdub6CtmXchjjbgILS/ruFkif0mqlJlh1thiOnu4FWy5iN7OVYw/n2ZVDTWDz
      dTZaijrM0PuXXh7k3ubH/caZX8cqT7ayOzQJxi5QjodikWIF5PS07BW7m/g3Qyg=
      -----END ENCRYPTED PRIVATE KEY-----
      """
    for text in [encrypted, "", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
      #expect(throws: CryptoError.invalidKey) { try PrivateKey(pem: text) }
    }
    #expect(queueIsEmpty())
  }
}
