import Bytes
import Inflate

/// A token status list (IETF): one small number for each document, packed.
package struct StatusList: Sendable {
  /// Most bytes of a list when unpacked: 128 million documents of one bit.
  package static let maximumSize = 16 << 20

  /// Bits of an entry: 1, 2, 4 or 8.
  package let bits: Int
  private let packed: [UInt8]

  /// Nil for other sizes of entries, and for what is no zlib stream of at most `maximumSize` bytes.
  package init?(bits: Int64, compressed: ByteView) {
    guard [1, 2, 4, 8].contains(bits), let packed = try? inflate(compressed, limit: StatusList.maximumSize) else {
      return nil
    }
    self.bits = Int(bits)
    self.packed = packed
  }

  /// How many entries there are.
  package var count: UInt64 { UInt64(packed.count * 8 / bits) }

  /// The entry of an index; nil when the list has none. Entries begin at the least significant bit of each byte.
  package subscript(index: UInt64) -> UInt8? {
    guard index < count else { return nil }
    let perByte = UInt64(8 / bits)
    let shift = Int(index % perByte) * bits
    return packed[Int(index / perByte)] >> UInt8(shift) & UInt8(truncatingIfNeeded: 1 << bits - 1)
  }

  /// What an index says.
  func answer(at index: UInt64) -> StatusAnswer {
    switch self[index] {
    case 0: .valid
    case 1: .revoked
    case 2: .suspended
    case nil: .indexOutOfRange
    default: .unknownValue
    }
  }
}
