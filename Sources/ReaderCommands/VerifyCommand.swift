import Appliance
import Bytes
import CBOR
import CivilTime
import Commands
import Crypto
import JSON
import Mdoc
import MdocVerification
import Trust
import TrustStore

/// `verify FILE`: the verdict on a recorded response, with every finding; for several presentations, one each.
enum VerifyCommand {
  private static let demands = RevocationDemand.allCases.map(\.rawValue).joined(separator: "|")

  static let verb = Verb(
    name: "verify", summary: "Verify a recorded DeviceResponse; the exit status is 0 only when it is verified.",
    usage: "verify FILE --transcript FILE|TEXT | --handover FORM --nonce TEXT ... [--anchor FILE]... [OPTIONS]",
    options: [
      CommandOption("--transcript", "FILE", "the SessionTranscript: a file, or its bytes in hexadecimal or base64url")
    ] + OnlineTranscript.options + [
      CommandOption("--anchor", "FILE", repeatable: true, "an issuer root (IACA) to trust; may be repeated"),
      CommandOption("--trust", "DIR", "a folder of trusted certificates, as trust add makes it"),
      CommandOption("--signer", "FILE", repeatable: true, "a document signer to trust without a root; may be repeated"),
      CommandOption("--request", "FILE", "the DeviceRequest; without it, all that came counts as asked for"),
      CommandOption("--reader-key", "FILE", "the reader's ephemeral private key (PEM), which a MAC needs"),
      CommandOption("--now", "TIME", "verify as of this time, such as 2026-06-01T12:00:00Z (default: now)"),
      CommandOption("--offset", "SECONDS", "local time, in seconds east of UTC (default 0)"),
      CommandOption("--signer-revocation", demands, "what an unknown answer about the signer costs (default prefer)"),
      CommandOption("--document-status", demands, "what an unknown status of the document costs (default prefer)"),
      CommandOption("--strict-profile", "let every fault of the signer's certificate fail"),
      CommandOption("--accept-attached-payload", "accept a device signature that carries its payload"),
      CommandOption("--accept-untagged-dates", "accept dates of the signed object without tag 0"),
      CommandOption("--show-values", "show the values of elements, which are somebody's data"),
      .json,
    ], operandLimit: 1, run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    guard let file = arguments.operands.first else {
      throw CommandError.usage("verify", "the file is missing", hint: "write verify FILE --transcript FILE")
    }
    let input = try InspectionInput.read(file)
    let posted = try PostedResponse(input, file: file)
    var notes = ["response taken from \(posted == nil ? input.form.rawValue : "the vp_token of JSON text")"]
    let bench = try Bench(arguments, &notes)
    if let posted, !posted.isBare {
      return report(posted.presentations, bench, notes, arguments, console)
    }
    let bytes = try posted.map { try onlyContent($0, file) }
    let verdict = bench.verify(bytes.map { InspectionInput(binary: $0) } ?? input, &notes)
    notes += bench.trustNotes
    let report = VerdictReport(verdict, notes: notes, showsValues: arguments.has("--show-values"))
    if arguments.has("--json") {
      console.data(report.json.visibleText)
    } else {
      for line in report.lines { console.data(line) }
      remark(notes, console)
    }
    return verdict.isVerified ? 0 : 1
  }
  /// The presentation of a response that has one without a name.
  private static func onlyContent(_ posted: PostedResponse, _ file: String) throws(CommandError) -> [UInt8] {
    do throws(PostedResponse.Unreadable) {
      return try posted.presentations[0].content.get()
    } catch {
      throw CommandError.failure(quoted(file), "vp_token: \(error.text)", hint: "an mdoc is a DeviceResponse there")
    }
  }

  /// A verdict for each presentation; what is no mdoc is named, and does not hide the others.
  private static func report(
    _ presentations: [PostedResponse.Presentation], _ bench: Bench, _ notes: [String], _ arguments: Arguments,
    _ console: Console
  ) -> Int32 {
    var lines: [String] = []
    var entries: [JSONValue] = []
    var allVerified = true
    for presentation in presentations {
      var members: [JSONValue.Member] = [
        .init("id", presentation.id.map { .string(CBORDiagnostic.escaped($0, keepingQuotes: true)) } ?? .null),
        .init("index", .integer(presentation.index)),
      ]
      switch presentation.content {
      case .success(let bytes):
        var own: [String] = []
        let verdict = bench.verify(InspectionInput(binary: bytes), &own)
        let report = VerdictReport(verdict, notes: own, showsValues: arguments.has("--show-values"))
        allVerified = allVerified && verdict.isVerified
        lines.append("presentation \(presentation.name): \(report.lines[0])")
        lines += report.lines.dropFirst().map { "  " + $0 }
        lines += own.map { "  note: \(CBORDiagnostic.escaped($0, keepingQuotes: true))" }
        if case .object(let content) = report.json { members += content }
      case .failure(let fault):
        allVerified = false
        lines.append("presentation \(presentation.name): NOT verified")
        lines.append("  \(fault.text)")
        members.append(.init("verified", false))
        members.append(.init("error", .string(fault.text)))
      }
      entries.append(.object(members))
    }
    let notes = notes + bench.trustNotes
    if arguments.has("--json") {
      let report: JSONValue = [
        "verified": .bool(allVerified), "presentations": .array(entries),
        "notes": .array(notes.map { .string(CBORDiagnostic.escaped($0, keepingQuotes: true)) }),
      ]
      console.data(report.visibleText)
    } else {
      console.data(allVerified ? "verified" : "NOT verified")
      for line in lines { console.data(line) }
      remark(notes, console)
    }
    return allVerified ? 0 : 1
  }

