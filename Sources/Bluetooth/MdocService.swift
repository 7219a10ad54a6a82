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

  /// The type of the characteristic's value in a mode; nil where the mode has none.
  package func uuid(in mode: MdocMode) -> UUID128? {
    let number: UInt32
    switch (self, mode) {
    case (.state, .peripheralServer): number = 1
    case (.clientToServer, .peripheralServer): number = 2
    case (.serverToClient, .peripheralServer): number = 3
    case (.ident, .peripheralServer): return nil
    case (.state, .centralClient): number = 5
    case (.clientToServer, .centralClient): number = 6
    case (.serverToClient, .centralClient): number = 7
    case (.ident, .centralClient): number = 8
    }
    return UUID128(mdoc: number)
  }

  /// The property bits of the declaration (Core, Vol 3, Part G, 3.3.1.1).
  var properties: UInt8 {
    switch self {
    case .state: MdocCharacteristic.notify | MdocCharacteristic.writeWithoutResponse
    case .clientToServer: MdocCharacteristic.writeWithoutResponse
    case .serverToClient: MdocCharacteristic.notify
    case .ident: MdocCharacteristic.read
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
