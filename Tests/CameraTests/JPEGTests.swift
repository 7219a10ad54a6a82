import Foundation
import Kernel
import Pictures
import TestSupport
import Testing

@testable import Camera

/// A picture of a code that says "mdoc:hi", 96 x 96 pixels, 90 around it: a baseline JPEG in 4:2:2 by libjpeg, quality 60,
/// with the segment of Huffman tables (DHT) cut out, as many cameras send them.
private let withoutTables = [UInt8](
  Data(
    base64Encoded:
      "/9j/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZP"
      + "NS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT0//wAARCABgAGADASEAAhEBAxEB/9oADAMBAAIRAxEAPwDI"
      + "ooAKKACigAooAKKACigAooAKKACigAooAKKACigAooAKKACigAooAKKACigAooAK9C0zTrB9LtHeytmZoUJJiUknaOelAFn+zNO/58LX/vyv+FH9mad/"
      + "z4Wv/flf8KAD+zNO/wCfC1/78r/hR/Zmnf8APha/9+V/woAranp1gml3bpZWyssLkERKCDtPPSvPaACigAooAK9L0n/kEWX/AFwT/wBBFAHE3NwkUepa"
      + "hqWq62iJqktrHHZ3GAoHzDg/j+lFtcJLHpuoabqutuj6pFayR3lxkMD8x4H4frQBp2Rv7yO8kXUGiSz1x3laWZlAgTqmfTnoeKoWt3rd5emS0uGn04a5"
      + "tLRO7OEz0yOPK2n6ZoA7LVv+QRe/9cH/APQTXmlABRQAUUAFel6T/wAgiy/64J/6CKAOJubdJY9S0/UtK1t0fVJbqOSzt8hgflHJ/H9KLa3SKPTdP03S"
      + "tbRE1SK6kkvLfAUD5TyPw/WgDT8RR21tqsMcSahE92VVViAWzmlZjgTD+LP8XcrWZ4d065lvZhbakttdW+qM1xZQzlIWiUjcVQDPXgZ4xxQB22rf8gi9"
      + "/wCuD/8AoJrzSgAooAKKACvS9J/5BFl/1wT/ANBFAHL3WraxY6jew6fDJ5G95A+qK/7yTOPKgIOCCANq9TzWbqPiHVbDSpGVmie7JEsV4WW4idlOWiGe"
      + "IhjCk8g5oAk0qC5vLK4uGur2dxprSRW95IWmE+ARNEv93nCsOc5pvhe6mfUY7h7eO1vVcWc8k6FI5VyCwz1a5J556gdKAO41b/kEXv8A1wf/ANBNeaUA"
      + "FFABRQAV6XpP/IIsv+uCf+gigDh9VW8/4SGaZLbxDcQW7tNAjxl4/tCuSuB08rHpziodVt7nxJqtvJd6VqkDmzWEMLcqiz7jyxOcR/NyeuKANDSNF1u4"
      + "vftVy62j6bB9jtxGXjE5jIKl8j5oz3xjOOlXbeOb+2Yry50yTyN4t5IY4Dt+1bsm5CnjZjjzPvUAdDq3/IIvf+uD/wDoJrzSgAooAKKACvQtM1GwTS7R"
      + "HvbZWWFAQZVBB2jjrQBZ/tPTv+f+1/7/AC/40f2np3/P/a/9/l/xoAP7T07/AJ/7X/v8v+NH9p6d/wA/9r/3+X/GgCtqeo2D6Xdol7bMzQuABKpJO08d"
      + "a89oAKKACigAooAKKACigAooAKKACigAooAKKACigAooAKKACigAooAKKACigAooAKKAP//Z") ?? Data())

private let side = PixelSize(96, 96)

