import Bluetooth
import Bytes
import Crypto
import Kernel
import Links
import Mdoc
import MdocSession

/// Presents documents to one reader near by: engagement, link, request, answer, end (ISO/IEC 18013-5).
///
/// Lives on its loop's thread. What happens comes as events; the holder's word goes in by `sendResponse`.
package final class ProximityPresentationSession {
  /// Which of the two Bluetooth modes are offered, named from the wallet's view.
  package enum Mode: String, CaseIterable, Sendable {
    case central
    case peripheral
    case both
  }

  /// What is offered to the reader, and how long it is waited for.
  package struct Offer: Sendable {
    package var mode = Mode.both
    /// Largest ATT MTU, 23 to 517.
    package var mtu = 515
    /// Whether an LE credit-based channel is offered and used beside GATT.
    package var usesL2CAP = false
    /// Whether the code names that channel.
    package var namesPSM = false
    /// How long each step of the reader may take.
    package var timeout = Duration.seconds(120)
    /// Of the session key; nil for the curve of the device key, where that can agree.
    package var sessionCurve: Curve?

    package init() {}
  }

  package enum Event {
    /// Something a technician may want to know.
    case remark(String)
    /// A link has reached State start.
    case linked(MdocMode, LinkStart)
    /// A reader asks; each document with what the wallet has for it. Answered by `sendResponse`.
    case requestReceived(ReaderRequest)
    /// The session is over. The last event.
    case ended(HolderConversation.End)
  }

  /// What the QR code says.
  package let engagement: EngagementURI
  private let loop: EventLoop
  private let radio: HolderRadio
  private var conversation: HolderConversation
  private var timer: EventLoop.Timer?
  private var granting: EventLoop.Timer?
  private var observer: ((Event) -> Void)?
  private var result: HolderConversation.End?

  /// - Parameters:
  ///   - air: the folder that is the simulated air.
  ///   - documents: at least one.
  ///   - roots: of readers, by which the wallet knows who asks.
  /// - Throws: what keeps a key or the offer from being made.
  package init(
    loop: EventLoop, air: String, documents: [StoredCredential], offer: Offer = Offer(), quirks: Quirks = Quirks(),
    roots: ReaderRoots = ReaderRoots()
  ) throws {
    guard let first = documents.first else { preconditionFailure("a wallet without documents presents nothing") }
    self.loop = loop
    let deviceCurve = first.credential.deviceKey.curve
    let key = try PrivateKey.generate(offer.sessionCurve ?? (deviceCurve.kind == .edwards ? .p256 : deviceCurve))
    let psm = offer.usesL2CAP ? UInt16.random(in: ChannelPSM.range) : nil
    let bluetooth = ProximityPresentationSession.retrieval(offer.mode, psm: offer.namesPSM ? psm : nil)
    engagement = EngagementURI(engagement: DeviceEngagementDraft(key: key.publicKey, bluetooth: bluetooth).encode())
    let ident = try DeviceEngagement(engagement.engagement).bleIdent
    radio = HolderRadio(
      loop: loop, air: air, bluetooth: bluetooth, ident: ident, mtu: offer.mtu, psm: psm, quirks: quirks,
      patience: offer.timeout)
    conversation = HolderConversation(
      engagement: engagement.engagement, key: key, answer: HolderAnswer(documents: documents, quirks: quirks),
      roots: roots, limits: SessionLimits(link: offer.timeout, message: offer.timeout), at: .now)
  }

  /// One UUID for both modes, fresh for this engagement: a random one of RFC 9562 version 4.
  private static func retrieval(_ mode: Mode, psm: UInt16?) -> BluetoothRetrieval {
    var bytes = randomBytes(16)
    bytes[6] = bytes[6] & 0x0f | 0x40
    bytes[8] = bytes[8] & 0x3f | 0x80
    guard let uuid = UUID128(bytes) else { preconditionFailure("16 bytes are a UUID") }
    return BluetoothRetrieval(
      peripheralServer: mode == .central ? nil : .init(uuid: uuid, psm: psm),
      centralClient: mode == .peripheral ? nil : uuid)
  }

  /// Goes on the air: from here on a reader finds this wallet.
  package func open(_ observer: @escaping (Event) -> Void) throws {
    self.observer = observer
    timer = loop.timer("holder session") { [weak self] in self?.feed(.tick) }
    granting = nil
    try radio.start { [weak self] event in self?.take(event) }
    drain()
  }

  /// The holder's word on the request: for each document of it, in its order, whether it is given.
  package func sendResponse(_ isGranted: [Bool]) {
    // Not from inside the drain that asked: one input at a time.
    granting = loop.timer("consent") { [weak self] in self?.feed(.consent(isGranted)) }
    granting?.set(after: .zero)
  }

  /// Ends the session, wherever it stands.
  package func terminate() { feed(.cancel) }

  // MARK: The link

  private func take(_ event: HolderRadio.Event) {
    switch event {
    case .remark(let text): observer?(.remark(text))
    case .started(let mode, let start):
      observer?(.linked(mode, start))
      feed(.linkStarted)
    case .message(let message): feed(.message(message))
    case .endedByReader: feed(.readerEndedLink)
    case .lost: feed(.linkLost)
    case .closed:
      observer?(.ended(result ?? .cancelled))
      observer = nil
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
      case .ask(let request): observer?(.requestReceived(request))
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
}
