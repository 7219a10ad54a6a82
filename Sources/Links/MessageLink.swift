import Bluetooth
import Kernel

/// A connection that carries messages: a socket of PDUs, the engine that speaks on it, and the engine's deadline.
///
/// It belongs to the thread of its loop. After `finished` nothing more comes, and the socket is closed.
package final class MessageLink {
  /// What happens on the link.
  package enum Event: Equatable, Sendable {
    /// The peer offers a channel of this PSM: `channelOpened` or `channelRefused` is to follow.
    case channelOffered(psm: UInt16)
    case started(LinkStart)
    case message([UInt8])
    /// A part of a message arrived; so many bytes of it are here.
    case progress(Int)
    /// The last part of the oldest message was taken by the socket.
    case sent
    case finished(LinkEnd)
  }

  /// What becomes of a PDU on its way through the link.
  package enum Passage: Sendable {
    case passes
    /// The side it is for never sees it.
    case isLost
    /// The link is gone in its place.
    case endsLink
  }

  /// Seen from this side.
  package enum Direction: Sendable {
    case incoming
    case outgoing
  }

  private let connection: RecordSocket
  private let passage: (Direction, [UInt8]) -> Passage
  private var engine: any LinkEngine
  private var timer: EventLoop.Timer?
  private var handler: ((Event) -> Void)?
  /// The record that the socket did not take yet.
  private var refused: [UInt8]?
  /// A message ended while a record was refused: it is sent when that is taken.
  private var hasSentHeldBack = false
  private var isDraining = false

  /// Takes over a connection for an engine that is not connected yet. Nothing happens before `start`.
  ///
  /// On the simulated air the engine's limits should have no `linger`: closing that socket delivers what was sent.
  ///
  /// - Parameter passage: decides about each PDU; for a counterpart that misbehaves on purpose.
  package init(
    _ connection: RecordSocket, engine: any LinkEngine, on loop: EventLoop,
    passage: @escaping (Direction, [UInt8]) -> Passage = { _, _ in .passes }
  ) {
    self.connection = connection
    self.passage = passage
    self.engine = engine
    timer = loop.timer("link") { [weak self] in self?.feed(.tick) }
  }

  deinit { close() }

  /// Begins. `handler` is kept until the link is over; it may end or drop the link.
  package func start(_ handler: @escaping (Event) -> Void) throws(SystemError) {
    self.handler = handler
    try connection.start { [weak self] in self?.handle($0) }
    feed(.connected)
  }

  /// Sends a message after what was given before it.
  package func send(_ message: [UInt8]) { feed(.send(message)) }

  /// ATT requests that were answered so far.
  package var roundTrips: Int { engine.roundTrips }

  /// A channel beside this link is open; messages go there, and this link stands by.
  package func channelOpened() { feed(.channelOpened) }

  /// The channel did not come about, or failed before it carried anything: this link goes on by itself.
  package func channelRefused(_ reason: ChannelRefusal) { feed(.channelRefused(reason)) }

  /// Sends a characteristic value just as it is, for a counterpart that misbehaves on purpose.
  package func sendValue(_ value: [UInt8]) { feed(.sendValue(value)) }

  /// Sends what is waiting, ends the link in the way of its transport, then closes; `finished` comes when that is done.
  package func end() { feed(.end) }

  /// Closes at once, without an event: the other side finds the link gone.
  package func close() {
    handler = nil
    timer?.cancel()
    connection.close()
  }

  private func handle(_ event: RecordSocket.Event) {
    switch event {
    case .received(let record):
      switch passage(.incoming, record) {
      case .passes: feed(.received(record[...]))
      case .isLost: break
      case .endsLink: lose()
      }
    case .writable: drain()
    case .closed(.byPeer): feed(.closedByPeer)
    case .closed(.failed): feed(.disconnected)
    // More than an attribute value, or an SDU that we allow, can hold: nothing of this protocol.
    case .closed(.recordTooLong): feed(.disconnected)
    }
  }

  private func feed(_ input: LinkInput) {
    engine.handle(input, at: .now)
    drain()
  }

  /// Does what the engine asks for, as far as the socket takes it. A record that it does not take holds up what is to be
  /// sent, and nothing else: what the peer sends, deadlines and the end are heard of.
  private func drain() {
    // A handler that sends comes back here: the outer loop goes on with what it caused.
    guard !isDraining else { return }
    isDraining = true
    defer { isDraining = false }
    if let record = refused, connection.send(record) {
      refused = nil
      if hasSentHeldBack {
        hasSentHeldBack = false
        handler?(.sent)
      }
    }
    while handler != nil, let output = engine.nextOutput(at: .now, canTransmit: refused == nil) {
      switch output {
      case .transmit(let record): transmit(record)
      case .channelOffered(let psm): handler?(.channelOffered(psm: psm))
      case .started(let facts): handler?(.started(facts))
      case .message(let message): handler?(.message(message))
      case .messageProgress(let count): handler?(.progress(count))
      case .messageSent: if refused == nil { handler?(.sent) } else { hasSentHeldBack = true }
      case .wake(let instant): timer?.set(at: instant)
      case .finished(let end): finish(end)
      }
    }
  }

  private func transmit(_ record: [UInt8]) {
    switch passage(.outgoing, record) {
    case .passes: if !connection.send(record) { refused = record }
    case .isLost: break
    case .endsLink: lose()
    }
  }

  private func lose() { finish(.failed(.linkLost)) }

  private func finish(_ end: LinkEnd) {
    let handler = self.handler
    close()
    handler?(.finished(end))
  }
}
