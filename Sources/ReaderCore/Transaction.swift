import Bytes
import Crypto
import Mdoc
import MdocSession

/// One visitor: the session, its deadlines and what is known about it so far. Its keys go when it goes, and the
/// reader's phase holds the only reference.
final class Transaction {
  typealias Instant = ContinuousClock.Instant

  let fingerprint: [UInt8]
  let plan: RadioPlan
  var lastLinkFailure: String?
  /// Why the exchange is over without an answer.
  private(set) var failure: String?

  private let settings: Reader.Settings
  private var session: ReaderSession
  private var report: TransactionReport
  private var messages: [[UInt8]] = []
  private var response: [UInt8]?
  private var isFinished = false

  private let overall: Instant
  private var phaseDeadline: Instant
  private var sessionDeadline: Instant?
  private let decodedAt: Instant
  private var startedAt: Instant?
  private var requestSentAt: Instant?
  private var firstPartAt: Instant?

  /// Why there can be no session for an engagement.
  enum Refusal: String, Error {
    /// No key of the wallet's curve can be made, or the two keys cannot agree.
    case engagementKeyUnusable
    /// This reader's own key does not sign.
    case readerKeyUnusable
  }

  init(
    number: UInt64, engagement: DeviceEngagement, fingerprint: [UInt8], settings: Reader.Settings,
    makeKey: (Curve) throws(CryptoError) -> PrivateKey, capturedAt: Instant, at now: Instant
  ) throws(Refusal) {
    guard let bluetooth = engagement.bluetooth, let key = try? makeKey(engagement.eDeviceKey.curve) else {
      throw .engagementKeyUnusable
    }
    let request = try Transaction.request(to: engagement, from: key.publicKey, settings)
    let limits = SessionLimits(
      link: settings.timeouts.connect, message: settings.timeouts.total, messageSize: settings.messageSize)
    guard
      let session = try? ReaderSession(
        engagement: engagement, ephemeralKey: key, request: request.encode(), limits: limits, at: now)
    else { throw .engagementKeyUnusable }
    self.session = session
    self.settings = settings
    self.fingerprint = fingerprint
    plan = RadioPlan(
      advertise: bluetooth.centralClient, ident: engagement.bleIdent, discover: bluetooth.peripheralServer?.uuid,
      psm: bluetooth.peripheralServer?.psm)
    report = TransactionReport(number: number)
    report.record(.scan, from: capturedAt, to: now)
    decodedAt = now
    overall = now + settings.timeouts.total
    phaseDeadline = now + settings.timeouts.connect
    drainSession()
  }

  /// What is asked, signed where this reader says who it is.
  private static func request(
    to engagement: DeviceEngagement, from key: PublicKey, _ settings: Reader.Settings
  ) throws(Refusal) -> DeviceRequestDraft {
    var request = DeviceRequestDraft(settings.requests)
    guard let signer = settings.signer else { return request }
    let transcript = SessionTranscript(engagement: engagement, eReaderKey: key, handover: .qrCode)
    do {
      try signer.sign(&request, transcript: transcript, takesReaderAuthAll: engagement.capabilities.readerAuthAll)
    } catch {
      throw .readerKeyUnusable
    }
    return request
  }

  /// When to look again.
  var deadline: Instant { min(overall, phaseDeadline, sessionDeadline ?? overall) }

  func isOverdue(at now: Instant) -> Bool { now >= min(overall, phaseDeadline) }

  func takeMessages() -> [[UInt8]] {
    defer { messages = [] }
    return messages
  }

  // MARK: What happens

  func linkStarted(_ facts: LinkFacts, at now: Instant) {
    report.link = facts
    report.record(.link, from: decodedAt, to: now)
    startedAt = now
    phaseDeadline = now + settings.timeouts.idle
    feed(.linkStarted, at: now)
  }

  func handle(_ event: Reader.LinkEvent, at now: Instant) {
    switch event {
    // Another transport took over before anything had come.
    case .started(let facts):
      report.link = facts
      // The request goes out anew, and its answer is waited for anew.
      startedAt = now
      requestSentAt = nil
      firstPartAt = nil
      phaseDeadline = now + settings.timeouts.idle
    case .sent:
      guard requestSentAt == nil else { return }
      report.record(.request, from: startedAt, to: now)
      requestSentAt = now
      phaseDeadline = now + settings.timeouts.response
    case .progress:
      if firstPartAt == nil {
        report.record(.consent, from: requestSentAt ?? startedAt, to: now)
        firstPartAt = now
      }
      phaseDeadline = now + settings.timeouts.idle
    case .message(let message):
      report.record(.transfer, from: firstPartAt ?? now, to: now)
      feed(.message(message[...]), at: now)
      firstPartAt = nil
    case .ended(let reason):
      // The link's own reason says more than "transport lost".
      feed(.linkEnded, at: now)
      if failure != nil { failure = reason }
    }
  }

  func tick(at now: Instant) {
    if isOverdue(at: now) {
      feed(.cancel, at: now)
      failure = SessionFailure.timeout.code
    } else {
      feed(.tick, at: now)
    }
  }

  func cancel(at now: Instant) { feed(.cancel, at: now) }

  private func feed(_ input: ReaderSession.Input, at now: Instant) {
    session.handle(input, at: now)
    drainSession()
  }

  private func drainSession() {
    while let output = session.nextOutput() {
      switch output {
      case .send(let message): messages.append(message)
      case .response(let bytes): response = bytes
      case .wake(let instant): sessionDeadline = instant
      case .finished(.completed):
        sessionDeadline = nil
        isFinished = true
      case .finished(.cancelled):
        sessionDeadline = nil
        failure = failure ?? "cancelled"
      case .finished(.failed(let reason)):
        sessionDeadline = nil
        failure = reason.code
      }
    }
  }

  // MARK: How it ends

  /// The answer to judge, once it is complete.
  func takeEvaluation(at now: Instant) -> Evaluation? {
    guard isFinished, failure == nil, let bytes = response else { return nil }
    response = nil
    report.responseSize = bytes.count
    return Evaluation(
      response: bytes, transcript: session.transcript, readerKey: session.takeEphemeralKey(),
      requested: settings.requests)
  }

  func assessed(_ assessment: Assessment) -> TransactionReport {
    report.outcome = assessment.isGranted ? .granted : .refused
    report.reasons = assessment.reasons
    report.remarks = assessment.remarks
    report.docType = assessment.docType
    report.issuingCountry = assessment.issuingCountry
    report.signerRevocation = assessment.signerRevocation
    report.documentStatus = assessment.documentStatus
    report.record(.verify, assessment.verifying)
    report.record(.decide, assessment.deciding)
    return report
  }

  func failed(_ reason: String) -> TransactionReport {
    report.outcome = .failed
    report.reasons = [reason]
    return report
  }
}
