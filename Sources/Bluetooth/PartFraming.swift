import Bytes

/// How messages travel in characteristic values: one byte 01 (more follows) or 00 (last), then data
/// (ISO/IEC 18013-5 section 8.3.3.1.1.6).
package enum PartFraming {
  static let more: UInt8 = 0x01
  static let last: UInt8 = 0x00

  /// Largest value of a characteristic at an ATT MTU, its first byte included: an attribute has at most 512 bytes.
  package static func valueSize(mtu: Int) -> Int { min(mtu - 3, 512) }
}

/// Cuts one message into values, one at a time: nothing is made before it can be sent.
package struct Fragmenter: Sendable {
  private let message: [UInt8]
  private let dataSize: Int
  private var position = 0
  private var isDone = false

  package init(_ message: [UInt8], mtu: Int) {
    self.message = message
    dataSize = max(1, PartFraming.valueSize(mtu: mtu) - 1)
  }

  /// Whether every value was handed out.
  package var isFinished: Bool { isDone }

  package mutating func next() -> [UInt8]? {
    guard !isDone else { return nil }
    let end = min(message.count, position + dataSize)
    isDone = end == message.count
    defer { position = end }
    return [isDone ? PartFraming.last : PartFraming.more] + message[position..<end]
  }
}

/// Puts values together to messages. Parts that are not full are accepted, as known senders make them.
package struct Reassembler: Sendable {
  package enum Violation: Error, Equatable, Sendable {
    /// An empty value, or one that begins with neither 00 nor 01; or a run of parts without data.
    case fragmentInvalid
    case messageTooLarge
  }

  /// How many parts of a message may hold no data.
  private static let emptyParts = 16

  private let limit: Int
  private var buffer: [UInt8] = []
  private var empty = 0

  /// - Parameter limit: bytes of a message at most.
  package init(limit: Int) {
    self.limit = limit
  }

  /// Whether a message has begun and is not complete.
  package var isInMessage: Bool { !buffer.isEmpty || empty > 0 }

  /// Takes one value; the message when it was the last of it.
  package mutating func feed(_ value: ByteView) throws(Violation) -> [UInt8]? {
    guard let first = value.first, first == PartFraming.more || first == PartFraming.last else {
      throw .fragmentInvalid
    }
    guard buffer.count + value.count - 1 <= limit else { throw .messageTooLarge }
    buffer.append(contentsOf: value.dropFirst())
    if first == PartFraming.more {
      if value.count == 1 { empty += 1 }
      guard empty <= Reassembler.emptyParts else { throw .fragmentInvalid }
      return nil
    }
    empty = 0
    defer { buffer = [] }
    return buffer
  }
}
