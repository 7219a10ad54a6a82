import Issuer
import Kernel
import Mdoc

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

/// The command line of `mdoc-wallet`.
package enum WalletCommands {
  /// One verb: its name, what it does, its options, and how it runs. It gives the exit status.
  struct Verb: Sendable {
    let name: String
    let summary: String
    let usage: String
    let options: [CommandOption]
    let operandLimit: Int
    let run: @Sendable (Arguments, Console) throws -> Int32
  }

  static let json = CommandOption("--json", "print JSON for tools: one object, or one a line for each event")
  static let help = CommandOption("--help", "print this help")

  static let verbs = [IssueCommand.verb, PresentCommand.verb, ListCommand.verb, ShowCommand.verb, QuirksCommand.verb]

  /// Runs the verb that the words name.
  ///
  /// - Parameter words: the arguments without the program's name.
  /// - Returns: the exit status: 0 success, 1 failure, 2 wrong usage.
  package static func run(_ words: [String], console: Console) -> Int32 {
    do {
      return try dispatch(words, console: console)
    } catch let error as UsageError {
      console.failure(error.what, error.why, hint: error.hint)
      return 2
    } catch let error as CommandFailure {
      console.failure(error.what, error.why, hint: error.hint)
    } catch let error as SystemError {
      console.failure(
        error.subject.isEmpty ? error.call : error.subject, error.reason, hint: "check the path and its permissions")
    } catch let error as IssuerError {
      console.failure("issuer", "\(error)", hint: "try without the options that change keys and sizes")
    } catch let error as IssuerFolder.Damaged {
      console.failure(
        error.path, "no key and certificate of one issuer",
        hint: "remove the issuer folder to start with a new one; readers must then trust the new root")
    } catch {
      console.failure("internal", "\(error)", hint: "please report this")
    }
    return 1
  }

  private static func dispatch(_ words: [String], console: Console) throws -> Int32 {
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
      console.data(text: "usage: mdoc-wallet \(verb.usage)\n\n\(verb.summary)\n\n" + optionHelp(verb.options + [help]))
      return 0
    }
    let arguments = try Arguments(words.dropFirst(), options: verb.options, operandLimit: verb.operandLimit)
    return try verb.run(arguments, console)
  }

  private static var overview: String {
    let width = verbs.map(\.name.count).max() ?? 0
    let lines = verbs.map { verb in
      "  " + verb.name + String(repeating: " ", count: width - verb.name.count + 2) + verb.summary + "\n"
    }
    return """
      usage: mdoc-wallet VERB [OPTIONS]

      A test wallet for mobile documents: it issues documents of invented people, shows them to a reader, and
      misbehaves on request. Never for real documents.

      \(lines.joined())
      mdoc-wallet VERB --help lists the options of a verb. Exit status: 0 success, 1 failure, 2 wrong usage.

      """
  }

  /// The value of an option that a verb cannot do without.
  static func required(_ option: String, _ value: String, in arguments: Arguments) throws(UsageError) -> String {
    guard let given = arguments[option], !given.isEmpty else {
      throw UsageError(option, "missing", hint: "write \(option) \(value)")
    }
    return given
  }
}