  private static func remark(_ notes: [String], _ console: Console) {
    for note in notes { console.remark("note: \(CBORDiagnostic.escaped(note, keepingQuotes: true))") }
  }

  /// What a response is verified with.
  private struct Bench {
    private let transcript: SessionTranscript
    /// Nil where all that came counts as asked for.
    private let requested: [ItemsRequest]?
    private let readerKey: PrivateKey?
    private let verifier: Verifier
    private let now: UnixTime
    private let offset: Int
    /// What there is to say of the trust given.
    let trustNotes: [String]

    init(_ arguments: Arguments, _ notes: inout [String]) throws(CommandError) {
      if let online = try OnlineTranscript.read(arguments, &notes) {
        transcript = online
      } else {
        transcript = try readTranscript(arguments)
      }
      requested = try arguments["--request"].map(readRequest)
      readerKey = try arguments["--reader-key"].map(readKey)
      var trustNotes: [String] = []
      verifier = try makeVerifier(arguments, &trustNotes)
      self.trustNotes = trustNotes
      now = try readTime(arguments)
      offset = try arguments.integer("--offset", in: -50_400...50_400) ?? 0
    }

    func verify(_ input: InspectionInput, _ notes: inout [String]) -> Verdict {
      if let fault = Presented.fault(of: input) { notes.append(fault) }
      if requested == nil { notes.append("no --request: everything that came counts as asked for") }
      if readerKey == nil, Presented.hasMAC(input.bytes) {
        notes.append("no --reader-key: the wallet sent a MAC, which cannot be checked without it")
      }
      return verifier.verify(
        input.bytes[...],
        in: .init(
          transcript: transcript.encoded[...], requested: requested ?? Presented.requests(in: input.bytes),
          readerKey: readerKey, now: now, utcOffsetSeconds: offset))
    }
  }

  private static func makeVerifier(_ arguments: Arguments, _ notes: inout [String]) throws(CommandError) -> Verifier {
    var anchors: [TrustAnchor] = []
    for path in arguments.values("--anchor") {
      anchors += try readCertificates(path, "--anchor").map { TrustAnchor($0, source: path) }
    }
    var signers: [TrustedSigner] = []
    for path in arguments.values("--signer") {
      signers += try readCertificates(path, "--signer").map { TrustedSigner($0) }
    }
    if let folder = arguments["--trust"] {
      let contents = TrustStore(folder: folder).load()
      switch contents.state {
      case .missing:
        throw CommandError.usage("--trust \(quoted(folder))", "no such folder", hint: "trust add FILE makes one")
      case .unreadable(let error):
        throw CommandError.usage("--trust \(quoted(folder))", error.reason, hint: "check the folder's owner and mode")
      case .empty, .loaded: break
      }
      anchors += contents.anchors
      signers += contents.trustedSigners
      notes += contents.problems.map { $0.isMinor ? "\($0)" : "\($0); it is not used" }
    }
    if anchors.isEmpty, signers.isEmpty {
      notes.append("no --anchor, --trust or --signer: nobody is trusted, so nothing can be verified")
    }
    return Verifier(anchors: anchors, trustedSigners: signers, policy: try readPolicy(arguments))
  }

  private static func readPolicy(_ arguments: Arguments) throws(CommandError) -> VerificationPolicy {
    var policy = VerificationPolicy()
    policy.signerRevocation = try arguments.choice("--signer-revocation") ?? policy.signerRevocation
    policy.documentStatus = try arguments.choice("--document-status") ?? policy.documentStatus
    policy.strictCertificateProfile = arguments.has("--strict-profile")
    policy.acceptsAttachedDevicePayload = arguments.has("--accept-attached-payload")
    policy.acceptsUntaggedDates = arguments.has("--accept-untagged-dates")
    return policy
  }

