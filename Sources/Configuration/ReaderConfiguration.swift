import MdocVerification
import Panel
import Policy
import ReaderCore

/// Everything a site decides: `config/reader.toml`. The initial values are the defaults.
///
/// `board` and at least one `[[request.document]]` must be written: an empty or cut file is refused, and not taken for
/// a site that lets everyone in.
package struct ReaderConfiguration: Equatable, Sendable {
  /// The folder name below `board/`.
  package var board = "simulated"
  /// What is asked for, and what has to hold.
  package var template = RequestTemplate.standard
  /// Where elements asked for with `retain` go; retaining is refused without it.
  package var retentionSink: ConfiguredPath?
  /// The switches of the verification, and the largest response.
  package var verification = VerificationPolicy()
  /// The folder of issuer certificates.
  package var trustFolder = ConfiguredPath("/var/lib/mdoc-reader/trust")
  /// How many days a list of issuers may be overdue, before `overdueIssuerList` applies.
  package var issuerListDays = 90
  /// What a list of issuers that is overdue for longer does.
  package var overdueIssuerList = OverdueListPolicy.warn
  /// Who the reader is to wallets; nil for a reader that does not say.
  package var readerAuthentication: ConfiguredReaderAuthentication?
  /// How long the reader waits for what, at most.
  package var timeouts = ReaderTimeouts()
  /// What people see, hear and pass.
  package var signals = Signals()
  /// Where events go.
  package var events = EventOutput.standardOutput
  /// Where the running reader says what it is doing; `status` reads it.
  package var statusFile = ConfiguredPath("/run/mdoc-reader/status.json")
  /// What is known about the clock, and what a doubtful one does.
  package var clock = Clock()
  /// The folders of the simulated board.
  package var simulated = SimulatedFolders()

  /// The defaults.
  package init() {}

  /// Reads and checks the whole text; throws all problems, not only the first.
  package init(text: String) throws(ConfigurationErrors) {
    try self.init(bytes: Array(text.utf8))
  }

  /// As `init(text:)`; what is no UTF-8 is refused as no TOML.
  package init(bytes: [UInt8]) throws(ConfigurationErrors) {
    let root = try TOMLText.parse(bytes)
    let findings = SchemaFindings()
    read(root, findings)
    guard findings.errors.isEmpty else { throw ConfigurationErrors(findings.errors) }
  }

  /// Every key of the schema, sorted, without indices: `request.document.doc_type`.
  package static var knownKeys: [String] {
    let findings = SchemaFindings()
    var configuration = ReaderConfiguration()
    configuration.read(TOMLValue.empty, findings)
    RequestSchema.visitKeys(findings)
    return findings.knownKeys.sorted()
  }

  private mutating func read(_ root: TOMLValue, _ findings: SchemaFindings) {
    var top = Section(root: root, findings: findings)
    if let name = top.requiredText("board", example: "simulated") {
      let isPlain = name.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || byte == UInt8(ascii: "-")
      }
      if isPlain {
        board = name
      } else {
        top.report(
          "board", line: top.table?.member("board")?.line ?? 0, "\"\(name.quotable)\" is no board name",
          "write the name of a folder of board/: a to z, 0 to 9 and -")
      }
    }
    var request = top.section("request")
    retentionSink = request.text("retention_sink", example: "/run/mdoc-reader/retained").map(ConfiguredPath.init)
    let requested = RequestSchema.read(&request, mayRetain: retentionSink != nil)
    if let requested { template = requested.template }
    request.finish()
    var verification = top.section("verification")
    self.verification = VerificationSchema.read(&verification)
    if let demands = requested?.demands {
      self.verification.signerRevocationByDocType = demands.signerRevocation
      self.verification.documentStatusByDocType = demands.documentStatus
    }
    verification.finish()
    var trust = top.section("trust")
    trustFolder = trust.path("folder", default: trustFolder)
    issuerListDays = trust.integer("issuer_list_days", default: issuerListDays, range: 0...3650)
    overdueIssuerList = trust.choice("overdue_issuer_list", default: overdueIssuerList)
    trust.finish()
    var authentication = top.section("reader_authentication")
    readerAuthentication = ReaderAuthenticationSchema.read(&authentication)
    authentication.finish()
    readTimeouts(&top)
    var limits = top.section("limits")
    self.verification.maximumResponseSize = limits.integer(
      "response_bytes", default: self.verification.maximumResponseSize, range: (16 << 10)...(16 << 20))
    limits.finish()
    readSignals(&top)
    var events = top.section("events")
    self.events = events.text("output", example: "stdout").map(EventOutput.init) ?? self.events
    events.finish()
    var status = top.section("status")
    statusFile = status.path("file", default: statusFile)
    status.finish()
    var clock = top.section("clock")
    self.clock.doubtful = clock.choice("doubtful", default: self.clock.doubtful)
    self.clock.file = clock.path("file", default: self.clock.file)
    self.clock.synchronizedFile = clock.path("synchronized_file", default: self.clock.synchronizedFile)
    clock.finish()
    var simulated = top.section("simulated")
    self.simulated.pictures = simulated.path("pictures", default: self.simulated.pictures)
    self.simulated.air = simulated.path("air", default: self.simulated.air)
    simulated.finish()
    top.finish()
  }

  private mutating func readTimeouts(_ top: inout Section) {
    var section = top.section("timeouts")
    timeouts.connect = section.seconds("connect_seconds", default: timeouts.connect, range: 1...120)
    timeouts.idle = section.seconds("idle_seconds", default: timeouts.idle, range: 1...120)
    timeouts.response = section.seconds("response_seconds", default: timeouts.response, range: 5...600)
    timeouts.total = section.seconds("total_seconds", default: timeouts.total, range: 5...900)
    let longest = max(timeouts.connect, timeouts.idle, timeouts.response)
    if timeouts.total < longest {
      section.report(
        "total_seconds", line: section.table?.member("total_seconds")?.line ?? section.line,
        "is shorter than another timeout, which could then never run out",
        "write at least \(longest.components.seconds), or shorten the others")
    }
    section.finish()
  }

  private mutating func readSignals(_ top: inout Section) {
    var section = top.section("signals")
    signals.display = section.seconds("display_seconds", default: signals.display, range: 0.5...30)
    let bounds = PanelEngine.relayPulseBounds
    signals.relayPulse = section.seconds(
      "relay_pulse_seconds", default: signals.relayPulse,
      range: (bounds.lowerBound / .seconds(1))...(bounds.upperBound / .seconds(1)))
    signals.hasBuzzer = section.bool("buzzer", default: signals.hasBuzzer)
    section.finish()
  }
}

extension TOMLValue {
  static let empty = TOMLValue(content: .table([]), line: 0, column: 0)
}
