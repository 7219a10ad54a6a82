import Bytes
import Testing

@testable import Crypto

@Suite struct PublicKeyInfoTests {
  private static let head = "3059301306072a8648ce3d020106082a8648ce3d030107034200"
  private static let point =
    "23d6ba5f5b10b5dd413361b0682727794ce25bbcdad696317c4cb645f5d30850"
    + "5ce17ecd08be28eff50bc3e3e65eb3a68ac66aa12057cfdd8ef1c1a9b7d8d6f4"

  @Test("a named curve is found with its coordinates, from the full and the compressed point")
  func named() throws {
    let full = try PublicKey(subjectPublicKeyInfo: hex(Self.head + "04" + Self.point))
    #expect(full.curve == .p256)
    #expect((full.x + full.y).hex == Self.point)
    let compressed = try PublicKey(
      subjectPublicKeyInfo: hex("3039301306072a8648ce3d020106082a8648ce3d030107032200" + "02" + Self.point.prefix(64)))
    #expect(compressed == full)
  }

  @Test("explicit parameters are refused by that name, also where they spell out P-256")
  func explicitParameters() throws {
    let der = try hex(
      "3082014b3082010306072a8648ce3d02013081f7020101302c06072a8648ce3d0101022100ffffffff00000001000000000000000000"
        + "000000ffffffffffffffffffffffff305b0420ffffffff00000001000000000000000000000000fffffffffffffffffffffffc0420"
        + "5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b031500c49d360886e704936a6678e1139d26b7819f"
        + "7e900441046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e16"
        + "2bce33576b315ececbb6406837bf51f5022100ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc6325510201"
        + "0103420004df4c883ea8aa3efb32da397e3f4ac424d22d80467f68a654a15e613c2ab29570c7007c8ec5a1b90519b0465a395669eb"
        + "19ddda4af1e19553dc03c5a9a98693f5")
    #expect(throws: CryptoError.explicitParameters) { try PublicKey(subjectPublicKeyInfo: der) }
    #expect(queueIsEmpty())
  }

  @Test("RSA and a curve outside the suite are refused by their names")
  func unsupported() throws {
    let rsa = try hex(
      "305c300d06092a864886f70d0101010500034b003048024100c208935991fe3e3d3b08be5c7a89ea6e6c28eb7182d0d07baa022f75ae88"
        + "b8c82050b23aac137f87adcba4553ad4d7a8cf30ffadf319ec3b3eab711b504010590203010001")
    let secp256k1 = try hex(
      "3056301006072a8648ce3d020106052b8104000a034200043337f63681b5b7efb5b5ab485fc52eb68e464ff97918b4f3465b45aca01623"
        + "dded0585bd6e3ff9bc7944b5023e5c07ab2320358486fb4cb0b1d99fabf04ff7dc")
    #expect(throws: CryptoError.unsupportedCurve(name: "RSA")) { try PublicKey(subjectPublicKeyInfo: rsa) }
    #expect(throws: CryptoError.unsupportedCurve(name: "secp256k1")) {
      try PublicKey(subjectPublicKeyInfo: secp256k1)
    }
    #expect(queueIsEmpty())
  }

  @Test("the identity is not on the curve for us")
  func identity() throws {
    let der = try hex("3019301306072a8648ce3d020106082a8648ce3d03010703020000")
    #expect { try PublicKey(subjectPublicKeyInfo: der) } throws: { error in
      // OpenSSL 3.0 reads it, and we refuse; a later one may refuse to read it
      [CryptoError.notOnCurve, .invalidKey].contains(error as? CryptoError)
    }
    #expect(queueIsEmpty())
  }

  @Test("every truncation, a byte behind the end and a point off the curve are no key")
  func malformed() throws {
    let good = try hex(Self.head + "04" + Self.point)
    for count in 0..<good.count {
      #expect(throws: CryptoError.invalidKey) { try PublicKey(subjectPublicKeyInfo: good.prefix(count)) }
    }
    #expect(throws: CryptoError.invalidKey) { try PublicKey(subjectPublicKeyInfo: good + [0]) }
    var changed = good
    changed[good.count - 1] ^= 1
    #expect(throws: CryptoError.invalidKey) { try PublicKey(subjectPublicKeyInfo: changed) }
    #expect(queueIsEmpty())
  }
}
