import Commands
import Issuer
import Wallet

/// The command line of `mdoc-wallet`.
package enum WalletCommands {
  static let verbs = [
    IssueCommand.verb, ClaimCommand.verb, PresentCommand.verb, RespondCommand.verb, ServeCommand.verb, ListCommand.verb,
    ShowCommand.verb,
    DeleteCommand.verb,
    RevokeCommand.verb, QuirksCommand.verb,
  ]

  private static let program = Program(
    name: "mdoc-wallet",
    introduction: """
      A test wallet for mobile documents: it issues documents of invented people, shows them to a reader, and
      misbehaves on request. Never for real documents.

      """, verbs: verbs, explain: explain)

  /// Runs the verb that the words name; gives the exit status: 0 success, 1 failure, 2 wrong usage.
  package static func run(_ words: [String], console: Console) -> Int32 { program.run(words, console: console) }

  @Sendable private static func explain(_ error: any Error) -> CommandError? {
    switch error {
    case let error as IssuerError:
      CommandError.failure("issuer", "\(error)", hint: "try without the options that change keys and sizes")
    case let error as IssuerFolder.Damaged:
      CommandError.failure(
        error.path, "no key and certificate of one issuer",
        hint: "remove the issuer folder to start with a new one; readers must then trust the new root")
    case CredentialStore.Refusal.locked(let file):
      CommandError.failure(
        file, "it is encrypted, and what joins it would not be: no passphrase was given", hint: PassphraseSource.hint)
    case CredentialStore.Refusal.otherPassphrase(let file):
      CommandError.failure(
        file, "it is encrypted under another passphrase", hint: "give that one; a wallet has one passphrase")
    default: nil
    }
  }

  /// What is said of a key that others can read.
  static func exposed(_ path: String) -> String { "\(path): others can read its private key; chmod 600 it" }

  /// The value of an option that a verb cannot do without.
  static func required(_ option: String, _ value: String, in arguments: Arguments) throws(CommandError) -> String {
    guard let given = arguments[option], !given.isEmpty else {
      throw CommandError.usage(option, "missing", hint: "write \(option) \(value)")
    }
    return given
  }
}
