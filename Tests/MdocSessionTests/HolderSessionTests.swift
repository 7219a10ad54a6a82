import Bytes
import CBOR
import Crypto
import Mdoc
import TestSupport
import Testing

@testable import MdocSession

@Suite("The wallet's session")
struct HolderSessionTests {
  enum Phase: String, CaseIterable {
    case awaitingLink, awaitingEstablishment, awaitingAnswer, awaitingRequest, ended
  }

  static let limits = SessionLimits(link: .seconds(20), message: .seconds(200))

  private func session(in phase: Phase) throws -> Sessions {
    var pair = try sessions(afterResponse: .stayOpen, limits: HolderSessionTests.limits)
    if phase == .awaitingLink { return pair }
    if phase == .awaitingEstablishment {
      _ = pair.holder.outputs(of: .linkStarted)
      return pair
    }
    pair.requested()
    if phase == .awaitingAnswer { return pair }
    let answer = pair.answer()
    _ = pair.reader.outputs(of: .message(answer[...]))
    if phase == .awaitingRequest { return pair }
    _ = pair.holder.outputs(of: .terminate)
    return pair
  }

  @Test("the Annex D request is read, and its answer sent byte for byte")
  func annexD() throws {
    let transcript = try decodeCBOR(AnnexD.sessionTranscript)
    let engagement = Array(try #require(transcript.element(0)?.embeddedBytes))
    let handover = Array(try #require(transcript.element(2)?.encoded))
    let key = try PrivateKey(curve: .p256, scalar: AnnexD.eDeviceKeyScalar)
    var session = HolderSession(engagement: engagement, key: key, handover: .encoded(handover), at: start)
    #expect(session.drain() == [.wake(at: start + .seconds(30))])
    #expect(session.transcript == nil && session.eReaderKey == nil)
    #expect(session.outputs(of: .linkStarted) == [.wake(at: start + .seconds(300))])
    #expect(
      session.outputs(of: .message(AnnexD.sessionEstablishment[...]))
        == [.request(AnnexD.deviceRequest), .wake(at: start + .seconds(300))])
    #expect(session.transcript?.encoded == AnnexD.sessionTranscript)
    #expect(session.eReaderKey?.curve == .p256)
    #expect(session.outputs(of: .respond(AnnexD.deviceResponse, endsSession: false)).sent == [AnnexD.sessionData])
    #expect(session.outputs(of: .message(AnnexD.sessionTermination[...])) == [.finished(.completed)])
  }

  @Test("each input in each phase has its outputs, and none does harm", arguments: Phase.allCases)
  func table(phase: Phase) throws {
    let now = start + .seconds(1)
    let deadline = HolderSession.Output.wake(at: now + .seconds(200))
    func outputs(_ input: HolderSession.Input) throws -> [HolderSession.Output] {
      var pair = try session(in: phase)
      return pair.holder.outputs(of: input, at: now)
    }
    let linkStarted = try outputs(.linkStarted)
    let respond = try outputs(.respond(responseBytes, endsSession: false))
    let respondAndEnd = try outputs(.respond(responseBytes, endsSession: true))
    let respondWrongly = try outputs(.respondWrongly(responseBytes, .plainData))
    let terminate = try outputs(.terminate)
    let linkEnded = try outputs(.linkEnded)
    let early = try outputs(.tick)
    let malformed = try outputs(.message([0xa0]))
    let termination = try outputs(.message(status(20)[...]))
    let error = try outputs(.message(status(10)[...]))
    let undecryptable = try outputs(.message(SessionData(data: [1]).encode()[...]))
    switch phase {
    case .awaitingLink:
      #expect(linkStarted == [deadline])
      #expect(terminate == [.finished(.cancelled)])
      #expect(early == [.wake(at: start + .seconds(20))])
    case .awaitingEstablishment:
      #expect(linkStarted == [])
      #expect(terminate == [.send(status(20)), .finished(.cancelled)])
      #expect(early == [.wake(at: start + .seconds(200))])
    case .awaitingAnswer:
      #expect(linkStarted == [])
      #expect(terminate == [.send(status(20)), .finished(.cancelled)])
      #expect(respond.sent.count == 1 && respond.last == deadline)
      #expect(respondAndEnd.sent.count == 1 && respondAndEnd.last == .finished(.completed))
      #expect(respondWrongly == [.send(SessionData(data: responseBytes[...]).encode()), deadline])
      #expect(early == [.wake(at: start + .seconds(200))])
    case .awaitingRequest:
      #expect(linkStarted == [])
      #expect(terminate == [.send(status(20)), .finished(.completed)])
      #expect(early == [.wake(at: start + .seconds(200))])
    case .ended:
      for none in [
        linkStarted, respond, respondAndEnd, respondWrongly, terminate, linkEnded, early, malformed, termination, error,
        undecryptable,
      ] {
        #expect(none == [])
      }
      return
    }
    if phase != .awaitingAnswer { #expect(respond == [] && respondAndEnd == [] && respondWrongly == []) }
    let isAnswered = phase == .awaitingRequest
    #expect(linkEnded == [.finished(isAnswered ? .completed : .failed(.transportLost))])
    #expect(termination == [.finished(isAnswered ? .completed : .failed(.sessionTerminatedByPeer))])
    #expect(error == [.finished(.failed(.unexpectedStatus(10)))])
    #expect(malformed == [.send(status(11)), .finished(.failed(.sessionDataMalformed))])
    // Before the keys there is nothing to decrypt with: the message is no establishment.
    let isEstablished = phase == .awaitingAnswer || isAnswered
    #expect(
      undecryptable
        == (isEstablished
          ? [.send(status(10)), .finished(.failed(.decryptionFailed))]
          : [.send(status(11)), .finished(.failed(.sessionDataMalformed))]))
  }

  @Test(
    "a deadline ends the session with what is known by then",
    arguments: [
      (Phase.awaitingLink, Duration.seconds(20), [.finished(.failed(.timeout))]),
      (.awaitingEstablishment, .seconds(200), [.send(status(20)), .finished(.failed(.timeout))]),
      (.awaitingAnswer, .seconds(200), [.send(status(20)), .finished(.failed(.timeout))]),
      (.awaitingRequest, .seconds(200), [.send(status(20)), .finished(.completed)]),
      (.ended, .seconds(1000), []),
    ] as [(Phase, Duration, [HolderSession.Output])])
  func deadlines(phase: Phase, after: Duration, expected: [HolderSession.Output]) throws {
    var pair = try session(in: phase)
    let early = pair.holder.outputs(of: .tick, at: start + after - .nanoseconds(1))
    #expect(early == (phase == .ended ? [] : [.wake(at: start + after)]))
    let due = pair.holder.outputs(of: .tick, at: start + after)
    #expect(due == expected)
  }

  @Test("a first message with a key that is none, or of another curve, is answered")
  func readerKeys() throws {
    func reply(to key: CBORValue, data: [UInt8] = [UInt8](repeating: 0, count: 20)) throws -> [HolderSession.Output] {
      var pair = try sessions()
      let message = SessionEstablishment.encode(
        eReaderKeyBytes: CBORValue.embedded(key).encode(), data: data)
      return pair.holder.outputs(of: .message(message[...]))
    }
    let unusable: [HolderSession.Output] = [.send(status(10)), .finished(.failed(.readerKeyUnusable))]
    let x = CBORValue.bytes([UInt8](repeating: 1, count: 32))
    #expect(try reply(to: PrivateKey.generate(.p384).publicKey.coseKey) == unusable)
    #expect(try reply(to: PrivateKey.generate(.brainpoolP256r1).publicKey.coseKey) == unusable)
    #expect(try reply(to: .map(labels: [1: 2, -1: 1, -2: x, -3: x])) == unusable)
    #expect(
      try reply(to: .map(labels: [1: 2])) == [.send(status(11)), .finished(.failed(.sessionDataMalformed))])
    #expect(
      try reply(to: PrivateKey.generate(.p256).publicKey.coseKey)
        == [.send(status(10)), .finished(.failed(.decryptionFailed))])
  }

  @Test("a request that comes with the end is not answered")
  func requestWithEnd() throws {
    var pair = try session(in: .awaitingRequest)
    let sent = try #require(pair.reader.outputs(of: .request(requestBytes)).sent.first)
    let data = try #require(SessionData(sent[...]).data)
    let outputs = pair.holder.outputs(of: .message(SessionData(data: data, status: 20).encode()[...]))
    #expect(outputs == [.finished(.completed)])
  }
}
