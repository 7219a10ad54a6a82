import Bytes
import CivilTime
import Commands
import Crypto
import Issuer
import Kernel
import Mdoc
import Wallet

/// The options that describe a document to be issued, shared by `issue` and `present`.
struct DocumentOptions {
  static let options = [
    CommandOption("--type", "KIND", repeatable: true, "mdl (default), pid, age or photoid; may be given for each kind"),
    CommandOption("--age", "N", "age of the holder in completed years (default 34)"),
    CommandOption("--birth-date", "DATE", "birth date of the holder, YYYY-MM-DD, instead of --age"),
    CommandOption("--family-name", "TEXT", "family name instead of the invented one"),
    CommandOption("--given-name", "TEXT", "given name instead of the invented one"),
    CommandOption("--portrait", "BYTES", "size of the portrait, 400 to 16777216 (default 1500)"),
    CommandOption("--country", "CC", "issuing country of a new root (default UT, which is no country)"),
    CommandOption("--key", "CURVE", "curve of the device key (default P-256)"),
    CommandOption("--issuer-curve", "CURVE", "curve of the document signer (default P-256)"),
    CommandOption("--auth", "HOW", "device authentication by signature or mac (default: what the curve can do)"),
    CommandOption("--digest", "NAME", "SHA-256 (default), SHA-384 or SHA-512"),
    CommandOption("--decoys", "N", "digests of no item in each name space (default 2)"),
    CommandOption("--days", "N", "days until the document expires, 3 to 3650 (default 30)"),
    CommandOption("--flaw", "NAME", "issue the document wrongly in one way; the quirks verb lists the names"),
    CommandOption("--now", "TIME", "take this RFC 3339 instant for now (default: the clock)"),
    CommandOption("--crl-address", "URL", "where a new root and its signers say their revocation list is"),
    CommandOption("--anchor-out", "FILE", "write the root that readers should trust here (PEM)"),
  ]

  let kinds: [DocumentKind]
  let method: DeviceAuthenticationMethod
  let flaw: Flaw?
  let now: UnixTime
  let anchorPath: String?
  private let country: String?
  private let template: TestIssue

  init(_ arguments: Arguments, flaw extraFlaw: Flaw? = nil) throws(CommandError) {
    now = try DocumentOptions.instant(arguments)
    var kinds: [DocumentKind] = []
    for name in arguments.values("--type") {
      let kind = try Arguments.choice(name, of: DocumentKind.self, for: "--type")
      guard !kinds.contains(kind) else {
        throw CommandError.usage("--type \(name)", "given twice", hint: "a wallet has one document of each type")
      }
      kinds.append(kind)
    }
    self.kinds = kinds.isEmpty ? [.mdl] : kinds
    let curve = try arguments.choice("--key", of: Curve.self) ?? .p256
    method = try DocumentOptions.method(arguments, for: curve)
    let givenFlaw = try arguments.choice("--flaw", of: Flaw.self)
    if let extraFlaw, let givenFlaw, extraFlaw != givenFlaw {
      throw CommandError.usage(
        "--flaw \(givenFlaw.rawValue)", "--quirk \(extraFlaw.rawValue) is a flaw as well", hint: "give one of them")
    }
    flaw = givenFlaw ?? extraFlaw
    anchorPath = arguments["--anchor-out"]
    country = try DocumentOptions.country(arguments)
    var person = try DocumentOptions.person(arguments, on: now.date())
    if let name = arguments["--family-name"] { person.familyName = name }
    if let name = arguments["--given-name"] { person.givenName = name }
    var content = DocumentContent(kind: .mdl, person: person)
    if let size = try arguments.integer("--portrait", in: Portrait.minimumSize...16 << 20) {
      content.portraitSize = size
    }
    var issue = TestIssue(content, now: now)
    issue.deviceCurve = curve
    issue.issuerCurve = try DocumentOptions.issuerCurve(arguments)
    issue.digest = try DocumentOptions.digest(arguments)
    issue.decoys = try arguments.integer("--decoys", in: 0...1000) ?? issue.decoys
    issue.validDays = try arguments.integer("--days", in: 3...3650) ?? issue.validDays
    if let address = arguments["--crl-address"] {
      guard address.hasPrefix("http://") || address.hasPrefix("https://"),
        address.utf8.allSatisfy({ 0x21...0x7e ~= $0 })
      else {
        throw CommandError.usage(
          "--crl-address \(quoted(address))", "no address of a web server", hint: "write it like http://host/list.crl")
      }
      issue.contact.crlAddress = address
    }
    issue.flaw = flaw
    template = issue
  }

  /// What is in the documents, for whoever issues them.
  var contents: [DocumentContent] {
    kinds.map { kind in
      var content = template.content
      content.kind = kind
      if let country { content.country = country }
      return content
    }
  }

