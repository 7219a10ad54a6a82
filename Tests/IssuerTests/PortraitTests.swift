import Issuer
import Testing

@Suite("A portrait")
struct PortraitTests {
  @Test(
    "has exactly the size asked for", arguments: Array(400...1100) + [1500, 4096, 65_535, 65_536, 102_400, 1 << 20])
  func size(size: Int) throws {
    let jpeg = try #require(Portrait.jpeg(size: size))
    #expect(jpeg.count == size)
    #expect(try segments(of: jpeg).isEmpty == false)
  }

  @Test("is refused below and above what a portrait can be", arguments: [-1, 0, 399, 16 << 20 + 1])
  func refused(size: Int) {
    #expect(Portrait.jpeg(size: size) == nil)
  }

  @Test("decodes: every block of the scan reads back through the tables of the file", arguments: [400, 1500, 8000])
  func decodes(size: Int) throws {
    let jpeg = try #require(Portrait.jpeg(size: size))
    let parts = try segments(of: jpeg)
    let frame = try #require(parts.first { $0.marker == 0xc0 }?.content)
    let blocks = (Int(frame[1]) << 8 | Int(frame[2])) / 8 * ((Int(frame[3]) << 8 | Int(frame[4])) / 8)
    let tables = parts.filter { $0.marker == 0xc4 }.map { HuffmanTable($0.content) }
    let scan = try #require(parts.first { $0.marker == 0xda }?.content).dropFirst(6)
    // Byte stuffing out, then bit by bit.
    var data: [UInt8] = []
    var last: UInt8 = 0
    for byte in scan {
      if last != 0xff || byte != 0 { data.append(byte) }
      last = byte
    }
    var bits = data.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }[...]
    var level = 128
    var levels = Set<Int>()
    for _ in 0..<blocks {
      let category = Int(try #require(tables[0].next(&bits)))
      var value = 0
      for _ in 0..<category { value = value << 1 | Int(bits.removeFirst()) }
      if category > 0, value < 1 << (category - 1) { value -= 1 << category - 1 }
      level += value
      #expect((0...255).contains(level))
      levels.insert(level)
      #expect(tables[1].next(&bits) == 0)
    }
    #expect(levels.count >= 4)
    #expect(bits.count < 8 && bits.allSatisfy { $0 == 1 })
  }
}

private struct MalformedJPEG: Error {}

/// Splits a JPEG at its markers; the scan's data belong to its segment.
private func segments(of jpeg: [UInt8]) throws -> [(marker: UInt8, content: [UInt8])] {
  guard jpeg.starts(with: [0xff, 0xd8]), jpeg.suffix(2) == [0xff, 0xd9] else { throw MalformedJPEG() }
  var result: [(marker: UInt8, content: [UInt8])] = []
  var at = 2
  while at < jpeg.count - 2 {
    guard jpeg[at] == 0xff, at + 4 <= jpeg.count else { throw MalformedJPEG() }
    let marker = jpeg[at + 1]
    let end = at + 2 + Int(jpeg[at + 2]) << 8 + Int(jpeg[at + 3])
    guard end <= jpeg.count - 2 else { throw MalformedJPEG() }
    if marker == 0xda {
      result.append((marker, Array(jpeg[at + 4..<jpeg.count - 2])))
      return result
    }
    result.append((marker, Array(jpeg[at + 4..<end])))
    at = end
  }
  throw MalformedJPEG()
}

private struct HuffmanTable {
  private var symbols: [[UInt8]: UInt8] = [:]

  init(_ content: [UInt8]) {
    var code = 0
    var place = 17
    for length in 1...16 {
      for _ in 0..<content[length] {
        symbols[(0..<length).map { UInt8(code >> (length - 1 - $0) & 1) }] = content[place]
        code += 1
        place += 1
      }
      code <<= 1
    }
  }

  func next(_ bits: inout ArraySlice<UInt8>) -> UInt8? {
    var code: [UInt8] = []
    while code.count < 16, let bit = bits.popFirst() {
      code.append(bit)
      if let symbol = symbols[code] { return symbol }
    }
    return nil
  }
}
