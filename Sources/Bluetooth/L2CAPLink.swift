import Bytes

/// The mdoc session on one LE credit-based channel, for reader and wallet alike: no socket, no clock. SDUs and messages
/// go in, SDUs and messages come out.
///
/// A channel that is open has started. It has no State: who wants no more closes it, after the session's own status 20.
/// So a channel that the peer closes between two messages is its end of the session, and one that closes within a
/// message is a link that was lost. SDUs are a stream: where they begin means nothing.
package struct L2CAPLink: LinkEngine {
  package typealias Instant = ContinuousClock.Instant

  private enum Phase {
    case awaitingConnection
    case open
    /// Sending the rest; `deadline` moves on with each SDU.
    case ending(deadline: Instant)
    /// All was handed out: the peer may close the channel.
    case lingering(deadline: Instant)
    case closed
  }

  private enum Outgoing {
    /// What is left of a message and the length in front of it.
    case message(ByteView)
    case bytes([UInt8])
  }

  private let limits: LinkLimits
  private let mtu: Int
  package let roundTrips: Int
  private var phase = Phase.awaitingConnection
  private var stream: MessageStream
  private var outgoing: [Outgoing] = []
  private var events = EventQueue()
  private var announced: Instant?

  /// - Parameters:
  ///   - mtu: the longest SDU that the peer takes, in bytes.
  ///   - roundTrips: the ATT requests that it took to learn of the channel.
  package init(mtu: Int, roundTrips: Int = 0, limits: LinkLimits = LinkLimits()) {
    self.limits = limits
    self.mtu = mtu
    self.roundTrips = roundTrips
    stream = MessageStream(limit: limits.messageSize)
  }

  /// Feeds one event. Drain `nextOutput` after it. An input that has no meaning in a phase changes nothing.
  package mutating func handle(_ input: LinkInput, at now: Instant) {
    switch (input, phase) {
    case (_, .closed): break
    case (.connected, .awaitingConnection):
      phase = .open
      events.append(.started(LinkStart(transport: .l2cap, mtu: mtu, roundTrips: roundTrips)))
    case (.received(let bytes), .open): receive(bytes)
    case (.send(let message), .awaitingConnection), (.send(let message), .open):
      outgoing.append(.message(stream.framed(message)[...]))
    case (.sendValue(let bytes), .open): if !bytes.isEmpty { outgoing.append(.bytes(bytes)) }
    case (.end, .open):
      phase = .ending(deadline: now + limits.stall)
      events.dropMessages()
    case (.end, .awaitingConnection): finish(.ended)
    case (.closedByPeer, _): disconnect(stream.isWithinMessage ? .linkLost : .peerTerminated)
    case (.disconnected, _): disconnect(.linkLost)
    case (.tick, _): tick(at: now)
    default: break
    }
  }

  /// The next thing to do; nil when there is nothing for now. As in `GATTLink`, SDUs are made when they are asked for.
  package mutating func nextOutput(at now: Instant, canTransmit: Bool) -> LinkOutput? {
    if let event = events.takeFirst() { return event }
    if canTransmit, let piece = nextPiece(at: now) { return .transmit(piece) }
    if canTransmit, case .ending = phase, outgoing.isEmpty {
      phase = .lingering(deadline: now + limits.linger)
      if limits.linger == .zero { finish(.ended) }
      return nextOutput(at: now, canTransmit: canTransmit)
    }
    return nextWake()
  }

  private mutating func nextPiece(at now: Instant) -> [UInt8]? {
    switch phase {
    case .open: break
    case .ending: phase = .ending(deadline: now + limits.stall)
    default: return nil
    }
    guard let first = outgoing.first else { return nil }
    let length = max(1, min(mtu, limits.pieceLength))
    switch first {
    case .bytes(let bytes):
      outgoing.removeFirst()
      return Array(bytes.prefix(length))
    case .message(let rest):
      let piece = rest.prefix(length)
      if piece.count == rest.count {
        outgoing.removeFirst()
        events.append(.messageSent)
      } else {
        outgoing[0] = .message(rest.dropFirst(piece.count))
      }
      return Array(piece)
    }
  }

  // MARK: Time

  private var deadline: Instant? {
    switch phase {
    case .ending(let deadline), .lingering(let deadline): deadline
    case .awaitingConnection, .open, .closed: nil
    }
  }

  private mutating func nextWake() -> LinkOutput? {
    let due = deadline
    guard due != announced else { return nil }
    announced = due
    return due.map { .wake(at: $0) }
  }

  private mutating func tick(at now: Instant) {
    announced = nil
    if let deadline, now >= deadline { finish(.ended) }
  }

  // MARK: The end

  private mutating func finish(_ end: LinkEnd) {
    phase = .closed
    outgoing = []
    stream = MessageStream(limit: limits.messageSize)
    events.dropMessages()
    events.append(.finished(end))
  }

  private mutating func disconnect(_ failure: LinkFailure) {
    switch phase {
    case .ending, .lingering: finish(.ended)
    default: finish(.failed(failure))
    }
  }

  // MARK: What the peer sends

  private mutating func receive(_ bytes: ByteView) {
    guard !bytes.isEmpty else { return }
    do {
      let messages = try stream.receive(bytes)
      // As the parts of a message on GATT do: whoever sends something is alive.
      events.append(.messageProgress(byteCount: messages.last?.count ?? stream.byteCount))
      for message in messages { events.append(.message(message)) }
    } catch MessageStream.Violation.messageTooLarge {
      finish(.failed(.messageTooLarge))
    } catch MessageStream.Violation.emptyMessage {
      finish(.failed(.messageEmpty))
    } catch {
      finish(.failed(.fragmentInvalid))
    }
  }
}
