internal import CZBar
import Kernel
import Pictures

/// Finds QR codes in grey pictures with zbar. It belongs to the thread that uses it.
///
/// What a code says comes back as its bytes, unchanged: nobody has looked at them yet. Whoever wants text takes
/// only the characters that his text is made of. A code that names its encoding itself (ECI) is the exception: the
/// library converts it to UTF-8, which leaves ASCII as it is.
package final class QRDecoder {
  /// Detections after which the library's scanner is made anew: its symbols of QR codes are never used again and
  /// would pile up for as long as the process lives.
  package static let detectionsPerScanner = 1000

  private var scanner: Scanner
  /// Since the scanner was made.
  private(set) var detections = 0

  /// A decoder for QR codes and nothing else.
  package init() throws(SystemError) {
    scanner = try Scanner()
  }

  /// The bytes of the codes in a picture as it is, each distinct one once, in the order in which they were found.
  package func decode(_ image: LumaImage) throws(SystemError) -> [[UInt8]] {
    if detections >= QRDecoder.detectionsPerScanner {
      scanner = try Scanner()
      detections = 0
    }
    let codes = try scanner.scan(image)
    detections += codes.count
    var distinct: [[UInt8]] = []
    for code in codes where !distinct.contains(code) { distinct.append(code) }
    return distinct
  }

  /// The same after one change to the picture; nothing when the change is not possible for its size.
  package func decode(_ image: LumaImage, _ attempt: Attempt) throws(SystemError) -> [[UInt8]] {
    guard let changed = attempt.apply(to: image) else { return [] }
    return try decode(changed)
  }

  /// Tries all that is known until something is found: for a single picture, where time does not matter.
  package func decodeStill(_ image: LumaImage) throws(SystemError) -> (codes: [[UInt8]], attempt: Attempt)? {
    for attempt in Attempt.still {
      let codes = try decode(image, attempt)
      if !codes.isEmpty { return (codes, attempt) }
    }
    return nil
  }
}

/// Owns a zbar image scanner.
private struct Scanner: ~Copyable {
  private let pointer: OpaquePointer

  init() throws(SystemError) {
    guard let pointer = zbar_image_scanner_create() else {
      throw SystemError("zbar_image_scanner_create", code: Scanner.outOfMemory)
    }
    self.pointer = pointer
    // Off by default, but a reader must not talk on a bus because some build thinks otherwise.
    zbar_image_scanner_request_dbus(pointer, 0)
    set(ZBAR_NONE, ZBAR_CFG_ENABLE, 0)
    set(ZBAR_QRCODE, ZBAR_CFG_ENABLE, 1)
    // Without it the library guesses an encoding and converts; from 0.23.1.
    set(ZBAR_QRCODE, ZBAR_CFG_BINARY, 1)
  }

  deinit { zbar_image_scanner_destroy(pointer) }

  private static let outOfMemory: CInt = 12

  private func set(_ symbology: zbar_symbol_type_t, _ key: zbar_config_t, _ value: CInt) {
    _ = zbar_image_scanner_set_config(pointer, symbology, key, value)
  }

  func scan(_ image: LumaImage) throws(SystemError) -> [[UInt8]] {
    guard let picture = zbar_image_create() else {
      throw SystemError("zbar_image_create", code: Scanner.outOfMemory)
    }
    defer { zbar_image_destroy(picture) }
    zbar_image_set_format(picture, 0x3030_3859)  // "Y800": 8-bit grey
    zbar_image_set_size(picture, UInt32(image.width), UInt32(image.height))
    return image.pixels.withUnsafeBytes { pixels in
      // The library only reads the pixels, and only in zbar_scan_image, while they are borrowed; without a clean-up
      // function it leaves them to their owner.
      zbar_image_set_data(picture, pixels.baseAddress, UInt(pixels.count), nil)
      guard zbar_scan_image(pointer, picture) > 0 else { return [] }
      var codes: [[UInt8]] = []
      var symbol = zbar_image_first_symbol(picture)
      while let found = symbol {
        if zbar_symbol_get_type(found) == ZBAR_QRCODE, let data = zbar_symbol_get_data(found) {
          // The text is the symbol's, which lives as long as the picture; its length is given, zeros may be inside.
          let bytes = UnsafeRawBufferPointer(start: data, count: Int(zbar_symbol_get_data_length(found)))
          codes.append(Array(bytes))
        }
        symbol = zbar_symbol_next(found)
      }
      return codes
    }
  }
}
