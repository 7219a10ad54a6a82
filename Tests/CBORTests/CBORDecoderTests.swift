import Bytes
import Foundation
import TestSupport
import Testing

@testable import CBOR

private func decode(_ hex: String, limits: CBORLimits = CBORLimits()) -> Result<CBORItem, CBORError> {
  let input = bytes(hex: hex) ?? []
  do { return .success(try decodeCBOR(input, limits: limits)) } catch { return .failure(error) }
}

private func error(_ hex: String, limits: CBORLimits = CBORLimits()) -> CBORError? {
  if case .failure(let error) = decode(hex, limits: limits) { return error }
  return nil
}

@Suite("CBOR decoder")
struct CBORDecoderTests {
  @Test(
    "integers are read at every head length",
    arguments: [
      ("00", 0), ("17", 23), ("1818", 24), ("18ff", 255), ("190100", 256), ("19ffff", 65535), ("1a00010000", 65536),
      ("1a ffffffff", 4_294_967_295), ("1b0000000100000000", 4_294_967_296), ("1817", 23), ("190001", 1),
      ("1a00000002", 2),
      ("1b0000000000000003", 3), ("20", -1), ("3863", -100), ("3b00000000000003e7", -1000),
      ("3b7fffffffffffffff", Int64.min),
    ] as [(String, Int64)])
  func integers(hex: String, value: Int64) throws {
    let item = try decode(hex.filter { $0 != " " }).get()
    #expect(item.int == value)
  }

  @Test(
    "an integer at the edge of a head length is written in that length, and read again",
    arguments: [
      (0, "00"), (23, "17"), (24, "1818"), (255, "18ff"), (256, "190100"), (65_535, "19ffff"), (65_536, "1a00010000"),
      (4_294_967_295, "1affffffff"), (4_294_967_296, "1b0000000100000000"),
      (1_790_000_000_123, "1b000001a0c4506c7b"), (1 << 63 - 1, "1b7fffffffffffffff"), (1 << 63, "1b8000000000000000"),
      (.max, "1bffffffffffffffff"),
    ] as [(UInt64, String)])
  func boundaries(value: UInt64, hex: String) throws {
    #expect(CBORValue.unsigned(value).encode().hex == hex)
    #expect(try decode(hex).get().uint == value)
    // The negative of the same head is -1 - value.
    guard value <= UInt64(Int64.max) else { return }
    let below = -1 - Int64(value)
    let encoded = CBORValue.int(below).encode()
    #expect(encoded.dropFirst().elementsEqual((bytes(hex: hex) ?? []).dropFirst()))
    #expect(encoded.first == bytes(hex: hex)?.first.map { $0 | 0x20 })
    #expect(try decodeCBOR(encoded).int == below)
    // Lengths of strings, lists and maps have the same heads.
    guard value <= 65_536 else { return }
    let content = [UInt8](repeating: 0x61, count: Int(value))
    let string = CBORValue.bytes(content).encode()
    #expect(string.count == content.count + hex.count / 2 && string.first == bytes(hex: hex)?.first.map { $0 | 0x40 })
    #expect(try decodeCBOR(string).bytes.map(Array.init) == content)
    let text = CBORValue.text(String(decoding: content, as: UTF8.self)).encode()
    #expect(try decodeCBOR(text).text?.utf8.count == content.count)
  }

  @Test("an integer outside 64 signed bits is nil as int and keeps its kind")
  func wideIntegers() throws {
    let unsigned = try decode("1bffffffffffffffff").get()
    #expect(unsigned.int == nil && unsigned.uint == .max && unsigned.isInteger)
    let negative = try decode("3b8000000000000000").get()
    #expect(negative.int == nil && negative.uint == nil && negative.isInteger)
  }

  @Test(
    "half precision numbers are read",
    arguments: [
      ("f90000", 0.0), ("f93c00", 1.0), ("f97bff", 65504.0), ("f90001", 0x1p-24), ("f9c400", -4.0),
      ("f97c00", .infinity),
    ])
  func halves(hex: String, value: Double) throws {
    #expect(try decode(hex).get().double == value)
  }

  @Test(
    "what is not well-formed is refused with its reason at its offset",
    arguments: [
      ("", .truncated, 0), ("18", .truncated, 0), ("8200", .truncated, 0), ("a100", .truncated, 0),
      ("1c", .reservedHead, 0),
      ("ff", .unexpectedBreak, 0), ("8101ff", .trailingBytes, 2), ("0000", .trailingBytes, 1),
      ("f818", .invalidSimpleValue, 0),
      ("62c328", .invalidUTF8, 1), ("5f6100ff", .invalidChunk, 1), ("5f5f4100ffff", .invalidChunk, 1),
      ("1f", .reservedHead, 0), ("df", .reservedHead, 0), ("9bffffffffffffffff00", .truncated, 0),
      ("bb800000000000000000", .truncated, 0), ("5b7fffffffffffffff00", .truncated, 0), ("bf00ff", .unexpectedBreak, 2),
      ("9f00", .truncated, 2), ("63eda080", .invalidUTF8, 1), ("d8", .truncated, 0), ("c0", .truncated, 1),
    ] as [(String, CBORError.Reason, Int)])
  func notWellFormed(hex: String, reason: CBORError.Reason, offset: Int) {
    let found = error(hex)
    #expect(found?.reason == reason)
    #expect(found?.offset == offset)
  }

