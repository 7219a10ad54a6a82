import Bytes
import CBOR
import COSE
import Crypto
import Mdoc

/// The reader's side of one session: no socket, no clock. Messages, link events and time go in; messages, plaintext
/// responses, deadlines and the outcome come out.
///
/// Whatever fails ends the session, wipes its keys and is final: an ended session ignores every input.
package struct ReaderSession: ~Copyable {
  package typealias Instant = ContinuousClock.Instant

  /// What happened.
  package enum Input: Sendable {
    /// The link to the wallet of this engagement can carry messages.
    case linkStarted
    /// A whole message, put together from its parts.
    case message(ByteView)
    /// Another DeviceRequest, after the response to the one before.
    case request([UInt8])
    /// The link is gone, or none came about.
    case linkEnded
    /// Somebody here wants no more. After a response it is the normal end.
    case cancel
    /// The deadline of `wake` may have come.
    case tick
  }

  /// What to do.
  package enum Output: Equatable, Sendable {
    case send([UInt8])
    /// A decrypted DeviceResponse; nobody's word for anything yet.
    case response([UInt8])
    /// Feed `tick` then; replaces an earlier deadline.
    case wake(at: Instant)
    /// Deliver what is still to send, then close the link. The last output.
    case finished(SessionOutcome)
  }

  /// What follows a response.
  package enum AfterResponse: Sendable {
    /// Status 20, and the session is over.
    case terminate
    /// The session stays open for another request.
    case stayOpen
  }

  private enum Phase: ~Copyable {
    case awaitingLink(SessionEncryption, establishment: [UInt8])
    case awaitingResponse(SessionEncryption)
    case answered(SessionEncryption)
    case ended
  }

  /// What the keys are bound to, and what device authentication will be checked against.
  package let transcript: SessionTranscript
  private let limits: SessionLimits
  private let afterResponse: AfterResponse
  private var phase: Phase
  // No initial value here, not even an implied nil (hence `Optional`): the 6.0.3 compiler crashes over an initializer
  // that throws when some properties of a struct that cannot be copied are set already.
  private var ephemeralKey: Optional<PrivateKey>
  private var outbox: SessionOutbox<Output>

  /// A session for an engagement that has just been seen.
  ///
  /// - Parameters:
  ///   - ephemeralKey: fresh, on the curve of the engagement's key, and used for no other engagement.
  ///   - request: the encoded DeviceRequest; a signed one is made for
  ///     `SessionTranscript(engagement:eReaderKey:handover:)` of the same key.
  /// Throws `agreementFailed` when the keys cannot agree.
  package init(
    engagement: DeviceEngagement, ephemeralKey: PrivateKey, handover: Handover = .qrCode, request: [UInt8],
    afterResponse: AfterResponse = .terminate, limits: SessionLimits = SessionLimits(), at now: Instant
  ) throws(CryptoError) {
    let eReaderKeyBytes = CBORValue.embedded(ephemeralKey.publicKey.coseKey).encode()
    let transcript = SessionTranscript(
      engagement: engagement.encoded, eReaderKeyBytes: eReaderKeyBytes, handover: handover)
    var encryption = try SessionEncryption(
      side: .reader, ownKey: ephemeralKey, peerKey: engagement.eDeviceKey, transcript: transcript)
    guard let data = try? encryption.seal(request[...]) else {
      throw .openSSL(call: "seal", reasons: [])
    }
    let establishment = SessionEstablishment.encode(eReaderKeyBytes: eReaderKeyBytes, data: data)
    self.transcript = transcript
    self.ephemeralKey = ephemeralKey
    self.afterResponse = afterResponse
    self.limits = limits
    phase = .awaitingLink(encryption, establishment: establishment)
    outbox = SessionOutbox(wakeAt: now + limits.link)
  }

  /// Feeds one event. Drain `nextOutput()` before feeding the next.
  package mutating func handle(_ input: Input, at now: Instant) {
    assert(outbox.isEmpty, "outputs of the input before were not drained")
    var current = Phase.ended
    swap(&current, &phase)
    switch consume current {
    case .awaitingLink(let encryption, let establishment):
      phase = awaitLink(encryption, establishment: establishment, input, at: now)
    case .awaitingResponse(let encryption):
      phase = awaitResponse(encryption, input, at: now)
    case .answered(let encryption):
      phase = afterAnswer(encryption, input, at: now)
    case .ended:
      break
    }
  }

  /// The next thing to do, in order; nil when there is nothing more.
  package mutating func nextOutput() -> Output? { outbox.next() }

  /// The ephemeral private key, for a response authenticated by MAC: given once, and not after a failure.
  package mutating func takeEphemeralKey() -> PrivateKey? {
    defer { ephemeralKey = nil }
    return ephemeralKey
  }

  // MARK: Phases

  private mutating func awaitLink(
    _ encryption: consuming SessionEncryption, establishment: [UInt8], _ input: Input, at now: Instant
  ) -> Phase {
    switch input {
    case .linkStarted:
      outbox.append(.send(establishment))
      outbox.wake(at: now + limits.message)
      return .awaitingResponse(encryption)
    // A wallet has nothing to say yet: data cannot be meant for a key it has not seen, a status is a status.
    case .message(let message): return receive(message, encryption, at: now)
    case .linkEnded: return end(.failed(.transportLost))
    case .cancel: return end(.cancelled)
    case .tick:
      if outbox.isDue(at: now) { return end(.failed(.timeout)) }
    case .request: break
    }
    return .awaitingLink(encryption, establishment: establishment)
  }

  private mutating func awaitResponse(
    _ encryption: consuming SessionEncryption, _ input: Input, at now: Instant
  ) -> Phase {
    switch input {
    case .message(let message): return receive(message, encryption, at: now)
    case .linkEnded: return end(.failed(.transportLost))
    case .cancel:
      outbox.sendStatus(SessionData.Status.termination)
      return end(.cancelled)
    case .tick:
      if outbox.isDue(at: now) { return fail(.timeout) }
    case .linkStarted, .request: break
    }
    return .awaitingResponse(encryption)
  }

  private mutating func afterAnswer(
    _ encryption: consuming SessionEncryption, _ input: Input, at now: Instant
  ) -> Phase {
    switch input {
    case .request(let request):
      guard let data = try? encryption.seal(request[...]) else { return fail(.encryptionFailed) }
      outbox.append(.send(SessionData(data: data[...]).encode()))
      outbox.wake(at: now + limits.message)
      return .awaitingResponse(encryption)
    case .message(let message): return receive(message, encryption, isAnswered: true, at: now)
    // The answer is complete: how the session ends makes no difference any more.
    case .linkEnded: return end(.completed)
    case .cancel:
      outbox.sendStatus(SessionData.Status.termination)
      return end(.completed)
    case .tick:
      if outbox.isDue(at: now) {
        outbox.sendStatus(SessionData.Status.termination)
        return end(.completed)
      }
    case .linkStarted: break
    }
    return .answered(encryption)
  }

  private mutating func receive(
    _ message: ByteView, _ encryption: consuming SessionEncryption, isAnswered: Bool = false, at now: Instant
  ) -> Phase {
    guard let message = try? SessionData(message, limits: limits.cbor) else { return fail(.sessionDataMalformed) }
    if let status = message.status, status != SessionData.Status.termination { return fail(.unexpectedStatus(status)) }
    guard let data = message.data else {
      return isAnswered ? end(.completed) : fail(.sessionTerminatedByPeer)
    }
    guard let response = try? encryption.open(data) else { return fail(.decryptionFailed) }
    outbox.append(.response(response))
    if message.status != nil { return end(.completed) }
    switch afterResponse {
    case .terminate:
      outbox.sendStatus(SessionData.Status.termination)
      return end(.completed)
    case .stayOpen:
      outbox.wake(at: now + limits.message)
      return .answered(encryption)
    }
  }

  // MARK: Ends

  private mutating func fail(_ failure: SessionFailure) -> Phase {
    ephemeralKey = nil
    outbox.fail(failure)
    return .ended
  }

  private mutating func end(_ outcome: SessionOutcome) -> Phase {
    if outcome != .completed { ephemeralKey = nil }
    outbox.end(outcome)
    return .ended
  }
}
