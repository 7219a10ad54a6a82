import Bluetooth
import Bytes
import Crypto
import Mdoc
import MdocSession
import Panel

/// The reader's top state machine: one transaction at a time, from a code to a signal and back to ready.
///
///     ready -> engaging -> exchanging -> deciding -> signalling -> ready
///
/// No camera, radio, clock or file: what happens comes in, what to do comes out. Whatever a phone does, the machine
/// comes back to ready by itself: each phase has a deadline, and the relay follows a granted decision only.
package struct Reader: ~Copyable {
  package typealias Instant = ContinuousClock.Instant

  /// A number for each link the radio brings up, never used twice.
  package typealias LinkID = UInt64

  /// What happened.
  package enum Input: Sendable {
    /// Everything is set up; the reader may serve.
    case started
    /// A code was found in a picture taken at `capturedAt`.
    case code([UInt8], capturedAt: Instant)
    case link(LinkID, LinkEvent)
    /// The answer to `evaluate`.
    case assessed(Assessment)
    case fault(Fault)
    /// What was wrong is well again.
    case faultCleared(Fault)
    /// The deadline of `wake` may have come.
    case tick
    /// The service ends.
    case stop
  }

  /// What happened on one link.
  package enum LinkEvent: Sendable {
    /// Messages may flow. It comes again when another transport takes the place of the one that has failed.
    case started(LinkFacts)
    /// All of the last message is handed to the radio.
    case sent
    /// A part of a message arrived.
    case progress
    case message([UInt8])
    /// The link is over, with the code of its reason.
    case ended(String)
  }

  /// What to do.
  package enum Output: Sendable {
    /// Be reachable for this wallet: advertise, discover, or both.
    case openRadio(RadioPlan)
    /// This link won; end every other one and stop advertising and discovering.
    case keep(LinkID)
    case send(LinkID, [UInt8])
    /// Deliver what is still to send, then end this link.
    case finish(LinkID)
    /// End every link and stop advertising and discovering.
    case closeRadio
    /// Verify and decide, then feed `assessed`.
    case evaluate(Evaluation)
    case show(Signal)
    case report(TransactionReport)
    /// A code that is no engagement this reader can use, with the code of its reason.
    case codeRefused(String)
    /// A code may be looked for; the machine is ready for the next visitor.
    case ready
    /// Feed `tick` then; replaces an earlier deadline.
    case wake(at: Instant)
  }

  private enum Phase {
    case idle
    case ready
    case engaging(Transaction)
    /// A link is up: the request is on its way, or the answer is awaited.
    case exchanging(Transaction, LinkID)
    case deciding(Transaction)
    case signalling(until: Instant)
    case stopped
  }

  /// What a site wants of the machine.
  package struct Settings: Sendable {
    /// One for each document that would do.
    package var requests: [ItemsRequest]
    package var timeouts: ReaderTimeouts
    /// Largest message of a wallet in bytes.
    package var messageSize: Int
    /// How long a decision is shown before the next visitor.
    package var display: Duration

    package init(
      requests: [ItemsRequest], timeouts: ReaderTimeouts = ReaderTimeouts(), messageSize: Int = 4 << 20,
      display: Duration = .seconds(2)
    ) {
      self.requests = requests
      self.timeouts = timeouts
      self.messageSize = messageSize
      self.display = display
    }
  }

  private let settings: Settings
  /// Makes a fresh key of a curve; randomness comes in from outside.
  private let makeKey: (Curve) throws(CryptoError) -> PrivateKey
  private var phase = Phase.idle
  private var outputs: [Output] = []
  private var faults: Set<Fault> = []
  /// Whether everything is set up: before that, no fault that goes away makes the reader ready.
  private var isStarted = false
  private var count: UInt64 = 0
  private var seen = SeenCodes()

  package init(settings: Settings, makeKey: @escaping (Curve) throws(CryptoError) -> PrivateKey) {
    self.settings = settings
    self.makeKey = makeKey
  }

  /// Whether a code would be looked at now.
  package var isReady: Bool {
    if case .ready = phase { return true }
    return false
  }

  /// The next thing to do, in order; nil when there is nothing more.
  package mutating func nextOutput() -> Output? { outputs.isEmpty ? nil : outputs.removeFirst() }

  /// Feeds one event. Drain `nextOutput()` before feeding the next.
  package mutating func handle(_ input: Input, at now: Instant) {
    assert(outputs.isEmpty, "outputs of the input before were not drained")
    switch input {
    case .fault(let fault): return raise(fault)
    case .faultCleared(let fault): return clear(fault)
    case .stop: return stop(at: now)
    default: break
    }
    var current = Phase.stopped
    swap(&current, &phase)
    switch current {
    case .idle:
      phase = .idle
      if case .started = input {
        isStarted = true
        becomeReady()
      }
    case .ready:
      phase = .ready
      if case .code(let content, let capturedAt) = input { engage(content, capturedAt: capturedAt, at: now) }
    case .engaging(let transaction): engaging(transaction, input, at: now)
    case .exchanging(let transaction, let link): exchanging(transaction, link, input, at: now)
    case .deciding(let transaction): deciding(transaction, input, at: now)
    case .signalling(let end): signalling(until: end, input, at: now)
    case .stopped: phase = .stopped
    }
  }

  // MARK: Ready

  private mutating func becomeReady() {
    if !faults.isEmpty {
      phase = .idle
      outputs.append(.show(faults.contains(.clockUntrusted) ? .clockUntrusted : .fault))
    } else if isStarted {
      phase = .ready
      outputs.append(.show(.ready))
      outputs.append(.ready)
    } else {
      phase = .idle
      outputs.append(.show(.starting))
    }
  }

  private mutating func raise(_ fault: Fault) {
    guard faults.insert(fault).inserted else { return }
    switch phase {
    case .idle, .ready: becomeReady()
    // A transaction under way ends by its own deadlines; the fault is shown when it is over.
    default: break
    }
  }

  private mutating func clear(_ fault: Fault) {
    guard faults.remove(fault) != nil else { return }
    if case .idle = phase { becomeReady() }
  }

  private mutating func stop(at now: Instant) {
    var current = Phase.stopped
    swap(&current, &phase)
    switch current {
    case .exchanging(let transaction, let link):
      transaction.cancel(at: now)
      for message in transaction.takeMessages() { outputs.append(.send(link, message)) }
      outputs.append(.report(transaction.failed("stopped")))
    case .engaging(let transaction), .deciding(let transaction):
      outputs.append(.report(transaction.failed("stopped")))
    default: break
    }
    phase = .stopped
    outputs.append(.closeRadio)
    outputs.append(.show(.off))
  }

  // MARK: A code

  private mutating func engage(_ content: [UInt8], capturedAt: Instant, at now: Instant) {
    let fingerprint = digest(.sha256, content[...])
    // A code is for one session; it may stay in the picture for a while after it.
    guard !seen.contains(fingerprint) else { return }
    let engagement: DeviceEngagement
    switch ScannedCode(content) {
    case .usable(let usable): engagement = usable
    case .refused(let reason, _):
      seen.insert(fingerprint)
      phase = .ready
      outputs.append(.codeRefused(reason))
      if Reader.isMeantForUs(content) { signal(.incomplete, at: now) }
      return
    }
    count += 1
    guard
      let transaction = Transaction(
        number: count, engagement: engagement, fingerprint: fingerprint, settings: settings, makeKey: makeKey,
        capturedAt: capturedAt, at: now)
    else {
      seen.insert(fingerprint)
      outputs.append(.codeRefused("engagementKeyUnusable"))
      signal(.incomplete, at: now)
      return
    }
    outputs.append(.show(.reading))
    outputs.append(.openRadio(transaction.plan))
    wake(at: transaction.deadline)
    phase = .engaging(transaction)
  }

  /// Whether a code that cannot be used was at least shown to a reader: other codes in sight are nobody's business.
  private static func isMeantForUs(_ content: [UInt8]) -> Bool {
    String(decoding: content.prefix(5), as: UTF8.self).lowercased() == "mdoc:"
  }

  // MARK: A transaction

  private mutating func engaging(_ transaction: Transaction, _ input: Input, at now: Instant) {
    switch input {
    case .link(let link, .started(let facts)):
      seen.insert(transaction.fingerprint)
      transaction.linkStarted(facts, at: now)
      outputs.append(.keep(link))
      for message in transaction.takeMessages() { outputs.append(.send(link, message)) }
      wake(at: transaction.deadline)
      phase = .exchanging(transaction, link)
    case .link(_, .ended(let reason)):
      transaction.lastLinkFailure = reason
      phase = .engaging(transaction)
    case .tick where transaction.isOverdue(at: now):
      outputs.append(.closeRadio)
      fail(transaction, transaction.lastLinkFailure ?? LinkFailure.peerNotFound.code, at: now)
    case .tick:
      wake(at: transaction.deadline)
      phase = .engaging(transaction)
    default:
      phase = .engaging(transaction)
    }
  }

  private mutating func exchanging(
    _ transaction: Transaction, _ link: LinkID, _ input: Input, at now: Instant
  ) {
    switch input {
    case .link(link, let event): transaction.handle(event, at: now)
    case .tick: transaction.tick(at: now)
    default: break
    }
    for message in transaction.takeMessages() { outputs.append(.send(link, message)) }
    if let evaluation = transaction.takeEvaluation(at: now) {
      outputs.append(.finish(link))
      outputs.append(.show(.processing))
      outputs.append(.evaluate(evaluation))
      phase = .deciding(transaction)
    } else if let failure = transaction.failure {
      outputs.append(.finish(link))
      fail(transaction, failure, at: now)
    } else {
      wake(at: transaction.deadline)
      phase = .exchanging(transaction, link)
    }
  }

  private mutating func deciding(_ transaction: Transaction, _ input: Input, at now: Instant) {
    guard case .assessed(let assessment) = input else {
      phase = .deciding(transaction)
      return
    }
    // Whatever was found was found by a clock that cannot be right.
    if faults.contains(.clockUntrusted) { return fail(transaction, Fault.clockUntrusted.rawValue, at: now) }
    outputs.append(.report(transaction.assessed(assessment)))
    signal(assessment.isGranted ? .granted : .denied, at: now)
  }

  private mutating func fail(_ transaction: Transaction, _ reason: String, at now: Instant) {
    outputs.append(.report(transaction.failed(reason)))
    signal(.incomplete, at: now)
  }

  // MARK: A signal

  /// How long `incomplete` is shown at most: whoever lost the link may try again within a second of it.
  static let incompleteDisplay = Duration.milliseconds(800)

  private mutating func signal(_ signal: Signal, at now: Instant) {
    outputs.append(.show(signal))
    let end = now + (signal == .incomplete ? min(settings.display, Reader.incompleteDisplay) : settings.display)
    wake(at: end)
    phase = .signalling(until: end)
  }

  private mutating func signalling(until end: Instant, _ input: Input, at now: Instant) {
    if case .tick = input, now >= end {
      outputs.append(.closeRadio)
      becomeReady()
    } else {
      if case .tick = input { wake(at: end) }
      phase = .signalling(until: end)
    }
  }

  private mutating func wake(at instant: Instant) { outputs.append(.wake(at: instant)) }
}

/// What to be on the radio for one wallet.
package struct RadioPlan: Equatable, Sendable {
  /// Advertise this service and serve it: mdoc central client mode.
  package let advertise: UUID128?
  /// The value of Ident while advertising. 16 bytes.
  package let ident: [UInt8]
  /// Discover this service and use it: mdoc peripheral server mode.
  package let discover: UUID128?
  /// The LE credit-based channel of the discovered wallet, where the code names it.
  package let psm: UInt16?

  package init(advertise: UUID128?, ident: [UInt8], discover: UUID128?, psm: UInt16? = nil) {
    self.advertise = advertise
    self.ident = ident
    self.discover = discover
    self.psm = psm
  }
}

/// The codes that were used up lately: a code is for one session, and it stays in the picture for a while.
struct SeenCodes {
  private static let capacity = 32
  private var fingerprints: [[UInt8]] = []

  func contains(_ fingerprint: [UInt8]) -> Bool { fingerprints.contains(fingerprint) }

  mutating func insert(_ fingerprint: [UInt8]) {
    if fingerprints.count == SeenCodes.capacity { fingerprints.removeFirst() }
    fingerprints.append(fingerprint)
  }
}
