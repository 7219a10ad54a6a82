import Kernel

/// A failure to be shown: what, why, and one line saying what to do. The exit status is 1.
package struct CommandFailure: Error, Equatable, Sendable {
  package let what: String
  package let why: String
  package let hint: String

  package init(_ what: String, _ why: String, hint: String) {
    self.what = what
    self.why = why
    self.hint = hint
  }
}

/// An error that says itself how it looks and what the exit status is, such as a list of faults of a file.
package protocol SelfExplainingError: Error {
  /// Each is printed after the program's name; a remedy stands indented on a line of its own.
  var lines: [String] { get }
  var exitStatus: Int32 { get }
}

/// One verb: its name, what it does, its options, and how it runs. It gives the exit status.
package struct Verb: Sendable {
  package let name: String
  let summary: String
  let usage: String
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
  package let verbs: [Verb]
  /// How errors of the program's own look; nil for those it does not know.
  private let explain: @Sendable (any Error) -> CommandFailure?

  package init(
    name: String, introduction: String, verbs: [Verb], explain: @escaping @Sendable (any Error) -> CommandFailure?
  ) {
    self.name = name
    self.introduction = introduction
    self.verbs = verbs
    self.explain = explain
  }

  /// Runs the verb that the words name.
  ///
  /// - Parameter words: the arguments without the program's name.
  /// - Returns: the exit status: 0 success, 1 failure, 2 wrong usage.
  package func run(_ words: [String], console: Console) -> Int32 {
    do {
      return try dispatch(words, console: console)
    } catch let error as UsageError {
      console.failure(error.what, error.why, hint: error.hint)
      return 2
    } catch let error as any SelfExplainingError {
      for line in error.lines { console.remark("\(name): \(line)") }
      return error.exitStatus
    } catch {
      let failure = self.failure(error)
      console.failure(failure.what, failure.why, hint: failure.hint)
      return 1
    }
  }

  private func failure(_ error: any Error) -> CommandFailure {
    if let failure = error as? CommandFailure { return failure }
    if let failure = explain(error) { return failure }
    if let error = error as? SystemError {
      return CommandFailure(
        error.subject.isEmpty ? error.call : error.subject, error.reason, hint: "check the path and its permissions")
    }
    return CommandFailure("internal", "\(error)", hint: "please report this")
  }

  private func dispatch(_ words: [String], console: Console) throws -> Int32 {
    guard let first = words.first else {
      throw UsageError("verb", "missing", hint: "one of \(verbs.map(\.name).joined(separator: ", ")); see --help")
    }
    if ["--help", "-h", "help"].contains(first) {
      console.data(text: overview)
      return 0
    }
    guard let verb = verbs.first(where: { $0.name == first }) else {
      let nearest = nearestName(to: first, in: verbs.map(\.name))
      throw UsageError(
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
      \(name) VERB --help lists the options of a verb. Exit status: 0 success, 1 failure, 2 wrong usage.

      """
  }
}
