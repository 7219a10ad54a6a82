/// How a camera lays out a picture in memory: a V4L2 four-character code.
package struct PixelFormat: Hashable, Sendable {
  /// The code as the kernel has it, the first character in the lowest byte.
  package let fourcc: UInt32

  package init(fourcc: UInt32) { self.fourcc = fourcc }

  /// From the four characters; nil when there are not one to four of printable ASCII. Shorter ones end in spaces.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard (1...4).contains(bytes.count), bytes.allSatisfy({ (0x20...0x7e).contains($0) }) else { return nil }
    self.init(bytes: bytes)
  }

  private init(bytes: [UInt8]) {
    var code: UInt32 = 0
    for index in 0..<4 { code |= UInt32(index < bytes.count ? bytes[index] : 0x20) << (8 * index) }
    fourcc = code
  }

  private init(static text: StaticString) { self.init(bytes: Array("\(text)".utf8)) }

  package static let yuyv = PixelFormat(static: "YUYV")
  package static let uyvy = PixelFormat(static: "UYVY")
  package static let nv12 = PixelFormat(static: "NV12")
  package static let nv21 = PixelFormat(static: "NV21")
  package static let yuv420 = PixelFormat(static: "YU12")
  package static let yvu420 = PixelFormat(static: "YV12")
  package static let grey = PixelFormat(static: "GREY")
  package static let mjpeg = PixelFormat(static: "MJPG")
  package static let jpeg = PixelFormat(static: "JPEG")

  /// In order of preference: the first four are what cameras have, the others cost nothing more.
  package static let preferred = [yuyv, nv12, grey, uyvy, yuv420, yvu420, nv21, mjpeg, jpeg]

  /// Where the luma of a picture is.
  struct LumaLayout: Equatable {
    /// Bytes from one pixel's luma to the next.
    let step: Int
    /// Bytes before the first pixel's luma.
    let offset: Int
    /// Of the whole picture, colour included, for arithmetic of bandwidth.
    let bitsPerPixel: Int
  }

  /// nil for what is compressed, and for what this reader does not take.
  var luma: LumaLayout? {
    switch self {
    case .yuyv: LumaLayout(step: 2, offset: 0, bitsPerPixel: 16)
    case .uyvy: LumaLayout(step: 2, offset: 1, bitsPerPixel: 16)
    case .grey: LumaLayout(step: 1, offset: 0, bitsPerPixel: 8)
    case .nv12, .nv21, .yuv420, .yvu420: LumaLayout(step: 1, offset: 0, bitsPerPixel: 12)
    default: nil
    }
  }

  /// Whether each picture is a JPEG.
  package var isCompressed: Bool { self == .mjpeg || self == .jpeg }

  /// Whether this reader can use it.
  package var isUsable: Bool { luma != nil || isCompressed }

  /// Whether it is raw data of a sensor, for which somebody else must make the picture: one colour a pixel, in 8 to 16
  /// bits, packed or not.
  package var isBayer: Bool { PixelFormat.bayer.contains(self) }

  private static let bayer: Set<PixelFormat> = {
    let loose = ["BA81", "GBRG", "GRBG", "RGGB", "BYR2", "GB16", "GR16", "RG16"]
    let orders = ["BG", "GB", "BA", "RG"].flatMap { order in ["10", "12", "14"].map { order + $0 } }
    let packed = ["BA", "GA", "gA", "RA", "BC", "GC", "gC", "RC", "BE", "GE", "gE", "RE"].map {
      "p\($0)\($0.last ?? "A")"
    }
    return Set((loose + orders + packed).compactMap { PixelFormat($0) })
  }()
}

extension PixelFormat: CustomStringConvertible {
  /// `YUYV`; what is not printable, or nothing but spaces, in hexadecimal.
  package var description: String {
    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: fourcc >> (8 * $0)) }
    guard bytes.allSatisfy({ (0x20...0x7e).contains($0) }), bytes != [0x20, 0x20, 0x20, 0x20] else {
      return "0x" + String(fourcc, radix: 16)
    }
    let text = String(decoding: bytes, as: UTF8.self)
    return String(text.reversed().drop { $0 == " " }.reversed())
  }
}

/// Width and height in pixels.
package struct PixelSize: Hashable, Sendable, CustomStringConvertible {
  package let width: Int
  package let height: Int

  package init(_ width: Int, _ height: Int) {
    self.width = width
    self.height = height
  }

  var area: Int { width.multipliedReportingOverflow(by: height).partialValue }

  package var description: String { "\(width) x \(height)" }
}
