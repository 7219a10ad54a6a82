import CivilTime
import Commands
import Crypto
import Glibc
import JSON
import Kernel
import Mdoc
import OpenID4VCI
import Trust
import Wallet
import Web

/// `claim`: gets the documents of an offer (OpenID4VCI 1.0) and keeps them in a folder.
enum ClaimCommand {
  static let verb = Verb(
    name: "claim", summary: "Get the documents of an issuer's offer and keep them in a folder.",
    usage: "claim OFFER --wallet DIR [OPTIONS]",
    options: [
      CommandOption("--wallet", "DIR", "the folder"),
      CommandOption("--code", "CODE", "the transaction code, where one is wanted (default: it is asked for)"),
      SignIn.option,
      CommandOption("--issuer-root", "FILE", repeatable: true, "a root (PEM) by which issuers of documents are known"),
      CommandOption("--trust-issuer", "believe the roots that the issuer publishes itself"),
      CommandOption("--allow-untrusted", "keep documents of an issuer that nobody vouches for"),
      CommandOption("--only", "NAME", repeatable: true, "get only these of the offered documents"),
      CommandOption("--copies", "N", "copies of each, every one bound to a key of its own, 1 to 100 (default 1)"),
      CommandOption("--client-id", "TEXT", "who this wallet is to the issuer (default mdoc-wallet)"),
      CommandOption("--old-well-known", "look for metadata where drafts had it as well"),
      CommandOption("--host", "NAME", repeatable: true, "a further host that the issuer's metadata may point to"),
      CommandOption(
        "--timeout", "SECONDS", "wait this long for a sign-in or a document not ready, 1 to 3600 (default 600)"),
      CommandOption("--offer-only", "show what is offered, and get nothing"),
      WebOptions.authorities,
      CommandOption("--now", "TIME", "take this RFC 3339 instant for now (default: the clock)"), .json,
    ] + Consent.options + PassphraseSource.options, operandLimit: 1, run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    signal(SIGPIPE, SIG_IGN)
    guard let text = arguments.operands.first else {
      throw CommandError.usage(
        "claim", "the offer is missing",
        hint: "write claim 'openid-credential-offer://...' --wallet DIR, in quotation marks")
    }
    let folder = try WalletCommands.required("--wallet", "DIR", in: arguments)
    let consent = try Consent(arguments)
    let patience = Duration.seconds(try arguments.integer("--timeout", in: 1...3600) ?? 600)
    let exchange = try WebOptions.exchange(arguments)
    let way = try arguments.choice("--sign-in", of: SignIn.Way.self) ?? .wait
    let signIn = try SignIn(way, patience: patience, exchange: exchange, console: console)
    let passphrase = try PassphraseSource.read(arguments, console: console, isNew: true)
    let store = CredentialStore(folder: folder, passphrase: passphrase)
    var claim = try claim(arguments, exchange, signIn, patience, console)
    var files: [String] = []
    claim.keep = { claimed in
      files.append(try store.add(StoredCredential(credential: claimed.credential, method: .signature)))
    }
    let wanted = arguments.values("--only")
    let results: [ClaimResult]
    do throws(IssuanceError) {
      let offer = try claim.discover(text)
      let report = OfferReport(offer)
      if arguments.has("--json") {
        console.data(report.json.text)
      } else {
        for line in report.lines { console.data(line) }
      }
      if arguments.has("--offer-only") { return 0 }
      guard consent.given(console, question: "Get this? Type yes, or anything else to leave it:") else {
        console.remark("nothing was taken")
        return 1
      }
      results = try claim.retrieve(offer, configurationIDs: wanted.isEmpty ? nil : wanted)
    } catch {
      throw failure(error)
    }
    return report(results, files, arguments, console)
  }

