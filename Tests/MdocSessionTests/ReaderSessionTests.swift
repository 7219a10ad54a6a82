import Bytes
import CBOR
import Crypto
import Mdoc
import TestSupport
import Testing

@testable import MdocSession

@Suite("The reader's session")
struct ReaderSessionTests {
  /// The phases, and how to get there.
  enum Phase: String, CaseIterable {
    case awaitingLink, awaitingResponse, answered, ended
  }

  static let limits = SessionLimits(link: .seconds(20), message: .seconds(200))

  /// A session in a phase; `message` is a right answer where there can be one.
  private func session(in phase: Phase) throws -> Sessions {
    var pair = try sessions(afterResponse: .stayOpen, limits: ReaderSessionTests.limits)
    if phase == .awaitingLink { return pair }
    pair.requested()
    pair.message = pair.answer()
    if phase == .awaitingResponse { return pair }
    _ = pair.reader.outputs(of: .message(pair.message[...]))
    if phase == .answered { return pair }
    _ = pair.reader.outputs(of: .cancel)
    return pair
  }

  @Test("a new session waits for its link, then sends the Annex D message byte for byte")
  func annexD() throws {
    let transcript = try decodeCBOR(AnnexD.sessionTranscript)
    let engagement = try DeviceEngagement(try #require(transcript.element(0)?.embeddedBytes))
    let handover = try #require(transcript.element(2)?.encoded)
    let key = try PrivateKey(curve: .p256, scalar: AnnexD.eReaderKeyScalar)
    var session = try ReaderSession(
      engagement: engagement, ephemeralKey: key, handover: .encoded(Array(handover)), request: AnnexD.deviceRequest,
      at: start)
    #expect(session.transcript.encoded == AnnexD.sessionTranscript)
    #expect(session.drain() == [.wake(at: start + .seconds(30))])
    let now = start + .seconds(3)
    #expect(
      session.outputs(of: .linkStarted, at: now)
        == [.send(AnnexD.sessionEstablishment), .wake(at: now + .seconds(300))])
    let outputs = session.outputs(of: .message(AnnexD.sessionData[...]), at: now + .seconds(299))
    #expect(outputs.count == 3)
    #expect(outputs.responses == [AnnexD.deviceResponse])
    #expect(Array(outputs.dropFirst()) == [.send(AnnexD.sessionTermination), .finished(.completed)])
    #expect(session.takeEphemeralKey() === key)
    #expect(session.takeEphemeralKey() == nil)
  }

  @Test("a session that ends without an answer gives its key to nobody")
  func keyAfterFailure() throws {
    let ends: [ReaderSession.Input] = [.linkEnded, .cancel, .message([0xa0]), .message(status(20)[...])]
    for phase in [Phase.awaitingLink, .awaitingResponse] {
      for end in ends {
        var pair = try session(in: phase)
        _ = pair.reader.outputs(of: end)
        #expect(pair.reader.takeEphemeralKey() == nil, "\(phase): \(end)")
      }
    }
    var answered = try session(in: .answered)
    _ = answered.reader.outputs(of: .linkEnded)
    #expect(answered.reader.takeEphemeralKey() != nil)
  }

  @Test("each input in each phase has its outputs, and none does harm", arguments: Phase.allCases)
  func table(phase: Phase) throws {
    let now = start + .seconds(1)
    let messageDeadline = now + .seconds(200)
    func outputs(_ input: (_ message: [UInt8]) -> ReaderSession.Input) throws -> [ReaderSession.Output] {
      var pair = try session(in: phase)
      return pair.reader.outputs(of: input(pair.message), at: now)
    }
    let linkStarted = try outputs { _ in .linkStarted }
    let request = try outputs { _ in .request([1]) }
    let linkEnded = try outputs { _ in .linkEnded }
    let cancel = try outputs { _ in .cancel }
    let early = try outputs { _ in .tick }
    let termination = try outputs { _ in .message(status(20)[...]) }
    let otherStatus = try outputs { _ in .message(status(12)[...]) }
    let malformed = try outputs { _ in .message([0xa0]) }
    let undecryptable = try outputs { _ in .message(SessionData(data: [1, 2, 3]).encode()[...]) }
    switch phase {
    case .awaitingLink:
      #expect(linkStarted.sent.count == 1 && linkStarted.last == .wake(at: messageDeadline))
      #expect(request == [])
      #expect(linkEnded == [.finished(.failed(.transportLost))])
      #expect(cancel == [.finished(.cancelled)])
      #expect(early == [.wake(at: start + .seconds(20))])
      #expect(termination == [.finished(.failed(.sessionTerminatedByPeer))])
    case .awaitingResponse:
      #expect(linkStarted == [] && request == [])
      #expect(linkEnded == [.finished(.failed(.transportLost))])
      #expect(cancel == [.send(status(20)), .finished(.cancelled)])
      #expect(early == [.wake(at: start + .seconds(200))])
      #expect(termination == [.finished(.failed(.sessionTerminatedByPeer))])
      let answer = try outputs { .message($0[...]) }
      #expect(answer == [.response(responseBytes), .wake(at: messageDeadline)])
    case .answered:
      #expect(linkStarted == [])
      #expect(request.sent.count == 1 && request.last == .wake(at: messageDeadline))
      #expect(linkEnded == [.finished(.completed)])
      #expect(cancel == [.send(status(20)), .finished(.completed)])
      #expect(early == [.wake(at: start + .seconds(200))])
      #expect(termination == [.finished(.completed)])
    case .ended:
      for none in [
        linkStarted, request, linkEnded, cancel, early, termination, otherStatus, malformed, undecryptable,
      ] {
        #expect(none == [])
      }
      return
    }
    #expect(otherStatus == [.finished(.failed(.unexpectedStatus(12)))])
    #expect(malformed == [.send(status(11)), .finished(.failed(.sessionDataMalformed))])
    #expect(undecryptable == [.send(status(10)), .finished(.failed(.decryptionFailed))])
  }

