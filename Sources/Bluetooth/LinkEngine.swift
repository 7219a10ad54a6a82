import Bytes

/// What speaks on one connection: PDUs and messages in, PDUs and messages out. One socket class serves every kind of
/// connection through it.
package protocol LinkEngine: Sendable {
  /// Feeds one event. Drain `nextOutput` after it.
  mutating func handle(_ input: LinkInput, at now: ContinuousClock.Instant)

  /// The next thing to do; nil when there is nothing for now. Nothing to transmit comes while `canTransmit` is false.
  mutating func nextOutput(at now: ContinuousClock.Instant, canTransmit: Bool) -> LinkOutput?

  /// ATT requests that were answered so far, or that led to this link.
  var roundTrips: Int { get }
}

extension LinkEngine {
  /// The next thing to do where the connection takes all there is.
  package mutating func nextOutput(at now: ContinuousClock.Instant) -> LinkOutput? {
    nextOutput(at: now, canTransmit: true)
  }
}

/// What carries the messages of a session; the raw value is the stable name.
package enum LinkTransport: String, CaseIterable, Sendable {
  /// Characteristic values.
  case gatt
  /// An LE credit-based channel.
  case l2cap
}

/// What happened on a connection.
package enum LinkInput: Sendable {
  /// The connection is up.
  case connected
  /// One record of the connection, with the boundaries that L2CAP gives it: a PDU of ATT, an SDU of a channel.
  case received(ByteView)
  /// A message for the peer. It waits for the link to start and for the messages before it.
  case send([UInt8])
  /// For a counterpart that misbehaves on purpose: a characteristic value, or a piece of a channel's stream, just as
  /// it is.
  case sendValue([UInt8])
  /// No more messages follow: deliver what is still to send, end the link in the way of the transport, then finish.
  case end
  /// The channel that `channelOffered` named is open: messages go there, and this link stands by.
  case channelOpened
  /// There is no such channel, or it failed before it carried anything: messages go over this link after all.
  case channelRefused(ChannelRefusal)
  /// The peer closed the connection.
  case closedByPeer
  /// The connection is gone.
  case disconnected
  /// The deadline of `wake` may have come.
  case tick
}

/// What to do.
package enum LinkOutput: Equatable, Sendable {
  /// Send one record.
  case transmit([UInt8])
  /// The peer offers a channel of this PSM. Open it, then say `channelOpened` or `channelRefused`; until then the
  /// set-up rests, and its deadline does not.
  case channelOffered(psm: UInt16)
  /// Messages may be sent from now on: State start was seen or sent, or the channel is open.
  case started(LinkStart)
  /// A part of a message arrived; so many bytes of it are here. Parts that bring nothing do not count.
  case messageProgress(byteCount: Int)
  /// A whole message arrived.
  case message([UInt8])
  /// The last part of the oldest message to send was handed out.
  case messageSent
  /// Feed `tick` then; replaces an earlier deadline.
  case wake(at: ContinuousClock.Instant)
  /// Close the connection. The last output.
  case finished(LinkEnd)
}

/// What is known when a link starts.
package struct LinkStart: Equatable, Sendable {
  package let transport: LinkTransport
  /// The effective ATT MTU in bytes; of a channel, the longest SDU that the peer takes.
  package let mtu: Int
  /// ATT requests and their responses from link-up to here.
  package let roundTrips: Int
  /// Why a channel that was offered is not used.
  package let fallback: ChannelRefusal?

  package init(transport: LinkTransport, mtu: Int, roundTrips: Int, fallback: ChannelRefusal? = nil) {
    self.transport = transport
    self.mtu = mtu
    self.roundTrips = roundTrips
    self.fallback = fallback
  }
}

/// How a link ends.
package enum LinkEnd: Equatable, Sendable {
  /// This side ended it.
  case ended
  case failed(LinkFailure)
}

/// What a peer can use up.
package struct LinkLimits: Sendable {
  /// The longest message taken, in bytes.
  package var messageSize = 1 << 20
  /// From link-up to State start; nil for 10 s as client and 30 s as server, where a person may have to act first.
  package var setup: Duration?
  /// From the end until the peer has closed the connection. Zero where closing it delivers what was sent.
  package var linger = Duration.seconds(1)
  /// How long an ending link waits for a connection that takes no record.
  package var stall = Duration.seconds(5)
  /// The MTU of ATT this side offers, in bytes.
  package var mtuOffer = ATTMTU.offer
  /// The longest characteristic value this side sends, in bytes, whatever the MTU allows.
  package var valueLength = Fragmenter.longestValue
  /// The longest SDU this side sends on a channel, in bytes, whatever the peer takes: the kernel sends all of one or
  /// nothing, and has to find the memory at once.
  package var pieceLength = 2048

  package init() {}
}

/// Why a channel that was offered is not used; the raw values are stable: events and tests name them.
package enum ChannelRefusal: String, Error, CaseIterable, Sendable {
  /// The L2CAP characteristic cannot be read, or holds no PSM from 0x80 to 0xff.
  case psmInvalid = "l2capPSMInvalid"
  /// The peer, or the kernel, wants no channel of this PSM.
  case refused = "l2capRefused"
  /// No answer within its time.
  case timeout = "l2capTimeout"
  /// It opened, and failed before anything came over it.
  case lost = "l2capLost"

  /// The stable text form.
  package var code: String { rawValue }
}

extension GATTLink: LinkEngine {
  package typealias Input = LinkInput
  package typealias Output = LinkOutput
  package typealias Start = LinkStart
  package typealias End = LinkEnd
  package typealias Limits = LinkLimits
}