  /// A root for such documents.
  func makeAuthority() throws(IssuerError) -> IssuerAuthority {
    var random = RandomSource()
    var issue = template
    if let country { issue.content.country = country }
    return try issue.makeAuthority(random: &random)
  }

  /// Issues every document under one root: `authority`, or a fresh one.
  func issue(under authority: IssuerAuthority?) throws -> (credentials: [StoredCredential], trusted: IssuerAuthority) {
    var random = RandomSource()
    var issue = template
    if let authority {
      let rootCountry = authority.name.first { $0.type == .countryName }?.text ?? ""
      if let country, country != rootCountry {
        throw CommandError.usage(
          "--country \(country)", "the issuer of this wallet is of \(rootCountry)",
          hint: "leave --country out, or use another --wallet folder")
      }
      issue.content.country = rootCountry
      issue.content.jurisdiction = authority.name.first { $0.type == .stateOrProvinceName }?.text
    } else if let country {
      issue.content.country = country
    }
    let root = if let authority { authority } else { try issue.makeAuthority(random: &random) }
    var credentials: [StoredCredential] = []
    for kind in kinds {
      issue.content.kind = kind
      let outcome = try issue.issue(under: root, random: &random)
      credentials.append(StoredCredential(credential: outcome.credential, method: method))
    }
    return (credentials, root)
  }

  /// Writes the root that readers should trust, where that was asked for.
  func writeAnchor(_ authority: IssuerAuthority) throws(SystemError) {
    if let anchorPath { try AtomicFile.write(authority.pem.utf8, to: anchorPath) }
  }

  /// What a reader should find in these documents; nil when nothing is wrong with them.
  var flawRemark: String? { flaw.map { "flaw \($0.rawValue): expect \($0.expectation)" } }

  // MARK: Single options

  static func instant(_ arguments: Arguments) throws(CommandError) -> UnixTime {
    guard let text = arguments["--now"] else { return UnixTime(seconds: WallClock.now().seconds) }
    guard let time = DateTime(text) else {
      throw CommandError.usage(
        "--now \(quoted(text))", "no RFC 3339 instant", hint: "write it like 2026-06-01T12:00:00Z")
    }
    return UnixTime(seconds: time.instant.seconds)
  }

  private static func person(_ arguments: Arguments, on today: CalendarDate) throws(CommandError) -> TestPerson {
    guard let text = arguments["--birth-date"] else {
      return TestPerson(age: try arguments.integer("--age", in: 0...120) ?? 34, on: today)
    }
    guard !arguments.has("--age") else {
      throw CommandError.usage("--age", "--birth-date says it already", hint: "give one of the two")
    }
    guard let date = CalendarDate(text), date <= today else {
      throw CommandError.usage("--birth-date \(quoted(text))", "no date up to today", hint: "write it like 1990-12-31")
    }
    return TestPerson(birthDate: date)
  }

  private static func country(_ arguments: Arguments) throws(CommandError) -> String? {
    guard let text = arguments["--country"] else { return nil }
    guard text.utf8.count == 2, text.utf8.allSatisfy((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains) else {
      throw CommandError.usage(
        "--country \(quoted(text))", "not two capital letters", hint: "write an ISO 3166-1 alpha-2 code")
    }
    return text
  }

  private static func method(
    _ arguments: Arguments, for curve: Curve
  ) throws(CommandError) -> DeviceAuthenticationMethod {
    guard let method = try arguments.choice("--auth", of: DeviceAuthenticationMethod.self) else {
      return curve.kind == .montgomery ? .mac : .signature
    }
    switch (method, curve.kind) {
    case (.signature, .montgomery):
      throw CommandError.usage(
        "--auth signature", "a key on \(curve.rawValue) cannot sign", hint: "use --auth mac, or another --key")
    case (.mac, .edwards):
      throw CommandError.usage(
        "--auth mac", "a key on \(curve.rawValue) cannot agree", hint: "use --auth signature, or another --key")
    default: return method
    }
  }

  private static func issuerCurve(_ arguments: Arguments) throws(CommandError) -> Curve {
    let curve = try arguments.choice("--issuer-curve", of: Curve.self) ?? .p256
    guard curve.kind != .montgomery else {
      throw CommandError.usage(
        "--issuer-curve \(curve.rawValue)", "a key on this curve cannot sign", hint: "use P-256 or another curve")
    }
    return curve
  }

  private static func digest(_ arguments: Arguments) throws(CommandError) -> HashAlgorithm {
    guard let name = arguments["--digest"] else { return .sha256 }
    guard let algorithm = HashAlgorithm(msoName: name) else {
      let names = HashAlgorithm.allCases.map(\.msoName).joined(separator: ", ")
      throw CommandError.usage("--digest \(quoted(name))", "no such value", hint: "one of \(names)")
    }
    return algorithm
  }
}
