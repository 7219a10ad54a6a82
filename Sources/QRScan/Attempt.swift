import Pictures

/// A change to a picture before codes are looked for in it.
package enum Attempt: String, CaseIterable, Sendable {
  case asIs
  /// Light on dark: the library looks for dark codes only.
  case inverse
  /// Half the size, for codes so large or so rough that their corners do not look like corners.
  case half
  case inverseHalf
  /// Twice and three times the size, for modules of one or two pixels.
  case double
  case inverseDouble
  case triple
  case inverseTriple
  case quarter
  case inverseQuarter
  /// The middle half of each side at twice the size: for small modules at the cost of a picture as it is.
  case middle
  case inverseMiddle

  /// The order for a still picture. The middle comes with `double`.
  package static let still = allCases.filter { $0 != .middle && $0 != .inverseMiddle }

  func apply(to image: LumaImage) -> LumaImage? {
    switch self {
    case .asIs: image
    case .inverse: image.inverted()
    case .half: image.halved()
    case .inverseHalf: image.halved()?.inverted()
    case .double: Attempt.enlarged(image, 2)
    case .inverseDouble: Attempt.enlarged(image, 2)?.inverted()
    case .triple: Attempt.enlarged(image, 3)
    case .inverseTriple: Attempt.enlarged(image, 3)?.inverted()
    case .quarter: image.halved()?.halved()
    case .inverseQuarter: image.halved()?.halved()?.inverted()
    case .middle: Attempt.middle(of: image)
    case .inverseMiddle: Attempt.middle(of: image)?.inverted()
    }
  }

  private static func middle(of image: LumaImage) -> LumaImage? {
    let (width, height) = (image.width / 2, image.height / 2)
    var pixels: [UInt8] = []
    pixels.reserveCapacity(width * height)
    for row in 0..<height {
      let start = (row + image.height / 4) * image.width + image.width / 4
      pixels += image.pixels[start..<start + width]
    }
    return (try? LumaImage(width: width, height: height, pixels: pixels)).flatMap { enlarged($0, 2) }
  }

  /// Only what is small needs to grow: 16 million pixels at most, or a still of a camera would take seconds.
  private static func enlarged(_ image: LumaImage, _ factor: Int) -> LumaImage? {
    guard image.width * image.height * factor * factor <= 1 << 24 else { return nil }
    return try? image.scaled(by: factor)
  }
}

/// Which attempt the next live frame gets.
///
/// More than every other frame is tried as it is, so that the usual code costs no more than it must; the frames between
/// take turns with the other changes, none of which costs much more. After a find the same attempt comes again, since the
/// next frame shows the same phone.
package struct LiveAttempts: Sendable {
  /// Their number is a prime: a camera that blurs every second or third frame, hunting for its focus, must not keep in
  /// step with the turns, or one attempt would get the blurred frames only.
  static let turns: [Attempt] = [
    .asIs, .inverse, .asIs, .asIs, .inverse, .asIs, .half, .asIs, .asIs, .inverse, .asIs, .middle, .asIs, .inverse,
    .asIs,
    .inverseHalf, .asIs, .asIs, .inverseMiddle,
  ]
  private var index = 0
  private var lastFind: Attempt?

  package init() {}

  /// The attempt for the next frame.
  package mutating func next() -> Attempt {
    if let find = lastFind {
      lastFind = nil
      return find
    }
    defer { index = (index + 1) % LiveAttempts.turns.count }
    return LiveAttempts.turns[index]
  }

  /// Says that an attempt has found something.
  package mutating func found(by attempt: Attempt) { lastFind = attempt }
}
