import Foundation
import Kernel
import Pictures
import TestSupport
import Testing

func gradient(_ width: Int, _ height: Int) throws -> LumaImage {
  try LumaImage(
    width: width, height: height, pixels: (0..<width * height).map { UInt8(truncatingIfNeeded: $0 &* 7) })
}

private func pgm(_ text: String, _ samples: [UInt8] = []) -> [UInt8] { Array(text.utf8) + samples }

@Suite struct LumaImageTests {
  @Test("sizes out of range are refused before pixels are looked at")
  func sizes() {
    #expect(throws: PictureError.emptyPicture(width: 0, height: 5)) { try LumaImage(width: 0, height: 5, pixels: []) }
    #expect(throws: PictureError.tooLarge(width: 8193, height: 1)) {
      try LumaImage(width: 8193, height: 1, pixels: [])
    }
    #expect(throws: PictureError.emptyPicture(width: -1, height: 1)) { try LumaImage.checkSize(-1, 1) }
    #expect(throws: PictureError.tooLarge(width: .max, height: .max)) { try LumaImage.checkSize(.max, .max) }
    #expect(throws: PictureError.wrongPixelCount(3, expected: 4)) {
      try LumaImage(width: 2, height: 2, pixels: [1, 2, 3])
    }
  }

  @Test("a picture is inverted, enlarged and averaged")
  func changes() throws {
    let image = try LumaImage(width: 2, height: 2, pixels: [0, 100, 200, 255])
    #expect(image.inverted().pixels == [255, 155, 55, 0])
    let twice = try image.scaled(by: 2)
    #expect(twice.pixels == [0, 0, 100, 100, 0, 0, 100, 100, 200, 200, 255, 255, 200, 200, 255, 255])
    #expect(twice.halved() == image)
    #expect(try image.scaled(width: 4, height: 4) == twice)
    #expect(try image.scaled(width: 1, height: 1).pixels == [139])
    #expect(try image.scaled(width: 3, height: 1).pixels.count == 3)
    #expect(try LumaImage(width: 1, height: 5, pixels: [1, 2, 3, 4, 5]).halved() == nil)
    #expect(throws: PictureError.tooLarge(width: 2 * 4097, height: 2 * 4097)) {
      try gradient(4097, 4097).scaled(by: 2)
    }
    #expect(throws: PictureError.emptyPicture(width: 0, height: 0)) { try image.scaled(by: 0) }
    #expect(throws: PictureError.emptyPicture(width: -2, height: -2)) { try image.scaled(by: -1) }
  }
}

@Suite struct PGMTests {
  @Test("what is written is read again", arguments: [(1, 1), (3, 5), (640, 480)])
  func roundTrip(width: Int, height: Int) throws {
    let image = try gradient(width, height)
    #expect(try PictureFile.decode(PGM.encode(image)) == image)
  }

  @Test("decimal and binary samples of any maximum are scaled to 8 bits")
  func samples() throws {
    let decimal = pgm("P2 # made by hand\n# another\n3 2 # size\n15\n0 5 15\n\t15 10 0\n")
    #expect(try PGM.decode(decimal).pixels == [0, 85, 255, 255, 170, 0])
    #expect(try PGM.decode(pgm("P5 2 1 1\n", [0, 1])).pixels == [0, 255])
    #expect(try PGM.decode(pgm("P5\n2 1\n65535\n", [0xff, 0xff, 0x80, 0x00])).pixels == [255, 128])
    // A first sample that is white space or begins a comment is a sample.
    #expect(try PGM.decode(pgm("P5 2 1 255\n", [10, 35])).pixels == [10, 35])
    #expect(try PGM.decode(pgm("P2 1 1 65535 65535")).pixels == [255])
  }

  @Test(
    "what is wrong is named with its place",
    arguments: [
      ("P6 1 1 255\n", PictureError.unknownFormat),
      ("P", .unknownFormat),
      ("", .unknownFormat),
      ("P5", .truncated("header", offset: 2)),
      ("P5 12", .truncated("header", offset: 5)),
      ("P5 2 2 255", .truncated("header", offset: 10)),
      ("P5 2 2 255\nabc", .truncated("samples", offset: 14)),
      ("P5 2 2 255\nabcde", .trailingBytes(offset: 15)),
      ("P5 2 1 255 abc", .trailingBytes(offset: 13)),
      ("P5 x 1 255 a", .invalidNumber("width", offset: 3)),
      ("P5 1 -1 255 a", .invalidNumber("height", offset: 5)),
      ("P5 1 99999999999999999999 255 a", .invalidNumber("height", offset: 5)),
      ("P51 1 255 a", .invalidNumber("width", offset: 2)),
      ("P5 1 1 0 a", .invalidNumber("maximum", offset: 7)),
      ("P5 1 1 65536 a", .invalidNumber("maximum", offset: 7)),
      ("P5 1 1 255x", .invalidNumber("maximum", offset: 10)),
      ("P5 1 1 9 a", .sampleAboveMaximum(offset: 9)),
      ("P5 0 1 255 ", .emptyPicture(width: 0, height: 1)),
      ("P5 8193 1 255 ", .tooLarge(width: 8193, height: 1)),
      ("P5 4000000000 4000000000 255 ", .tooLarge(width: 4_000_000_000, height: 4_000_000_000)),
      ("P2 8192 8192 255 1 2 3", .truncated("samples", offset: 22)),
      ("P2 2 1 255 1 256", .sampleAboveMaximum(offset: 13)),
      ("P2 2 1 255 1 a", .invalidNumber("sample", offset: 13)),
      ("P2 2 1 255 100", .truncated("samples", offset: 14)),
      ("P2 1 1 255 1 1", .trailingBytes(offset: 13)),
    ])
  func refused(text: String, error: PictureError) {
    #expect(throws: error) { try PGM.decode(pgm(text)) }
  }

