import CQREncode
import Foundation
import Kernel
import Pictures
import TestSupport
import Testing

@testable import QRScan

/// An engagement as a wallet shows it: 156 characters, QR version 7 at level M or so.
let engagement = Array(
  ("mdoc:owBjMS4wAYIB2BhYS6QBAiABIVgghaBYJe7KSqcEolhmnIJaYJ2AIevkKbEy5xP7tkwlqAwiWCAMGCGe6uFI2hKeghb59h_K4hPV-Ldq6v"
    + "naxsRiySMH9gKBgwIBowD0AfULUKRoj0ZH60Qco-m0k97qRSQ").utf8)

@Suite struct QRDecoderTests {
  @Test("the engagement is found at every module size, as PNG and as PGM", arguments: 2...12)
  func moduleSizes(module: Int) throws {
    let image = try QRPicture.code(engagement, module: module)
    let decoder = try QRDecoder()
    #expect(try decoder.decode(PictureFile.decode(PNG.encode(image))) == [engagement])
    #expect(try decoder.decode(PictureFile.decode(PGM.encode(image))) == [engagement])
    let still = try #require(try decoder.decodeStill(image.inverted()))
    #expect(still.codes == [engagement])
    #expect(still.attempt == .inverse)
  }

  @Test("the engagement is found at modules of a single pixel by enlarging")
  func singlePixels() throws {
    let still = try #require(try QRDecoder().decodeStill(QRPicture.code(engagement, module: 1)))
    #expect(still.codes == [engagement])
  }

  @Test("every error correction level is read", arguments: [QR_ECLEVEL_L, QR_ECLEVEL_M, QR_ECLEVEL_Q, QR_ECLEVEL_H])
  func levels(level: QRecLevel) throws {
    #expect(try QRDecoder().decode(QRPicture.code(engagement, level: level)) == [engagement])
  }

  @Test(
    "the engagement is found turned, at several module sizes",
    arguments: [0, 90, 180, 270, 7, 13, 30, 45, 61, 200, 333])
  func rotations(degrees: Int) throws {
    let decoder = try QRDecoder()
    for module in [3, 4, 6, 9, 12] {
      let image = try QRPicture.code(engagement, module: module).rotated(degrees: Double(degrees))
      #expect(try decoder.decode(image) == [engagement], "module \(module)")
      #expect(try decoder.decodeStill(image.inverted())?.codes == [engagement], "module \(module), inverse")
    }
  }

  @Test("low contrast is enough", arguments: [(100, 160), (0, 60), (195, 255), (60, 110)])
  func contrast(dark: Int, light: Int) throws {
    let image = try QRPicture.code(engagement, module: 4).contrast(dark, light)
    let placed = try image.placed(width: 640, height: 480, x: 150, y: 90, on: UInt8(light))
    #expect(try QRDecoder().decode(placed) == [engagement])
  }

  /// The contrast is 140 levels; at 80 a module of 4 pixels is lost, which is the library's limit.
  @Test("noise is borne", arguments: [(10, 4), (30, 4), (50, 4), (80, 6)])
  func noise(amount: Int, smallest: Int) throws {
    var random = SplitMix64(state: UInt64(amount))
    let decoder = try QRDecoder()
    for module in [4, 6, 8] where module >= smallest {
      let image = try QRPicture.code(engagement, module: module).contrast(60, 200).noisy(amount, using: &random)
      #expect(try decoder.decodeStill(image)?.codes == [engagement], "module \(module)")
    }
  }

  @Test("two codes in one picture are both found, and the same code twice is one")
  func two() throws {
    let other = Array("mdoc:other".utf8)
    let image = try QRPicture.code(engagement).beside(QRPicture.code(other, module: 6))
    let decoder = try QRDecoder()
    #expect(Set(try decoder.decode(image)) == [engagement, other])
    #expect(try decoder.decode(QRPicture.code(other).beside(QRPicture.code(other))) == [other])
  }

  /// A code as designers make them: round modules, a plate with a logo in its middle, softened edges.
  private func styled(logo: Int, isRound: Bool, using random: inout SplitMix64) throws -> LumaImage {
    let module = 5
    let plain = try QRPicture.code(engagement, module: module, level: QR_ECLEVEL_H)
    var pixels = plain.pixels
    let middle = plain.width / 2
    let shade = UInt8.random(in: 0...255, using: &random)
    for y in 0..<plain.height {
      for x in 0..<plain.width {
        let place = y * plain.width + x
        let (dx, dy) = (x % module * 2 - module + 1, y % module * 2 - module + 1)
        if isRound, dx * dx + dy * dy > module * module { pixels[place] = 255 }
        let away = max(abs(x - middle), abs(y - middle))
        if away < logo { pixels[place] = away > logo - 4 ? 255 : (x + y) % 9 < 4 ? shade : 255 - shade }
      }
    }
    return try LumaImage(width: plain.width, height: plain.height, pixels: pixels)
  }

