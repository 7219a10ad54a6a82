import Bluetooth
import Bytes
import Commands
import Crypto
import Glibc
import JSON
import Kernel
import Mdoc
import MdocSession

/// Presents documents to one reader: turns the event loop until the session is over.
///
/// Lives on one thread. Data lines (or JSON lines) go to standard output, the rest is remarks.
final class HolderPresentation {
  /// What the QR code says.
  let engagement: EngagementURI
  private let plan: PresentationPlan
  private let console: Console
  private let isJSON: Bool
  private let loop: EventLoop
  private let radio: HolderRadio
  private var conversation: HolderConversation
  private var timer: EventLoop.Timer?
  private var consentWatch: EventLoop.Watch?
  private var typed: [UInt8] = []
  private var pendingRequest: ReaderRequest?
  private var result: HolderConversation.End?

  init(
    air: String, documents: [StoredCredential], plan: PresentationPlan, isJSON: Bool, console: Console
  ) throws {
    guard let first = documents.first else {
      throw CommandError.failure("present", "no document", hint: "issue one first")
    }
    self.plan = plan
    self.console = console
    self.isJSON = isJSON
    let curve =
      plan.sessionCurve
      ?? (first.credential.deviceKey.curve.kind == .edwards ? .p256 : first.credential.deviceKey.curve)
    let key = try PrivateKey.generate(curve)
    let psm = plan.usesL2CAP ? UInt16.random(in: ChannelPSM.range) : nil
    let bluetooth = try HolderPresentation.offer(plan.mode, psm: plan.namesPSM ? psm : nil)
    engagement = EngagementURI(engagement: DeviceEngagementDraft(key: key.publicKey, bluetooth: bluetooth).encode())
    loop = try EventLoop()
    let answer = HolderAnswer(documents: documents, quirks: plan.quirks)
    let ident = try DeviceEngagement(engagement.engagement).bleIdent
    radio = HolderRadio(
      loop: loop, air: air, bluetooth: bluetooth, ident: ident, mtu: plan.mtu, psm: psm, quirks: plan.quirks,
      patience: plan.timeout)
    conversation = HolderConversation(
      engagement: engagement.engagement, key: key, answer: answer,
      limits: SessionLimits(link: plan.timeout, message: plan.timeout), at: .now)
  }

  /// One UUID for both modes, fresh for this engagement: a random one of RFC 9562 version 4.
  private static func offer(_ mode: PresentationPlan.Mode, psm: UInt16?) throws -> BluetoothRetrieval {
    var bytes = randomBytes(16)
    bytes[6] = bytes[6] & 0x0f | 0x40
    bytes[8] = bytes[8] & 0x3f | 0x80
    guard let uuid = UUID128(bytes) else { preconditionFailure("16 bytes are a UUID") }
    return BluetoothRetrieval(
      peripheralServer: mode == .central ? nil : .init(uuid: uuid, psm: psm),
      centralClient: mode == .peripheral ? nil : uuid)
  }

  /// Goes on the air: from here on a reader finds this wallet.
  func open() throws {
    timer = loop.timer("holder session") { [weak self] in self?.feed(.tick) }
    try radio.start { [weak self] event in self?.take(event) }
    drain()
    report("engagement", engagement.text, [.init("text", .string(engagement.text))])
  }

  /// Turns until the session is over; whether the reader ended it properly after an answer.
  func run() throws -> Bool {
    let signals = try SignalWatch([SIGINT, SIGTERM], on: loop) { [weak self] _ in self?.feed(.cancel) }
    defer { signals.cancel() }
    try loop.run()
    endConsent()
    let end = result ?? .cancelled
    report(
      "ended", HolderPresentation.text(of: end),
      [.init("reason", .string(end.code)), .init("proper", .bool(end.isProper))])
    return end.isProper
  }

  // MARK: The link

  private func take(_ event: HolderRadio.Event) {
    switch event {
    case .remark(let text): console.remark(text)
    case .started(let mode, let start):
      let transport = start.transport == .l2cap ? " over a channel" : ""
      report(
        "link", "link up in \(mode.name)\(transport), MTU \(start.mtu)",
        [
          .init("mode", .string(mode.rawValue)), .init("transport", .string(start.transport.rawValue)),
          .init("mtu", .integer(start.mtu)),
        ])
      feed(.linkStarted)
    case .message(let message): feed(.message(message))
    case .endedByReader: feed(.readerEndedLink)
    case .lost: feed(.linkLost)
    case .closed: loop.stop()
    }
  }

  // MARK: The conversation

  private func feed(_ input: HolderConversation.Input) {
    guard result == nil else { return }
    conversation.handle(input, at: .now)
    drain()
  }

  private func drain() {
    while let output = conversation.nextOutput() {
      switch output {
      case .send(let message, let disturbance): radio.send(message, disturbance)
      case .endLink: radio.sendEnd()
      case .wake(let instant): timer?.set(at: instant)
      case .ask(let request): ask(request)
      case .finished(let end):
        // A reader that ends the session before it has the whole answer did not get one.
        let isCutShort = end == .endedByReader && radio.hasUnsentMessage
        result = isCutShort ? .failed(.sessionTerminatedByPeer) : end
        timer?.cancel()
        // Closing is asynchronous: what is still to be sent goes out first.
        radio.close()
      }
    }
  }

  // MARK: Consent

  private func ask(_ request: ReaderRequest) {
    if isJSON {
      console.data(json("asked", [.init("documents", .array(request.documents.map(HolderPresentation.json)))]))
    } else {
      for line in request.lines { console.data(line) }
    }
    switch plan.consent {
    case .always(let isGranted): decide(request, isGranted)
    case .ask:
      pendingRequest = request
      console.remark("Share this? Type yes, or anything else to refuse:")
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
    decide(request, ["yes", "y"].contains(line.lowercased().filter { !$0.isWhitespace }))
  }

  private func decide(_ request: ReaderRequest, _ isGranted: Bool) {
    report("consent", isGranted ? "consent given" : "consent refused", [.init("granted", .bool(isGranted))])
    // Not from inside the drain that asked: one input at a time.
    let answers = request.documents.map { _ in isGranted }
    let timer = loop.timer("consent") { [weak self] in self?.feed(.consent(answers)) }
    timer.set(after: .zero)
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