  @Test(
    "two keys that mean the same are refused however they are written",
    arguments: [
      "a2616101616102", "a2010118010 2", "a26161017801 6102", "a2616101 7f6161ff 02", "a220012 00 2", "a2f501f502",
      "a28101018101 02",
      "a241aa0141aa02", "a2c10101c10102", "a2a1010201a1010202",
    ])
  func duplicateKeys(hex: String) {
    #expect(error(hex.filter { $0 != " " })?.reason == .duplicateKey)
  }

  @Test("long maps are searched for duplicates as well")
  func longMaps() {
    var writer = CBORWriter()
    writer.map(count: 40)
    for key in 0..<39 {
      writer.text("key \(key * 7 % 39)")
      writer.unsigned(0)
    }
    writer.text("key 5")
    writer.null()
    #expect(error(writer.bytes.hex)?.reason == .duplicateKey)
    var ascending = CBORWriter()
    ascending.map(count: 40)
    for key in (0..<39) + [38] {
      ascending.unsigned(UInt64(key))
      ascending.null()
    }
    #expect(error(ascending.bytes.hex)?.reason == .duplicateKey)
  }

  @Test("equal content of different kinds is no duplicate")
  func differentKinds() throws {
    #expect(try decode("a2616101416102").get().count == 2)
    #expect(try decode("a200012002").get().count == 2)
  }

  @Test(
    "nesting beyond the limit is refused for arrays, maps and tags, at ten thousand levels too",
    arguments: ["81", "9f", "a100", "c1", "bf00"])
  func depth(level: String) {
    let deep = String(repeating: level, count: 10_000) + "00"
    #expect(error(deep)?.reason == .tooDeep)
    #expect(error(String(repeating: level, count: 25) + "00")?.reason == .tooDeep)
  }

  @Test("nesting up to the limit is read")
  func depthWithin() throws {
    _ = try decode(String(repeating: "81", count: 24) + "00").get()
  }

  @Test("limits on items and bytes hold")
  func limits() {
    #expect(error("83010203", limits: CBORLimits(items: 3))?.reason == .tooManyItems)
    #expect(error("83010203", limits: CBORLimits(size: 3))?.reason == .tooLarge)
  }

  @Test("an error names the way to the item")
  func paths() {
    // {"documents": [{"a": 0}, {"issuerSigned": "\xff"}]}
    let found = error("a169646f63756d656e747382a1616100a16c6973737565725369676e656461ff")
    #expect(found?.path == "documents[1].issuerSigned")
    #expect(found?.description == "invalidUTF8 at byte 31 in documents[1].issuerSigned")
  }

  @Test("a hostile key does not reach a terminal through the path")
  func hostilePath() {
    #expect(error("a1641b5b324a1c")?.path == "?[2J")
  }

