import Bytes

/// One option of a verb: its name with the dashes, the name of its value, and a line of help.
package struct CommandOption: Sendable {
  package let name: String
  /// What the value is called in the help; nil for a flag.
  package let value: String?
  /// The line of help.
  package let help: String
  /// Whether it may be given more than once.
  package let isRepeatable: Bool

  /// An option with a value.
  package init(_ name: String, _ value: String, repeatable: Bool = false, _ help: String) {
    self.name = name
    self.value = value
    self.help = help
    isRepeatable = repeatable
  }

  /// A flag.
  package init(_ name: String, _ help: String) {
    self.name = name
    value = nil
    self.help = help
    isRepeatable = false
  }
}

/// The words after a verb, checked against its options: nothing unknown, nothing twice, no value missing or surplus.
///
/// `--name value` and `--name=value` mean the same; `--` ends the options.
package struct Arguments: Sendable {
  private var given: [String: [String]] = [:]
  /// The words that are no options, in order.
  package private(set) var operands: [String] = []

  /// - Parameter operandLimit: how many operands the verb takes at most.
  package init(_ words: some Sequence<String>, options: [CommandOption], operandLimit: Int = 0) throws(CommandError) {
    var rest = Array(words)[...]
    var endOfOptions = false
    while let word = rest.popFirst() {
      if endOfOptions || !word.hasPrefix("-") || word == "-" {
        operands.append(word)
        guard operands.count <= operandLimit else {
          throw CommandError.usage(quoted(word), "one argument too many", hint: "see --help for what this verb takes")
        }
      } else if word == "--" {
        endOfOptions = true
      } else {
        try take(word, from: &rest, options: options)
      }
    }
  }

  private mutating func take(
    _ word: String, from rest: inout ArraySlice<String>, options: [CommandOption]
  ) throws(CommandError) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let name = parts[0]
    guard let option = options.first(where: { $0.name == name }) else {
      let nearest = nearestName(to: name, in: options.map(\.name) + ["--help"])
      throw CommandError.usage(
        quoted(name), "no such option", hint: nearest.map { "did you mean \($0)?" } ?? "see --help for the options")
    }
    guard option.isRepeatable || given[name] == nil else {
      throw CommandError.usage(name, "given twice", hint: "give it once")
    }
    guard let value = option.value else {
      guard parts.count == 1 else { throw CommandError.usage(name, "takes no value", hint: "write \(name) alone") }
      given[name] = []
      return
    }
    guard let content = parts.count == 2 ? parts[1] : rest.popFirst() else {
      throw CommandError.usage(name, "its value is missing", hint: "write \(name) \(value)")
    }
    given[name, default: []].append(content)
  }

  /// Whether an option was given.
  package func has(_ name: String) -> Bool { given[name] != nil }

  /// The value of an option; nil when it was not given, and for flags.
  package subscript(_ name: String) -> String? { given[name]?.last }

  /// All values of a repeatable option, in order.
  package func values(_ name: String) -> [String] { given[name] ?? [] }

  /// The whole number given, nil when the option is absent. Throws when it is none or outside `range`.
  package func integer(_ name: String, in range: ClosedRange<Int>) throws(CommandError) -> Int? {
    guard let text = self[name] else { return nil }
    guard let value = Int(text), range.contains(value) else {
      throw CommandError.usage(
        "\(name) \(quoted(text))", "not a whole number from \(range.lowerBound) to \(range.upperBound)",
        hint: "write \(name) N")
    }
    return value
  }

  /// The case whose raw value was given, nil when the option is absent. Throws when there is no such case.
  package func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, of type: Choice.Type = Choice.self
  ) throws(CommandError) -> Choice? where Choice.RawValue == String {
    guard let text = self[name] else { return nil }
    return try Arguments.choice(text, of: type, for: name)
  }

  /// The case with this raw value. Throws a usage error that names the option and lists the cases.
  package static func choice<Choice: RawRepresentable & CaseIterable>(
    _ text: String, of type: Choice.Type = Choice.self, for name: String
  ) throws(CommandError) -> Choice where Choice.RawValue == String {
    if let found = Choice(rawValue: text) { return found }
    let names = Choice.allCases.map(\.rawValue)
    let nearest = nearestName(to: text, in: names)
    throw CommandError.usage(
      "\(name) \(quoted(text))", "no such value",
      hint: nearest.map { "did you mean \($0)?" }
        ?? (names.count <= 12 ? "one of \(names.joined(separator: ", "))" : "see --help for the list"))
  }
}

/// Text of the command line for an error message: limited in length, without control characters.
package func quoted(_ text: String) -> String {
  let printable = text.unicodeScalars.prefix(60).map { $0.properties.generalCategory == .control ? "?" : String($0) }
  return "'" + printable.joined() + (text.unicodeScalars.count > 60 ? "..." : "") + "'"
}

/// The name of `names` that a slip of the finger turns into `text`; nil when none is near.
package func nearestName(to text: String, in names: [String]) -> String? {
  let limit = max(1, text.count / 3)
  let ranked = names.map { (name: $0, distance: editDistance(text, $0)) }
  guard let best = ranked.min(by: { $0.distance < $1.distance }), best.distance <= limit else { return nil }
  return best.name
}

/// The help of a list of options, two columns.
package func optionHelp(_ options: [CommandOption]) -> String {
  let left = options.map { "  " + $0.name + ($0.value.map { " " + $0 } ?? "") }
  let width = (left.map(\.count).max() ?? 0) + 2
  return zip(left, options).map { start, option in
    start + String(repeating: " ", count: width - start.count) + option.help + "\n"
  }.joined()
}
