import Commands
import Glibc
import Issuer
import JSON
import Kernel
import Mdoc
import OpenID4VCI
import OpenID4VP
import Wallet

/// `list`: the documents in a folder.
enum ListCommand {
  static let verb = Verb(
    name: "list", summary: "List the documents in a folder.", usage: "list --wallet DIR [--json]",
    options: [CommandOption("--wallet", "DIR", "the folder")] + PassphraseSource.options + [.json], operandLimit: 0,
    run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    let folder = try WalletCommands.required("--wallet", "DIR", in: arguments)
    let passphrase = try PassphraseSource.read(arguments, console: console)
    let entries = try CredentialStore(folder: folder, passphrase: passphrase).entries()
    var status: Int32 = 0
    var lines: [JSONValue] = []
    for entry in entries {
      switch entry.content {
      case .success(let stored):
        let facts = CredentialFacts(stored)
        if entry.isExposed { console.remark(WalletCommands.exposed(folder + "/" + entry.name)) }
        lines.append([
          "file": .string(entry.name), "docType": .string(facts.docType), "validUntil": .string(facts.validUntil),
        ])
        if !arguments.has("--json") { console.data("\(entry.name)  \(facts.docType)  until \(facts.validUntil)") }
      case .failure(let failure):
        status = 1
        lines.append(["file": .string(entry.name), "error": .string("\(failure)")])
        console.failure(folder + "/" + entry.name, "\(failure)", hint: failure.hint)
      }
    }
    if arguments.has("--json") { console.data((["documents": .array(lines)] as JSONValue).text) }
    return status
  }
}

/// `show`: one document, or all of a folder, without values unless they are asked for.
enum ShowCommand {
  static let verb = Verb(
    name: "show", summary: "Show what is in the documents of a folder.",
    usage: "show --wallet DIR [FILE] [--show-values] [--check-status] [--json]",
    options: [
      CommandOption("--wallet", "DIR", "the folder"),
      CommandOption("--show-values", "print element values, not only their names and kinds"),
      CommandOption("--check-status", "ask the issuer's list whether the document was revoked"),
      CommandOption(
        "--issuer-root", "FILE", repeatable: true,
        "a root (PEM) under which that list is signed, if not by the document's signer"),
      WebOptions.authorities,
      CommandOption("--now", "TIME", "take this RFC 3339 instant for now (default: the clock)"), .json,
    ] + PassphraseSource.options, operandLimit: 1, run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    let folder = try WalletCommands.required("--wallet", "DIR", in: arguments)
    let wanted = arguments.operands.first.map(Files.name(of:))
    let passphrase = try PassphraseSource.read(arguments, console: console)
    let entries = try CredentialStore(folder: folder, passphrase: passphrase).entries()
      .filter { wanted == nil || $0.name == wanted }
    if let wanted, entries.isEmpty {
      throw CommandError.failure(
        quoted(wanted), "no such document in \(folder)", hint: "mdoc-wallet list --wallet \(folder)")
    }
    var documents: [JSONValue] = []
    let status = try statusSource(arguments)
    for entry in entries {
      switch entry.content {
      case .success(let stored):
        let facts = CredentialFacts(stored, status: status?(stored.credential))
        if arguments.has("--json") {
          documents.append(facts.json(file: entry.name, showsValues: arguments.has("--show-values")))
        } else {
          console.data(text: facts.text(file: entry.name, showsValues: arguments.has("--show-values")))
        }
      case .failure(let failure):
        throw CommandError.failure(folder + "/" + entry.name, "\(failure)", hint: failure.hint)
      }
    }
    if arguments.has("--json") { console.data((["documents": .array(documents)] as JSONValue).text) }
    return 0
  }
}

extension ShowCommand {
  /// How the status of a document is asked for; nil where nobody wants to know.
  private static func statusSource(_ arguments: Arguments) throws -> ((Credential) -> CredentialStatus)? {
    guard arguments.has("--check-status") else { return nil }
    signal(SIGPIPE, SIG_IGN)
    let exchange = try WebOptions.exchange(arguments)
    let roots = try WebOptions.certificates(arguments, "--issuer-root")
    let now = try DocumentOptions.instant(arguments)
    return { CredentialStatus.ask(about: $0, through: exchange, roots: roots, now: now) }
  }
}

