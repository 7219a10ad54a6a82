/// A UUID of the attribute protocol: 16 bits, or 128 bits in the order of the air (little-endian).
package enum AttributeUUID: Hashable, Sendable {
  case short(UInt16)
  /// 16 bytes, least significant first.
  case long([UInt8])

  package static let primaryService = AttributeUUID.short(0x2800)
  package static let characteristic = AttributeUUID.short(0x2803)
  package static let clientConfiguration = AttributeUUID.short(0x2902)

  /// The bytes on the air: 2 or 16.
  package var wire: [UInt8] {
    switch self {
    case .short(let value): [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
    case .long(let bytes): bytes
    }
  }

  /// Nil unless 2 or 16 bytes are given. A 128-bit form of a 16-bit UUID is brought to the short form.
  init?(wire: ArraySlice<UInt8>) {
    switch wire.count {
    case 2: self = .short(wire.little16)
    case 16 where wire.prefix(12).elementsEqual(AttributeUUID.base) && wire.suffix(2).allSatisfy({ $0 == 0 }):
      self = .short(wire.dropFirst(12).little16)
    case 16: self = .long(Array(wire))
    default: return nil
    }
  }

  /// The 128-bit UUID of 16 bytes in the order of their text form, as engagements have them.
  package init(bigEndian bytes: [UInt8]) {
    precondition(bytes.count == 16)
    self = .long(bytes.reversed())
  }

  /// The Bluetooth base UUID up to the place of a 16-bit UUID, little-endian.
  private static let base: [UInt8] = [0xfb, 0x34, 0x9b, 0x5f, 0x80, 0, 0, 0x80, 0, 0x10, 0, 0]
}

extension ArraySlice<UInt8> {
  /// The first two bytes, least significant first. The caller has checked that they are there.
  var little16: UInt16 { UInt16(self[startIndex]) | UInt16(self[startIndex + 1]) << 8 }
}
