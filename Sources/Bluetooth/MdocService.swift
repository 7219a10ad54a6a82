/// The GATT service of one mdoc BLE mode (ISO/IEC 18013-5 section 8.3.3.1.1.4).
package struct MdocService: Equatable, Sendable {
  /// The mode, named from the wallet's point of view.
  package enum Mode: String, Sendable {
    /// The reader serves, the wallet connects.
    case centralClient
    /// The wallet serves, the reader connects.
    case peripheralServer
  }

  package let mode: Mode
  /// Of this engagement: 16 bytes in the order of the text form.
  package let uuid: [UInt8]
  /// The value of Ident, which a server in central client mode shows and a client compares. 16 bytes.
  package let ident: [UInt8]?

  /// - Parameter ident: needed in central client mode, and only there.
  package init(mode: Mode, uuid: [UInt8], ident: [UInt8]?) {
    precondition(uuid.count == 16)
    self.mode = mode
    self.uuid = uuid
    self.ident = mode == .centralClient ? ident : nil
  }

  enum Characteristic: CaseIterable {
    case state
    case clientToServer
    case serverToClient
    case ident
  }

  var serviceUUID: AttributeUUID { AttributeUUID(bigEndian: uuid) }

  /// The characteristics of the mode, in the order of the table.
  var characteristics: [Characteristic] {
    mode == .centralClient ? [.state, .clientToServer, .serverToClient, .ident] : [.state, .clientToServer, .serverToClient]
  }

  func uuid(of characteristic: Characteristic) -> AttributeUUID {
    let number: UInt8
    switch (mode, characteristic) {
    case (.peripheralServer, .state): number = 1
    case (.peripheralServer, .clientToServer): number = 2
    case (.peripheralServer, .serverToClient): number = 3
    case (.centralClient, .state): number = 5
    case (.centralClient, .clientToServer): number = 6
    case (.centralClient, .serverToClient): number = 7
    case (_, .ident): number = 8
    }
    return AttributeUUID(
      bigEndian: [0, 0, 0, number, 0xa1, 0x23, 0x48, 0xce, 0x89, 0x6b, 0x4c, 0x76, 0x97, 0x33, 0x73, 0xe6])
  }
}

/// Values of the State characteristic.
enum LinkState {
  static let start: UInt8 = 0x01
  static let end: UInt8 = 0x02
}
