internal import CQREncode

/// A QR code symbol: a square of dark and light modules, without its quiet zone.
package struct QRCode: Equatable, Sendable {
  /// Modules along one side.
  package let width: Int
  /// Row by row; true is dark.
  package let modules: [Bool]

  /// Encodes text in byte mode with medium correction (15 percent may be lost), in the smallest version that holds it.
  /// Nil when none does (about 2,300 bytes) or the text is empty.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard !bytes.isEmpty, bytes.count <= 4096 else { return nil }
    // The library copies `bytes`; what it returns is ours to free.
    guard let code = QRcode_encodeData(Int32(bytes.count), bytes, 0, QR_ECLEVEL_M) else { return nil }
    defer { QRcode_free(code) }
    width = Int(code.pointee.width)
    // The lowest bit of a module is its colour.
    modules = UnsafeBufferPointer(start: code.pointee.data, count: width * width).map { $0 & 1 == 1 }
  }

  /// The symbol as grey pixels, 0 for dark and 255 for light, row by row.
  ///
  /// - Parameters:
  ///   - moduleSize: pixels along one side of a module.
  ///   - quietZone: modules of background on each side; readers expect at least 4.
  ///   - inverse: light modules on a dark ground, as wallets in dark mode show them.
  package func pixels(moduleSize: Int, quietZone: Int = 4, inverse: Bool = false) -> (side: Int, grey: [UInt8]) {
    let side = (width + 2 * quietZone) * moduleSize
    let dark: UInt8 = inverse ? 255 : 0
    var grey = [UInt8](repeating: ~dark, count: side * side)
    for row in 0..<width {
      for column in 0..<width where modules[row * width + column] {
        for y in 0..<moduleSize {
          let start = ((row + quietZone) * moduleSize + y) * side + (column + quietZone) * moduleSize
          for x in start..<start + moduleSize { grey[x] = dark }
        }
      }
    }
    return (side, grey)
  }

  /// The symbol for a terminal: two rows of modules in one line of half blocks, with its quiet zone.
  ///
  /// - Parameter inverse: for terminals with dark text on a light ground; the default suits light text on dark.
  package func terminalText(quietZone: Int = 2, inverse: Bool = false) -> String {
    // Light text paints the light modules, so that the symbol has its usual polarity.
    func isPainted(_ row: Int, _ column: Int) -> Bool {
      let (y, x) = (row - quietZone, column - quietZone)
      let isDark = (0..<width).contains(y) && (0..<width).contains(x) && modules[y * width + x]
      return isDark == inverse
    }
    let side = width + 2 * quietZone
    return stride(from: 0, to: side, by: 2).map { row in
      (0..<side).map { column in
        let lower = row + 1 < side && isPainted(row + 1, column)
        switch (isPainted(row, column), lower) {
        case (true, true): return "\u{2588}"
        case (true, false): return "\u{2580}"
        case (false, true): return "\u{2584}"
        case (false, false): return " "
        }
      }.joined() + "\n"
    }.joined()
  }
}
