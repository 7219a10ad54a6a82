import Bytes
import CBOR

/// Messages on a stream of bytes: four bytes of length, big-endian, and the message.
///
/// Some senders put their messages, which are CBOR maps, one after the other instead. The first byte tells: a length
/// that is within any limit does not begin with a0 to bf. The first byte that comes decides for the whole stream, and what
/// is framed after that goes out in the same way; what went out before has its length.
package struct MessageStream: Sendable {
  /// Why the stream makes no sense any more.
  package enum Violation: Error, Equatable, Sendable {
    /// The message is, or says it is, longer than the limit, in bytes.
    case messageTooLarge(limit: Int)
    /// What follows a message without a length is no map, or the map has no end that could be found.
    case noMessage
    /// A length of 0: no message is empty.
    case emptyMessage
    /// More messages end in one record than a session has, as many as this.
    case tooManyMessages(limit: Int)
  }

  /// The most messages that may end in one record: a session has a few, and they take turns.
  package static let messagesPerRecord = 16

  package enum Framing: Sendable {
    case length
    case bare
  }

  private let limit: Int
  /// Nil until the first byte has come.
  private(set) package var framing: Framing?
  private var header: [UInt8] = []
  private var message: [UInt8] = []
  private var end: CBORItemEnd?

  /// - Parameter limit: the longest message taken, in bytes; less than 0xa0000000.
  package init(limit: Int) {
    self.limit = limit
  }

  /// The bytes of the unfinished message so far, those of its length included.
  package var byteCount: Int { header.count + message.count }

  /// Whether a message was begun and has not ended.
  package var isWithinMessage: Bool { byteCount > 0 }

  /// A message as it goes to the peer.
  package func framed(_ message: [UInt8]) -> [UInt8] {
    guard framing != .bare else { return message }
    let length = UInt32(clamping: message.count)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(4 + message.count)
    for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: length >> shift)) }
    bytes += message
    return bytes
  }

  /// Takes the next bytes, a record of any size; gives the messages that end in it. Not to be used after it threw.
  package mutating func receive(_ bytes: ByteView) throws(Violation) -> [[UInt8]] {
    var rest = bytes
    var messages: [[UInt8]] = []
    while let first = rest.first {
      if framing == nil { framing = (0xa0...0xbf).contains(first) ? .bare : .length }
      let message = try framing == .bare ? takeItem(from: &rest) : takeCounted(from: &rest)
      guard let message else { continue }
      guard messages.count < MessageStream.messagesPerRecord else {
        throw .tooManyMessages(limit: MessageStream.messagesPerRecord)
      }
      messages.append(message)
    }
    return messages
  }

  private mutating func takeCounted(from rest: inout ByteView) throws(Violation) -> [UInt8]? {
    let missing = rest.prefix(4 - header.count)
    header += missing
    rest = rest.dropFirst(missing.count)
    guard header.count == 4 else { return nil }
    let length = header.reduce(0) { $0 << 8 | Int($1) }
    guard length <= limit else { throw .messageTooLarge(limit: limit) }
    guard length > 0 else { throw .emptyMessage }
    // Memory follows what came, not what was announced.
    let part = rest.prefix(length - message.count)
    message += part
    rest = rest.dropFirst(part.count)
    guard message.count == length else { return nil }
    return take()
  }

  private mutating func takeItem(from rest: inout ByteView) throws(Violation) -> [UInt8]? {
    var search: CBORItemEnd
    if let end {
      search = end
    } else {
      guard let first = rest.first, (0xa0...0xbf).contains(first) else { throw .noMessage }
      search = CBORItemEnd()
    }
    let count: Int?
    do throws(CBORError) {
      count = try search.advance(rest)
    } catch {
      throw .noMessage
    }
    end = search
    let part = rest.prefix(count ?? rest.count)
    guard part.count <= limit - message.count else { throw .messageTooLarge(limit: limit) }
    message += part
    rest = rest.dropFirst(part.count)
    return count == nil ? nil : take()
  }

  private mutating func take() -> [UInt8] {
    defer {
      header = []
      message = []
      end = nil
    }
    return message
  }
}
