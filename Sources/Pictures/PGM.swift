/// Portable grey maps (pgm(5)): `P5` with binary samples, `P2` with decimal ones.
package enum PGM {
  /// Reads one picture that fills the bytes; samples are scaled to 0...255 from the file's own maximum.
  package static func decode(_ bytes: [UInt8]) throws(PictureError) -> LumaImage {
    guard bytes.count >= 2, bytes[0] == UInt8(ascii: "P"), isPGM(bytes) else { throw .unknownFormat }
    let isBinary = bytes[1] == UInt8(ascii: "5")
    var reader = NumberReader(bytes: bytes, position: 2)
    let width = try reader.number("width", in: 0...Int(UInt32.max))
    let height = try reader.number("height", in: 0...Int(UInt32.max))
    try LumaImage.checkSize(width, height)
    let maximum = try reader.number("maximum", in: 1...65535)
    let count = width * height
    let pixels = try isBinary ? samples(&reader, count, maximum) : decimals(&reader, count, maximum)
    return try LumaImage(width: width, height: height, pixels: pixels)
  }

  /// A `P5` file of 255 grey levels.
  package static func encode(_ image: LumaImage) -> [UInt8] {
    Array("P5\n\(image.width) \(image.height)\n255\n".utf8) + image.pixels
  }

  static func isPGM(_ bytes: [UInt8]) -> Bool {
    bytes.starts(with: Array("P5".utf8)) || bytes.starts(with: Array("P2".utf8))
  }

  private static func samples(
    _ reader: inout NumberReader, _ count: Int, _ maximum: Int
  ) throws(PictureError) -> [UInt8] {
    // A single white space separates the maximum from the samples; the next byte may be a sample that looks like one.
    let start = try reader.skipOneSpace("maximum")
    let bytes = reader.bytes
    let width = maximum > 255 ? 2 : 1
    guard bytes.count - start >= count * width else { throw .truncated("samples", offset: bytes.count) }
    guard bytes.count - start == count * width else { throw .trailingBytes(offset: start + count * width) }
    if maximum == 255 { return Array(bytes[start...]) }
    var pixels: [UInt8] = []
    pixels.reserveCapacity(count)
    for offset in stride(from: start, to: bytes.count, by: width) {
      let sample = width == 1 ? Int(bytes[offset]) : Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
      guard sample <= maximum else { throw .sampleAboveMaximum(offset: offset) }
      pixels.append(scale(sample, maximum))
    }
    return pixels
  }

  private static func decimals(
    _ reader: inout NumberReader, _ count: Int, _ maximum: Int
  ) throws(PictureError) -> [UInt8] {
    // A sample takes two bytes at least, the last one apart: nothing is reserved for what cannot be there.
    guard reader.bytes.count - reader.position >= 2 * count else {
      throw .truncated("samples", offset: reader.bytes.count)
    }
    var pixels: [UInt8] = []
    pixels.reserveCapacity(count)
    for _ in 0..<count {
      let sample = try reader.number("sample", in: 0...Int(UInt32.max))
      guard sample <= maximum else { throw .sampleAboveMaximum(offset: reader.start) }
      pixels.append(scale(sample, maximum))
    }
    reader.skipSpace()
    guard reader.position == reader.bytes.count else { throw .trailingBytes(offset: reader.position) }
    return pixels
  }

  private static func scale(_ sample: Int, _ maximum: Int) -> UInt8 {
    UInt8((sample * 255 + maximum / 2) / maximum)
  }
}

/// Decimal numbers between white space and comments (`#` to the end of the line).
private struct NumberReader {
  let bytes: [UInt8]
  var position: Int
  /// Where the last number began.
  private(set) var start = 0

  init(bytes: [UInt8], position: Int) {
    self.bytes = bytes
    self.position = position
  }

  mutating func skipSpace() {
    while position < bytes.count {
      if bytes[position] == UInt8(ascii: "#") {
        while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
      } else if isSpace(bytes[position]) {
        position += 1
      } else {
        return
      }
    }
  }

  mutating func skipOneSpace(_ field: String) throws(PictureError) -> Int {
    guard position < bytes.count else { throw .truncated("header", offset: bytes.count) }
    guard isSpace(bytes[position]) else { throw .invalidNumber(field, offset: position) }
    position += 1
    return position
  }

  mutating func number(_ field: String, in range: ClosedRange<Int>) throws(PictureError) -> Int {
    // What stands before a number must be space or a comment, or the number would run into the one before.
    let before = position
    skipSpace()
    start = position
    guard position < bytes.count else {
      throw .truncated(field == "sample" ? "samples" : "header", offset: bytes.count)
    }
    guard position > before else { throw .invalidNumber(field, offset: position) }
    var value = 0
    while position < bytes.count, case let digit = bytes[position] &- UInt8(ascii: "0"), digit < 10 {
      value = value * 10 + Int(digit)
      guard value <= range.upperBound else { throw .invalidNumber(field, offset: start) }
      position += 1
    }
    guard position > start, range.contains(value) else { throw .invalidNumber(field, offset: start) }
    return value
  }

  private func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
}
