import Bytes
import Testing

@testable import Crypto

@Suite("scrypt")
struct ScryptTests {
  @Test(
    "gives the keys of RFC 7914 section 12",
    arguments: [
      (
        "password", "NaCl", 10, 16,
        "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
          + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
      ),
      (
        "pleaseletmein", "SodiumChloride", 14, 1,
        "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
          + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
      ),
    ])
  func figures(passphrase: String, salt: String, logN: Int, parallelization: Int, expected: String) throws {
    let cost = try #require(ScryptCost(logN: logN, blockSize: 8, parallelization: parallelization))
    let secret = SecretBytes(copying: passphrase.utf8)
    let key = try scrypt(passphrase: secret, salt: Array(salt.utf8), cost: cost, count: 64)
    let whole = key.revealed(0..<64).hex
    let half = key.part(32..<64).revealed(0..<32).hex
    #expect(whole == expected && expected.hasSuffix(half))
  }

  @Test(
    "refuses what would cost too much, or nothing",
    arguments: [(0, 8, 1), (21, 1, 1), (19, 8, 1), (10, 0, 1), (10, 17, 1), (10, 8, 0), (10, 8, 17), (-1, 8, 1)])
  func limits(logN: Int, blockSize: Int, parallelization: Int) {
    #expect(ScryptCost(logN: logN, blockSize: blockSize, parallelization: parallelization) == nil)
  }
}
