internal import CV4L2
import Glibc
import Kernel
import Pictures

/// libv4l's decoder for the pictures of motion JPEG, which may lack the Huffman tables. One thread uses it.
struct JPEGConverter: ~Copyable {
  private let pointer: OpaquePointer

  init() throws(SystemError) {
    guard let pointer = cv4l2_converter_create() else { throw SystemError("v4lconvert_create", code: ENOMEM) }
    self.pointer = pointer
  }

  deinit { cv4l2_converter_destroy(pointer) }

  /// The luma of a JPEG of exactly this size, in 4:2:2 or 4:2:0; others are undecodable.
  func luma(_ bytes: [UInt8], size: PixelSize) throws(PictureFault) -> LumaImage {
    do throws(PictureError) { try LumaImage.checkSize(size.width, size.height) } catch { throw .undecodable }
    guard let header = JPEGHeader(bytes), header.isDecodable(as: size) else { throw .undecodable }
    // The whole picture first; its colour is cut off afterwards. Odd sizes round up.
    let capacity = size.area + 2 * ((size.width + 1) / 2) * ((size.height + 1) / 2)
    var isDecoded = false
    var pixels = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
      // A damaged picture may leave parts of it as they were.
      buffer.initialize(repeating: 128)
      // The library reads `bytes` and writes at most `capacity` bytes during the call.
      isDecoded =
        bytes.withUnsafeBytes { bytes in
          cv4l2_convert_jpeg(
            pointer, UInt32(size.width), UInt32(size.height), bytes.baseAddress, bytes.count, buffer.baseAddress,
            capacity)
        } >= size.area
      count = capacity
    }
    guard isDecoded else { throw .undecodable }
    pixels.removeLast(capacity - size.area)
    do throws(PictureError) {
      return try LumaImage(width: size.width, height: size.height, pixels: pixels)
    } catch {
      throw .undecodable
    }
  }
}
