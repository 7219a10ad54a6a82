import Bytes
import TestSupport
import Testing

@testable import CBOR

@Suite("The end of an item in a stream")
struct CBORItemEndTests {
  /// How many bytes the first item has, fed in pieces of a size; nil when its end was not found.
  private func end(_ hex: String, piece: Int, depthLimit: Int = 32) throws -> Int? {
    var search = CBORItemEnd(depthLimit: depthLimit)
    var rest = try #require(bytes(hex: hex))[...]
    var before = 0
    while !rest.isEmpty {
      let part = rest.prefix(piece)
      if let count = try search.advance(part) { return before + count }
      before += part.count
      rest = rest.dropFirst(part.count)
    }
    return nil
  }

  @Test(
    "is found in pieces of every size, whatever follows",
    arguments: [
      "00", "1818", "1bffffffffffffffff", "40", "43010203", "60", "80", "83010203", "a0", "a2016161026162", "f6",
      "f818",
      "fb3ff0000000000000", "d818420102", "5f4101420203ff", "9f01820203ff", "bf6161019fffff", "a1646461746158030a0b0c",
      "818181818100", "58184182" + String(repeating: "00", count: 22),
    ])
  func found(hex: String) throws {
    let count = hex.utf8.count / 2
    for piece in 1...(count + 4) {
      #expect(try end(hex, piece: piece) == count)
      #expect(try end(hex + "a0ff00", piece: piece) == count)
      #expect(try end(String(hex.dropLast(2)), piece: piece) == nil)
    }
  }

  @Test(
    "is not looked for in what has none",
    arguments: [
      ("1c", CBORError.Reason.reservedHead, 0), ("81fe", .reservedHead, 1), ("1f", .reservedHead, 0),
      ("ff", .unexpectedBreak, 0), ("8201ff", .unexpectedBreak, 2), ("bbffffffffffffffff", .tooManyItems, 8),
    ])
  func refused(hex: String, reason: CBORError.Reason, offset: Int) throws {
    for piece in 1...9 {
      #expect(throws: CBORError(reason, offset: offset)) { try end(hex, piece: piece) }
    }
  }

  @Test("nesting is followed to its limit, in memory that does not grow with counts")
  func depth() throws {
    #expect(try end("81818100", piece: 1, depthLimit: 3) == 4)
    #expect(throws: CBORError(.tooDeep, offset: 3)) { try end("8181818100", piece: 1, depthLimit: 3) }
    #expect(throws: CBORError(.tooDeep, offset: 32)) {
      try end(String(repeating: "c1", count: 10_000), piece: 100)
    }
    #expect(try end("9bffffffffffffffff00", piece: 3) == nil)
    #expect(try end("5bffffffffffffffff00", piece: 3) == nil)
  }

  @Test("agrees with the decoder about every item that it takes")
  func agreement() {
    var random = SplitMix64(state: 7)
    var count = 0
    for _ in 0..<20_000 {
      let input = (0..<Int.random(in: 1...24, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      guard (try? decodeCBOR(input)) != nil else { continue }
      count += 1
      var search = CBORItemEnd()
      #expect((try? search.advance(input[...])) == .some(input.count), "\(input.hex)")
    }
    #expect(count > 100)
  }
}
