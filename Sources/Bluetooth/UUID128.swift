import Bytes

/// A Bluetooth UUID. 16-bit UUIDs are short for 128-bit ones (Core, Vol 3, Part B, 2.5.1), so one type holds both
/// and equal means the same attribute type, however it was written.
package struct UUID128: Hashable, Sendable {
  private let high: UInt64
  private let low: UInt64

  /// 16 bytes in text order (big-endian); nil for any other number.
  package init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    low = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// A 16-bit UUID of the Bluetooth assigned numbers.
  package init(short: UInt16) {
    high = UInt64(short) << 32 | UUID128.baseHigh
    low = UUID128.baseLow
  }

  /// The UUID of a characteristic of the mdoc service: `number` before A123-48CE-896B-4C76973373E6.
  init(mdoc number: UInt32) {
    high = UInt64(number) << 32 | 0xa123_48ce
    low = 0x896b_4c76_9733_73e6
  }

  /// The form on the air: 2 or 16 bytes, little-endian; nil for any other number.
  package init?(wire: some Collection<UInt8>) {
    if wire.count == 2 {
      self.init(short: wire.reversed().reduce(0) { $0 << 8 | UInt16($1) })
    } else {
      self.init(Array(wire.reversed()))
    }
  }

  /// The text form: 8-4-4-4-12 hexadecimal digits of either case; nil for anything else.
  package init?(text: some StringProtocol) {
    let groups = text.split(separator: "-", omittingEmptySubsequences: false)
    guard groups.map({ $0.utf8.count }) == [8, 4, 4, 4, 12], let value = Bytes.bytes(hex: groups.joined()) else {
      return nil
    }
    self.init(value)
  }

  /// 16 bytes in text order.
  package var bytes: [UInt8] {
    [high, low].flatMap { half in
      stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: half >> UInt64($0)) }
    }
  }

  /// 16 bytes in the order of the air, as in advertising data and in the value of a service declaration.
  package var wire128: [UInt8] { bytes.reversed() }

  /// The 16-bit form, where there is one.
  package var short: UInt16? {
    guard low == UUID128.baseLow, high & 0xffff_0000_ffff_ffff == UUID128.baseHigh else { return nil }
    return UInt16(truncatingIfNeeded: high >> 32)
  }

  /// The shortest form on the air: ATT asks for 2 bytes where 2 bytes do.
  var wire: [UInt8] {
    guard let short else { return wire128 }
    return [UInt8(truncatingIfNeeded: short), UInt8(short >> 8)]
  }

  private static let baseHigh: UInt64 = 0x0000_1000
  private static let baseLow: UInt64 = 0x8000_0080_5f9b_34fb
}

extension UUID128: CustomStringConvertible {
  /// 8-4-4-4-12 lower-case hexadecimal digits.
  package var description: String {
    let bytes = bytes
    return [bytes[0..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10..<16]].map(\.hex).joined(separator: "-")
  }
}

/// 16-bit UUIDs of the assigned numbers that GATT itself uses.
extension UUID128 {
  package static let primaryService = UUID128(short: 0x2800)
  package static let secondaryService = UUID128(short: 0x2801)
  package static let characteristic = UUID128(short: 0x2803)
  package static let clientConfiguration = UUID128(short: 0x2902)
  static let genericAccess = UUID128(short: 0x1800)
  static let genericAttribute = UUID128(short: 0x1801)
  static let deviceName = UUID128(short: 0x2a00)
  static let appearance = UUID128(short: 0x2a01)
}
