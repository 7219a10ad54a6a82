import Bytes

/// Why the kernel did not do a command (doc/mgmt-api of BlueZ).
package struct ManagementStatus: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let success = ManagementStatus(rawValue: 0x00)
  package static let unknownCommand = ManagementStatus(rawValue: 0x01)
  package static let notConnected = ManagementStatus(rawValue: 0x02)
  package static let busy = ManagementStatus(rawValue: 0x0a)
  package static let rejected = ManagementStatus(rawValue: 0x0b)
  package static let notSupported = ManagementStatus(rawValue: 0x0c)
  package static let invalidParameters = ManagementStatus(rawValue: 0x0d)
  package static let notPowered = ManagementStatus(rawValue: 0x0f)
  package static let invalidIndex = ManagementStatus(rawValue: 0x11)
  package static let blockedByRFKill = ManagementStatus(rawValue: 0x12)
  package static let permissionDenied = ManagementStatus(rawValue: 0x14)
}

extension ManagementStatus: CustomStringConvertible {
  private static let names = [
    "success", "unknown command", "not connected", "failed", "connect failed", "authentication failed", "not paired",
    "no resources", "timeout", "already connected", "busy", "rejected", "not supported", "invalid parameters",
    "disconnected", "not powered", "cancelled", "invalid index", "blocked by rfkill", "already paired",
    "permission denied",
  ]

  /// Its name in the documentation, or its number.
  package var description: String {
    let index = Int(rawValue)
    return ManagementStatus.names.indices.contains(index) ? ManagementStatus.names[index] : "status \(index)"
  }
}

/// A packet from the management interface.
package struct ManagementEvent: Equatable, Sendable {
  /// The controller it is about.
  package let index: UInt16
  package let content: Content

  /// What happened.
  package enum Content: Equatable, Sendable {
    case commandComplete(opcode: UInt16, ManagementStatus, ByteView)
    case commandStatus(opcode: UInt16, ManagementStatus)
    /// The controller reported an error that has no other event.
    case controllerError(UInt8)
    case indexAdded
    case indexRemoved
    case newSettings(ControllerSettings)
    case deviceFound(DeviceFound)
    case deviceDisconnected(BluetoothAddress, reason: UInt8)
    /// One that says nothing to us.
    case other(UInt16)
  }

  package struct DeviceFound: Equatable, Sendable {
    package let address: BluetoothAddress
    package let rssi: Int8
    package let data: AdvertisingData
  }

  /// Nil for bytes that are no packet of this interface: shorter or longer than they say.
  package init?(_ bytes: ByteView) {
    var reader = PacketReader(bytes)
    guard let code = reader.word(), let index = reader.word(), let length = reader.word(),
      reader.rest.count == Int(length)
    else { return nil }
    self.index = index
    guard let content = ManagementEvent.content(code, &reader) else { return nil }
    self.content = content
  }

  private static func content(_ code: UInt16, _ reader: inout PacketReader) -> Content? {
    switch code {
    case 0x0001:
      guard let opcode = reader.word(), let status = reader.byte() else { return nil }
      return .commandComplete(opcode: opcode, ManagementStatus(rawValue: status), reader.rest)
    case 0x0002:
      guard let opcode = reader.word(), let status = reader.byte() else { return nil }
      return .commandStatus(opcode: opcode, ManagementStatus(rawValue: status))
    case 0x0003: return reader.byte().map { .controllerError($0) }
    case 0x0004: return .indexAdded
    case 0x0005: return .indexRemoved
    case 0x0006: return reader.long().map { .newSettings(ControllerSettings(rawValue: $0)) }
    case 0x000c:
      guard let address = address(&reader), let reason = reader.byte() else { return nil }
      return address.map { .deviceDisconnected($0, reason: reason) } ?? .other(code)
    case 0x0012:
      guard let address = address(&reader), let rssi = reader.byte(), reader.long() != nil, let size = reader.word(),
        let data = reader.bytes(Int(size))
      else { return nil }
      guard let address else { return .other(code) }
      return .deviceFound(
        DeviceFound(address: address, rssi: Int8(bitPattern: rssi), data: AdvertisingData(parsing: data)))
    default: return .other(code)
    }
  }

  /// An LE address; the inner nil stands for one of BR/EDR.
  private static func address(_ reader: inout PacketReader) -> BluetoothAddress?? {
    guard let bytes = reader.bytes(6), let type = reader.byte() else { return .none }
    return .some(BluetoothAddress.Kind(rawValue: type).flatMap { BluetoothAddress(wire: bytes, kind: $0) })
  }
}

/// What a controller can do, and what is switched on.
package struct ControllerSettings: OptionSet, Sendable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }
  package static let powered = ControllerSettings(rawValue: 1 << 0)
  package static let connectable = ControllerSettings(rawValue: 1 << 1)
  package static let discoverable = ControllerSettings(rawValue: 1 << 3)
  package static let bondable = ControllerSettings(rawValue: 1 << 4)
  package static let bredr = ControllerSettings(rawValue: 1 << 7)
  package static let lowEnergy = ControllerSettings(rawValue: 1 << 9)
  package static let advertising = ControllerSettings(rawValue: 1 << 10)
  package static let privacy = ControllerSettings(rawValue: 1 << 13)
  package static let staticAddress = ControllerSettings(rawValue: 1 << 15)
}

/// The answer to Read Controller Index List.
package enum ControllerList {
  /// The indices, or nil when the answer is malformed.
  package static func indices(_ bytes: ByteView) -> [UInt16]? {
    var reader = PacketReader(bytes)
    guard let count = reader.word(), reader.rest.count == Int(count) * 2 else { return nil }
    var indices: [UInt16] = []
    while let index = reader.word() { indices.append(index) }
    return indices
  }
}

/// The answer to Read Controller Information.
package struct ControllerInformation: Equatable, Sendable {
  /// The address its maker gave it; all zero when it has none.
  package let address: BluetoothAddress
  /// The version of the Core Specification, as its number in the Assigned Numbers: 9 is 5.0.
  package let version: UInt8
  /// The company identifier of the maker.
  package let manufacturer: UInt16
  package let supported: ControllerSettings
  package let current: ControllerSettings

  /// Nil for a malformed answer.
  package init?(_ bytes: ByteView) {
    var reader = PacketReader(bytes)
    guard let wire = reader.bytes(6), let address = BluetoothAddress(wire: wire, kind: .lePublic),
      let version = reader.byte(), let manufacturer = reader.word(), let supported = reader.long(),
      let current = reader.long()
    else { return nil }
    self.address = address
    self.version = version
    self.manufacturer = manufacturer
    self.supported = ControllerSettings(rawValue: supported)
    self.current = ControllerSettings(rawValue: current)
  }

  /// `5.0`, or the number where it is a later one than this program knows.
  package var versionText: String {
    let names = [
      "1.0b", "1.1", "1.2", "2.0", "2.1", "3.0", "4.0", "4.1", "4.2", "5.0", "5.1", "5.2", "5.3", "5.4", "6.0",
    ]
    return names.indices.contains(Int(version)) ? names[Int(version)] : "version \(version)"
  }
}
