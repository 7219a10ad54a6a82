import Bytes
import COSE
import Crypto
import Mdoc

/// The wallet's side of one session, the mirror of `ReaderSession`.
///
/// Whatever fails ends the session, wipes its keys and is final: an ended session ignores every input.
package struct HolderSession: ~Copyable {
  package typealias Instant = ContinuousClock.Instant

  /// What happened.
  package enum Input: Sendable {
    /// The link to a reader can carry messages.
    case linkStarted
    /// A whole message, put together from its parts.
    case message(ByteView)
    /// The encoded DeviceResponse to the last request; with `endsSession` status 20 goes with it.
    case respond([UInt8], endsSession: Bool)
    /// An answer that is wrong on purpose: what a test wallet does to see what a reader makes of it.
    case respondWrongly([UInt8], SealOverride)
    /// The holder wants no more. After an answer it is the normal end.
    case terminate
    case linkEnded
    /// The deadline of `wake` may have come.
    case tick
  }

  /// What to do.
  package enum Output: Equatable, Sendable {
    case send([UInt8])
    /// A decrypted DeviceRequest, to be answered with `respond`. `transcript` and `eReaderKey` are there by now.
    case request([UInt8])
    /// Feed `tick` then; replaces an earlier deadline.
    case wake(at: Instant)
    /// Deliver what is still to send, then close the link. The last output.
    case finished(SessionOutcome)
  }

  private enum Phase: ~Copyable {
    case awaitingLink
    case awaitingEstablishment
    /// A request is with the holder.
    case awaitingAnswer(SessionEncryption)
    /// An answer has been given.
    case awaitingRequest(SessionEncryption)
    case ended
  }

  /// What device authentication is bound to; nil until the reader's first message.
  package private(set) var transcript: SessionTranscript?
  /// The reader's ephemeral key, for device authentication by MAC; nil until the reader's first message.
  package private(set) var eReaderKey: PublicKey?
  private let engagement: [UInt8]
  private let handover: Handover
  private let key: PrivateKey
  private let limits: SessionLimits
  private var phase = Phase.awaitingLink
  private var outbox: SessionOutbox<Output>

  /// A session for an engagement that is being shown.
  ///
  /// - Parameters:
  ///   - engagement: the DeviceEngagement exactly as shown.
  ///   - key: its ephemeral key, fresh and used for no other engagement.
  package init(
    engagement: [UInt8], key: PrivateKey, handover: Handover = .qrCode, limits: SessionLimits = SessionLimits(),
    at now: Instant
  ) {
    self.engagement = engagement
    self.key = key
    self.handover = handover
    self.limits = limits
    outbox = SessionOutbox(wakeAt: now + limits.link)
  }

  /// Feeds one event. Drain `nextOutput()` before feeding the next.
  package mutating func handle(_ input: Input, at now: Instant) {
    assert(outbox.isEmpty, "outputs of the input before were not drained")
    var current = Phase.ended
    swap(&current, &phase)
    switch consume current {
    case .awaitingLink: phase = awaitLink(input, at: now)
    case .awaitingEstablishment: phase = awaitEstablishment(input, at: now)
    case .awaitingAnswer(let encryption): phase = awaitAnswer(encryption, input, at: now)
    case .awaitingRequest(let encryption): phase = awaitRequest(encryption, input, at: now)
    case .ended: break
    }
  }

  /// The next thing to do, in order; nil when there is nothing more.
  package mutating func nextOutput() -> Output? { outbox.next() }

  // MARK: Phases

  private mutating func awaitLink(_ input: Input, at now: Instant) -> Phase {
    switch input {
    case .linkStarted:
      outbox.wake(at: now + limits.message)
      return .awaitingEstablishment
    case .message(let message): return establish(message, at: now)
    case .linkEnded: return end(.failed(.transportLost))
    case .terminate: return end(.cancelled)
    case .tick:
      if outbox.isDue(at: now) { return end(.failed(.timeout)) }
    case .respond, .respondWrongly: break
    }
    return .awaitingLink
  }

  private mutating func awaitEstablishment(_ input: Input, at now: Instant) -> Phase {
    switch input {
    case .message(let message): return establish(message, at: now)
    case .linkEnded: return end(.failed(.transportLost))
    case .terminate:
      outbox.sendStatus(SessionData.Status.termination)
      return end(.cancelled)
    case .tick:
      if outbox.isDue(at: now) { return fail(.timeout) }
    case .linkStarted, .respond, .respondWrongly: break
    }
    return .awaitingEstablishment
  }

  private mutating func awaitAnswer(
    _ encryption: consuming SessionEncryption, _ input: Input, at now: Instant
  ) -> Phase {
    switch input {
    case .respond(let response, let endsSession):
      guard let data = try? encryption.seal(response[...]) else { return fail(.encryptionFailed) }
      let status = endsSession ? SessionData.Status.termination : nil
      outbox.append(.send(SessionData(data: data[...], status: status).encode()))
      if endsSession { return end(.completed) }
      outbox.wake(at: now + limits.message)
      return .awaitingRequest(encryption)
    case .respondWrongly(let response, let override):
      guard let message = try? encryption.message(response, override) else { return fail(.encryptionFailed) }
      outbox.append(.send(message))
      outbox.wake(at: now + limits.message)
      return .awaitingRequest(encryption)
    case .message(let message): return receive(message, encryption, isAnswered: false, at: now)
    case .linkEnded: return end(.failed(.transportLost))
    case .terminate:
      outbox.sendStatus(SessionData.Status.termination)
      return end(.cancelled)
    case .tick:
      if outbox.isDue(at: now) { return fail(.timeout) }
    case .linkStarted: break
    }
    return .awaitingAnswer(encryption)
  }

  private mutating func awaitRequest(
    _ encryption: consuming SessionEncryption, _ input: Input, at now: Instant
  ) -> Phase {
    switch input {
    case .message(let message): return receive(message, encryption, isAnswered: true, at: now)
    case .linkEnded: return end(.completed)
    case .terminate:
      outbox.sendStatus(SessionData.Status.termination)
      return end(.completed)
    case .tick:
      if outbox.isDue(at: now) {
        outbox.sendStatus(SessionData.Status.termination)
        return end(.completed)
      }
    case .linkStarted, .respond, .respondWrongly: break
    }
    return .awaitingRequest(encryption)
  }

  // MARK: Messages

  /// The reader's first message: its key makes the transcript and the session keys.
  private mutating func establish(_ message: ByteView, at now: Instant) -> Phase {
    let establishment: SessionEstablishment
    do throws(SessionMessageViolation) {
      establishment = try SessionEstablishment(message, limits: limits.cbor)
    } catch {
      // A reader that gives up before its request says so without a key.
      if error == .missing(member: "eReaderKey"),
        let status = (try? SessionData(message, limits: limits.cbor))?.status
      {
        return fail(status == SessionData.Status.termination ? .sessionTerminatedByPeer : .unexpectedStatus(status))
      }
      return fail(.sessionDataMalformed)
    }
    let readerKey: PublicKey
    do throws(COSEKeyError) {
      readerKey = try establishment.eReaderKey()
    } catch {
      return fail(error == .malformed ? .sessionDataMalformed : .readerKeyUnusable)
    }
    let transcript = SessionTranscript(
      engagement: engagement, eReaderKeyBytes: establishment.eReaderKeyBytes, handover: handover)
    guard
      var encryption = try? SessionEncryption(
        side: .holder, ownKey: key, peerKey: readerKey, transcript: transcript)
    else { return fail(.readerKeyUnusable) }
    guard let request = try? encryption.open(establishment.data) else { return fail(.decryptionFailed) }
    self.transcript = transcript
    eReaderKey = readerKey
    outbox.append(.request(request))
    outbox.wake(at: now + limits.message)
    return .awaitingAnswer(encryption)
  }

  private mutating func receive(
    _ message: ByteView, _ encryption: consuming SessionEncryption, isAnswered: Bool, at now: Instant
  ) -> Phase {
    guard let message = try? SessionData(message, limits: limits.cbor) else { return fail(.sessionDataMalformed) }
    if let status = message.status, status != SessionData.Status.termination { return fail(.unexpectedStatus(status)) }
    if let data = message.data {
      guard let request = try? encryption.open(data) else { return fail(.decryptionFailed) }
      // A request that comes with the end cannot be answered any more.
      if message.status == nil {
        outbox.append(.request(request))
        outbox.wake(at: now + limits.message)
        return .awaitingAnswer(encryption)
      }
    }
    return isAnswered ? end(.completed) : fail(.sessionTerminatedByPeer)
  }

  // MARK: Ends

  private mutating func fail(_ failure: SessionFailure) -> Phase {
    outbox.fail(failure)
    return .ended
  }

  private mutating func end(_ outcome: SessionOutcome) -> Phase {
    outbox.end(outcome)
    return .ended
  }
}
