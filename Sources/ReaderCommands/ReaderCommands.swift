import Kernel
import Wallet

/// The command line of `mdoc-reader`: verbs that each prove one part.
package enum ReaderCommands {
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

  static let verbs = [
    RunCommand.verb, CheckCommand.verb, DemoCommand.verb, ScanCommand.verb, TrustCommand.verb, VerifyCommand.verb,
    InspectCommand.verb, StatusCommand.verb,
  ]

  /// Runs the verb that the words name.
  ///
  /// - Parameter words: the arguments without the program's name.
  /// - Returns: the exit status: 0 success, 1 failure, 2 wrong usage or configuration.
  package static func run(_ words: [String], console: Console) -> Int32 {
    do {
      return try dispatch(words, console: console)
    } catch let error as UsageError {
      console.failure(error.what, error.why, hint: error.hint)
      return 2
    } catch let error as ConfigurationFailure {
      for line in error.lines { console.remark("mdoc-reader: \(line)") }
      return 2
    } catch let error as CommandFailure {
      console.failure(error.what, error.why, hint: error.hint)
    } catch let error as SystemError {
      console.failure(
        error.subject.isEmpty ? error.call : error.subject, error.reason, hint: "check the path and its permissions")
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
      console.data(text: "usage: mdoc-reader \(verb.usage)\n\n\(verb.summary)\n\n" + optionHelp(verb.options + [help]))
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
      usage: mdoc-reader VERB [OPTIONS]

      A reader for mobile documents (ISO/IEC 18013-5): scans the code, asks, verifies, decides, opens.

      \(lines.joined())
      mdoc-reader VERB --help lists the options of a verb. Exit status: 0 success, 1 failure, 2 wrong usage or
      configuration.

      """
  }
}
