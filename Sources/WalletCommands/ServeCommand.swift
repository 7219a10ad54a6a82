import Commands
import Kernel

/// `serve`: a small real issuer or verifier, for trying wallets against. On this machine only, unless told otherwise.
enum ServeCommand {
  /// Options of both.
  static let common = [
    CommandOption("--port", "N", "the port it listens at, 0 to 65535 (default 0: any that is free)"),
    CommandOption("--once", "end after the first that is served to the end"),
    CommandOption("--now", "TIME", "take this RFC 3339 instant for now (default: the clock)"), .json,
  ]

  static let verb = Verb(
    name: "serve", summary: "Be a verifier that wallets can be tried against.",
    usage: "serve verifier [OPTIONS]",
    options: common + VerifierOptions.options + CodeShape.options, operandLimit: 1, run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    switch arguments.operands.first {
    case "verifier": return try VerifierServer(arguments, console: console).run()
    case let other:
      throw CommandError.usage(
        "serve" + (other.map { " " + quoted($0) } ?? ""), "what is to be served?", hint: "write serve verifier")
    }
  }

  static func port(_ arguments: Arguments) throws(CommandError) -> UInt16 {
    UInt16(try arguments.integer("--port", in: 0...65535) ?? 0)
  }
}
