import Bytes
import Testing

@testable import Crypto

/// Consecutive byte values. A closure in the arguments of a test would stop the compiler of Swift 6.0.3.
private func counting(_ values: ClosedRange<UInt8>) -> String { Array(values).hex }

@Suite struct SymmetricTests {
  @Test(
    "the figures of RFC 5869 appendix A come out, secret input or not",
    arguments: [
      (
        String(repeating: "0b", count: 22), "000102030405060708090a0b0c", "f0f1f2f3f4f5f6f7f8f9",
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
      ),
      (
        counting(0...0x4f), counting(0x60...0xaf), counting(0xb0...0xff),
        "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09da3275600c2f09"
          + "b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"
      ),
      (
        String(repeating: "0b", count: 22), "", "",
        "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
      ),
    ])
  func derivation(secret: String, salt: String, info: String, output: String) throws {
    let (secret, salt, info) = (try hex(secret), try hex(salt)[...], try hex(info)[...])
    let count = output.utf8.count / 2
    #expect(hkdfSHA256(secret: secret, salt: salt, info: info, count: count).hex == output)
    let derived = hkdfSHA256(secret: SecretBytes(copying: secret), salt: salt, info: info, count: count)
    #expect(derived.count == count)
    #expect(derived.withBytes { $0.hex } == output)
  }

  @Test(
    "the figures of RFC 4231 come out",
    arguments: [
      (
        String(repeating: "0b", count: 20), Array("Hi There".utf8),
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
      ),
      (
        Array("Jefe".utf8).hex, Array("what do ya want for nothing?".utf8),
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
      ),
      (
        String(repeating: "aa", count: 20), [UInt8](repeating: 0xdd, count: 50),
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
      ),
      (
        counting(1...25), [UInt8](repeating: 0xcd, count: 50),
        "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
      ),
      (
        String(repeating: "aa", count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
      ),
    ])
  func authentication(key: String, message: [UInt8], tag: String) throws {
    let key = try hex(key)
    #expect(hmacSHA256(key: SecretBytes(copying: key), message: message[...]).hex == tag)
    #expect(hmacSHA256(key: SecretBytes(copying: key), message: message.dropLast()).hex != tag)
  }

  @Test("digests of FIPS 180-4 come out, whole, as a view and in parts")
  func digests() throws {
    let abc = Array("abc".utf8)
    let expected: [(HashAlgorithm, String)] = [
      (.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        .sha384,
        "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"
      ),
      (
        .sha512,
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce8"
          + "0e2a9ac94fa54ca49f"
      ),
    ]
    for (algorithm, text) in expected {
      #expect(digest(algorithm, abc).hex == text)
      #expect(digest(algorithm, ([9] + abc)[1...]).hex == text)
      #expect(digest(algorithm, abc).count == algorithm.digestSize)
      let digester = Digester(algorithm)
      #expect(digester.isDigest(digest(algorithm, [9])[...], of: [9]))
      let expected = try #require(bytes(hex: text))
      #expect(digester.isDigest(expected[...], of: ([9] + abc)[1...]))
      #expect(!digester.isDigest(expected[...], of: [9]))
      #expect(!digester.isDigest(expected.dropLast(), of: abc[...]))
    }
    #expect(digest(.sha256, [][...]).hex == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(sha1(abc[...]).hex == "a9993e364706816aba3e25717850c26c9cd0d89d")
  }

  @Test(
    "AES-256-GCM of known figures comes out and opens",
    arguments: [
      (String(repeating: "00", count: 32), "000000000000000000000000", "", "530f8afbc74536b9a963b4f1c4cb738b"),
      (
        String(repeating: "00", count: 32), "000000000000000000000000", "00000000000000000000000000000000",
        "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"
      ),
    ])
  func sealing(key: String, nonce: String, plaintext: String, sealed: String) throws {
    let cipher = AES256GCM(key: SecretBytes(copying: try hex(key)))
    let nonce = try hex(nonce)
    // twice, in turns: a message must not depend on the one before it
    for _ in 0..<2 {
      #expect(try cipher.seal(hex(plaintext)[...], nonce: nonce).hex == sealed)
      #expect(try cipher.open(hex(sealed)[...], nonce: nonce).hex == plaintext)
    }
  }

  @Test("every changed bit and every truncation of a sealed message is refused, and the next one opens")
  func tampering() throws {
    let cipher = AES256GCM(key: SecretBytes(copying: randomBytes(32)))
    let nonce = randomBytes(12)
    let plaintext = Array("an element value".utf8)
    let sealed = try cipher.seal(plaintext[...], nonce: nonce)
    #expect(sealed.count == plaintext.count + AES256GCM.tagSize)
    for bit in 0..<(8 * sealed.count) {
      var changed = sealed
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: CryptoError.authenticationFailed) { _ = try cipher.open(changed[...], nonce: nonce) }
    }
    for count in 0..<sealed.count {
      #expect(throws: CryptoError.authenticationFailed) { _ = try cipher.open(sealed.prefix(count), nonce: nonce) }
    }
    #expect(throws: CryptoError.authenticationFailed) { _ = try cipher.open((sealed + [0])[...], nonce: nonce) }
    var otherNonce = nonce
    otherNonce[11] ^= 1
    #expect(throws: CryptoError.authenticationFailed) { _ = try cipher.open(sealed[...], nonce: otherNonce) }
    let otherCipher = AES256GCM(key: SecretBytes(copying: randomBytes(32)))
    #expect(throws: CryptoError.authenticationFailed) { _ = try otherCipher.open(sealed[...], nonce: nonce) }
    #expect(try cipher.open(sealed[...], nonce: nonce) == plaintext)
    #expect(queueIsEmpty())
  }

