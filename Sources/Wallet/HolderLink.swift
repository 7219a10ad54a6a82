import Bluetooth
import Kernel
import Links
import SimulatedAir

/// The wallet's end of one connection on the simulated air, in either role, and what a quirk does to it.
final class HolderLink {
  enum Event {
    /// The reader offers a channel: `channelOpened` or `channelRefused` is to follow.
    case channelOffered(psm: UInt16)
    case started(LinkStart)
    case message([UInt8])
    /// The last event. The connection is closed.
    case finished(LinkEnd)
  }

  let mode: MdocMode
  /// Whether a message was begun whose last part has not been handed out.
  private(set) var isSending = false
  private let link: MessageLink
  private let faults: LinkFaults

  /// - Parameters:
  ///   - suppressesStart: State start is not sent, or, in the server's role, not seen.
  ///   - ignoresEnd: State end of the reader is not seen.
  init(
    _ engine: any LinkEngine, mode: MdocMode, over connection: RecordSocket, on loop: EventLoop,
    suppressesStart: Bool, ignoresEnd: Bool
  ) {
    self.mode = mode
    let faults = LinkFaults(
      isChannel: engine is L2CAPLink, suppressesStart: suppressesStart, ignoresEnd: ignoresEnd)
    self.faults = faults
    link = MessageLink(connection, engine: engine, on: loop, passage: faults.passage)
  }

  /// Begins the set-up. `handler` is kept until the link is finished.
  func start(_ handler: @escaping (Event) -> Void) throws(SystemError) {
    try link.start { [weak self] event in self?.take(event, handler) }
  }

  /// Sends a message. With `dropAfter`, the link drops when so many of its bytes have been sent.
  func send(_ message: [UInt8], dropAfter limit: Int? = nil) {
    faults.bytesUntilDrop = limit
    isSending = true
    link.send(message)
  }

  func channelOpened() { link.channelOpened() }

  func channelRefused(_ reason: ChannelRefusal) { link.channelRefused(reason) }

  /// ATT requests that were answered so far.
  var roundTrips: Int { link.roundTrips }

  /// Sends one characteristic value just as it is. It is no message, so nothing is complete after it.
  func sendValue(_ value: [UInt8]) {
    isSending = true
    link.sendValue(value)
  }

  /// Delivers what is still to send, says State end, and closes.
  func end() { link.end() }

  /// Closes at once, without a word and without an event.
  func close() { link.close() }

  private func take(_ event: MessageLink.Event, _ handler: (Event) -> Void) {
    switch event {
    case .channelOffered(let psm): handler(.channelOffered(psm: psm))
    case .started(let start): if !faults.suppressesStart { handler(.started(start)) }
    case .message(let message): handler(.message(message))
    case .progress: break
    case .sent:
      isSending = false
      // No part is left that could not pass any more.
      if faults.bytesUntilDrop == 0 {
        close()
        handler(.finished(.failed(.linkLost)))
      }
    case .finished(let end): handler(.finished(end))
    }
  }
}

/// What a quirk does to the records of one link.
private final class LinkFaults {
  /// Records are pieces of a stream, and no PDUs.
  private let isChannel: Bool
  let suppressesStart: Bool
  private let ignoresEnd: Bool
  /// Bytes of messages that may still be sent before the link drops; nil when it does not.
  var bytesUntilDrop: Int?

  init(isChannel: Bool, suppressesStart: Bool, ignoresEnd: Bool) {
    self.isChannel = isChannel
    self.suppressesStart = suppressesStart
    self.ignoresEnd = ignoresEnd
  }

  func passage(_ direction: MessageLink.Direction, _ pdu: [UInt8]) -> MessageLink.Passage {
    if !isChannel {
      if suppressesStart, LinkFaults.isStart(pdu) { return .isLost }
      if ignoresEnd, direction == .incoming, LinkFaults.isEnd(pdu) { return .isLost }
    }
    guard direction == .outgoing, let left = bytesUntilDrop, isChannel || LinkFaults.carriesPart(pdu) else {
      return .passes
    }
    let size = isChannel ? pdu.count : pdu.count - 4
    guard size <= left else { return .endsLink }
    bytesUntilDrop = left - size
    return .passes
  }

  /// Whether a PDU is a write command of the one byte 0x01: State start.
  private static func isStart(_ pdu: [UInt8]) -> Bool {
    pdu.count == 4 && pdu[0] == ATTPDU.Opcode.writeCommand && pdu[3] == 1
  }

  /// Whether a PDU is a notification or write command of the one byte 0x02: State end. No part of a message begins so.
  private static func isEnd(_ pdu: [UInt8]) -> Bool {
    pdu.count == 4 && pdu[3] == 2
      && (pdu[0] == ATTPDU.Opcode.notification || pdu[0] == ATTPDU.Opcode.writeCommand)
  }

  /// Whether a PDU is a notification or write command with part of a message: opcode, handle, flag, content.
  private static func carriesPart(_ pdu: [UInt8]) -> Bool {
    pdu.count > 4 && (pdu[0] == ATTPDU.Opcode.notification || pdu[0] == ATTPDU.Opcode.writeCommand)
  }
}
