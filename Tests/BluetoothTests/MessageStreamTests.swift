import Bytes
import Foundation
import TestSupport
import Testing

@testable import Bluetooth

@Suite("Messages on a channel's stream")
struct MessageStreamTests {
  private func messages(
    _ hex: String, piece: Int, limit: Int = 1000
  ) throws(MessageStream.Violation) -> [String] {
    var stream = MessageStream(limit: limit)
    var rest = (bytes(hex: hex) ?? [])[...]
    var messages: [String] = []
    while !rest.isEmpty {
      messages += try stream.receive(rest.prefix(piece)).map(\.hex)
      rest = rest.dropFirst(piece)
    }
    return messages
  }

  @Test(
    "come out of pieces of every size, with their lengths and bare",
    arguments: [
      ("00000009a16673746174757314", ["a16673746174757314"]), ("00000002f6f700000001a0", ["f6f7", "a0"]),
      ("00000005a0", []), ("000000", []),
      ("a16673746174757314", ["a16673746174757314"]),
      ("a0a16673746174757314bf0102ff", ["a0", "a16673746174757314", "bf0102ff"]),
      ("a1667374", []),
    ] as [(String, [String])])
  func split(hex: String, expected: [String]) throws {
    for piece in 1...(hex.utf8.count / 2 + 1) {
      #expect(try messages(hex, piece: piece) == expected)
    }
  }

  @Test(
    "are refused when they are, or say they are, too long, at the first byte that shows it",
    arguments: ["7fffffff", "0000000b", "00000001a0ffffffff", "ab" + String(repeating: "00", count: 11), "ba00100000"])
  func tooLarge(hex: String) throws {
    for piece in 1...5 {
      let input = hex == "ba00100000" ? hex + String(repeating: "0101", count: 20) : hex
      #expect(throws: MessageStream.Violation.messageTooLarge(limit: 10)) {
        try messages(input, piece: piece, limit: 10)
      }
    }
  }

  @Test(
    "are refused when a bare one is followed by no map, or has no end",
    arguments: ["a0d818", "a000000001a0", "a1ff", "a11c"])
  func noMessage(hex: String) throws {
    for piece in 1...5 {
      #expect(throws: MessageStream.Violation.noMessage) { try messages(hex, piece: piece) }
    }
  }

  @Test("are refused when they say that they are empty", arguments: ["00000000", "00000001a000000000", "0000000000"])
  func empty(hex: String) throws {
    for piece in 1...5 {
      #expect(throws: MessageStream.Violation.emptyMessage) { try messages(hex, piece: piece) }
    }
  }

  @Test("are refused when more of them end in one record than a session has", arguments: ["a0", "00000001a0"])
  func tooMany(hex: String) throws {
    #expect(try messages(String(repeating: hex, count: 16), piece: 80).count == 16)
    #expect(throws: MessageStream.Violation.tooManyMessages(limit: 16)) {
      try messages(String(repeating: hex, count: 17), piece: 85)
    }
    // Spread over records, they are as many as there are.
    #expect(try messages(String(repeating: hex, count: 100), piece: 16).count == 100)
  }

  @Test("go out as the peer's came in; with a length before any has come")
  func framing() throws {
    var stream = MessageStream(limit: 100)
    #expect(stream.framed([0xa0]).hex == "00000001a0")
    #expect(stream.framed([UInt8](repeating: 1, count: 0x1234)).prefix(4) == [0, 0, 0x12, 0x34])
    _ = try stream.receive([0, 0, 0, 1])
    #expect(stream.framing == .length && stream.isWithinMessage && stream.byteCount == 4)
    _ = try stream.receive([0xa0])
    #expect(stream.framed([0xa0]).hex == "00000001a0" && !stream.isWithinMessage)
    var bare = MessageStream(limit: 100)
    _ = try bare.receive([0xa0])
    #expect(bare.framing == .bare && bare.framed([0xa0]) == [0xa0])
  }

  @Test("no memory is taken for what was only announced")
  func announced() throws {
    var stream = MessageStream(limit: 1 << 30)
    #expect(try stream.receive([0x3f, 0xff, 0xff, 0xff, 1]) == [])
    #expect(stream.byteCount == 5)
  }

  @Test("agree with the reference framing")
  func reference() throws {
    guard let json = try sharedJSON("vectors/transport/l2cap-framing.json") as? [String: Any],
      let cases = json["cases"] as? [[String: Any]]
    else { return }
    var tally = VectorTally("framing of channels")
    for (place, entry) in cases.enumerated() {
      let hex = try #require(entry["streamHex"] as? String)
      let passes: Bool
      switch entry["expect"] {
      case let expected as [String]: passes = try messages(hex, piece: 3) == expected
      case let text as String where text.hasPrefix("reject"):
        let error = thrown(MessageStream.Violation.self) { _ = try messages(hex, piece: 3, limit: 1 << 22) }
        passes = error == .messageTooLarge(limit: 1 << 22)
      case _ as String: passes = try messages(hex, piece: 3) == []
      default: passes = try messages(hex, piece: 3) == [#require(entry["messageHex"] as? String)]
      }
      tally.count("case \(place)", passes: passes)
    }
    for example in json["psmCharacteristicExamples"] as? [[String: Any]] ?? [] {
      let text = try #require(example["valueHex4ByteBigEndian"] as? String)
      let value = try #require(bytes(hex: text))
      let psm = UInt16(try #require(example["psm"] as? Int))
      tally.count(text, passes: ChannelPSM.decode(value[...]) == psm && ChannelPSM.encode(psm) == value)
    }
    #expect(tally.failures == [])
    print(tally)
  }

  @Test(
    "a PSM is read from two or four bytes in either order, and no other number is one",
    arguments: [
      ("00000080", 0x80), ("000000ff", 0xff), ("0085", 0x85), ("8500", 0x85), ("85000000", 0x85), ("0000007f", nil),
      ("00000100", nil), ("00850000", nil), ("80", nil), ("000080", nil), ("", nil), ("0000000080", nil),
      ("8080", nil), ("ffffffff", nil),
    ] as [(String, UInt16?)])
  func psm(hex: String, expected: UInt16?) throws {
    #expect(ChannelPSM.decode(try #require(bytes(hex: hex))[...]) == expected)
  }
}
