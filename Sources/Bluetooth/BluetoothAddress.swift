import Bytes

/// The address of a Bluetooth device: 48 bits and what kind they are.
package struct BluetoothAddress: Hashable, Sendable {
  /// What the 48 bits are; the raw value is the one of the LE management and socket interfaces of Linux.
  package enum Kind: UInt8, Sendable {
    /// Given by the maker, for ever.
    case lePublic = 1
    /// Made by the device: static, or a private one that changes.
    case leRandom = 2
  }

  /// 48 bits, the most significant first in text.
  package let value: UInt64
  package let kind: Kind

  package init(value: UInt64, kind: Kind) {
    self.value = value & 0xffff_ffff_ffff
    self.kind = kind
  }

  /// 6 bytes as on the air (little-endian); nil for any other number.
  package init?(wire: some Collection<UInt8>, kind: Kind) {
    guard wire.count == 6 else { return nil }
    self.init(value: wire.reversed().reduce(0) { $0 << 8 | UInt64($1) }, kind: kind)
  }

  /// 6 bytes as on the air.
  package var wire: [UInt8] { (0..<6).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }

  /// A non-resolvable private address from 48 random bits: the two highest are 0 (Core, Vol 6, Part B, 1.3.2.2).
  package static func nonResolvable(_ bits: UInt64) -> BluetoothAddress {
    BluetoothAddress(value: bits & 0x3fff_ffff_ffff, kind: .leRandom)
  }
}

extension BluetoothAddress: CustomStringConvertible {
  /// `AA:BB:CC:DD:EE:FF`, as other Bluetooth tools write it.
  package var description: String { wire.reversed().map { [$0].hex.uppercased() }.joined(separator: ":") }
}

/// Little-endian numbers in packets of the controller.
enum Wire {
  static func word(_ value: UInt16) -> [UInt8] { [UInt8(truncatingIfNeeded: value), UInt8(value >> 8)] }

  static func long(_ value: UInt32) -> [UInt8] { word(UInt16(truncatingIfNeeded: value)) + word(UInt16(value >> 16)) }
}

/// What is left of a packet; every read checks its length.
struct PacketReader {
  private(set) var rest: ByteView

  init(_ bytes: ByteView) { rest = bytes }

  mutating func byte() -> UInt8? { rest.popFirst() }

  mutating func word() -> UInt16? {
    bytes(2).map { $0.reversed().reduce(0) { $0 << 8 | UInt16($1) } }
  }

  mutating func long() -> UInt32? {
    bytes(4).map { $0.reversed().reduce(0) { $0 << 8 | UInt32($1) } }
  }

  mutating func bytes(_ count: Int) -> ByteView? {
    guard rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }
}