  @Test("a nonce of another length is refused with both lengths", arguments: [0, 8, 11, 13, 16])
  func nonceLength(count: Int) throws {
    let cipher = AES256GCM(key: SecretBytes(copying: randomBytes(32)))
    let nonce = [UInt8](repeating: 1, count: count)
    #expect(throws: CryptoError.wrongSize(expected: 12, actual: count)) { _ = try cipher.seal([1], nonce: nonce) }
    #expect(throws: CryptoError.wrongSize(expected: 12, actual: count)) {
      _ = try cipher.open([UInt8](repeating: 0, count: 20)[...], nonce: nonce)
    }
  }

  @Test("a large message survives")
  func large() throws {
    let cipher = AES256GCM(key: SecretBytes(copying: randomBytes(32)))
    let plaintext = randomBytes(4 << 20)
    let nonce = randomBytes(12)
    #expect(try cipher.open(cipher.seal(plaintext[...], nonce: nonce)[...], nonce: nonce) == plaintext)
  }

  @Test("secrets hold what they were given; random bytes differ")
  func secrets() {
    let secret = SecretBytes(copying: AnyCollection([1, 2, 3]))
    #expect(secret.count == 3)
    #expect(secret.withBytes { Array($0) } == [1, 2, 3])
    #expect(SecretBytes(copying: [UInt8]()).count == 0)
    #expect(randomBytes(0).isEmpty)
    #expect(randomBytes(32) != randomBytes(32))
  }

  @Test("the library's version compares with the oldest one that is safe")
  func version() {
    #expect(openSSLVersion >= (3, 0, 7))
    #expect((3, 0, 6) < (3, 0, 7) && (3, 5, 0) > (3, 0, 7))
  }

  @Test("an error carries OpenSSL's reasons, and the next one does not")
  func queue() {
    #expect(Algorithms.hash(named: "no such hash") == nil)
    guard case .openSSL(call: "EVP_MD_fetch", let reasons) = openSSLError("EVP_MD_fetch") else {
      Issue.record("another error")
      return
    }
    #expect(reasons == ["unsupported"])
    #expect(queueIsEmpty())
  }
}