  @Test("a styled code is read, or not, and leaves the decoder fit for the next one", arguments: UInt64(1)...2)
  func styledCodes(seed: UInt64) throws {
    var random = SplitMix64(state: seed)
    let decoder = try QRDecoder()
    let good = try QRPicture.code(engagement)
    for isRound in [false, true] {
      #expect(try decoder.decodeStill(styled(logo: 22, isRound: isRound, using: &random))?.codes == [engagement])
      for _ in 0..<3 {
        let logo = Int.random(in: 0...150, using: &random)
        let picture = try styled(logo: logo, isRound: isRound, using: &random)
          .rotated(degrees: Double.random(in: 0...360, using: &random))
          .noisy(Int.random(in: 0...120, using: &random), using: &random)
        // Whatever is found in it: it is not some other text.
        let found = try decoder.decode(picture) + decoder.decode(picture.inverted())
        #expect(found.isEmpty || found == [engagement], "logo \(logo)")
      }
      // Finder patterns alone, or torn: the library's search begins and finds no end.
      var torn = good.pixels
      for place in torn.indices where Int.random(in: 0..<6, using: &random) == 0 { torn[place] = 255 - torn[place] }
      _ = try decoder.decode(LumaImage(width: good.width, height: good.height, pixels: torn))
      #expect(try decoder.decode(good) == [engagement])
    }
  }

  @Test("bytes come back unchanged, whatever encoding they look like")
  func binary() throws {
    let decoder = try QRDecoder()
    let all = (0...255).map { UInt8($0) }
    for bytes in [
      Array(all[128...]), all, [0], [0, 1, 0], [0xef, 0xbb, 0xbf, 65], Array("Grüße".utf8), [0x93, 0xfa, 0x96, 0x7b],
      Array("12345678901".utf8), Array("ABC123$%".utf8), Array("mdoc:123456789ABCDEFGHI_-x".utf8),
    ] {
      #expect(try decoder.decode(QRPicture.code(bytes)) == [bytes])
    }
  }

