import Bytes
import CBOR
import Foundation
import TestSupport
import Testing

@testable import StatusLists

@Suite("Status lists")
struct StatusListTests {
  /// The two small examples of the IETF draft: entry by entry.
  private static let figures: [(bits: Int64, hex: String, entries: [UInt8])] = [
    (1, "78dadbb918000217015d", [1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0, 1]),
    (2, "78da3be9f2130003df0207", [1, 2, 0, 3, 0, 1, 0, 1, 1, 2, 3, 3]),
  ]

  @Test("the published lists have their published entries", arguments: figures)
  func published(bits: Int64, hex: String, entries: [UInt8]) throws {
    let compressed = try #require(bytes(hex: hex))
    let list = try #require(StatusList(bits: bits, compressed: compressed[...]))
    #expect(list.count == UInt64(entries.count))
    #expect((0..<UInt64(entries.count)).map { list[$0] } == entries)
    #expect(list[UInt64(entries.count)] == nil && list[.max] == nil)
  }

  @Test("only the entry of index 1 is set: every other one of sixteen is not", arguments: [1, 2, 4, 8] as [Int64])
  func order(bits: Int64) throws {
    // Stored, not compressed: 1 << bits in the first byte, or in the second one for bytes.
    let content: [UInt8] = bits == 8 ? [0, 1] : [1 << UInt8(bits), 0]
    var stream: [UInt8] = [0x78, 0x01, 1, 2, 0, 0xfd, 0xff]
    stream += content
    let low = 1 + UInt16(content[0]) + UInt16(content[1])
    let high = 2 + 2 * UInt16(content[0]) + UInt16(content[1])
    stream += [UInt8(high >> 8), UInt8(high & 255), UInt8(low >> 8), UInt8(low & 255)]
    let list = try #require(StatusList(bits: bits, compressed: stream[...]))
    #expect((0..<list.count).filter { list[$0] != 0 } == [1])
  }

  @Test("other sizes of entries are refused", arguments: [0, 3, 5, 6, 7, 9, 16, -1, .max, .min] as [Int64])
  func sizes(bits: Int64) throws {
    let compressed = try #require(bytes(hex: "78dadbb918000217015d"))
    #expect(StatusList(bits: bits, compressed: compressed[...]) == nil)
  }

  @Test("what is not compressed is refused")
  func notCompressed() {
    #expect(StatusList(bits: 1, compressed: [0xb9, 0xa3]) == nil)
    #expect(StatusList(bits: 1, compressed: []) == nil)
  }

  @Test("an empty list has no entry")
  func empty() throws {
    let compressed = try #require(bytes(hex: "789c030000000001"))
    let list = try #require(StatusList(bits: 8, compressed: compressed[...]))
    #expect(list.count == 0 && list[0] == nil && list.answer(at: 0) == .indexOutOfRange)
  }

  @Test("values mean what the standard says, and unknown ones are not accepted")
  func values() throws {
    let entries = (0...255).map { UInt8($0) }
    var stream: [UInt8] = [0x78, 0x01, 1, 0, 1, 0xff, 0xfe]
    stream += entries
    var (low, high): (UInt32, UInt32) = (1, 0)
    for entry in entries {
      low = (low + UInt32(entry)) % 65_521
      high = (high + low) % 65_521
    }
    for value in [high, low] { stream += [UInt8(value >> 8), UInt8(value & 255)] }
    let list = try #require(StatusList(bits: 8, compressed: stream[...]))
    #expect(list.answer(at: 0) == .valid && list.answer(at: 1) == .revoked && list.answer(at: 2) == .suspended)
    for index in 3...255 { #expect(list.answer(at: UInt64(index)) == .unknownValue) }
    #expect(list.answer(at: 256) == .indexOutOfRange)
  }

  @Test("every list of the reference data has its declared entries")
  func vectors() throws {
    guard let json = try sharedJSON("vectors/status-list/status-lists.json") as? [String: Any] else { return }
    let lists = try #require(json["lists"] as? [[String: Any]])
    #expect(lists.count == 6)
    var tally = VectorTally("status lists")
    for vector in lists {
      let name = vector["name"] as? String ?? ""
      let encoded = try #require(bytes(hex: vector["statusListCborHex"] as? String ?? ""))
      let item = try decodeCBOR(encoded)
      let list = try #require(
        StatusList(bits: item[key: "bits"]?.int ?? 0, compressed: item[key: "lst"]?.bytes ?? []), "\(name)")
      let wanted = try #require(vector["statuses"] as? [String: Int])
      tally.count(
        name,
        [
          "size": list.bits == vector["bits"] as? Int && list.count == UInt64(vector["entries"] as? Int ?? 0),
          "entries": wanted.allSatisfy { list[UInt64($0) ?? .max] == UInt8($1) },
        ])
      let clock = ContinuousClock()
      let indices = wanted.keys.compactMap { UInt64($0) }
      let time = clock.measure { for _ in 0..<100 { for index in indices { _ = list[index] } } }
      // The bound is ten microseconds for each; a debug build on a busy machine is far below it too.
      print("\(name): \(time / (100 * indices.count)) a look-up")
    }
    #expect(tally.failures == [])
    print(tally)
  }

  @Test("the identifier list of the reference data names the declared identifiers")
  func identifierVector() throws {
    guard let json = try sharedJSON("vectors/status-list/identifier-list.json") as? [String: Any] else { return }
    let encoded = try #require(bytes(hex: json["identifierListCborHex"] as? String ?? ""))
    guard case .identifiers(let identifiers)? = StatusToken.identifiers(try decodeCBOR(encoded)) else {
      Issue.record("no identifier list")
      return
    }
    #expect(identifiers.count == 3)
    let expected = try #require(json["expected"] as? [String: String])
    var tally = VectorTally("identifier list")
    for (text, outcome) in expected {
      let identifier = try #require(bytes(hex: text.split(separator: "'")[1]))
      tally.count(text, passes: identifiers.contains(identifier) == (outcome == "revoked"))
    }
    #expect(tally.failures == [])
    print(tally)
  }
}
