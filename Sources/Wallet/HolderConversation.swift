import Bytes
import CBOR
import Crypto
import Mdoc
import MdocSession

/// One presentation without its link: the session, the consent, the answer, and what goes wrong on purpose.
///
/// Sans-IO: one input, then drain `nextOutput()`; time comes in as an argument.
package struct HolderConversation: ~Copyable {
  package typealias Instant = ContinuousClock.Instant

  /// What happened.
  package enum Input: Sendable {
    /// The link to a reader can carry messages.
    case linkStarted
    /// A whole message.
    case message(ByteView)
    /// What the holder said to each document of the last `ask`.
    case consent([Bool])
    /// The reader ended the session by the transport's own means (State end).
    case readerEndedLink
    /// The link is gone without a word.
    case linkLost
    /// The holder wants no more.
    case cancel
    case tick
  }

  /// What to do.
  package enum Output: Sendable {
    /// Send a message; `disturbance` says what is to go wrong with it on the way.
    case send([UInt8], Disturbance?)
    /// Show this and come back with `consent`.
    case ask(ReaderRequest)
    /// Send State end (status 0x02) instead of a message.
    case endLink
    case wake(at: Instant)
    /// Deliver what is still to send, then close the link. The last output.
    case finished(End)
  }

  /// What goes wrong with the values that carry a message.
  package enum Disturbance: Equatable, Sendable {
    /// The link drops after this share of the bytes.
    case dropAfter(percent: Int)
    /// The first value starts with a byte that is neither 0 nor 1.
    case invalidFragment
    /// Every value carries less than it could.
    case shortFragments
  }

  /// How it ended, from the holder's side.
  package enum End: Equatable, Sendable {
    /// The reader ended the session after the answer, with status 20 or State end.
    case endedByReader
    /// The link was gone after the answer, without a word.
    case linkLostAfterAnswer
    /// Nothing came any more after the answer.
    case timeoutAfterAnswer
    case cancelled
    case failed(SessionFailure)

    /// Whether it ended as a session should: by the reader, after the answer.
    package var isProper: Bool { self == .endedByReader }

    /// The stable reason code.
    package var code: String {
      switch self {
      case .endedByReader: "endedByReader"
      case .linkLostAfterAnswer: "linkLostAfterAnswer"
      case .timeoutAfterAnswer: "timeoutAfterAnswer"
      case .cancelled: "cancelled"
      case .failed(let failure): failure.code
      }
    }
  }

  private var session: HolderSession
  // Variables since the 6.0.3 compiler lets no initializer with constants call a mutating method, where the struct cannot
  // be copied.
  private var answer: HolderAnswer
  private var engagement: [UInt8]
  private var roots: ReaderRoots
  private var request: DeviceRequest?
  private var answerCount = 0
  /// What to make of the session's completion: who caused it.
  private var completion = End.endedByReader
  private var outputs: [Output] = []

  /// - Parameters:
  ///   - engagement: exactly as shown.
  ///   - key: its ephemeral key.
  ///   - roots: by which readers are known.
  package init(
    engagement: [UInt8], key: PrivateKey, answer: HolderAnswer, roots: ReaderRoots = ReaderRoots(),
    limits: SessionLimits = SessionLimits(), at now: Instant
  ) {
    session = HolderSession(engagement: engagement, key: key, limits: limits, at: now)
    self.engagement = engagement
    self.answer = answer
    self.roots = roots
    drainSession(at: now)
  }

  /// Feeds one event. Drain `nextOutput()` before feeding the next.
  package mutating func handle(_ input: Input, at now: Instant) {
    switch input {
    case .linkStarted: feed(.linkStarted, at: now)
    case .message(let message):
      completion = .endedByReader
      feed(.message(message), at: now)
    case .readerEndedLink:
      completion = .endedByReader
      feed(.linkEnded, at: now)
    case .linkLost:
      completion = .linkLostAfterAnswer
      feed(.linkEnded, at: now)
    case .cancel:
      completion = .cancelled
      feed(.terminate, at: now)
    case .tick:
      completion = .timeoutAfterAnswer
      feed(.tick, at: now)
    case .consent(let granted): respond(granted, at: now)
    }
  }

  package mutating func nextOutput() -> Output? { outputs.isEmpty ? nil : outputs.removeFirst() }

  // MARK: The session

  private mutating func feed(_ input: HolderSession.Input, at now: Instant) {
    session.handle(input, at: now)
    drainSession(at: now)
  }

  private mutating func drainSession(at now: Instant) {
    var pending: [UInt8]?
    while let output = session.nextOutput() {
      switch output {
      case .send(let message): outputs.append(.send(message, nil))
      case .wake(let instant): outputs.append(.wake(at: instant))
      case .request(let bytes): pending = bytes
      case .finished(let outcome): outputs.append(.finished(end(outcome)))
      }
    }
    if let pending { take(request: pending, at: now) }
  }

  private func end(_ outcome: SessionOutcome) -> End {
    switch outcome {
    case .completed: completion
    case .cancelled: .cancelled
    case .failed(let failure): .failed(failure)
    }
  }

  private mutating func take(request bytes: [UInt8], at now: Instant) {
    guard let transcript = session.transcript else { return }
    do throws(DeviceRequest.Violation) {
      let request = try DeviceRequest(bytes)
      self.request = request
      outputs.append(.ask(ReaderRequest(request, answer: answer, transcript: transcript, roots: roots)))
    } catch {
      if case .notCBOR = error {
        send(HolderAnswer.refusal(status: 11), at: now)
      } else {
        send(HolderAnswer.refusal(status: 12), at: now)
      }
    }
  }

  // MARK: The answer

  private mutating func respond(_ granted: [Bool], at now: Instant) {
    guard let request = self.request, let transcript = session.transcript else { return }
    self.request = nil
    let requests = request.documents.map(\.itemsRequest)
    // A missing word is a no.
    let granted = requests.indices.map { $0 < granted.count && granted[$0] }
    let context = HolderAnswer.Context(transcript: transcript.encoded, readerKey: session.eReaderKey)
    do throws(PresentationError) {
      send(try answer.response(to: requests, isGranted: granted, in: context), at: now)
    } catch {
      // The key cannot do what was set up (a MAC with a reader key on another curve): a general error.
      send(HolderAnswer.refusal(status: 10), at: now)
    }
  }

  private mutating func send(_ response: [UInt8], at now: Instant) {
    let quirks = answer.quirks
    answerCount += 1
    if quirks.contains(.silent) { return }
    if quirks.contains(.endState) { return outputs.append(.endLink) }
    if let override = sealOverride {
      session.handle(.respondWrongly(response, override), at: now)
    } else {
      session.handle(.respond(response, endsSession: false), at: now)
    }
    while let output = session.nextOutput() {
      switch output {
      case .send(let message):
        outputs.append(.send(quirks.contains(.sessionExtraMembers) ? withExtraMember(message) : message, disturbance))
      case .wake(let instant): outputs.append(.wake(at: instant))
      case .request: break
      case .finished(let outcome): outputs.append(.finished(end(outcome)))
      }
    }
  }

  /// What the quirks do to the session message of this answer; nil for an honest one.
  private var sealOverride: SealOverride? {
    let quirks = answer.quirks
    let status: [(Quirk, UInt64)] = [
      (.sessionStatus10, 10), (.sessionStatus11, 11), (.sessionStatus20, 20), (.sessionStatusUnknown, 99),
    ]
    for (quirk, number) in status where quirks.contains(quirk) {
      return .rawMessage(SessionData(status: number).encode())
    }
    if quirks.contains(.sessionNotCBOR) { return .rawMessage([0xa1, 0x64] + Array("data".utf8)) }
    if quirks.contains(.sessionNoMembers) { return .rawMessage([0xa0]) }
    if quirks.contains(.plainData) { return .plainData }
    if quirks.contains(.wrongCounter) { return .counter(2) }
    if quirks.contains(.repeatedCounter), answerCount > 1 { return .counter(1) }
    if quirks.contains(.readerDirectionKey) { return .readerKey }
    if quirks.contains(.readerDirectionIV) { return .readerIdentifier }
    if quirks.contains(.corruptTag) { return .corruptTag }
    if quirks.contains(.sessionDataAnd20) { return .dataWithStatus(SessionData.Status.termination) }
    return nil
  }

  private var disturbance: Disturbance? {
    let quirks = answer.quirks
    if let percent = quirks.parameter(of: .earlyDisconnect) { return .dropAfter(percent: percent) }
    if quirks.contains(.invalidFragment) { return .invalidFragment }
    return quirks.contains(.shortFragments) ? .shortFragments : nil
  }

  /// The message with a member that no edition knows: legal, to be ignored.
  private func withExtraMember(_ message: [UInt8]) -> [UInt8] {
    guard let entries = try? decodeCBOR(message).entries else { return message }
    let members = entries.map { CBORValue.Pair(.encoded(Array($0.key.encoded)), .encoded(Array($0.value.encoded))) }
    return CBORValue.map(members + [CBORValue.Pair("x-note", .array([1, .null]))]).encode()
  }
}