  @Test("an ECI header before binary data does not end the process; the library then converts to UTF-8")
  func eci() throws {
    // Code page 437, as in a code that made zbar 0.23 abort: every byte value once, in four codes.
    for part in 0..<4 {
      let bytes = (0..<64).map { UInt8(part * 64 + $0) }
      let found = try #require(try QRDecoder().decode(withECI(2, bytes)).first)
      if part < 2 { #expect(found == bytes) } else { #expect(String(validating: found, as: UTF8.self)?.count == 64) }
    }
    var random = SplitMix64(state: 2)
    let noise = (0..<40).map { _ in UInt8.random(in: 0...255, using: &random) }
    #expect(try QRDecoder().decode(withECI(2, noise)).count == 1)
  }

  @Test("an engagement is the same with any header that keeps ASCII", arguments: [UInt32(2), 3, 20, 26])
  func engagementWithECI(number: UInt32) throws {
    #expect(try QRDecoder().decode(withECI(number, engagement)) == [engagement])
  }

  private func withECI(_ number: UInt32, _ bytes: [UInt8]) throws -> LumaImage {
    let input = try #require(QRinput_new2(0, QR_ECLEVEL_M))
    defer { QRinput_free(input) }
    #expect(QRinput_appendECIheader(input, number) == 0)
    #expect(QRinput_append(input, QR_MODE_8, CInt(bytes.count), bytes) == 0)
    let code = try #require(QRcode_encodeInput(input))
    defer { QRcode_free(code) }
    return try QRPicture.picture(code, module: 4)
  }

  @Test("pictures without a code give nothing, of any size", arguments: [(1, 1), (1, 500), (500, 1), (3, 3), (64, 48)])
  func nothing(width: Int, height: Int) throws {
    var random = SplitMix64(state: 1)
    let decoder = try QRDecoder()
    for image in [
      try LumaImage(width: width, height: height, pixels: [UInt8](repeating: 0, count: width * height)),
      try LumaImage(width: width, height: height, pixels: [UInt8](repeating: 255, count: width * height)),
      try LumaImage(
        width: width, height: height,
        pixels: (0..<width * height).map { _ in UInt8.random(in: 0...255, using: &random) }),
    ] {
      #expect(try decoder.decodeStill(image) == nil)
    }
  }

  @Test("other bar codes are not read")
  func linear() throws {
    // EAN-13 4006381333931, by hand: zbar reads it when it is allowed to.
    let left = ["0001101", "0100111", "0101111", "0111101", "0001001", "0110011"]
    let right = ["1000010", "1000010", "1000010", "1110100", "1000010", "1100110"]
    let bars = "000000000" + "101" + left.joined() + "01010" + right.joined() + "101" + "000000000"
    let row = bars.flatMap { [UInt8](repeating: $0 == "1" ? 0 : 255, count: 3) }
    let image = try LumaImage(width: row.count, height: 100, pixels: Array((0..<100).map { _ in row }.joined()))
    #expect(try QRDecoder().decodeStill(image) == nil)
  }

  /// The memory of the whole process is measured, so this runs alone: Scripts/test sets the variable for a run of it.
  @Test(
    "memory does not grow with the number of codes found",
    .enabled(if: measuresMemory, "runs alone, in a process of its own: Scripts/test does it"))
  func memory() throws {
    let decoder = try QRDecoder()
    // Many codes in each picture, which is cheaper, and the library loses symbols, not pictures: without a new scanner
    // now and then it is some 700 bytes for each code, 70 MB here.
    var image = try QRPicture.code(Array("mdoc:x".utf8), module: 2)
    let codes = 64
    let (side, pixels) = (image.width, image.pixels)
    let row = (0..<side).map { y in (0..<8).flatMap { _ in pixels[y * side..<(y + 1) * side] } }.flatMap { $0 }
    image = try LumaImage(width: 8 * side, height: 8 * side, pixels: (0..<8).flatMap { _ in row })
    for _ in 0..<10_000 / codes { #expect(try decoder.decode(image).count == 1) }
    #expect(decoder.detections % codes == 0 && decoder.detections > 0)
    let before = try ProcessFacts.residentBytes()
    for _ in 0..<100_000 / codes { #expect(try decoder.decode(image).count == 1) }
    let after = try ProcessFacts.residentBytes()
    print("resident after 10,000 detections \(before), after 110,000 \(after)")
    #expect(after - before < 4 << 20)
  }
}

@Suite struct AttemptTests {
  @Test("most live frames are tried as they are, and a find is tried again")
  func turns() {
    var attempts = LiveAttempts()
    let first = (0..<LiveAttempts.turns.count).map { _ in attempts.next() }
    #expect(first[0] == .asIs && first[1] == .inverse)
    #expect(2 * first.filter { $0 == .asIs }.count > first.count)
    #expect(Set(first) == [.asIs, .inverse, .half, .inverseHalf, .middle, .inverseMiddle])
    // No two others in a row: the usual code waits for one frame at most.
    #expect(!zip(first, first.dropFirst()).contains { $0 != .asIs && $1 != .asIs })
    attempts.found(by: .inverse)
    #expect(attempts.next() == .inverse)
    #expect(attempts.next() == .asIs)
  }

  @Test("frames that are sharp only now and then, in step with anything, are tried in every way", arguments: 2...9)
  func phases(period: Int) {
    for phase in 0..<period {
      var attempts = LiveAttempts()
      var firsts: [Attempt: Int] = [:]
      for frame in 0..<period * LiveAttempts.turns.count {
        let attempt = attempts.next()
        if frame % period == phase { firsts[attempt] = firsts[attempt] ?? frame / period }
      }
      // Counted in sharp frames.
      #expect(firsts[.asIs] ?? 99 <= 6, "phase \(phase)")
      #expect(firsts[.inverse] ?? 99 <= 11, "phase \(phase)")
      #expect(firsts.count == 6, "phase \(phase)")
    }
  }

  @Test("small modules in the middle of a live picture are found")
  func small() throws {
    let code = try QRPicture.code(engagement, module: 1)
    let image = try code.placed(width: 320, height: 240, x: 130, y: 90, on: 255)
    let decoder = try QRDecoder()
    #expect(try decoder.decode(image) == [])
    #expect(try decoder.decode(image, .middle) == [engagement])
    #expect(try decoder.decode(image.inverted(), .inverseMiddle) == [engagement])
    #expect(try decoder.decode(LumaImage(width: 1, height: 1, pixels: [0]), .middle) == [])
  }

  @Test("an enlargement that would be too large is left out")
  func limits() throws {
    let image = try LumaImage(width: 3000, height: 2000, pixels: [UInt8](repeating: 0, count: 6_000_000))
    #expect(Attempt.double.apply(to: image) == nil)
    #expect(Attempt.quarter.apply(to: image)?.width == 750)
  }
}

private let measuresMemory = ProcessInfo.processInfo.environment["MDOC_MEASURE_MEMORY"] != nil
