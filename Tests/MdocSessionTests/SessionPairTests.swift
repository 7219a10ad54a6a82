import Bytes
import Crypto
import Mdoc
import Testing

@testable import MdocSession

/// A link between a reader and a wallet in virtual time. It delays, damages and breaks as it is told.
private struct VirtualLink {
  enum End { case reader, holder }

  /// Time from sending to arrival.
  var delay = Duration.milliseconds(30)
  /// When the link comes up; nil: never.
  var startsAfter: Duration? = .seconds(1)
  /// Breaks instead of delivering the message of this number, counted from 0 over both directions.
  var breaksAt: Int?
  /// Turns the last bit of the message of this number.
  var damages: Int?
  /// Delivers the message of this number a second time.
  var repeats: Int?
  /// How long the holder takes to answer; nil: never.
  var consent: Duration? = .seconds(5)
  var endsSession = false

  struct Result: Equatable {
    var reader: SessionOutcome?
    var holder: SessionOutcome?
    var responses: [[UInt8]] = []
    /// From the start to the reader's outcome.
    var duration: Duration = .zero
  }

  private enum Event {
    case linkStarted
    case arrival([UInt8], at: End)
    case broken
    case answer
  }

  /// Runs a session until nothing happens any more.
  func run(_ pair: consuming Sessions, limits: SessionLimits) -> Result {
    var result = Result()
    var events: [(at: Instant, event: Event)] = []
    var deadlines: (reader: Instant?, holder: Instant?) = (start + limits.link, start + limits.link)
    var messages = 0
    if let startsAfter { events.append((start + startsAfter, .linkStarted)) }

    func send(_ message: [UInt8], to end: End, at now: Instant) {
      defer { messages += 1 }
      if messages == breaksAt {
        events.append((now + delay, .broken))
        return
      }
      var message = message
      if messages == damages, let last = message.indices.last { message[last] ^= 1 }
      events.append((now + delay, .arrival(message, at: end)))
      if messages == repeats { events.append((now + delay, .arrival(message, at: end))) }
    }
    func takeReader(_ outputs: [ReaderSession.Output], at now: Instant) {
      for output in outputs {
        switch output {
        case .send(let message): send(message, to: .holder, at: now)
        case .response(let response): result.responses.append(response)
        case .wake(let instant): deadlines.reader = instant
        case .finished(let outcome):
          result.reader = outcome
          result.duration = now - start
          deadlines.reader = nil
          // What was sent before arrives before.
          events.append((now + delay, .broken))
        }
      }
    }
    func takeHolder(_ outputs: [HolderSession.Output], at now: Instant) {
      for output in outputs {
        switch output {
        case .send(let message): send(message, to: .reader, at: now)
        case .request: if let consent { events.append((now + consent, .answer)) }
        case .wake(let instant): deadlines.holder = instant
        case .finished(let outcome):
          result.holder = outcome
          deadlines.holder = nil
          events.append((now + delay, .broken))
        }
      }
    }

    for _ in 0..<100 {
      // The first of those that are due at the same time: insertion order breaks ties.
      let next = events.indices.min { (events[$0].at, $0) < (events[$1].at, $1) }
      let deadline = [deadlines.reader, deadlines.holder].compactMap { $0 }.min()
      guard let next, deadline.map({ events[next].at <= $0 }) ?? true else {
        guard let deadline else { break }
        if deadlines.reader == deadline { takeReader(pair.reader.outputs(of: .tick, at: deadline), at: deadline) }
        if deadlines.holder == deadline { takeHolder(pair.holder.outputs(of: .tick, at: deadline), at: deadline) }
        continue
      }
      let (now, event) = events.remove(at: next)
      switch event {
      case .linkStarted:
        takeHolder(pair.holder.outputs(of: .linkStarted, at: now), at: now)
        takeReader(pair.reader.outputs(of: .linkStarted, at: now), at: now)
      case .arrival(let message, .reader):
        takeReader(pair.reader.outputs(of: .message(message[...]), at: now), at: now)
      case .arrival(let message, .holder):
        takeHolder(pair.holder.outputs(of: .message(message[...]), at: now), at: now)
      case .broken:
        takeReader(pair.reader.outputs(of: .linkEnded, at: now), at: now)
        takeHolder(pair.holder.outputs(of: .linkEnded, at: now), at: now)
      case .answer:
        takeHolder(
          pair.holder.outputs(of: .respond(responseBytes, endsSession: endsSession), at: now), at: now)
      }
    }
    return result
  }
}

@Suite("A reader and a wallet")
struct SessionPairTests {
  private let limits = SessionLimits(link: .seconds(20), message: .seconds(60))

  private func run(_ link: VirtualLink, on curve: Curve = .p256) throws -> VirtualLink.Result {
    link.run(try sessions(on: curve, limits: limits), limits: limits)
  }

  @Test("a session on every curve completes on both sides", arguments: agreeingCurves, [false, true])
  func curves(curve: Curve, endsSession: Bool) throws {
    let result = try run(VirtualLink(endsSession: endsSession), on: curve)
    #expect(
      result
        == .init(
          reader: .completed, holder: .completed, responses: [responseBytes], duration: .milliseconds(6060)))
  }

  @Test("a link that never comes about is a timeout on both sides")
  func noLink() throws {
    #expect(
      try run(VirtualLink(startsAfter: nil))
        == .init(reader: .failed(.timeout), holder: .failed(.timeout), duration: .seconds(20)))
  }

  @Test("a holder who does not answer is a timeout, told to the wallet with status 20")
  func noAnswer() throws {
    #expect(
      try run(VirtualLink(consent: nil))
        == .init(reader: .failed(.timeout), holder: .failed(.sessionTerminatedByPeer), duration: .seconds(61)))
  }

  @Test("a link lost before the answer is complete fails, after it makes no difference")
  func lostLinks() throws {
    let lost = SessionOutcome.failed(.transportLost)
    #expect(try run(VirtualLink(breaksAt: 0)) == .init(reader: lost, holder: lost, duration: .milliseconds(1030)))
    // The wallet has given its answer and cannot know that it got lost.
    #expect(
      try run(VirtualLink(breaksAt: 1)) == .init(reader: lost, holder: .completed, duration: .milliseconds(6060)))
    #expect(
      try run(VirtualLink(breaksAt: 2))
        == .init(
          reader: .completed, holder: .completed, responses: [responseBytes], duration: .milliseconds(6060)))
  }

  @Test("a damaged message ends both sides, and the sender is told status 10")
  func damage() throws {
    #expect(
      try run(VirtualLink(damages: 0))
        == .init(
          reader: .failed(.unexpectedStatus(10)), holder: .failed(.decryptionFailed), duration: .milliseconds(1060)))
    #expect(
      try run(VirtualLink(damages: 1))
        == .init(
          reader: .failed(.decryptionFailed), holder: .failed(.unexpectedStatus(10)), duration: .milliseconds(6060)))
  }

  @Test("a message that comes twice is no second request, and no second answer")
  func repetition() throws {
    #expect(
      try run(VirtualLink(repeats: 0))
        == .init(
          reader: .failed(.unexpectedStatus(10)), holder: .failed(.decryptionFailed),
          duration: .milliseconds(1060)))
    #expect(try run(VirtualLink(repeats: 1)).responses == [responseBytes])
  }
}