  private static func readTranscript(_ arguments: Arguments) throws(CommandError) -> SessionTranscript {
    guard let operand = arguments["--transcript"] else {
      throw CommandError.usage(
        "--transcript", "missing",
        hint: "give the SessionTranscript, or --handover: without it nobody can tell a copy of a response")
    }
    let input = try InspectionInput.read(fileOrText: operand)
    do throws(CBORError) {
      return try SessionTranscript(encoded: input.bytes[...])
    } catch {
      throw CommandError.usage(
        "--transcript \(quoted(operand))", "no SessionTranscript: \(error.disclosedDescription)",
        hint: "it is an array of three: engagement, reader key, handover")
    }
  }

  private static func readRequest(_ path: String) throws(CommandError) -> [ItemsRequest] {
    let input = try InspectionInput.read(path)
    do throws(DeviceRequest.Violation) {
      return try DeviceRequest(input.bytes).documents.map(\.itemsRequest)
    } catch {
      throw CommandError.usage(
        "--request \(quoted(path))", "no DeviceRequest: \(error.disclosedDescription)",
        hint: "inspect \(quoted(path)) tells what it is")
    }
  }

  private static func readKey(_ path: String) throws(CommandError) -> PrivateKey {
    let bytes = try InspectionInput.contents(of: path, limit: 65_536, option: "--reader-key")
    do throws(CryptoError) {
      return try PrivateKey(pem: String(decoding: bytes, as: UTF8.self))
    } catch {
      throw CommandError.usage(
        "--reader-key \(quoted(path))", "no private key in PEM form", hint: "give the key unencrypted, as PKCS #8 PEM")
    }
  }

  private static func readCertificates(_ path: String, _ option: String) throws(CommandError) -> [Certificate] {
    let bytes = try InspectionInput.contents(of: path, limit: CertificateInput.maximumSize, option: option)
    do throws(CertificateInput.Violation) {
      return try CertificateInput.certificates(in: bytes)
    } catch {
      throw CommandError.usage(
        "\(option) \(quoted(path))", "\(error)", hint: "give a certificate as PEM, DER or base64")
    }
  }

  private static func readTime(_ arguments: Arguments) throws(CommandError) -> UnixTime {
    guard let text = arguments["--now"] else { return .wallClock() }
    guard let time = DateTime(text) else {
      throw CommandError.usage("--now \(quoted(text))", "no time", hint: "write it like 2026-06-01T12:00:00Z")
    }
    return time.instant
  }
}

/// What a response contains, for a verification without its request.
private enum Presented {
  /// A request for exactly what came, one for each doc type.
  static func requests(in bytes: [UInt8]) -> [ItemsRequest] {
    guard let response = try? DeviceResponse(bytes[...]) else { return [] }
    return response.documents.map { document in
      let issued = (try? IssuerSigned(document.issuerSigned))?.nameSpaces ?? []
      let device = (try? DeviceSigned(document.deviceSigned))?.nameSpaces ?? []
      let spaces =
        issued.map { request($0.nameSpace, $0.items.map(\.elementIdentifier)) }
        + device.map { request($0.nameSpace, $0.elements.map(\.identifier)) }
      return ItemsRequest(docType: document.docType, nameSpaces: spaces)
    }
  }

  /// What keeps an input from being a response, and what it is instead; nil for a response.
  static func fault(of input: InspectionInput) -> String? {
    do throws(DeviceResponse.Violation) {
      _ = try DeviceResponse(input.bytes[...])
      return nil
    } catch {
      let item = try? decodeCBOR(input.bytes)
      let subject = item.map { InspectionSubject((try? $0.embedded()) ?? $0) } ?? .other
      let fault =
        switch error {
        case .notCBOR(let fault): "not one well-formed CBOR item (\(fault.disclosedDescription))"
        case .wrongShape("") where subject == .response: "a response inside another item"
        case .wrongShape(""): "no map"
        case .wrongShape(let path): "the member \(path) is missing or of a wrong kind"
        }
      let taken = subject == .other ? appearance(of: input) : subject.rawValue
      return "no DeviceResponse: \(fault); taken for \(taken), of which inspect says more"
    }
  }

  private static func request(_ nameSpace: String, _ elements: [String]) -> ItemsRequest.NameSpaceRequest {
    .init(nameSpace: nameSpace, elements: elements.map { .init(identifier: $0, intentToRetain: false) })
  }

  static func hasMAC(_ bytes: [UInt8]) -> Bool {
    guard let response = try? DeviceResponse(bytes[...]) else { return false }
    return response.documents.contains { document in
      if case .mac? = (try? DeviceSigned(document.deviceSigned))?.auth { true } else { false }
    }
  }
}
