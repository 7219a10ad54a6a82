import Kernel

/// One verb: its name, what it does, its options, and how it runs. It gives the exit status.
package struct Verb: Sendable {
  package let name: String
  let summary: String
  let usage: String
  /// What its words may be, `--help` apart.
  package let options: [CommandOption]
  let operandLimit: Int
  let run: @Sendable (Arguments, Console) throws -> Int32

  package init(
    name: String, summary: String, usage: String, options: [CommandOption], operandLimit: Int,
    run: @escaping @Sendable (Arguments, Console) throws -> Int32
  ) {
    self.name = name
    self.summary = summary
    self.usage = usage
    self.options = options
    self.operandLimit = operandLimit
    self.run = run
  }
}

extension CommandOption {
  package static let json = CommandOption("--json", "print JSON for tools: one object, or one a line for each event")
  package static let help = CommandOption("--help", "print this help")
}

/// A program of verbs: finds the verb, checks its words, runs it, and shows what went wrong.
package struct Program: Sendable {
  package let name: String
  /// A sentence or two for `--help`, lines ended.
  private let introduction: String
  /// In the order of the help.
  package let verbs: [Verb]
  /// How errors of the program's own look; nil for those it does not know.
  private let explain: @Sendable (any Error) -> CommandError?

  package init(
    name: String, introduction: String, verbs: [Verb],
    explain: @escaping @Sendable (any Error) -> CommandError? = { _ in nil }
  ) {
    self.name = name
    self.introduction = introduction
    self.verbs = verbs
    self.explain = explain
  }

  /// Runs the verb that the words name.
  ///
  /// - Parameter words: the arguments without the program's name.
  /// - Returns: the exit status: 0 success, 1 failure, 2 wrong usage or configuration.
  package func run(_ words: [String], console: Console) -> Int32 {
    do {
      return try dispatch(words, console: console)
    } catch let error as FileFaults {
      for fault in error.faults { console.remark("\(name): \(fault.text)\n  \(fault.remedy)") }
      return 2
    } catch {
      let error = commandError(error)
      console.failure(error.what, error.why, hint: error.hint)
      return error.exitStatus
    }
  }

  private func commandError(_ error: any Error) -> CommandError {
    if let error = error as? CommandError ?? explain(error) { return error }
    if let error = error as? SystemError {
      return .failure(
        error.subject.isEmpty ? error.call : error.subject, error.reason, hint: "check the path and its permissions")
    }
    return .failure("internal", "\(error)", hint: "please report this")
  }

  private func dispatch(_ words: [String], console: Console) throws -> Int32 {
    guard let first = words.first else {
      throw CommandError.usage(
        "verb", "missing", hint: "one of \(verbs.map(\.name).joined(separator: ", ")); see --help")
    }
    if ["--help", "-h", "help"].contains(first) {
      console.data(text: overview)
      return 0
    }
    guard let verb = verbs.first(where: { $0.name == first }) else {
      let nearest = nearestName(to: first, in: verbs.map(\.name))
      throw CommandError.usage(
        quoted(first), "no such verb",
        hint: nearest.map { "did you mean \($0)?" } ?? "one of \(verbs.map(\.name).joined(separator: ", "))")
    }
    if words.dropFirst().contains(where: { $0 == "--help" || $0 == "-h" }) {
      console.data(text: "usage: \(name) \(verb.usage)\n\n\(verb.summary)\n\n" + optionHelp(verb.options + [.help]))
      return 0
    }
    let arguments = try Arguments(words.dropFirst(), options: verb.options, operandLimit: verb.operandLimit)
    return try verb.run(arguments, console)
  }

  private var overview: String {
    let width = verbs.map(\.name.count).max() ?? 0
    let lines = verbs.map { verb in
      "  " + verb.name + String(repeating: " ", count: width - verb.name.count + 2) + verb.summary + "\n"
    }
    return """
      usage: \(name) VERB [OPTIONS]

      \(introduction)
      \(lines.joined())
      \(name) VERB --help lists the options of a verb.
      Exit status: 0 success, 1 failure, 2 wrong usage or configuration.

      """
  }
}
