import Bluetooth
import Bytes
import Kernel
import SimulatedAir

/// One connection on the simulated air with its GATT link, in either role, and what a quirk does to it.
final class HolderLink {
  enum Event {
    case started(mtu: Int)
    case message([UInt8])
    /// The last event. The connection is closed.
    case finished(GATTLink.End)
  }

  let mode: MdocMode
  private let connection: AirConnection
  private let loop: EventLoop
  private let suppressesStart: Bool
  private let ignoresEnd: Bool
  private var link: GATTLink
  private var handler: ((Event) -> Void)?
  private var timer: EventLoop.Timer?
  /// A PDU that the connection did not take yet; nothing else is sent before it.
  private var unsent: [UInt8]?
  /// Bytes of messages that may still be sent before the link drops; nil when it does not.
  private var bytesUntilCut: Int?
  /// Whether a message was begun whose last part has not been handed out.
  private(set) var isSending = false

  /// - Parameters:
  ///   - suppressesStart: State start is not sent, or, in the server's role, not seen.
  ///   - ignoresEnd: State end of the reader is not seen.
  init(
    _ link: GATTLink, mode: MdocMode, over connection: AirConnection, on loop: EventLoop, suppressesStart: Bool,
    ignoresEnd: Bool
  ) {
    self.link = link
    self.mode = mode
    self.connection = connection
    self.loop = loop
    self.suppressesStart = suppressesStart
    self.ignoresEnd = ignoresEnd
  }

  /// Begins the set-up. `handler` is kept until the link is finished.
  func start(_ handler: @escaping (Event) -> Void) throws(SystemError) {
    self.handler = handler
    timer = loop.timer("holder link") { [weak self] in self?.feed(.tick) }
    try connection.start { [weak self] event in self?.take(event) }
    feed(.connected)
  }

  /// Sends a message. With `dropAfter`, the link drops when so many of its bytes have been sent.
  func send(_ message: [UInt8], dropAfter limit: Int? = nil) {
    bytesUntilCut = limit
    isSending = true
    if limit == 0 { return cut() }
    feed(.send(message))
  }

  /// Sends one characteristic value just as it is. It is no message, so nothing is complete after it.
  func send(value: [UInt8]) {
    isSending = true
    feed(.sendValue(value))
  }

  /// Delivers what is still to send, says State end, and closes.
  func end() { feed(.end) }

  /// Closes at once, without a word and without an event.
  func drop() {
    handler = nil
    timer?.cancel()
    connection.close()
  }

  private func cut() {
    let handler = self.handler
    drop()
    handler?(.finished(.failed(.linkLost)))
  }

  private func take(_ event: AirConnection.Event) {
    switch event {
    case .received(let record):
      if suppressesStart, HolderLink.isStart(record) { return }
      if ignoresEnd, HolderLink.isEnd(record) { return }
      feed(.received(record[...]))
    case .writable:
      if let pdu = unsent {
        guard connection.send(pdu) else { return }
        unsent = nil
      }
      pump()
    case .closed: feed(.disconnected)
    }
  }

  private func feed(_ input: GATTLink.Input) {
    link.handle(input, at: .now)
    pump()
  }

  private func pump() {
    while handler != nil, let output = link.nextOutput(at: .now, canTransmit: unsent == nil) {
      switch output {
      case .transmit(let pdu): transmit(pdu)
      case .started(let start): if !suppressesStart { handler?(.started(mtu: start.mtu)) }
      case .message(let message): handler?(.message(message))
      case .messageSent: isSending = false
      case .messageProgress: break
      case .wake(let instant): timer?.set(at: instant)
      case .finished(let end):
        let handler = self.handler
        drop()
        handler?(.finished(end))
      }
    }
  }

  private func transmit(_ pdu: [UInt8]) {
    if suppressesStart, HolderLink.isStart(pdu) { return }
    if let left = bytesUntilCut, HolderLink.carriesPart(pdu) {
      let size = pdu.count - 4
      guard size <= left else { return cut() }
      bytesUntilCut = left - size
    }
    if !connection.send(pdu) { unsent = pdu }
    if bytesUntilCut == 0, unsent == nil { cut() }
  }

  /// Whether a PDU is a write command of the one byte 0x01: State start.
  private static func isStart(_ pdu: [UInt8]) -> Bool { pdu.count == 4 && pdu[0] == 0x52 && pdu[3] == 1 }

  /// Whether a PDU is a notification or write command of the one byte 0x02: State end. No part of a message begins so.
  private static func isEnd(_ pdu: [UInt8]) -> Bool {
    pdu.count == 4 && (pdu[0] == 0x1b || pdu[0] == 0x52) && pdu[3] == 2
  }

  /// Whether a PDU is a notification or write command with part of a message: opcode, handle, flag, content.
  private static func carriesPart(_ pdu: [UInt8]) -> Bool { pdu.count > 4 && (pdu[0] == 0x1b || pdu[0] == 0x52) }
}
