import Commands
import Crypto
import Issuer
import Kernel
import Mdoc
import Pictures
import Wallet

/// `present`: shows a code, answers one reader, and says how it went.
enum PresentCommand {
  static let verb = Verb(
    name: "present", summary: "Show a QR code and answer one reader over the simulated air.",
    usage: "present --air DIR [--wallet DIR] [OPTIONS]",
    options: [
      CommandOption("--air", "DIR", "the folder that is the simulated air"),
      CommandOption("--wallet", "DIR", "present the documents of this folder (default: fresh ones, see below)"),
      CommandOption("--mode", "MODE", "central, peripheral or both (default both)"),
      CommandOption("--session-curve", "CURVE", "curve of the session key (default: that of the device key)"),
      CommandOption("--mtu", "N", "largest ATT MTU, 23 to 517 (default 515)"),
      CommandOption("--l2cap", "offer an L2CAP channel beside GATT, and use one that the reader offers"),
      CommandOption("--psm-in-engagement", "name the channel in the code as well (with --l2cap)"),
      CommandOption(
        "--reader-root", "FILE", repeatable: true, "a root (PEM) by which readers are known; others are not verified"),
      CommandOption("--quirk", "NAME", repeatable: true, "misbehave in this way; the quirks verb lists the names"),
      CommandOption("--timeout", "SECONDS", "wait this long for each step of the reader, 1 to 3600 (default 120)"),
      .json,
    ] + CodeShape.options + Consent.options + PassphraseSource.options + DocumentOptions.options,
    operandLimit: 0, run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    let air = try WalletCommands.required("--air", "DIR", in: arguments)
    let plan = try PresentationPlan(arguments)
    let shape = try CodeShape(arguments)
    let documents = try documents(arguments, flaw: plan.flaw, console: console)
    let presentation = try PresentationConsole(
      air: air, documents: documents, plan: plan, roots: try readerRoots(arguments), isJSON: arguments.has("--json"),
      console: console)
    try presentation.open()
    try shape.show(presentation.engagement.text, arguments: arguments, console: console)
    for quirk in plan.quirks.all { console.remark("quirk \(quirk.rawValue): expect \(quirk.expectation)") }
    return try presentation.run() ? 0 : 1
  }

  private static func readerRoots(_ arguments: Arguments) throws -> ReaderRoots {
    var roots: [Certificate] = []
    for path in arguments.values("--reader-root") {
      let bytes = try Files.read(path, limit: 1 << 20)
      guard let blocks = try? PEM.blocks(in: bytes), let root = try? blocks.first.map({ try Certificate($0.bytes) })
      else {
        throw CommandError.usage(path, "no certificate in it", hint: "give the reader root as a PEM file")
      }
      roots.append(root)
    }
    return ReaderRoots(roots, now: try DocumentOptions.instant(arguments))
  }

  /// The documents of the folder, or fresh ones.
  private static func documents(
    _ arguments: Arguments, flaw: Flaw?, console: Console
  ) throws -> [StoredCredential] {
    guard let folder = arguments["--wallet"] else {
      if let option = PassphraseSource.options.first(where: { arguments.has($0.name) }) {
        throw CommandError.usage(
          option.name, "fresh documents are not on the disk", hint: "leave it out, or add --wallet")
      }
      let options = try DocumentOptions(arguments, flaw: flaw)
      let issued = try options.issue(under: nil)
      try options.writeAnchor(issued.trusted)
      if let remark = options.flawRemark { console.remark(remark) }
      return issued.credentials
    }
    if let flaw {
      throw CommandError.usage(
        "--quirk \(flaw.rawValue)", "documents of a folder are signed already",
        hint: "issue one with --flaw \(flaw.rawValue), or leave --wallet out")
    }
    if let option = DocumentOptions.options.first(where: { arguments.has($0.name) && $0.name != "--auth" }) {
      throw CommandError.usage(
        option.name, "documents of a folder are what they are", hint: "leave \(option.name) or --wallet out")
    }
    let documents = try StoredDocuments.read(arguments, folder: folder, console: console)
    guard let method = try arguments.choice("--auth", of: DeviceAuthenticationMethod.self) else { return documents }
    return documents.map { StoredCredential(credential: $0.credential, method: method) }
  }
}

/// How a presentation goes, apart from what is presented.
struct PresentationPlan {
  var offer = ProximityPresentationSession.Offer()
  var consent = Consent.ask
  var quirks = Quirks()
  /// A flaw that was named as a quirk.
  var flaw: Flaw?

  init() {}

  init(_ arguments: Arguments) throws(CommandError) {
    offer.mode = try arguments.choice("--mode", of: ProximityPresentationSession.Mode.self) ?? offer.mode
    consent = try Consent(arguments)
    for name in arguments.values("--quirk") {
      guard let flaw = Flaw(rawValue: name) else {
        try quirks.insert(argument: name)
        continue
      }
      if let other = self.flaw, other != flaw {
        throw CommandError.usage(
          "--quirk \(name)", "a document has one flaw at a time", hint: "leave --quirk \(other.rawValue) out")
      }
      self.flaw = flaw
    }
    offer.mtu = try arguments.integer("--mtu", in: 23...517) ?? offer.mtu
    offer.usesL2CAP = arguments.has("--l2cap")
    offer.namesPSM = arguments.has("--psm-in-engagement")
    try checkChannel()
    if let seconds = try arguments.integer("--timeout", in: 1...3600) { offer.timeout = .seconds(seconds) }
    offer.sessionCurve = try arguments.choice("--session-curve", of: Curve.self)
    if let curve = offer.sessionCurve, curve.kind == .edwards {
      throw CommandError.usage(
        "--session-curve \(curve.rawValue)", "a key on this curve cannot agree", hint: "use P-256, or X25519")
    }
  }

  /// What has no meaning together.
  private func checkChannel() throws(CommandError) {
    if offer.namesPSM, !offer.usesL2CAP {
      throw CommandError.usage("--psm-in-engagement", "there is no channel to name", hint: "add --l2cap")
    }
    if offer.namesPSM, offer.mode == .central {
      throw CommandError.usage(
        "--psm-in-engagement", "in mode central the channel is the reader's", hint: "leave it out")
    }
    for quirk in [Quirk.noStart, .invalidFragment] where offer.usesL2CAP && quirks.contains(quirk) {
      throw CommandError.usage(
        "--quirk \(quirk.rawValue)", "a channel has neither State nor parts", hint: "leave --l2cap out")
    }
  }
}
