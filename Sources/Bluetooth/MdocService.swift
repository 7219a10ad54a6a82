import Bytes

/// The two ways to speak GATT, named from the wallet's point of view (ISO/IEC 18013-5, 8.3.3.1.1).
package enum MdocMode: String, CaseIterable, Sendable {
  /// The reader is GATT server and advertises.
  case centralClient
  /// The wallet is GATT server and advertises.
  case peripheralServer

  /// The name in the standard's text.
  package var name: String {
    switch self {
    case .centralClient: "mdoc central client mode"
    case .peripheralServer: "mdoc peripheral server mode"
    }
  }
}

/// The characteristics of the mdoc service.
package enum MdocCharacteristic: CaseIterable, Sendable {
  case state
  case clientToServer
  case serverToClient
  /// In mdoc central client mode only.
  case ident
  /// The PSM of an LE credit-based channel, where the server offers one.
  case l2cap

  /// The type of the characteristic's value in a mode; nil where the mode has none.
  package func uuid(in mode: MdocMode) -> UUID128? {
    let number: UInt32
    switch (self, mode) {
    case (.state, .peripheralServer): number = 1
    case (.clientToServer, .peripheralServer): number = 2
    case (.serverToClient, .peripheralServer): number = 3
    case (.ident, .peripheralServer): return nil
    case (.l2cap, .peripheralServer): number = 10
    case (.state, .centralClient): number = 5
    case (.clientToServer, .centralClient): number = 6
    case (.serverToClient, .centralClient): number = 7
    case (.ident, .centralClient): number = 8
    case (.l2cap, .centralClient): number = 11
    }
    return UUID128(mdoc: number)
  }

  /// The property bits of the declaration (Core, Vol 3, Part G, 3.3.1.1).
  var properties: UInt8 {
    switch self {
    case .state: MdocCharacteristic.notify | MdocCharacteristic.writeWithoutResponse
    case .clientToServer: MdocCharacteristic.writeWithoutResponse
    case .serverToClient: MdocCharacteristic.notify
    case .ident, .l2cap: MdocCharacteristic.read
    }
  }

  var notifies: Bool { properties & MdocCharacteristic.notify != 0 }

  static let read: UInt8 = 0x02
  static let writeWithoutResponse: UInt8 = 0x04
  static let notify: UInt8 = 0x10
}

/// The values of State.
enum StateValue {
  static let start: UInt8 = 0x01
  static let end: UInt8 = 0x02
}

/// The value of the L2CAP characteristic. Its encoding is not settled: four bytes, big-endian, is what is written here;
/// two or four bytes in either order are read, since only one order can give a dynamic PSM.
package enum ChannelPSM {
  /// The dynamic PSMs of LE (Core, Vol 3, Part A, 4.22).
  package static let range: ClosedRange<UInt16> = 0x80...0xff

  /// The value that says it.
  package static func encode(_ psm: UInt16) -> [UInt8] { [0, 0, UInt8(psm >> 8), UInt8(truncatingIfNeeded: psm)] }

  /// The PSM that a value says; nil when it says none.
  package static func decode(_ value: ByteView) -> UInt16? {
    guard value.count == 2 || value.count == 4 else { return nil }
    let bigEndian = value.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let littleEndian = value.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return [bigEndian, littleEndian].compactMap(UInt16.init(exactly:)).first(where: range.contains)
  }
}
