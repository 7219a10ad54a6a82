import Commands
import Issuer
import OpenID4VCI
import Wallet

/// What a served issuer issues, and how.
struct IssuerOptions {
  /// Those of `DocumentOptions` that say what is in a document; the rest is the issuer's own affair.
  private static let content = [
    "--type", "--age", "--birth-date", "--family-name", "--given-name", "--portrait", "--country", "--anchor-out",
  ]

  static let options =
    DocumentOptions.options.filter { content.contains($0.name) } + [
      CommandOption("--issuer", "DIR", "keep the issuer's root here, as issue does (default: a fresh one each time)"),
      CommandOption("--path", "/TEXT", "a path in the issuer's identifier, such as /tenant/1"),
      CommandOption("--grant", "NAME", "pre-authorized (default) or authorization_code"),
      CommandOption("--transaction-code", "ask for a code that comes on another way: it is printed here"),
      CommandOption("--by-reference", "show where the offer is to be had instead of the offer"),
      CommandOption("--consent-page", "let somebody say yes on a page before a code is given"),
      CommandOption("--require-par", "take pushed authorization requests only"),
      CommandOption("--require-dpop", "give tokens for proofs of possession only"),
      CommandOption("--require-encryption", "take and give credentials encrypted only"),
      CommandOption("--deferred", "N", "have a credential ready only when it was asked for N times more, 1 to 100"),
      CommandOption("--batch", "N", "most keys in one request, 1 to 100 (default 5)"),
    ]

  enum Grant: String, CaseIterable {
    case preAuthorized = "pre-authorized"
    case authorizationCode = "authorization_code"
  }

  let contents: [DocumentContent]
  let authority: IssuerAuthority
  let path: String
  let grant: IssuerService.OfferedGrant
  let showsReference: Bool
  let settings: IssuerSettings
  let deviations: Set<IssuerDeviation>

  init(_ arguments: Arguments) throws {
    let documents = try DocumentOptions(arguments)
    contents = documents.contents
    let folder = arguments["--issuer"].map { IssuerFolder(folder: $0) }
    if let existing = try folder?.load() {
      authority = existing
    } else {
      authority = try documents.makeAuthority()
      try folder?.save(authority)
    }
    try documents.writeAnchor(authority)
    path = try IssuerOptions.path(arguments)
    let kind = try arguments.choice("--grant", of: Grant.self) ?? .preAuthorized
    if kind == .authorizationCode, arguments.has("--transaction-code") {
      throw CommandError.usage(
        "--transaction-code", "it goes with a pre-authorized code", hint: "leave it out, or --grant authorization_code")
    }
    grant =
      kind == .authorizationCode
      ? .authorizationCode
      : .preAuthorized(
        arguments.has("--transaction-code")
          ? CredentialOffer.TransactionCode(length: 6, description: "the six digits that the issuer shows") : nil)
    showsReference = arguments.has("--by-reference")
    var settings = IssuerSettings()
    settings.asksConsent = arguments.has("--consent-page")
    settings.requiresPushedRequests = arguments.has("--require-par")
    settings.requiresDPoP = arguments.has("--require-dpop")
    settings.requiresEncryption = arguments.has("--require-encryption")
    settings.pollsUntilReady = try arguments.integer("--deferred", in: 1...100) ?? 0
    settings.pollInterval = 1
    settings.batchSize = try arguments.integer("--batch", in: 1...100) ?? settings.batchSize
    self.settings = settings
    var deviations: Set<IssuerDeviation> = []
    for name in arguments.values("--deviation") {
      guard let deviation = IssuerDeviation(name: name) else {
        let nearest = nearestName(to: name, in: IssuerDeviation.all.map(\.name))
        throw CommandError.usage(
          "--deviation \(quoted(name))", "no such value",
          hint: nearest.map { "did you mean \($0)?" } ?? "the quirks verb lists the names")
      }
      deviations.insert(deviation)
    }
    self.deviations = deviations
  }

  private static func path(_ arguments: Arguments) throws(CommandError) -> String {
    guard let path = arguments["--path"] else { return "" }
    let isPlain = path.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "/"):
        true
      default: false
      }
    }
    guard path.hasPrefix("/"), !path.hasSuffix("/"), isPlain else {
      throw CommandError.usage("--path \(quoted(path))", "no path", hint: "write it like /tenant/1")
    }
    return path
  }
}