  private static func claim(
    _ arguments: Arguments, _ exchange: WebExchange, _ signIn: SignIn, _ patience: Duration, _ console: Console
  ) throws -> CredentialClaim {
    var options = ClaimOptions(
      clientID: arguments["--client-id"] ?? "mdoc-wallet", redirectAddress: signIn.redirectAddress)
    options.anchors = try WebOptions.certificates(arguments, "--issuer-root").map {
      TrustAnchor($0, source: "--issuer-root")
    }
    options.trustsIssuerAutomatically = arguments.has("--trust-issuer")
    options.allowsUntrustedIssuer = arguments.has("--allow-untrusted")
    options.copies = try arguments.integer("--copies", in: 1...100) ?? 1
    options.triesOldWellKnown = arguments.has("--old-well-known")
    options.furtherHosts = Set(arguments.values("--host"))
    options.patience = patience
    let instant = arguments.has("--now") ? try DocumentOptions.instant(arguments) : nil
    let code = arguments["--code"]
    return CredentialClaim(
      exchange: exchange, now: { instant ?? UnixTime(seconds: WallClock.now().seconds) },
      wait: { duration in usleep(useconds_t(duration / .microseconds(1))) },
      authorize: { address in try signIn.authorize(address) },
      transactionCode: { wanted in
        if let code { return code }
        console.remark("transaction code" + (wanted.description.map { " (\($0))" } ?? "") + ":")
        return Consent.line(console.input).filter { !$0.isWhitespace }
      },
      deviceKeys: { count, _ in try (0..<count).map { _ in try PrivateKey.generate(.p256) } }, options: options)
  }

  /// One line for each document; 0 when all of them are kept.
  private static func report(
    _ results: [ClaimResult], _ files: [String], _ arguments: Arguments, _ console: Console
  ) -> Int32 {
    var files = files[...]
    var entries: [JSONValue] = []
    var status: Int32 = results.isEmpty ? 1 : 0
    for result in results {
      switch result.outcome {
      case .success(let claimed):
        let file = files.popFirst() ?? ""
        entries.append([
          "docType": .string(result.docType), "file": .string(file), "trust": .string(claimed.trust.rawValue),
        ])
        guard !arguments.has("--json") else { continue }
        console.data(file)
        console.remark("claimed \(result.docType), \(trust(claimed.trust))")
      case .failure(let error):
        status = 1
        entries.append(["docType": .string(result.docType), "error": .string("\(error)")])
        if !arguments.has("--json") { console.failure(terminalSafe(result.docType), "\(error)", hint: hint(error)) }
      }
    }
    if arguments.has("--json") { console.data((["event": "claimed", "documents": .array(entries)] as JSONValue).text) }
    return status
  }

  private static func trust(_ trust: IssuerTrust) -> String {
    switch trust {
    case .givenRoot: "of an issuer that a given root vouches for"
    case .publishedRoot: "of an issuer that vouches for itself"
    case .none: "of an issuer that nobody vouches for"
    }
  }

  private static func failure(_ error: IssuanceError) -> CommandError {
    CommandError.failure("claim", "\(error)", hint: hint(error))
  }

  /// What to do about it.
  private static func hint(_ error: IssuanceError) -> String {
    switch error.problem {
    case .notAnOffer: "give the offer as the issuer shows it, in quotation marks"
    case .noAnswer("tlsFailed"): "give the certificate its server is known by with \(WebOptions.authorities.name)"
    case .noAnswer: "see that the issuer's server runs and can be reached from here"
    case .refused(.invalidGrant, _): "the offer may be over, or the transaction code is not right; get a new offer"
    case .otherHost: "if that host is the issuer's, name it with --host"
    case .credential(.untrustedIssuer):
      "give the issuer's root with --issuer-root, or believe what it publishes with --trust-issuer"
    case .stillPending: "claim again later, from a new offer"
    case .unknownConfiguration: "claim --offer-only shows the names that are offered"
    case .givenUp: "start again from the offer"
    case .notKept: "see that the folder can be written to, and that its passphrase is the right one"
    default: "it is the issuer's to mend; tell its maker the line above"
    }
  }
}