  @Test(
    "a deadline ends the session with what is known by then",
    arguments: [
      (Phase.awaitingLink, Duration.seconds(20), [.finished(.failed(.timeout))]),
      (.awaitingResponse, .seconds(200), [.send(status(20)), .finished(.failed(.timeout))]),
      (.answered, .seconds(200), [.send(status(20)), .finished(.completed)]),
      (.ended, .seconds(1000), []),
    ] as [(Phase, Duration, [ReaderSession.Output])])
  func deadlines(phase: Phase, after: Duration, expected: [ReaderSession.Output]) throws {
    var pair = try session(in: phase)
    let early = pair.reader.outputs(of: .tick, at: start + after - .nanoseconds(1))
    #expect(early == (phase == .ended ? [] : [.wake(at: start + after)]))
    let due = pair.reader.outputs(of: .tick, at: start + after)
    #expect(due == expected)
    let later = pair.reader.outputs(of: .tick, at: start + after + .seconds(1))
    #expect(later == [])
  }

  @Test("data with status 20 is processed, and then the session is over without an answer")
  func dataWithTermination() throws {
    var pair = try sessions()
    pair.requested()
    let message = pair.answer(endsSession: true)
    let outputs = pair.reader.outputs(of: .message(message[...]))
    #expect(outputs == [.response(responseBytes), .finished(.completed)])
  }

  @Test("data beside another status is not decrypted", arguments: [0, 10, 11, 19, 21, .max] as [UInt64])
  func dataWithOtherStatus(number: UInt64) throws {
    var pair = try sessions()
    pair.requested()
    let message = pair.wrongAnswer(.dataWithStatus(number))
    let outputs = pair.reader.outputs(of: .message(message[...]))
    #expect(outputs == [.finished(.failed(.unexpectedStatus(number)))])
    #expect(SessionFailure.unexpectedStatus(number).code == "unexpectedStatus(\(number))")
    let key = pair.reader.takeEphemeralKey()
    #expect(key == nil)
  }

  @Test(
    "each wrong answer ends the session by its own reason and reply",
    arguments: [
      (.counter(0), .decryptionFailed, 10), (.counter(2), .decryptionFailed, 10),
      (.counter(.max), .decryptionFailed, 10),
      (.readerKey, .decryptionFailed, 10), (.readerIdentifier, .decryptionFailed, 10),
      (.corruptTag, .decryptionFailed, 10), (.plainData, .decryptionFailed, 10),
      (.rawMessage([]), .sessionDataMalformed, 11), (.rawMessage([0xa0]), .sessionDataMalformed, 11),
      (.rawMessage(Array("hello".utf8)), .sessionDataMalformed, 11),
      (.rawMessage(status(10)), .unexpectedStatus(10), nil), (.rawMessage(status(20)), .sessionTerminatedByPeer, nil),
    ] as [(SealOverride, SessionFailure, UInt64?)])
  func wrongAnswers(override: SealOverride, failure: SessionFailure, reply: UInt64?) throws {
    var pair = try sessions()
    pair.requested()
    let message = pair.wrongAnswer(override)
    let outputs = pair.reader.outputs(of: .message(message[...]))
    #expect(outputs == (reply.map { [.send(status($0))] } ?? []) + [.finished(.failed(failure))])
    // Nothing more is read: not even the answer that would have been right.
    let later = pair.reader.outputs(of: .message(message[...]))
    #expect(later == [])
  }