  @Test("items give their bytes as received")
  func encodedRanges() throws {
    let map = try decode("b900021801 61610243010203".replacingOccurrences(of: " ", with: "")).get()
    let pairs = Array(try #require(map.entries))
    #expect(pairs[0].key.encoded.hex == "1801")
    #expect(pairs[0].value.encoded.hex == "6161")
    #expect(pairs[1].value.encoded.hex == "43010203")
    #expect(map.encoded.hex == "b90002180161610243010203")
  }

  @Test("indefinite strings are joined")
  func indefiniteStrings() throws {
    #expect(try decode("5f42010243030405ff").get().bytes?.hex == "0102030405")
    #expect(try decode("7f657374726561646d696e67ff").get().text == "streaming")
    #expect(try decode("7f657374726561646d696e67ff").get().textBytes.map(Array.init) == Array("streaming".utf8))
    #expect(try decode("6161").get().textBytes == [0x61] && decode("4161").get().textBytes == nil)
    #expect(try decode("7f6161ff").get().isText("a" as StaticString))
    #expect(try decode("5fff").get().bytes?.isEmpty == true)
  }

  @Test("tag 24 is decoded only when asked, with its own limits and offsets of the outer buffer")
  func embedded() throws {
    let item = try decode("82d8184401020304d81842a101").get()
    let first = try #require(item.element(0))
    #expect(first.embeddedBytes?.hex == "01020304")
    #expect(throws: CBORError(.trailingBytes, offset: 5)) { try first.embedded() }
    let second = try #require(item.element(1))
    #expect(throws: CBORError(.truncated, offset: 11)) { try second.embedded() }
    #expect(throws: CBORError(.unexpectedKind, offset: 0)) { try item.embedded() }
  }

  @Test("every truncation and every appended byte of a message is refused")
  func truncations() throws {
    let message = try #require(bytes(hex: "a3646461746143010203667374617475731418189f01c11a514b67b0f97e00ff"))
    _ = try decodeCBOR(message)
    for count in 0..<message.count {
      #expect(throws: CBORError.self) { try decodeCBOR(Array(message[..<count])) }
    }
    #expect(throws: CBORError(.trailingBytes, offset: message.count)) { try decodeCBOR(message + [0]) }
  }

  @Test("a slice is decoded at its own indices")
  func slices() throws {
    let buffer: [UInt8] = [0xff, 0xff, 0x82, 0x01, 0x41, 0x07, 0xff]
    let item = try decodeCBOR(buffer[2..<6])
    #expect(item.element(1)?.bytes?.hex == "07")
    #expect(item.encoded.startIndex == 2)
  }

  @Test("random bytes never trap", arguments: 0..<20)
  func randomBytes(seed: UInt64) {
    var generator = SplitMix64(state: seed)
    for _ in 0..<500 {
      let input = (0..<Int.random(in: 0...64, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      guard let item = try? decodeCBOR(input) else { continue }
      #expect(item.encoded.elementsEqual(input))
    }
  }
}

@Suite("CBOR reference data")
struct CBORVectorTests {
  @Test("the not well-formed inputs of RFC 8949 appendix F are refused")
  func notWellFormed() throws {
    guard let file = try sharedJSON("vectors/cbor/not-well-formed.json") as? [String: Any] else { return }
    var tally = VectorTally("CBOR, not well-formed")
    for hex in try #require(file["hex"] as? [String]) { tally.count(hex, passes: error(hex) != nil) }
    #expect(tally.failures == [] && tally.run > 0)
    print(tally)
  }

  @Test("appendix A decodes, and what was written deterministically is written the same")
  func appendixA() throws {
    guard let cases = try sharedJSON("vectors/cbor/appendix_a.json") as? [[String: Any]] else { return }
    var tally = VectorTally("CBOR, appendix A")
    var roundTrips = 0
    for entry in cases {
      let hex = try #require(entry["hex"] as? String)
      if hex == "f818" {  // well-formed in RFC 7049 only
        tally.count(hex, passes: error(hex)?.reason == .invalidSimpleValue)
        continue
      }
      let item = try decode(hex).get()
      guard entry["roundtrip"] as? Bool == true, let value = CBORValue(item) else {
        // Indefinite lengths, longer heads, and simple values and floats that nobody here writes.
        tally.count(hex, passes: item.encoded.hex == hex)
        continue
      }
      tally.count(hex, passes: value.encode().hex == hex)
      roundTrips += 1
    }
    print("\(tally); \(roundTrips) written again")
    #expect(tally.failures == [])
    #expect(roundTrips > 50)
  }

  @Test("unusual forms are read and policy cases are refused")
  func policy() throws {
    guard let unusual = try sharedJSON("vectors/cbor/unusual-but-well-formed.json") as? [String: Any],
      let policy = try sharedJSON("vectors/cbor/policy-cases.json") as? [String: Any]
    else { return }
    var tally = VectorTally("CBOR, unusual and against the policy")
    for entry in try #require(unusual["cases"] as? [[String: Any]]) {
      let hex = try #require(entry["hex"] as? String)
      tally.count(hex, passes: error(hex) == nil)
    }
    for entry in try #require(policy["cases"] as? [[String: Any]]) {
      let hex = try #require(entry["hex"] as? String)
      tally.count(hex, passes: error(hex) != nil)
    }
    #expect(tally.failures == [] && tally.run > 0)
    print(tally)
  }
}

extension CBORValue {
  /// The value of an item, for round trips; nil where it has simple values this type does not write.
  init?(_ item: CBORItem) {
    switch item.kind {
    case .unsigned: self = .unsigned(item.uint ?? 0)
    case .negative:
      guard let value = item.int else { return nil }
      self = .int(value)
    case .bytes: self = .bytes(Array(item.bytes ?? []))
    case .text: self = .text(item.text ?? "")
    case .array:
      var elements: [CBORValue] = []
      for element in item.elements! {
        guard let value = CBORValue(element) else { return nil }
        elements.append(value)
      }
      self = .array(elements)
    case .map:
      var pairs: [Pair] = []
      for (key, value) in item.entries! {
        guard let key = CBORValue(key), let value = CBORValue(value) else { return nil }
        pairs.append(Pair(key, value))
      }
      self = .map(pairs)
    case .tag:
      guard let content = CBORValue(item.tagged!) else { return nil }
      self = .tag(item.tagNumber!, content)
    case .simple:
      if item.isNull { self = .null } else if let value = item.bool { self = .bool(value) } else { return nil }
    case .float: self = .double(item.double!)
    }
  }
}
