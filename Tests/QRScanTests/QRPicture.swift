import CQREncode
import Foundation
import Pictures

/// QR codes as pictures, by libqrencode, and what a camera does to them.
enum QRPicture {
  /// One code of these bytes with the quiet zone of four modules that the standard asks for.
  static func code(
    _ bytes: [UInt8], module: Int = 4, level: QRecLevel = QR_ECLEVEL_M, version: CInt = 0
  ) throws -> LumaImage {
    guard let code = QRcode_encodeData(CInt(bytes.count), bytes, version, level) else {
      throw POSIXError(.init(rawValue: errno) ?? .EINVAL)
    }
    defer { QRcode_free(code) }
    return try picture(code, module: module)
  }

  static func picture(_ code: UnsafeMutablePointer<QRcode>, module: Int) throws -> LumaImage {
    let width = Int(code.pointee.width)
    let side = width + 8
    var pixels = [UInt8](repeating: 255, count: side * side)
    for row in 0..<width {
      for column in 0..<width where code.pointee.data[row * width + column] & 1 == 1 {
        pixels[(row + 4) * side + column + 4] = 0
      }
    }
    return try LumaImage(width: side, height: side, pixels: pixels).scaled(by: module)
  }
}

extension LumaImage {
  /// Turned about its middle, on white; linear interpolation, so that edges look as a camera's do.
  func rotated(degrees: Double) throws -> LumaImage {
    let angle = degrees * .pi / 180
    let (c, s) = (cos(angle), sin(angle))
    let newWidth = Int((abs(c) * Double(width) + abs(s) * Double(height)).rounded())
    let newHeight = Int((abs(s) * Double(width) + abs(c) * Double(height)).rounded())
    var result = [UInt8](repeating: 255, count: newWidth * newHeight)
    func pixel(_ x: Int, _ y: Int) -> Double {
      x < 0 || y < 0 || x >= width || y >= height ? 255 : Double(pixels[y * width + x])
    }
    for y in 0..<newHeight {
      for x in 0..<newWidth {
        let dx = Double(x) + 0.5 - Double(newWidth) / 2
        let dy = Double(y) + 0.5 - Double(newHeight) / 2
        let sx = c * dx + s * dy + Double(width) / 2 - 0.5
        let sy = -s * dx + c * dy + Double(height) / 2 - 0.5
        let (ix, iy) = (Int(sx.rounded(.down)), Int(sy.rounded(.down)))
        let (fx, fy) = (sx - Double(ix), sy - Double(iy))
        let top = pixel(ix, iy) * (1 - fx) + pixel(ix + 1, iy) * fx
        let bottom = pixel(ix, iy + 1) * (1 - fx) + pixel(ix + 1, iy + 1) * fx
        result[y * newWidth + x] = UInt8((top * (1 - fy) + bottom * fy).rounded())
      }
    }
    return try LumaImage(width: newWidth, height: newHeight, pixels: result)
  }

  /// Black becomes `dark` and white `light`.
  func contrast(_ dark: Int, _ light: Int) throws -> LumaImage {
    try LumaImage(
      width: width, height: height, pixels: pixels.map { UInt8(dark + Int($0) * (light - dark) / 255) })
  }

  /// With up to `amount` added or taken at each pixel.
  func noisy(_ amount: Int, using random: inout some RandomNumberGenerator) throws -> LumaImage {
    try LumaImage(
      width: width, height: height,
      pixels: pixels.map { UInt8(max(0, min(255, Int($0) + Int.random(in: -amount...amount, using: &random)))) })
  }

  /// On a larger picture of one grey.
  func placed(width newWidth: Int, height newHeight: Int, x: Int, y: Int, on background: UInt8) throws -> LumaImage {
    var result = [UInt8](repeating: background, count: newWidth * newHeight)
    for row in 0..<height {
      let start = (row + y) * newWidth + x
      result.replaceSubrange(start..<start + width, with: pixels[row * width..<(row + 1) * width])
    }
    return try LumaImage(width: newWidth, height: newHeight, pixels: result)
  }

  /// Side by side, with the same height.
  func beside(_ other: LumaImage) throws -> LumaImage {
    let tall = max(height, other.height)
    let left = try placed(width: width + other.width, height: tall, x: 0, y: 0, on: 255)
    let right = try other.placed(width: width + other.width, height: tall, x: width, y: 0, on: 255)
    return try LumaImage(
      width: left.width, height: tall, pixels: zip(left.pixels, right.pixels).map { min($0, $1) })
  }
}
