// seeds hex: Scripts/fuzzers/seeds/jpeg.json
// options: -max_len=4096
import CV4L2
import Glibc
import Pictures

@testable import Camera

/// A picture of motion JPEG. libv4lconvert and libjpeg are the system's, without the sanitizer, so the first decoding
/// reads and writes memory that ends with a page nobody may touch; the second is the reader's own.
func fuzz(_ input: [UInt8]) {
  // A picture is taken for the size it claims; large ones take long.
  guard let header = JPEGHeader(input), header.size.width <= 256, header.size.height <= 256 else { return }
  let size = header.size
  guard header.isDecodable(as: size) else {
    expect((try? converter.luma(input, size: size)) == nil, "what is not for the library is refused")
    return
  }
  let capacity = size.area + 2 * ((size.width + 1) / 2) * ((size.height + 1) / 2)
  let source = Fenced(input)
  let target = Fenced([UInt8](repeating: 128, count: capacity))
  let written = cv4l2_convert_jpeg(
    fencedConverter, UInt32(size.width), UInt32(size.height), source.start, input.count, target.start, capacity)
  expect(written <= capacity, "a picture has room")
  expect(source.isUntouched && target.isUntouched, "nothing is written before the memory that is given")
  expect(source.bytes == input, "what is decoded is not written to")
  do throws(PictureFault) {
    let image = try converter.luma(input, size: size)
    expect(image.width == size.width && image.height == size.height, "a picture has the size that was asked for")
    expect(written >= size.area, "a picture is decoded again")
  } catch {
    expect(error == .undecodable, "a picture is undecodable and nothing else")
  }
}

nonisolated(unsafe) private let fencedConverter = cv4l2_converter_create()

nonisolated(unsafe) private let converter = Converter()

/// Kept from picture to picture, as the reader does.
private final class Converter {
  private let inner: JPEGConverter
  init() {
    guard let inner = try? JPEGConverter() else { fatalError("there is a converter") }
    self.inner = inner
  }
  func luma(_ bytes: [UInt8], size: PixelSize) throws(PictureFault) -> LumaImage { try inner.luma(bytes, size: size) }
}

/// Bytes that end where a page begins which cannot be read or written.
private struct Fenced: ~Copyable {
  private let mapping: UnsafeMutableRawPointer
  private let length: Int
  private let count: Int
  let start: UnsafeMutableRawPointer

  init(_ content: [UInt8]) {
    let page = 4096
    count = content.count
    length = (count + page - 1) / page * page + 2 * page
    guard let mapping = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      mapping != MAP_FAILED, mprotect(mapping + (length - page), page, PROT_NONE) == 0
    else { fatalError("there is memory") }
    self.mapping = mapping
    start = mapping + (length - page - count)
    content.withUnsafeBytes { bytes in
      if let base = bytes.baseAddress { start.copyMemory(from: base, byteCount: count) }
    }
  }

  deinit { munmap(mapping, length) }

  var bytes: [UInt8] { Array(UnsafeRawBufferPointer(start: start, count: count)) }

  /// Whether the memory before the bytes is as it was: all zero.
  var isUntouched: Bool { UnsafeRawBufferPointer(start: mapping, count: start - mapping).allSatisfy { $0 == 0 } }
}
