import Bytes
import Foundation
import TestSupport
import Testing

@testable import Bluetooth

@Suite("Parts of messages")
struct PartFramingTests {
  private func values(of message: [UInt8], limit: Int) -> [[UInt8]] {
    var fragmenter = Fragmenter(message)
    var values: [[UInt8]] = []
    while let part = fragmenter.nextPart(limit: limit) { values.append(part.value) }
    return values
  }

  @Test(
    "a message is split into full values and a last one",
    arguments: [
      (0, 20, ["00"]), (1, 20, ["0000"]), (2, 3, ["000001"]), (3, 3, ["010001", "0002"]), (4, 3, ["010001", "000203"]),
      (2, 2, ["0100", "0001"]), (2, 0, ["0100", "0001"]),
    ])
  func split(count: Int, limit: Int, expected: [String]) {
    let message = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    #expect(values(of: message, limit: limit).map(\.hex) == expected)
  }

  @Test("a message comes back whole at every value length", arguments: [2, 3, 19, 20, 182, 244, 512])
  func roundTrip(limit: Int) throws {
    for count in [0, 1, limit - 2, limit - 1, limit, 2 * (limit - 1), 2 * (limit - 1) + 1] {
      let message = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      var reassembler = Reassembler(limit: count)
      let parts = values(of: message, limit: limit)
      for (index, value) in parts.enumerated() {
        let complete = try reassembler.receive(value[...])
        #expect(complete == (index == parts.count - 1 ? message : nil))
      }
      #expect(parts.allSatisfy { $0.count <= limit })
      #expect(reassembler.byteCount == 0)
    }
  }

  @Test("short parts before the last one are accepted")
  func shortParts() throws {
    var reassembler = Reassembler(limit: 16)
    #expect(try reassembler.receive([1, 0xaa]) == nil)
    #expect(try reassembler.receive([1]) == nil)
    #expect(reassembler.byteCount == 1)
    #expect(try reassembler.receive([1, 0xbb, 0xcc]) == nil)
    #expect(try reassembler.receive([0]) == [0xaa, 0xbb, 0xcc])
    #expect(try reassembler.receive([0, 0xdd]) == [0xdd])
  }

  @Test("an empty value is refused")
  func emptyValue() {
    var reassembler = Reassembler(limit: 16)
    #expect(throws: Reassembler.Violation.emptyValue) { try reassembler.receive([]) }
  }

  @Test("every other first byte is refused", arguments: UInt8(2)...255)
  func unknownPrefix(byte: UInt8) {
    var reassembler = Reassembler(limit: 16)
    #expect(throws: Reassembler.Violation.unknownPrefix(byte)) { try reassembler.receive([byte, 1, 2]) }
  }

  @Test("a message of exactly the limit passes, one byte more does not")
  func limit() throws {
    var exact = Reassembler(limit: 4)
    #expect(try exact.receive([1, 1, 2, 3]) == nil)
    #expect(try exact.receive([0, 4]) == [1, 2, 3, 4])
    var over = Reassembler(limit: 4)
    #expect(try over.receive([1, 1, 2, 3]) == nil)
    #expect(throws: Reassembler.Violation.messageTooLarge(limit: 4)) { try over.receive([0, 4, 5]) }
  }

  @Test("a stream of empty parts ends at the limit")
  func emptyParts() throws {
    var reassembler = Reassembler(limit: 3)
    for _ in 0..<3 { #expect(try reassembler.receive([1]) == nil) }
    #expect(throws: Reassembler.Violation.messageTooLarge(limit: 3)) { try reassembler.receive([1]) }
  }

  private struct Table: Decodable {
    struct Split: Decodable {
      var message: String
      var messageLength, attMtu, maxValueLength, chunks, lastChunkLength: Int
      var firstChunkHex, lastChunkHex: String
    }
    struct Negative: Decodable {
      var chunksHex: [String]
      var expect: String
    }
    var cases: [Split]
    var reassemblyNegative: [Negative]
  }

  private func table() throws -> Table? {
    guard let data = try sharedBytes("vectors/transport/ble-chunking.json") else { return nil }
    return try JSONDecoder().decode(Table.self, from: Data(data))
  }

  @Test("the reference table of part counts and lengths holds")
  func referenceSplits() throws {
    guard let table = try table() else { return }
    #expect(table.cases.count == 15)
    var tally = VectorTally("parts of messages")
    for row in table.cases {
      let limit = ATTMTU(row.attMtu).valueLimit
      guard let message = try sharedBytes("vectors/annex-d/\(row.message).cbor") else { return }
      let parts = values(of: message, limit: limit)
      // Long values are cut short in the table.
      let (first, last) = (row.firstChunkHex.filter { $0 != "." }, row.lastChunkHex.filter { $0 != "." })
      tally.count(
        "\(row.message) at \(row.attMtu)",
        [
          "limit": limit == row.maxValueLength, "size": message.count == row.messageLength,
          "count": parts.count == row.chunks, "rest": parts.last?.count == row.lastChunkLength,
          "first": parts.first?.hex.hasPrefix(first) == true, "last": parts.last?.hex.hasPrefix(last) == true,
        ])
    }
    #expect(tally.failures == [])
    print(tally)
  }

  @Test(
    "a value has MTU - 3 bytes and never more than 512",
    arguments: [
      (0, 20), (23, 20), (185, 182), (247, 244), (512, 509), (515, 512), (516, 512), (517, 512), (65535, 512),
    ])
  func valueLimit(mtu: Int, limit: Int) {
    #expect(ATTMTU(mtu).valueLimit == limit)
  }

  @Test(
    "the effective MTU is the smaller offer, 23 at least, and no later exchange raises it",
    arguments: [(23, 517, 23), (517, 23, 23), (512, 517, 512), (185, 247, 185), (517, 0, 23), (517, 65535, 517)])
  func exchange(own: Int, peer: UInt16, effective: Int) {
    var mtu = ATTMTU()
    #expect(mtu.value == 23)
    mtu.exchange(own: own, peer: peer)
    #expect(mtu.value == effective)
    mtu.exchange(own: own, peer: 517)
    #expect(mtu.value == effective)
    mtu.exchange(own: own, peer: 20)
    #expect(mtu.value == 23)
  }

  @Test("the reference table of odd part sequences holds")
  func referenceReassembly() throws {
    guard let table = try table() else { return }
    let outcomes = try table.reassemblyNegative.map { row in
      var reassembler = Reassembler(limit: 64)
      var outcome = "incomplete: no message yet"
      do {
        for chunk in row.chunksHex {
          if let message = try reassembler.receive(try #require(bytes(hex: chunk))[...]) {
            outcome = "message h'\(message.hex)' (a last chunk may be empty)"
          }
        }
      } catch Reassembler.Violation.emptyValue {
        outcome = "error: empty value"
      } catch Reassembler.Violation.unknownPrefix {
        outcome = "error: unknown prefix"
      }
      return outcome
    }
    #expect(outcomes == table.reassemblyNegative.map(\.expect))
  }
}
