import Trust

/// The names of what a missing answer about revocation costs.
private enum DemandName: String, CaseIterable {
  case require
  case prefer
  case off
  case ignore

  init(_ demand: RevocationDemand) {
    switch demand {
    case .require: self = .require
    case .prefer: self = .prefer
    case .ignore: self = .off
    }
  }

  var demand: RevocationDemand {
    switch self {
    case .require: .require
    case .prefer: .prefer
    case .off, .ignore: .ignore
    }
  }
}

/// Typed values of a section. Each gives its default where the key is absent, and after reporting what is wrong.
extension Section {
  mutating func bool(_ key: String, default standard: Bool) -> Bool {
    guard let value = value(key) else { return standard }
    if case .bool(let flag) = value.content { return flag }
    reportKind(key, value, wanted: "true or false", example: String(standard))
    return standard
  }

  /// Non-empty text without control characters; nil where absent or wrong.
  mutating func text(_ key: String, example: String) -> String? {
    guard let value = value(key) else { return nil }
    guard case .string(let text) = value.content else {
      reportKind(key, value, wanted: "text", example: "\"\(example)\"")
      return nil
    }
    return checked(text, key, line: value.line, example: example)
  }

  func checked(_ text: String, _ key: String, line: Int, example: String) -> String? {
    if text.isEmpty {
      report(key, line: line, "is empty", "write for example \"\(example)\", or remove the key")
    } else if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      report(key, line: line, "contains a control character", "write for example \"\(example)\"")
    } else {
      return text
    }
    return nil
  }

  /// As `text`, and missing is an error.
  mutating func requiredText(_ key: String, example: String) -> String? {
    if table?.member(key) == nil {
      report(key, line: line, "is missing", "add \(key) = \"\(example)\"")
    }
    return text(key, example: example)
  }

  mutating func path(_ key: String, default standard: ConfiguredPath) -> ConfiguredPath {
    text(key, example: standard.text).map(ConfiguredPath.init) ?? standard
  }

  mutating func choice<Choice: RawRepresentable & CaseIterable>(_ key: String, default standard: Choice) -> Choice
  where Choice.RawValue == String {
    guard let value = value(key) else { return standard }
    guard case .string(let text) = value.content else {
      reportKind(key, value, wanted: "text", example: "\"\(standard.rawValue)\"")
      return standard
    }
    if let choice = Choice(rawValue: text) { return choice }
    let names = Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
    report(key, line: value.line, "\"\(text.quotable)\" is not one of \(names)", "write one of \(names)")
    return standard
  }

  /// What a missing answer about revocation costs; "off" and "ignore" are the same.
  mutating func demand(_ key: String, default standard: RevocationDemand) -> RevocationDemand {
    choice(key, default: DemandName(standard)).demand
  }

  mutating func integer(_ key: String, default standard: Int, range: ClosedRange<Int>) -> Int {
    guard let value = value(key) else { return standard }
    guard case .integer(let number) = value.content else {
      reportKind(key, value, wanted: "a whole number", example: String(standard))
      return standard
    }
    if let integer = Int(exactly: number), range.contains(integer) { return integer }
    reportRange(key, value, given: String(number), range: "\(range.lowerBound) to \(range.upperBound)")
    return standard
  }

  /// Seconds, whole or with a fraction, in a range of seconds. Kept to the millisecond.
  mutating func seconds(_ key: String, default standard: Duration, range: ClosedRange<Double>) -> Duration {
    guard let value = value(key) else { return standard }
    let number: Double
    switch value.content {
    case .integer(let whole): number = Double(whole)
    case .double(let fraction): number = fraction
    default:
      reportKind(key, value, wanted: "a number of seconds", example: Section.plain(standard / .seconds(1)))
      return standard
    }
    // Not a number is in no range.
    guard range.contains(number) else {
      let limits = "\(Section.plain(range.lowerBound)) to \(Section.plain(range.upperBound)) seconds"
      reportRange(key, value, given: Section.plain(number), range: limits)
      return standard
    }
    return .milliseconds(Int64((number * 1000).rounded()))
  }

  private func reportRange(_ key: String, _ value: TOMLValue, given: String, range: String) {
    report(key, line: value.line, "\(given) is out of range", "write \(range)")
  }

  /// A number without a fraction that says nothing.
  private static func plain(_ number: Double) -> String {
    Int64(exactly: number).map { String($0) } ?? String(number)
  }
}
