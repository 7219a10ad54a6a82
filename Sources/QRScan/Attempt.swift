import Pictures

/// A change to a picture before codes are looked for in it. In the order in which a still picture is tried.
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
    }
  }

  /// Only what is small needs to grow: 16 million pixels at most, or a still of a camera would take seconds.
  private static func enlarged(_ image: LumaImage, _ factor: Int) -> LumaImage? {
    guard image.width * image.height * factor * factor <= 1 << 24 else { return nil }
    return try? image.scaled(by: factor)
  }
}

/// Which attempt the next live frame gets.
///
/// Every other frame is tried as it is, so that the usual code costs no more than it must; the frames between take
/// turns with the other changes, each of which costs about as much. After a find the same attempt comes again,
/// since the next frame shows the same phone.
package struct LiveAttempts: Sendable {
  private static let turns: [Attempt] = [
    .asIs, .inverse, .asIs, .half, .asIs, .inverse, .asIs, .inverseHalf, .asIs, .inverse, .asIs, .double,
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
