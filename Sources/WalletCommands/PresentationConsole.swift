import Bluetooth
import Commands
import Glibc
import JSON
import Kernel
import Links
import Mdoc
import Wallet

/// A presentation near by on the command line: events become lines (or JSON lines) on standard output, the rest is remarks; what
/// the holder types becomes consent.
///
/// Lives on one thread.
final class PresentationConsole {
  private let session: ProximityPresentationSession
  private let consent: Consent
  private let console: Console
  private let isJSON: Bool
  private let loop: EventLoop
  private var consentWatch: EventLoop.Watch?
  private var typed: [UInt8] = []
  private var pendingRequest: ReaderRequest?
  private var end: HolderConversation.End?

  /// What the QR code says.
  var engagement: EngagementURI { session.engagement }

  init(
    air: String, documents: [StoredCredential], plan: PresentationPlan, roots: ReaderRoots, isJSON: Bool,
    console: Console
  ) throws {
    consent = plan.consent
    self.console = console
    self.isJSON = isJSON
    loop = try EventLoop()
    session = try ProximityPresentationSession(
      loop: loop, air: air, documents: documents, offer: plan.offer, quirks: plan.quirks, roots: roots)
  }

  /// Goes on the air: from here on a reader finds this wallet.
  func open() throws {
    try session.open { [weak self] event in self?.take(event) }
    report("engagement", engagement.text, [.init("text", .string(engagement.text))])
  }

  /// Turns until the session is over; whether the reader ended it properly after an answer.
  func run() throws -> Bool {
    let signals = try SignalWatch([SIGINT, SIGTERM], on: loop) { [weak self] _ in self?.session.terminate() }
    defer { signals.cancel() }
    try loop.run()
    endConsent()
    let end = end ?? .cancelled
    report(
      "ended", PresentationConsole.text(of: end),
      [.init("reason", .string(end.code)), .init("proper", .bool(end.isProper))])
    return end.isProper
  }

  private func take(_ event: ProximityPresentationSession.Event) {
    switch event {
    case .remark(let text): console.remark(text)
    case .linked(let mode, let start):
      let transport = start.transport == .l2cap ? " over a channel" : ""
      report(
        "link", "link up in \(mode.name)\(transport), MTU \(start.mtu)",
        [
          .init("mode", .string(mode.rawValue)), .init("transport", .string(start.transport.rawValue)),
          .init("mtu", .integer(start.mtu)),
        ])
    case .requestReceived(let request): ask(request)
    case .ended(let end):
      self.end = end
      loop.stop()
    }
  }

  // MARK: Consent

  private func ask(_ request: ReaderRequest) {
    if isJSON {
      console.data(json("asked", [.init("documents", .array(request.documents.map(PresentationConsole.json)))]))
    } else {
      for line in request.lines { console.data(line) }
    }
    switch consent {
    case .always(let isGranted): decide(request, isGranted)
    case .ask:
      pendingRequest = request
      console.remark(Consent.question)
      do throws(SystemError) {
        if consentWatch == nil {
          consentWatch = try loop.watch(raw: console.input, for: .read) { [weak self] _ in self?.readConsent() }
        }
      } catch {
        // A file or /dev/null as standard input cannot be watched: what is there is read at once.
        readConsent()
      }
    }
  }

  private func readConsent() {
    guard let request = pendingRequest else { return endConsent() }
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = read(console.input, &buffer, buffer.count)
    if count < 0, errno == EAGAIN || errno == EINTR { return }
    typed += buffer.prefix(max(count, 0))
    // The end of input is a no: nobody is there to say yes.
    guard typed.contains(UInt8(ascii: "\n")) || count <= 0 || typed.count > 1024 else { return }
    let line = String(decoding: typed.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    typed = []
    pendingRequest = nil
    endConsent()
    decide(request, Consent.isGranted(line))
  }

  private func decide(_ request: ReaderRequest, _ isGranted: Bool) {
    report("consent", isGranted ? "consent given" : "consent refused", [.init("granted", .bool(isGranted))])
    session.sendResponse(request.documents.map { _ in isGranted })
  }

  private func endConsent() {
    if let consentWatch { loop.remove(consentWatch) }
    consentWatch = nil
  }

  // MARK: Reports

  /// A line of the protocol of this presentation: text for people or one JSON object.
  private func report(_ event: String, _ text: String, _ members: [JSONValue.Member]) {
    console.data(isJSON ? json(event, members) : text)
  }

  private func json(_ event: String, _ members: [JSONValue.Member]) -> String {
    JSONValue.object([.init("event", .string(event))] + members).text
  }

  private static func json(_ document: ReaderRequest.Document) -> JSONValue {
    let spaces = document.itemsRequest.nameSpaces.map { space in
      JSONValue.Member(
        space.nameSpace,
        .object(space.elements.map { .init($0.identifier, .bool($0.intentToRetain)) }))
    }
    return [
      "docType": .string(document.itemsRequest.docType), "held": .bool(document.isHeld), "nameSpaces": .object(spaces),
    ]
  }

  private static func text(of end: HolderConversation.End) -> String {
    switch end {
    case .endedByReader: "done: the reader ended the session"
    case .linkLostAfterAnswer: "not ended properly: the link was gone after the answer"
    case .timeoutAfterAnswer: "not ended properly: nothing came after the answer"
    case .cancelled: "cancelled"
    case .failed(let failure): "failed: \(failure.code)"
    }
  }
}