@Suite struct JPEGTests {
  @Test("a picture without Huffman tables is decoded")
  func withoutHuffmanTables() throws {
    // No DHT marker before the scan: the fixture is what it says.
    let header = try #require(
      withoutTables.indices.dropLast().first { withoutTables[$0] == 0xff && withoutTables[$0 + 1] == 0xda })
    #expect(!(0..<header).contains { withoutTables[$0] == 0xff && withoutTables[$0 + 1] == 0xc4 })
    let converter = try JPEGConverter()
    let image = try converter.luma(withoutTables, size: side)
    #expect(image.width == 96 && image.height == 96)
    #expect(abs(Int(image.pixels[0]) - 90) < 8)
    // The finder pattern's middle is dark, the quiet zone light.
    #expect(image.pixels.min() ?? 255 < 50)
    #expect(image.pixels.max() ?? 0 > 210)
  }

  @Test("a truncated, damaged or foreign picture is refused or patched up, and the next one is decoded")
  func damaged() throws {
    let converter = try JPEGConverter()
    let good = try converter.luma(withoutTables, size: side)
    var refused = 0
    func attempt(_ bytes: [UInt8], _ size: PixelSize = side) {
      do throws(PictureFault) {
        let image = try converter.luma(bytes, size: size)
        #expect(image.pixels.count == size.width * size.height)
      } catch {
        #expect(error == .undecodable)
        refused += 1
      }
    }
    for count in 0..<withoutTables.count { attempt(Array(withoutTables.prefix(count))) }
    #expect(refused > 100)
    var random = SplitMix64(state: 5)
    for _ in 0..<500 {
      var bytes = withoutTables
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      attempt(bytes)
    }
    refused = 0
    attempt(withoutTables, PixelSize(48, 48))
    attempt(withoutTables, PixelSize(640, 480))
    attempt([UInt8](repeating: 0, count: 5000))
    attempt([])
    #expect(refused == 4)
    #expect(try converter.luma(withoutTables, size: side) == good)
  }

  /// Luma alone is a null pointer in libv4l at once; another sampling ends in a damaged picture later, as the fuzzer found.
  @Test(
    "a picture that libv4l cannot take safely is kept from it",
    arguments: [
      ("4:4:4", [0x11, 0x11, 0x11], [1, 2, 3]), ("4:4:0", [0x12, 0x11, 0x11], [1, 2, 3]),
      ("4:1:1", [0x41, 0x11, 0x11], [1, 2, 3]), ("colour larger than luma", [0x11, 0x21, 0x11], [2, 1, 3]),
      ("out of order", [0x21, 0x11, 0x11], [1, 3, 2]), ("luma alone", [0x21, 0x11, 0x11], [1]),
      ("grey", [0x11], [1]),
    ] as [(String, [UInt8], [UInt8])])
  func unsafe(name: String, sampling: [UInt8], scanned: [UInt8]) throws {
    let picture = jpeg(sampling: sampling, scanned: scanned)
    let header = try #require(JPEGHeader(picture))
    #expect(header.size == PixelSize(16, 16))
    #expect(!header.isDecodable(as: PixelSize(16, 16)))
    let converter = try JPEGConverter()
    #expect(throws: PictureFault.undecodable) { try converter.luma(picture, size: PixelSize(16, 16)) }
    // The next one is decoded.
    #expect(try converter.luma(withoutTables, size: side).width == 96)
  }

  @Test("the usual samplings are taken, in one size", arguments: [0x21, 0x22] as [UInt8])
  func usual(luma: UInt8) throws {
    let picture = jpeg(sampling: [luma, 0x11, 0x11], scanned: [1, 2, 3])
    let header = try #require(JPEGHeader(picture))
    #expect(header.isDecodable(as: PixelSize(16, 16)))
    #expect(!header.isDecodable(as: PixelSize(16, 32)))
    #expect(JPEGHeader([0xff, 0xd8, 7, 0xff, 0xff] + Array(picture.dropFirst(3))) == header)
    let scan = try #require(picture.indices.dropLast().first { picture[$0] == 0xff && picture[$0 + 1] == 0xda })
    for count in 0..<scan + 14 { #expect(JPEGHeader(Array(picture.prefix(count))) == nil) }
    // A second frame, and a second start.
    #expect(JPEGHeader(Array(picture.prefix(scan)) + Array(picture.dropFirst(2))) == nil)
    #expect(JPEGHeader(Array(picture.prefix(2)) + picture) == nil)
  }

  /// 16 x 16 pixels, frame and scan as given; no tables.
  private func jpeg(sampling: [UInt8], scanned: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = [0xff, 0xd8, 0xff, 0xc0, 0, UInt8(8 + 3 * sampling.count), 8, 0, 16, 0, 16]
    bytes.append(UInt8(sampling.count))
    for (index, factors) in sampling.enumerated() { bytes += [UInt8(index + 1), factors, 0] }
    bytes += [0xff, 0xda, 0, UInt8(6 + 2 * scanned.count), UInt8(scanned.count)]
    for component in scanned { bytes += [component, 0] }
    return bytes + [0, 63, 0, 0xff, 0xd9]
  }

  @Test("a camera of motion JPEG is read, damaged pictures are dropped, and ten of them open it again")
  func camera() throws {
    let node = ScriptedNode("/dev/video0", [OfferedFormat(.mjpeg, .discrete([side]))]) { state in
      state.picture = { _, number in
        ((16...40).contains(number) || number % 4 == 0 ? Array(withoutTables.prefix(60)) : withoutTables, false)
      }
    }
    let loop = try EventLoop()
    var frames = 0
    var codes: [String] = []
    var isRecovered = false
    let camera = try V4L2Camera(CameraSettings(), on: loop, system: ScriptedSystem([node])) { event in
      switch event {
      case .frame(let frame):
        #expect(frame.image.width == 96)
        frames += 1
        if isRecovered { loop.stop() }
      case .fault(let problem): codes.append(problem.code)
      case .recovered: isRecovered = true
      case .opened, .note: break
      }
    }
    var ring: (() -> Void)?
    let timer = loop.timer("pictures") { ring?() }
    ring = {
      node.ring()
      timer.set(after: .milliseconds(4))
    }
    timer.set(after: .zero)
    camera.start()
    #expect(try loop.run(until: .now + .seconds(20)))
    ring = nil
    #expect(frames > 3)
    #expect(codes == ["cameraBadPictures"])
    #expect(camera.statistics.bad >= 12)
    camera.cancel()
  }
}