/// `quirks`: every way to misbehave, with what a good reader makes of it.
enum QuirksCommand {
  static let verb = Verb(
    name: "quirks", summary: "List what wallet, issuer and verifier do wrong on request, and what becomes of it.",
    usage: "quirks [--list] [--json]",
    options: [CommandOption("--list", "list them all, which is what this verb does anyway"), .json], operandLimit: 0,
    run: { run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) -> Int32 {
    if arguments.has("--json") {
      let quirks = Quirk.allCases.map { quirk -> JSONValue in
        [
          "name": .string(quirk.rawValue), "expect": .string(quirk.expectation),
          "parameter": quirk.parameter.map { .string($0.meaning) } ?? .null,
        ]
      }
      let flaws = Flaw.allCases.map { flaw -> JSONValue in
        ["name": .string(flaw.rawValue), "expect": .string(flaw.expectation)]
      }
      let lists = online.map { list in
        JSONValue.Member(
          list.key, .array(list.entries.map { ["name": .string($0.name), "expect": .string($0.expectation)] }))
      }
      console.data(JSONValue.object([.init("quirks", .array(quirks)), .init("flaws", .array(flaws))] + lists).text)
      return 0
    }
    let names = Quirk.allCases.map { $0.rawValue + ($0.parameter == nil ? "" : "=N") }
    let all = names + Flaw.allCases.map(\.rawValue) + online.flatMap { $0.entries.map(\.name) }
    let width = all.map(\.count).max() ?? 0
    func line(_ name: String, _ text: String) { console.data("  " + name.padded(to: width + 2) + text) }
    console.data(
      "Quirks of the wallet (--quirk NAME with present; several may be given; those marked * with respond too):")
    for (quirk, name) in zip(Quirk.allCases, names) {
      line(name, (quirk.isOfResponse ? "* " : "  ") + quirk.expectation)
      if let parameter = quirk.parameter { line("", "  N: \(parameter.meaning) (default \(parameter.standard))") }
    }
    for alias in Quirk.aliases { line(alias.key, "the same as \(alias.value.rawValue)") }
    console.data("Flaws of the issuer (--flaw NAME; one at a time, also as --quirk for a fresh document):")
    for flaw in Flaw.allCases { line(flaw.rawValue, flaw.expectation) }
    for list in online {
      console.data(list.title + ":")
      for entry in list.entries { line(entry.name, entry.expectation) }
    }
    return 0
  }

  /// What goes wrong online, by who does it.
  private static let online: [(key: String, title: String, entries: [(name: String, expectation: String)])] = [
    (
      "answerDeviations",
      "Of the wallet online (--quirk NAME with respond; one at a time), with what a good verifier finds",
      AnswerDeviation.allCases.map { ($0.rawValue, $0.expectation) }
    ),
    (
      "verifierDeviations", "Of the verifier (--deviation NAME with serve verifier), with what a good wallet finds",
      VerifierDeviation.allCases.map { ($0.rawValue, $0.expectation) }
    ),
    (
      "issuerDeviations", "Of the issuer (--deviation NAME with serve issuer), with what a good wallet finds",
      IssuerDeviation.all.map { ($0.name, expectation(of: $0)) }
    ),
  ]

  /// What comes of a claim of one document, by a code in the offer where that can be.
  private static func expectation(of deviation: IssuerDeviation) -> String {
    switch deviation.expectation(copies: 2, grant: deviation.grants.last ?? .preAuthorizedCode) {
    case .success: "it gets the documents all the same"
    case .fewer: "it gets fewer copies, and that is no failure"
    case .refusal(let error), .failure(let error): "\(error)"
    case .failures(_, let error): "of several copies some fail: \(error)"
    }
  }
}
