import Pictures

/// What a driver made of the format that was asked for (VIDIOC_S_FMT).
package struct GrantedFormat: Equatable, Sendable {
  package var format: PixelFormat
  package var size: PixelSize
  /// Bytes from one row to the next; 0 where the driver does not tell.
  package var bytesPerLine: Int
  /// Bytes of a buffer; of a compressed picture the most there may be.
  package var imageBytes: Int

  package init(_ format: PixelFormat, _ size: PixelSize, bytesPerLine: Int, imageBytes: Int) {
    self.format = format
    self.size = size
    self.bytesPerLine = bytesPerLine
    self.imageBytes = imageBytes
  }
}

/// Why a buffer holds no picture.
package enum PictureFault: Error, Equatable, Sendable {
  /// The driver marked it as damaged.
  case marked
  /// Fewer bytes than a picture has.
  case short(Int, needed: Int)
  /// The driver failed to hand it out.
  case inputOutput
  /// No JPEG, or a damaged one.
  case undecodable
}

extension PictureFault: CustomStringConvertible {
  package var description: String {
    switch self {
    case .marked: "marked as damaged"
    case .short(let count, let needed): "too short (\(count) of \(needed) bytes)"
    case .inputOutput: "an I/O error"
    case .undecodable: "no proper JPEG"
    }
  }
}

/// Why a granted format cannot be used.
enum LayoutFault: Error, Equatable, Sendable {
  case unusableFormat(PixelFormat)
  case unusableSize(PixelSize)
  /// Rows longer than the distance between them.
  case overlappingRows(bytesPerLine: Int, needed: Int)
  /// Buffers that cannot hold a picture.
  case smallBuffers(Int, needed: Int)
}

extension LayoutFault: CustomStringConvertible {
  var description: String {
    switch self {
    case .unusableFormat(let format): "got \(format)"
    case .unusableSize(let size): "got \(size) pixels"
    case .overlappingRows(let bytes, let needed): "got rows of \(bytes) bytes, too short for \(needed)"
    case .smallBuffers(let bytes, let needed): "got buffers of \(bytes) bytes, too small for \(needed)"
    }
  }
}

/// How to find the luma in a buffer. All arithmetic of sizes is here, checked once for each opening.
struct PictureLayout: Equatable, Sendable {
  let granted: GrantedFormat
  /// Bytes from one row to the next; 0 for compressed pictures.
  let stride: Int
  /// The least number of bytes from which the luma can be taken; 1 for compressed pictures.
  let bytesNeeded: Int

  init(_ granted: GrantedFormat) throws(LayoutFault) {
    let size = granted.size
    do throws(PictureError) {
      try LumaImage.checkSize(size.width, size.height)
    } catch {
      throw .unusableSize(size)
    }
    self.granted = granted
    if granted.format.isCompressed {
      stride = 0
      bytesNeeded = 1
    } else if let layout = granted.format.luma {
      // The last pixel of a row ends with its luma: what follows it may be cut off.
      let row = layout.offset + (size.width - 1) * layout.step + 1
      stride = granted.bytesPerLine == 0 ? size.width * layout.step : granted.bytesPerLine
      guard stride >= row else { throw .overlappingRows(bytesPerLine: stride, needed: row) }
      let (rows, overflow) = stride.multipliedReportingOverflow(by: size.height - 1)
      guard !overflow, rows < Int.max - row else { throw .unusableSize(size) }
      bytesNeeded = rows + row
    } else {
      throw .unusableFormat(granted.format)
    }
    guard granted.imageBytes == 0 || granted.imageBytes >= bytesNeeded else {
      throw .smallBuffers(granted.imageBytes, needed: bytesNeeded)
    }
  }

  /// The luma of an uncompressed picture.
  ///
  /// - Parameter bytes: what the driver filled of a buffer, and nothing behind it. Only read, during the call.
  func luma(in bytes: UnsafeRawBufferPointer) throws(PictureFault) -> LumaImage {
    guard let layout = granted.format.luma else { throw .undecodable }
    guard bytes.count >= bytesNeeded, let base = bytes.baseAddress else {
      throw .short(bytes.count, needed: bytesNeeded)
    }
    let (width, height) = (granted.size.width, granted.size.height)
    let pixels = [UInt8](unsafeUninitializedCapacity: width * height) { buffer, count in
      // Filled completely: `bytesNeeded` covers the last luma of the last row.
      guard let target = buffer.baseAddress else { return }
      for row in 0..<height {
        let from = (base + row * stride + layout.offset).assumingMemoryBound(to: UInt8.self)
        let to = target + row * width
        if layout.step == 1 {
          to.initialize(from: from, count: width)
        } else {
          for column in 0..<width { to[column] = from[2 * column] }
        }
      }
      count = width * height
    }
    do throws(PictureError) {
      return try LumaImage(width: width, height: height, pixels: pixels)
    } catch {
      throw .short(bytes.count, needed: bytesNeeded)
    }
  }
}
