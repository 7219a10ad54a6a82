/// A format that a camera offers, with its sizes.
package struct OfferedFormat: Equatable, Sendable {
  /// The sizes of one format.
  package enum Sizes: Equatable, Sendable {
    /// These and no others; empty when the driver does not tell.
    case discrete([PixelSize])
    /// From the smallest to the largest, in these steps.
    case range(smallest: PixelSize, largest: PixelSize, step: PixelSize)
  }

  package let format: PixelFormat
  package let sizes: Sizes

  package init(_ format: PixelFormat, _ sizes: Sizes) {
    self.format = format
    self.sizes = sizes
  }

  /// The offered size nearest to a wanted one; the wanted one itself when the driver does not tell its sizes.
  func nearest(to wanted: PixelSize) -> PixelSize {
    switch sizes {
    case .discrete(let sizes):
      if sizes.isEmpty || sizes.contains(wanted) { return wanted }
      return sizes.filter { $0.width > 0 && $0.height > 0 }
        .min { OfferedFormat.distance($0, wanted) < OfferedFormat.distance($1, wanted) } ?? wanted
    case .range(let smallest, let largest, let step):
      return PixelSize(
        OfferedFormat.fit(wanted.width, smallest.width, largest.width, step.width),
        OfferedFormat.fit(wanted.height, smallest.height, largest.height, step.height))
    }
  }

  /// How many times larger one is than the other, by area.
  private static func distance(_ one: PixelSize, _ other: PixelSize) -> Double {
    let (a, b) = (Double(one.width) * Double(one.height), Double(other.width) * Double(other.height))
    return max(a, b) / max(min(a, b), 1)
  }

  private static func fit(_ wanted: Int, _ smallest: Int, _ largest: Int, _ step: Int) -> Int {
    guard smallest < largest else { return smallest }
    let clamped = min(max(wanted, smallest), largest)
    return clamped - (clamped - smallest) % max(step, 1)
  }
}

/// A format and a size to ask a camera for.
package struct FormatCandidate: Hashable, Sendable, CustomStringConvertible {
  package let format: PixelFormat
  package let size: PixelSize

  package init(_ format: PixelFormat, _ size: PixelSize) {
    self.format = format
    self.size = size
  }

  package var description: String { "\(format) \(size)" }
}

/// What to ask a camera for, and in which order when it does not deliver.
package enum FormatChoice {
  /// Smaller sizes to fall back to: enough for a phone that is held closer.
  private static let fallbacks = [PixelSize(640, 480), PixelSize(320, 240)]

  /// All that is worth a try, the best first: the wanted size in every usable format, then smaller ones.
  ///
  /// Raw formats come before compressed ones, which cost a decoder's time; but behind them where the bus cannot carry
  /// so many raw pictures in a second.
  ///
  /// - Parameters:
  ///   - preference: formats that may be used, the best first.
  ///   - rate: pictures in a second that are wanted.
  ///   - busLimit: bytes in a second that the bus carries; nil when it does not matter.
  package static func candidates(
    _ offered: [OfferedFormat], wanted: PixelSize, preference: [PixelFormat] = PixelFormat.preferred, rate: Int,
    busLimit: Int?
  ) -> [FormatCandidate] {
    var candidates: [FormatCandidate] = []
    for target in [wanted] + fallbacks.filter({ $0.area < wanted.area }) {
      let choices = preference.filter(\.isUsable).compactMap { format in
        offered.first { $0.format == format }.map { FormatCandidate(format, $0.nearest(to: target)) }
      }
      func fits(_ candidate: FormatCandidate) -> Bool {
        guard let busLimit, let layout = candidate.format.luma else { return true }
        let bits = Double(candidate.size.width) * Double(candidate.size.height) * Double(layout.bitsPerPixel)
        return bits / 8 * Double(rate) <= Double(busLimit)
      }
      for candidate in choices.filter(fits) + choices.filter({ !fits($0) }) where !candidates.contains(candidate) {
        candidates.append(candidate)
      }
    }
    return candidates
  }

  /// Bytes in a second that a USB link of this many megabits in a second carries for a camera; nil when more than any
  /// camera sends. Isochronous transfers get 24.5 MB/s of high speed.
  static func busLimit(usbMegabits: Int) -> Int? {
    switch usbMegabits {
    case ..<480: 1_000_000
    case ..<5000: 24_000_000
    default: nil
    }
  }
}