  @Test("a message above the limit is not looked at")
  func largeMessage() throws {
    var pair = try sessions(limits: SessionLimits(messageSize: 1000))
    pair.requested()
    let answer = SessionData(data: [UInt8](repeating: 0, count: 1000)[...]).encode()
    let outputs = pair.reader.outputs(of: .message(answer[...]))
    #expect(outputs == [.send(status(11)), .finished(.failed(.sessionDataMalformed))])
  }

  @Test("the counter that happens to be right is no fault")
  func rightCounter() throws {
    var pair = try sessions()
    pair.requested()
    let message = pair.wrongAnswer(.counter(1))
    #expect(pair.reader.outputs(of: .message(message[...])).responses == [responseBytes])
  }

  @Test("no truncation and no turned bit of an answer is taken for one")
  func damagedAnswers() throws {
    let holderKey = try PrivateKey.generate(.p256)
    let readerKey = try PrivateKey.generate(.p256)
    let engagement = DeviceEngagementDraft(key: holderKey.publicKey).encode()
    func reader() throws -> ReaderSession {
      var session = try ReaderSession(
        engagement: DeviceEngagement(engagement), ephemeralKey: readerKey, request: requestBytes, at: start)
      _ = session.drain()
      return session
    }
    var holder = HolderSession(engagement: engagement, key: holderKey, at: start)
    _ = holder.drain()
    var first = try reader()
    let establishment = try #require(first.outputs(of: .linkStarted).sent.first)
    _ = holder.outputs(of: .message(establishment[...]))
    let answer = try #require(holder.outputs(of: .respond(responseBytes, endsSession: false)).sent.first)

    let malformed: [ReaderSession.Output] = [.send(status(11)), .finished(.failed(.sessionDataMalformed))]
    let undecryptable: [ReaderSession.Output] = [.send(status(10)), .finished(.failed(.decryptionFailed))]
    for count in 0..<answer.count {
      var session = try reader()
      _ = session.outputs(of: .linkStarted)
      let outputs = session.outputs(of: .message(answer.prefix(count)))
      #expect(outputs == malformed, "\(count) bytes")
    }
    for bit in 0..<8 * answer.count {
      var changed = answer
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      var session = try reader()
      _ = session.outputs(of: .linkStarted)
      let outputs = session.outputs(of: .message(changed[...]))
      // Before the data stand a1, 64 "data" and 58 1a; a turned bit in the last may leave a shorter string.
      #expect(outputs == undecryptable || bit / 8 < 8 && outputs == malformed, "bit \(bit)")
    }
    #expect(first.outputs(of: .message(answer[...])).responses == [responseBytes])
  }

  @Test("several requests and answers go over one session, each with the next counter")
  func severalRequests() throws {
    var pair = try sessions(afterResponse: .stayOpen)
    pair.requested()
    for round in 0..<5 {
      let message = pair.answer()
      let outputs = pair.reader.outputs(of: .message(message[...]))
      #expect(outputs.responses == [responseBytes] && outputs.outcome == nil)
      let next = [UInt8(round)]
      let sent = try #require(pair.reader.outputs(of: .request(next)).sent.first)
      #expect(pair.holder.outputs(of: .message(sent[...])).requests == [next])
    }
    let ended = pair.reader.outputs(of: .cancel)
    #expect(ended == [.send(status(20)), .finished(.cancelled)])
    let holder = pair.holder.outputs(of: .message(status(20)[...]))
    #expect(holder == [.finished(.failed(.sessionTerminatedByPeer))])
  }

  @Test("an engagement of another curve than the reader's key makes no session")
  func otherCurve() throws {
    let engagement = try DeviceEngagement(
      DeviceEngagementDraft(key: PrivateKey.generate(.p384).publicKey).encode())
    do {
      _ = try ReaderSession(
        engagement: engagement, ephemeralKey: PrivateKey.generate(.p256), request: [], at: start)
      Issue.record("a session was made")
    } catch {
      #expect(error == .agreementFailed)
    }
  }

  @Test("the reason codes are those of the list of checks")
  func codes() {
    let failures: [SessionFailure] = [
      .sessionDataMalformed, .decryptionFailed, .sessionTerminatedByPeer, .transportLost, .timeout, .readerKeyUnusable,
      .encryptionFailed,
    ]
    #expect(failures.map(\.code) == failures.map { "\($0)" })
  }
}
