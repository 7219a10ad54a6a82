import Testing

@testable import Bytes

@Suite("Hexadecimal")
struct HexTests {
  @Test("every byte is written and read back")
  func everyByte() {
    let all = (0...255).map { UInt8($0) }
    #expect(bytes(hex: all.hex) == all)
    #expect(bytes(hex: all.hex.uppercased()) == all)
    #expect(([] as [UInt8]).hex.isEmpty && bytes(hex: "") == [])
  }

  @Test("what is no hexadecimal text is nil", arguments: ["0", "0g", "a b", "0x00", "é0"])
  func refused(text: String) {
    #expect(bytes(hex: text) == nil)
  }
}

@Suite("Base64")
struct Base64Tests {
  /// RFC 4648 section 10.
  private static let figures = [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
  ]

  @Test("the figures of RFC 4648 hold both ways", arguments: figures)
  func rfc4648(plain: String, encoded: String) throws {
    #expect(Base64.standard.encode(plain.utf8) == encoded)
    #expect(try Base64.standard.decode(encoded) == Array(plain.utf8))
    let bare = String(encoded.prefix { $0 != "=" })
    #expect(Base64.url.encode(plain.utf8) == bare)
    #expect(try Base64.url.decode(bare) == Array(plain.utf8))
  }

  @Test("the two alphabets differ in two characters")
  func alphabets() throws {
    #expect(Base64.standard.encode([0xfb, 0xff]) == "+/8=")
    #expect(Base64.url.encode([0xfb, 0xff]) == "-_8")
    #expect(throws: Base64.Violation.character(offset: 0)) { try Base64.url.decode("+/8") }
    #expect(throws: Base64.Violation.character(offset: 1)) { try Base64.standard.decode("A-8=") }
  }

  @Test("padding, lengths and spare bits are strict")
  func strict() {
    #expect(throws: Base64.Violation.character(offset: 2)) { try Base64.url.decode("Zg==") }
    #expect(throws: Base64.Violation.length) { try Base64.standard.decode("Zg") }
    #expect(throws: Base64.Violation.length) { try Base64.url.decode("Zm9vY") }
    #expect(throws: Base64.Violation.spareBits) { try Base64.url.decode("Zh") }
    #expect(throws: Base64.Violation.spareBits) { try Base64.standard.decode("Zm9=") }
    #expect(throws: Base64.Violation.character(offset: 2)) { try Base64.standard.decode("Zm 9v===") }
    #expect(throws: Base64.Violation.character(offset: 3)) { try Base64.url.decode("Zm9\n") }
  }
}

@Suite("Comparison in constant time")
struct ComparisonTests {
  @Test("equal is equal, whatever differs is not")
  func comparison() {
    #expect(isEqualInConstantTime([1, 2, 3] as [UInt8], [1, 2, 3] as [UInt8]))
    #expect(!isEqualInConstantTime([1, 2, 3] as [UInt8], [1, 2, 4] as [UInt8]))
    #expect(!isEqualInConstantTime([1, 2, 3] as [UInt8], [1, 2] as [UInt8]))
    #expect(isEqualInConstantTime([] as [UInt8], [] as [UInt8]))
  }

  @Test("byte strings and texts are equal when every byte is, at every length")
  func equality() {
    let text: StaticString = "elementIdentifier"
    let same = Array("elementIdentifier".utf8)
    #expect(isEqual(same[...], text))
    #expect(isEqual(([0] + same)[1...], text))
    #expect(!isEqual(same.dropLast(), text))
    for place in same.indices {
      var other = same
      other[place] ^= 0x20
      #expect(!isEqual(other[...], text))
      #expect(!isEqual(other[...], same[...]))
      #expect(isEqual(same[place...], same.suffix(same.count - place)))
    }
    #expect(isEqual([][...], ""))
  }
}

@Suite("The distance between two texts")
struct EditDistanceTests {
  @Test(
    "counts the slips of a finger, an exchange of neighbours as one",
    arguments: [
      ("", "", 0), ("type", "type", 0), ("tpye", "type", 1), ("conect", "connect", 1), ("mediun", "medium", 1),
      ("", "abc", 3), ("kitten", "sitting", 3),
    ])
  func distance(left: String, right: String, expected: Int) {
    #expect(editDistance(left, right) == expected && editDistance(right, left) == expected)
  }

  @Test("is out of reach for texts that no finger slips into")
  func far() {
    let long = String(repeating: "a", count: 65)
    #expect(editDistance(long, long) == .max)
  }
}
