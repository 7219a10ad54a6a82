import Commands
import Crypto
import Glibc
import JSON
import Kernel
import Mdoc
import OpenID4VP
import Wallet

/// `respond`: answers one verifier online (OpenID4VP 1.0; ISO/IEC 18013-7 Annex B).
enum RespondCommand {
  static let verb = Verb(
    name: "respond", summary: "Answer a verifier online, from the address that it shows.",
    usage: "respond ADDRESS --wallet DIR [OPTIONS]",
    options: [
      CommandOption("--wallet", "DIR", "the folder of documents"),
      CommandOption(
        "--verifier-root", "FILE", repeatable: true,
        "a root (PEM) by which verifiers are known; others go by their own word"),
      CommandOption("--require-trusted", "answer only a verifier that a root vouches for"),
      CommandOption("--optional", "give also what the verifier would like and does not need"),
      CommandOption("--document", "FILE", repeatable: true, "give only these documents of the folder"),
      CommandOption("--quirk", "NAME", repeatable: true, "misbehave in this way; the quirks verb lists the names"),
      WebOptions.authorities,
      CommandOption("--now", "TIME", "take this RFC 3339 instant for now (default: the clock)"), .json,
    ] + Consent.options + PassphraseSource.options, operandLimit: 1, run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    signal(SIGPIPE, SIG_IGN)
    guard let address = arguments.operands.first else {
      throw CommandError.usage(
        "respond", "the address is missing", hint: "write respond 'openid4vp://...' --wallet DIR, in quotation marks")
    }
    let folder = try WalletCommands.required("--wallet", "DIR", in: arguments)
    let consent = try Consent(arguments)
    let misbehaviour = try misbehaviour(arguments)
    let documents = try documents(arguments, folder, console)
    let roots = try WebOptions.certificates(arguments, "--verifier-root")
    let now = try DocumentOptions.instant(arguments)
    let exchange = try WebOptions.exchange(arguments)
    let session: OnlinePresentationSession
    do throws(RequestFault) {
      session = try OnlinePresentationSession(
        requestURI: address, exchange: exchange, documents: documents, roots: roots,
        requiresTrustedVerifier: arguments.has("--require-trusted"), misbehaviour: misbehaviour, now: now)
    } catch {
      throw failure(error)
    }
    let report = OnlineRequestReport(session)
    if arguments.has("--json") {
      console.data(report.json.text)
    } else {
      for line in report.lines { console.data(line) }
    }
    guard let choices = session.standardChoice(includesOptional: arguments.has("--optional")) else {
      _ = try? session.terminate()
      throw failure(.notSatisfied)
    }
    guard consent.given(console) else {
      do throws(RequestFault) { try session.terminate() } catch { throw failure(error) }
      return end(arguments, console, "refused", nil, status: 1)
    }
    do throws(OnlinePresentationSession.Failure) {
      let completion = try session.sendResponse(choices)
      return end(arguments, console, "answered", completion.redirect, status: 0)
    } catch {
      switch error {
      case .request(let fault): throw failure(fault)
      case .deviceKey(let docType):
        throw CommandError.failure(
          docType, "its device key cannot sign, and online nothing else will do",
          hint: "issue the document with --key P-256")
      }
    }
  }

  private static func documents(
    _ arguments: Arguments, _ folder: String, _ console: Console
  ) throws -> [StoredCredential] {
    let chosen = Set(arguments.values("--document").map(Files.name(of:)))
    let documents = try StoredDocuments.read(
      arguments, folder: folder, only: chosen.isEmpty ? nil : chosen, console: console)
    return documents
  }

  /// Quirks of documents, and what is done wrong around them.
  private static func misbehaviour(_ arguments: Arguments) throws(CommandError)
    -> OnlinePresentationSession.Misbehaviour
  {
    var misbehaviour = OnlinePresentationSession.Misbehaviour()
    for name in arguments.values("--quirk") {
      guard let deviation = AnswerDeviation(rawValue: name) else {
        try misbehaviour.quirks.insert(argument: name)
        continue
      }
      if let other = misbehaviour.deviation, other != deviation {
        throw CommandError.usage(
          "--quirk \(name)", "an answer goes wrong in one of these ways at a time",
          hint: "leave --quirk \(other.rawValue) out")
      }
      misbehaviour.deviation = deviation
    }
    if let quirk = misbehaviour.quirks.all.first(where: { !$0.isOfResponse }) {
      throw CommandError.usage(
        "--quirk \(quirk.rawValue)", "it is about the session at the door, and online there is none",
        hint: "the quirks verb says which are for both")
    }
    return misbehaviour
  }

  private static func end(
    _ arguments: Arguments, _ console: Console, _ result: String, _ redirect: String?, status: Int32
  ) -> Int32 {
    if arguments.has("--json") {
      console.data(
        JSONValue.object(["event": .string(result), "redirect": redirect.map(JSONValue.string)]).text)
    } else {
      console.data(result)
      if let redirect { console.data("goes on at: \(redirect)") }
    }
    return status
  }

  private static func failure(_ fault: RequestFault) -> CommandError {
    CommandError.failure(fault.code, "\(fault)", hint: RespondCommand.hint(fault))
  }

  /// What to do about it.
  private static func hint(_ fault: RequestFault) -> String {
    switch fault {
    case .invocation, .scheme: "give the address as the verifier shows it, in quotation marks"
    case .clientUntrusted: "give the root that vouches for it with --verifier-root, or leave --require-trusted out"
    case .notSatisfied: "see what is asked for above, and mdoc-wallet list for what is there"
    case .exchange(_, let failure) where failure.code == "tlsFailed":
      "give the certificate its server is known by with \(WebOptions.authorities.name)"
    case .exchange: "see that the verifier's server runs and can be reached from here"
    case .refused(.response, _, _), .refused(.refusal, _, _): "the verifier says why; start again from its address"
    case .refused(.requestObject, _, _), .requestObjectExpired:
      "the request may be over; get a new address from the verifier"
    default: "it is the verifier's to mend; tell its maker the code \(fault.code)"
    }
  }
}