  @Test("every truncation is refused")
  func truncations() throws {
    let bytes = PGM.encode(try gradient(5, 4))
    for count in 0..<bytes.count { #expect(throws: PictureError.self) { try PGM.decode(Array(bytes[..<count])) } }
  }
}

@Suite struct PNGTests {
  @Test("what is written is read again", arguments: [(1, 1), (3, 5), (640, 480)])
  func roundTrip(width: Int, height: Int) throws {
    let image = try gradient(width, height)
    #expect(try PictureFile.decode(PNG.encode(image)) == image)
  }

  @Test("a picture that does not shrink still fits its buffer")
  func noise() throws {
    var random = SplitMix64(state: 7)
    let image = try LumaImage(
      width: 301, height: 200, pixels: (0..<301 * 200).map { _ in UInt8.random(in: 0...255, using: &random) })
    #expect(try PNG.decode(PNG.encode(image)) == image)
  }

  @Test("every colour type becomes grey, and what is transparent becomes white")
  func colours() throws {
    // 2 x 1 pictures of each colour type, a dark and a light pixel.
    #expect(try PNG.decode(png(2, 1, depth: 8, type: 0, [0, 0, 255])).pixels == [0, 255])
    #expect(try PNG.decode(png(2, 1, depth: 1, type: 0, [0, 0b0100_0000])).pixels == [0, 255])
    #expect(try PNG.decode(png(2, 1, depth: 16, type: 0, [0, 0, 0, 255, 255])).pixels == [0, 255])
    #expect(try PNG.decode(png(2, 1, depth: 16, type: 0, [0, 0x80, 0x80, 0x40, 0x40])).pixels == [128, 64])
    #expect(try PNG.decode(png(2, 1, depth: 8, type: 2, [0, 9, 9, 9, 250, 250, 250])).pixels == [9, 250])
    #expect(try PNG.decode(png(2, 1, depth: 8, type: 6, [0, 0, 0, 0, 0, 0, 0, 0, 255])).pixels == [255, 0])
    #expect(try PNG.decode(png(2, 1, depth: 8, type: 4, [0, 0, 0, 0, 255])).pixels == [255, 0])
    let palette: [UInt8] = [0, 0, 0, 255, 255, 255]
    #expect(try PNG.decode(png(2, 1, depth: 8, type: 3, [0, 1, 0], palette: palette)).pixels == [255, 0])
  }

  @Test("every truncation and every damaged byte is refused or read, without a trap")
  func damage() throws {
    let bytes = try PNG.encode(gradient(20, 10))
    for count in 0..<bytes.count {
      // Without the last chunk's checksum the picture is complete: libpng may accept that.
      if count < bytes.count - 12 {
        #expect(throws: PictureError.self) { try PNG.decode(Array(bytes[..<count])) }
      } else {
        _ = try? PNG.decode(Array(bytes[..<count]))
      }
    }
    for index in bytes.indices {
      var damaged = bytes
      damaged[index] ^= 0x55
      _ = try? PNG.decode(damaged)
    }
  }

  @Test("a size above the limit is refused by the header alone")
  func tooLarge() {
    #expect(throws: PictureError.tooLarge(width: 100_000, height: 100_000)) {
      try PNG.decode(png(100_000, 100_000, depth: 8, type: 0, [0]))
    }
    #expect(throws: PictureError.unknownFormat) { try PictureFile.decode(Array("GIF89a".utf8)) }
  }

  @Test("libpng's reason is kept")
  func reason() throws {
    var bytes = try PNG.encode(gradient(4, 4))
    bytes.removeLast(30)
    #expect(throws: PictureError.png("read beyond end of data")) { try PNG.decode(bytes) }
  }

  /// A PNG by hand: one uncompressed deflate block.
  private func png(
    _ width: Int, _ height: Int, depth: UInt8, type: UInt8, _ rows: [UInt8], palette: [UInt8] = []
  ) -> [UInt8] {
    func big(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
    func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
      let body = Array(name.utf8) + data
      return big(data.count) + body + big(Int(crc(body)))
    }
    func crc(_ bytes: [UInt8]) -> UInt32 {
      ~bytes.reduce(~0) { value, byte in
        (0..<8).reduce(value ^ UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xedb8_8320 : value >> 1 }
      }
    }
    var a = 1, b = 0
    for byte in rows {
      a = (a + Int(byte)) % 65521
      b = (b + a) % 65521
    }
    let length = rows.count
    let block: [UInt8] = [1, UInt8(length & 255), UInt8(length >> 8), ~UInt8(length & 255), ~UInt8(length >> 8)]
    let stream = [0x78, 0x01] + block + rows + big(b << 16 | a)
    return [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
      + chunk("IHDR", big(width) + big(height) + [depth, type, 0, 0, 0])
      + (palette.isEmpty ? [] : chunk("PLTE", palette))
      + chunk("IDAT", stream) + chunk("IEND", [])
  }
}
