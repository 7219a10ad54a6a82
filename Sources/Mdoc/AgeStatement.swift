/// An `age_over_NN` element identifier: exactly two digits, 00 to 99.
package struct AgeOver: Hashable, Comparable, Sendable {
  /// The NN of `age_over_NN`.
  package let years: Int

  /// Nil outside 0...99.
  package init?(years: Int) {
    guard (0...99).contains(years) else { return nil }
    self.years = years
  }

  /// Nil for any other spelling, such as `age_over_0`, `age_over_018` or `Age_over_18`: those are unknown elements.
  package init?(element identifier: String) {
    // Asked of every element of every document, most of which are something else: nothing is allocated.
    let characters = identifier.utf8
    guard characters.count == 11 else { return nil }
    var years = 0
    for digit in characters.suffix(2) {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      years = years * 10 + Int(digit - UInt8(ascii: "0"))
    }
    guard characters.starts(with: "age_over_".utf8) else { return nil }
    self.years = years
  }

  /// `age_over_NN`.
  package var element: String { "age_over_" + (years < 10 ? "0" : "") + String(years) }

  package static func < (left: AgeOver, right: AgeOver) -> Bool { left.years < right.years }
}

/// Three-valued, and contradiction is its own value: silence of a document never means no.
package enum AgeAnswer: String, Sendable {
  case yes
  case no
  case unknown
  /// The statements say both yes and no.
  case contradictory
}

extension AgeOver {
  /// What issuer-signed statements say about this limit (09-mdl-data: the evaluation rule).
  ///
  /// A TRUE at or above the limit means yes, a FALSE at or below it means no, all others say nothing.
  package func answer(from statements: [(AgeOver, Bool)]) -> AgeAnswer {
    var yes = false
    var no = false
    for (statement, value) in statements {
      if value, statement >= self { yes = true }
      if !value, statement <= self { no = true }
    }
    switch (yes, no) {
    case (true, true): return .contradictory
    case (true, false): return .yes
    case (false, true): return .no
    case (false, false): return .unknown
    }
  }
}
