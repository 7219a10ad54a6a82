internal import CPNG

/// PNG through libpng's simplified interface, from and to memory.
package enum PNG {
  /// Reads a picture of any colour type as grey; what is transparent shows white.
  package static func decode(_ bytes: [UInt8]) throws(PictureError) -> LumaImage {
    guard isPNG(bytes) else { throw .unknownFormat }
    var reader = PNGImage()
    return try reader.decode(bytes)
  }

  /// An 8-bit grey PNG.
  package static func encode(_ image: LumaImage) throws(PictureError) -> [UInt8] {
    var writer = PNGImage()
    return try writer.encode(image)
  }

  static func isPNG(_ bytes: [UInt8]) -> Bool {
    bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  }
}

/// Owns a `png_image` and what libpng keeps behind it.
private struct PNGImage: ~Copyable {
  private var image = png_image()

  init() { image.version = png_uint_32(PNG_IMAGE_VERSION) }

  deinit {
    // png_image_free frees what `opaque` points to and does nothing when that is gone already; it takes the address
    // only to reach that pointer, so a copy serves.
    var image = self.image
    png_image_free(&image)
  }

  mutating func decode(_ bytes: [UInt8]) throws(PictureError) -> LumaImage {
    // libpng keeps the pointer until the picture is finished, so all of it happens while the bytes are borrowed.
    let result = bytes.withUnsafeBytes { buffer -> Result<LumaImage, PictureError> in
      do throws(PictureError) { return .success(try decode(buffer)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  private mutating func decode(_ bytes: UnsafeRawBufferPointer) throws(PictureError) -> LumaImage {
    guard png_image_begin_read_from_memory(&image, bytes.baseAddress, bytes.count) != 0 else { throw failure }
    let width = Int(image.width)
    let height = Int(image.height)
    try LumaImage.checkSize(width, height)
    image.format = png_uint_32(PNG_FORMAT_GRAY)
    // Samples of 16 bits without a colour space are as good as always sRGB, not linear.
    image.flags |= png_uint_32(PNG_IMAGE_FLAG_16BIT_sRGB)
    var white = png_color(red: 255, green: 255, blue: 255)
    var isRead = false
    let pixels = [UInt8](unsafeUninitializedCapacity: width * height) { buffer, count in
      // Rows of `width` bytes fill the buffer exactly. Zeros first, since libpng may stop half way.
      buffer.initialize(repeating: 0)
      isRead = png_image_finish_read(&image, &white, buffer.baseAddress, png_int_32(width), nil) != 0
      count = width * height
    }
    guard isRead else { throw failure }
    return try LumaImage(width: width, height: height, pixels: pixels)
  }

  mutating func encode(_ picture: LumaImage) throws(PictureError) -> [UInt8] {
    image.width = png_uint_32(picture.width)
    image.height = png_uint_32(picture.height)
    image.format = png_uint_32(PNG_FORMAT_GRAY)
    // Room for the worst case: a filter byte a row, blocks that do not shrink, and the chunks around them.
    let raw = (picture.width + 1) * picture.height
    var size = png_alloc_size_t(raw + raw / 100 + 4096)
    var isWritten = false
    let bytes = [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
      isWritten =
        picture.pixels.withUnsafeBytes { pixels in
          png_image_write_to_memory(
            &image, buffer.baseAddress, &size, 0, pixels.baseAddress, png_int_32(picture.width), nil)
        } != 0
      count = isWritten ? Int(size) : 0
    }
    guard isWritten else { throw failure }
    return bytes
  }

  private var failure: PictureError {
    let message = withUnsafeBytes(of: image.message) { $0.prefix { $0 != 0 }.map { $0 } }
    return .png(String(decoding: message, as: UTF8.self))
  }
}
