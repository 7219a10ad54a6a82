import Commands
import Glibc
import Kernel

/// `serve`: a small real issuer or verifier, for trying wallets against. On this machine only, unless told otherwise.
enum ServeCommand {
  /// Options of both.
  static let common = [
    CommandOption("--port", "N", "the port it listens at, 0 to 65535 (default 0: any that is free)"),
    CommandOption("--once", "end after the first that is served to the end"),
    CommandOption(
      "--deviation", "NAME", repeatable: true,
      "do one thing wrong; the quirks verb lists the names (a verifier: one only)"),
    CommandOption("--now", "TIME", "take this RFC 3339 instant for now (default: the clock)"), .json,
  ]

  static let verb = Verb(
    name: "serve", summary: "Be an issuer or a verifier that wallets can be tried against.",
    usage: "serve issuer|verifier [OPTIONS]",
    options: common + VerifierOptions.options + IssuerOptions.options + CodeShape.options, operandLimit: 1,
    run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    signal(SIGPIPE, SIG_IGN)
    switch arguments.operands.first {
    case "issuer":
      try refuse(VerifierOptions.options, but: IssuerOptions.options, of: "a verifier", arguments)
      return try IssuerServer(arguments, console: console).run()
    case "verifier":
      try refuse(IssuerOptions.options, but: VerifierOptions.options, of: "an issuer", arguments)
      return try VerifierServer(arguments, console: console).run()
    case let other:
      throw CommandError.usage(
        "serve" + (other.map { " " + quoted($0) } ?? ""), "what is to be served?",
        hint: "write serve issuer, or serve verifier")
    }
  }

  /// Options of the one mean nothing to the other.
  private static func refuse(
    _ options: [CommandOption], but own: [CommandOption], of whom: String, _ arguments: Arguments
  ) throws(CommandError) {
    let known = Set(own.map(\.name))
    if let stray = options.first(where: { arguments.has($0.name) && !known.contains($0.name) }) {
      throw CommandError.usage(stray.name, "it is an option of \(whom)", hint: "leave it out")
    }
  }

  static func port(_ arguments: Arguments) throws(CommandError) -> UInt16 {
    UInt16(try arguments.integer("--port", in: 0...65535) ?? 0)
  }
}
