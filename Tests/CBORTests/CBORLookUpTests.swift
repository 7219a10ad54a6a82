import Bytes
import TestSupport
import Testing

@testable import CBOR

private func decode(_ hex: String) throws -> CBORItem { try decodeCBOR(#require(bytes(hex: hex))) }

@Suite("Looking up in CBOR maps")
struct CBORLookUpTests {
  /// {"n": 7, "t": "ab", "b": h'0102', "s": (_ "a", "b")} and the key "i" in two chunks.
  private let map = "a5 616e 07 6174 626162 6162 420102 6173 7f61616162ff 7f61696178ff 08".filter { $0 != " " }

  @Test("a member is found under its key, and only as what it is")
  func members() throws {
    let item = try decode(map)
    #expect(item.uint(under: "n") == 7)
    #expect(item.text(under: "t") == "ab")
    #expect(item.bytes(under: "b").map(Array.init) == [1, 2])
    #expect(item.text(under: "s") == "ab")
    #expect(item.uint(under: "ix") == 8)
    #expect(item[key: "ix"]?.uint == 8)
    #expect(item.uint(under: "t") == nil)
    #expect(item.text(under: "n") == nil)
    #expect(item.bytes(under: "t") == nil)
    #expect(item.uint(under: "m") == nil)
    #expect(item.uint(under: "nn") == nil)
    #expect(try decode("07").uint(under: "n") == nil)
  }

  @Test(
    "byte strings are found under their numbers, whatever the order of the keys",
    arguments: [
      "a3 01 41aa 05 41bb 1907d0 41cc", "a3 1907d0 41cc 01 41aa 05 41bb", "bf 05 41bb 01 41aa 1907d0 5f41ccff ff",
    ])
  func byteStrings(hex: String) throws {
    let strings = try #require(CBORByteStrings(decode(hex.filter { $0 != " " })))
    #expect(strings.count == 3)
    #expect(strings[1].map(Array.init) == [0xaa])
    #expect(strings[5].map(Array.init) == [0xbb])
    #expect(strings[2000].map(Array.init) == [0xcc])
    for missing in [0, 2, 6, 1999, 2001, UInt64.max] { #expect(strings[missing] == nil) }
  }

  @Test("what is no map of numbers to byte strings is none", arguments: ["07", "80", "a1 20 41aa", "a1 01 6161"])
  func others(hex: String) throws {
    let item = try decode(hex.filter { $0 != " " })
    #expect(CBORByteStrings(item) == nil)
  }

  @Test("an empty map holds nothing")
  func empty() throws {
    let strings = try #require(CBORByteStrings(decode("a0")))
    #expect(strings.count == 0)
    #expect(strings[0] == nil)
  }
}
