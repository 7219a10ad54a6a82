/// A synthetic portrait: a baseline grey JPEG of an exact size, drawn from a few ellipses, padded with comments.
///
/// Nobody's picture: every document of the test issuer shows the same drawing.
package enum Portrait {
  /// The smallest size in bytes that holds the drawing.
  package static let minimumSize = 400

  /// A decodable JPEG of exactly `size` bytes; nil below `minimumSize` and above 16 MiB.
  package static func jpeg(size: Int) -> [UInt8]? {
    guard (minimumSize...16 << 20).contains(size) else { return nil }
    // The finest drawing that fits, in blocks of 8 x 8 pixels. Left-over sizes of 1 to 3 bytes fit no comment.
    for columns in [48, 24, 12, 6] {
      let image = JPEGImage(columns: columns, rows: columns * 4 / 3)
      let room = size - image.head.count - image.scan.count
      if room == 0 || room >= 4 { return image.head + padding(room) + image.scan }
    }
    return nil
  }

  /// Comment segments of `room` bytes together; `room` is 0 or at least 4.
  private static func padding(_ room: Int) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(room)
    while result.count < room {
      let left = room - result.count
      var piece = min(left, 65_537)
      if (1..<4).contains(left - piece) { piece -= 4 }
      result += segment(0xfe, [UInt8](repeating: UInt8(ascii: "."), count: piece - 4))
    }
    return result
  }
}

/// A picture of one grey level a block: only DC coefficients (ITU-T T.81, baseline, one component).
private struct JPEGImage {
  /// Start of image and all tables.
  let head: [UInt8]
  /// Start of scan to end of image.
  let scan: [UInt8]

  init(columns: Int, rows: Int) {
    var head: [UInt8] = [0xff, 0xd8]
    head += segment(0xe0, Array("JFIF".utf8) + [0, 1, 1, 0, 0, 1, 0, 1, 0, 0])
    // A quantizer of 8 makes one DC step one grey level.
    head += segment(0xdb, [0] + [UInt8](repeating: 8, count: 64))
    head += segment(0xc0, [8] + bigEndian(rows * 8) + bigEndian(columns * 8) + [1, 1, 0x11, 0])
    // DC: category 0 is one bit, categories 1 to 11 five bits each. AC: only "end of block", one bit.
    head += segment(0xc4, [0] + counts([1: 1, 5: 11]) + (0...11))
    head += segment(0xc4, [0x10] + counts([1: 1]) + [0])
    self.head = head

    var bits = BitWriter()
    var last = 0
    for row in 0..<rows {
      for column in 0..<columns {
        let level = greyLevel(x: (2 * column + 1) * 500 / columns, y: (2 * row + 1) * 500 / rows) - 128
        let difference = level - last
        last = level
        let category = Int.bitWidth - difference.magnitude.leadingZeroBitCount
        category == 0 ? bits.append(0, count: 1) : bits.append(15 + category, count: 5)
        bits.append(difference >= 0 ? difference : difference + 1 << category - 1, count: category)
        bits.append(0, count: 1)
      }
    }
    scan = segment(0xda, [1, 1, 0, 0, 63, 0]) + bits.finish() + [0xff, 0xd9]
  }
}

/// The drawing: a head with eyes and mouth over shoulders; coordinates from 0 to 1000.
private func greyLevel(x: Int, y: Int) -> Int {
  func isInside(_ centerX: Int, _ centerY: Int, _ radiusX: Int, _ radiusY: Int) -> Bool {
    let (dx, dy) = ((x - centerX) * 1000 / radiusX, (y - centerY) * 1000 / radiusY)
    return dx * dx + dy * dy <= 1_000_000
  }
  if isInside(390, 370, 45, 40) || isInside(610, 370, 45, 40) { return 30 }
  if isInside(500, 570, 120, 30) { return 80 }
  if isInside(500, 420, 270, 330) { return 200 }
  if isInside(500, 1000, 450, 260) { return 90 }
  return 235
}

private struct BitWriter {
  private var bytes: [UInt8] = []
  private var pending = 0
  private var count = 0

  mutating func append(_ value: Int, count added: Int) {
    pending = pending << added | value
    count += added
    while count >= 8 {
      count -= 8
      let byte = UInt8(truncatingIfNeeded: pending >> count)
      bytes.append(byte)
      if byte == 0xff { bytes.append(0) }
    }
    pending &= 1 << count - 1
  }

  /// The bytes, the last one filled with ones.
  mutating func finish() -> [UInt8] {
    if count > 0 { append(1 << (8 - count) - 1, count: 8 - count) }
    return bytes
  }
}

private func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
  [0xff, marker] + bigEndian(content.count + 2) + content
}

private func bigEndian(_ value: Int) -> [UInt8] {
  [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)]
}

/// The sixteen numbers of codes by length.
private func counts(_ byLength: [Int: UInt8]) -> [UInt8] {
  (1...16).map { byLength[$0] ?? 0 }
}
