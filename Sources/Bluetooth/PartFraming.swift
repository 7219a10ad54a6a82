import Bytes

/// Splits one message into characteristic values (ISO/IEC 18013-5, 8.3.3.1.1.6): a first byte 01 for "more follows"
/// or 00 for "last", then data. Parts are made when they are asked for, so the MTU of that moment counts.
package struct Fragmenter: Sendable {
  /// The most bytes an attribute value may have, whatever the MTU (Core, Vol 3, Part F, 3.2.9).
  package static let longestValue = 512

  /// One characteristic value, its first byte apart.
  package struct Part: Equatable, Sendable {
    package let isLast: Bool
    /// What of the message is in this value.
    package let data: ByteView

    /// The byte in front of the data.
    package var prefix: UInt8 { isLast ? 0 : 1 }
    /// The whole value.
    package var value: [UInt8] { [prefix] + data }
  }

  private var rest: ByteView
  private var isDone = false

  package init(_ message: [UInt8]) {
    rest = message[...]
  }

  /// The next part in a value of at most `limit` bytes, 2 at least; nil after the last part. An empty message is one
  /// empty last part.
  package mutating func nextPart(limit: Int) -> Part? {
    guard !isDone else { return nil }
    let data = rest.prefix(max(limit, 2) - 1)
    rest = rest.dropFirst(data.count)
    isDone = rest.isEmpty
    return Part(isLast: isDone, data: data)
  }
}

/// Puts messages together from characteristic values. Short parts before the last one are accepted: known senders
/// write them.
package struct Reassembler: Sendable {
  /// Why a value ends the session.
  package enum Violation: Error, Equatable, Sendable {
    /// A value without its first byte.
    case emptyValue
    /// A first byte that is neither 00 nor 01.
    case unknownPrefix(UInt8)
    /// The message is longer than the limit, in bytes.
    case messageTooLarge(limit: Int)
  }

  private let limit: Int
  private var message: [UInt8] = []
  private var emptyParts = 0

  /// - Parameter limit: the longest message taken, in bytes.
  package init(limit: Int) {
    self.limit = limit
  }

  /// The bytes of the unfinished message so far.
  package var byteCount: Int { message.count }

  /// Takes one value; gives the message when it is complete. Throws when the value is no part or the message grows
  /// beyond the limit, and must not be used after that.
  package mutating func receive(_ value: ByteView) throws(Violation) -> [UInt8]? {
    guard let prefix = value.first else { throw .emptyValue }
    guard prefix <= 1 else { throw .unknownPrefix(prefix) }
    let data = value.dropFirst()
    // A part that says "more" and brings nothing costs a byte, or a stream of them would never reach the limit.
    if data.isEmpty, prefix == 1 { emptyParts += 1 }
    guard data.count <= limit - message.count - emptyParts else { throw .messageTooLarge(limit: limit) }
    message.append(contentsOf: data)
    guard prefix == 0 else { return nil }
    defer {
      message = []
      emptyParts = 0
    }
    return message
  }
}
