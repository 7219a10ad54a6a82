/// A grey picture: 8 bits a pixel, 0 black, 255 white, rows from the top without gaps.
package struct LumaImage: Equatable, Sendable {
  /// No side may be longer, in pixels; so no picture takes more than 64 MiB.
  package static let maximumSide = 8192

  /// In pixels, like the height.
  package let width: Int
  package let height: Int
  /// `width` times `height` bytes.
  package let pixels: [UInt8]

  /// A picture of these pixels: `emptyPicture`, `tooLarge`, or `wrongPixelCount` when they do not fill it exactly.
  package init(width: Int, height: Int, pixels: [UInt8]) throws(PictureError) {
    try LumaImage.checkSize(width, height)
    guard pixels.count == width * height else {
      throw .wrongPixelCount(pixels.count, expected: width * height)
    }
    self.init(checkedWidth: width, height: height, pixels: pixels)
  }

  /// For sizes that follow from a picture that was checked.
  private init(checkedWidth width: Int, height: Int, pixels: [UInt8]) {
    self.width = width
    self.height = height
    self.pixels = pixels
  }

  /// Refuses a size before anything is allocated for it.
  package static func checkSize(_ width: Int, _ height: Int) throws(PictureError) {
    guard width > 0, height > 0 else { throw .emptyPicture(width: width, height: height) }
    guard width <= maximumSide, height <= maximumSide else { throw .tooLarge(width: width, height: height) }
  }

  /// Dark and light exchanged.
  package func inverted() -> LumaImage {
    LumaImage(checkedWidth: width, height: height, pixels: pixels.map { ~$0 })
  }

  /// Each pixel becomes a square of `factor` by `factor`; `tooLarge` when the result would be.
  package func scaled(by factor: Int) throws(PictureError) -> LumaImage {
    // Twice the limit is refused anyway, and cannot overflow.
    let factor = min(factor, 2 * LumaImage.maximumSide)
    try LumaImage.checkSize(width * factor, height * factor)
    var result: [UInt8] = []
    result.reserveCapacity(width * factor * height * factor)
    for row in 0..<height {
      let start = result.count
      for pixel in pixels[row * width..<(row + 1) * width] {
        for _ in 0..<factor { result.append(pixel) }
      }
      let end = result.count
      for _ in 1..<max(factor, 1) { result.append(contentsOf: result[start..<end]) }
    }
    return LumaImage(checkedWidth: width * factor, height: height * factor, pixels: result)
  }

  /// The picture in another size: each new pixel is the average of what it covers (the nearest one when the
  /// picture grows).
  package func scaled(width newWidth: Int, height newHeight: Int) throws(PictureError) -> LumaImage {
    try LumaImage.checkSize(newWidth, newHeight)
    let columns = (0..<newWidth).map { LumaImage.covered($0, of: newWidth, from: width) }
    var result: [UInt8] = []
    result.reserveCapacity(newWidth * newHeight)
    pixels.withUnsafeBufferPointer { pixels in  // the array's own storage, read during the closure only
      for newRow in 0..<newHeight {
        let rows = LumaImage.covered(newRow, of: newHeight, from: height)
        for column in columns {
          var sum = 0
          for row in rows {
            for index in column { sum += Int(pixels[row * width + index]) }
          }
          let count = rows.count * column.count
          result.append(UInt8((sum + count / 2) / count))
        }
      }
    }
    return LumaImage(checkedWidth: newWidth, height: newHeight, pixels: result)
  }

  /// Half the width and half the height, or nil for a picture of a single row or column.
  package func halved() -> LumaImage? {
    guard width > 1, height > 1 else { return nil }
    return try? scaled(width: width / 2, height: height / 2)
  }

  private static func covered(_ index: Int, of count: Int, from original: Int) -> Range<Int> {
    let start = index * original / count
    return start..<max((index + 1) * original / count, start + 1)
  }
}

/// Why a picture was refused.
package enum PictureError: Error, Equatable, Sendable {
  /// Neither PNG nor PGM, by its first bytes.
  case unknownFormat
  case emptyPicture(width: Int, height: Int)
  /// A side above `LumaImage.maximumSide`.
  case tooLarge(width: Int, height: Int)
  case wrongPixelCount(Int, expected: Int)
  /// The bytes end at this offset, inside the part that is named.
  case truncated(String, offset: Int)
  /// No number, or one out of its range, where the named one belongs.
  case invalidNumber(String, offset: Int)
  /// A sample above the picture's own maximum.
  case sampleAboveMaximum(offset: Int)
  case trailingBytes(offset: Int)
  /// What libpng says.
  case png(String)
}

extension PictureError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unknownFormat: "neither PNG nor PGM"
    case .emptyPicture(let width, let height): "no pixels (\(width) x \(height))"
    case .tooLarge(let width, let height):
      "too large (\(width) x \(height), at most \(LumaImage.maximumSide) x \(LumaImage.maximumSide))"
    case .wrongPixelCount(let count, let expected): "\(count) pixels instead of \(expected)"
    case .truncated(let part, let offset): "ends at byte \(offset) in the \(part)"
    case .invalidNumber(let field, let offset): "bad \(field) at byte \(offset)"
    case .sampleAboveMaximum(let offset): "sample above the maximum at byte \(offset)"
    case .trailingBytes(let offset): "bytes after the picture, from byte \(offset)"
    case .png(let message): "bad PNG: \(message)"
    }
  }
}
