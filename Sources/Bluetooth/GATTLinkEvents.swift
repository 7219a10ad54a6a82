import Bytes

extension GATTLink {
  /// What happened.
  package enum Input: Sendable {
    /// The connection is up.
    case connected
    /// One PDU, with the boundaries that L2CAP gives it.
    case received(ByteView)
    /// A message for the peer. It waits for State start and for the messages before it.
    case send([UInt8])
    /// A characteristic value for the peer just as it is, for a counterpart that misbehaves on purpose.
    case sendValue([UInt8])
    /// No more messages follow: deliver what is still to send, then State end, then finish.
    case end
    /// The connection is gone.
    case disconnected
    /// The deadline of `wake` may have come.
    case tick
  }

  /// What to do.
  package enum Output: Equatable, Sendable {
    /// Send one PDU.
    case transmit([UInt8])
    /// State start was seen or sent: messages may be sent from now on.
    case started(Start)
    /// A part of a message arrived; so many bytes of it are here. Parts that bring nothing do not count.
    case messageProgress(byteCount: Int)
    /// A whole message arrived.
    case message([UInt8])
    /// The last part of the oldest message to send was handed out.
    case messageSent
    /// Feed `tick` then; replaces an earlier deadline.
    case wake(at: Instant)
    /// Close the connection. The last output.
    case finished(End)
  }

  /// What is known at State start.
  package struct Start: Equatable, Sendable {
    /// The effective ATT MTU in bytes.
    package let mtu: Int
    /// ATT requests and their responses from link-up to here.
    package let roundTrips: Int
  }

  /// How a link ends.
  package enum End: Equatable, Sendable {
    /// This side ended it.
    case ended
    case failed(LinkFailure)
  }

  /// What a peer can use up.
  package struct Limits: Sendable {
    /// The longest message taken, in bytes.
    package var messageSize = 1 << 20
    /// From link-up to State start; nil for 10 s as client and 30 s as server, where a person may have to act first.
    package var setup: Duration?
    /// From State end until the peer has closed the connection. Zero where closing it delivers what was sent.
    package var linger = Duration.seconds(1)
    /// How long an ending link waits for a connection that takes no PDU.
    package var stall = Duration.seconds(5)
    /// The MTU this side offers, in bytes.
    package var mtuOffer = ATTMTU.offer
    /// The longest value this side sends, in bytes, whatever the MTU allows.
    package var valueLength = Fragmenter.longestValue

    package init() {}
  }
}
