import Bytes

/// A command to the controller itself (Core, Vol 4, Part E, 7.8), where the management interface has none or has the
/// wrong one: its discovery filters duplicates, so a phone that starts to advertise the session's service after we
/// have seen it with another is never reported.
package enum HCICommand: Equatable, Sendable {
  case readLocalCommands
  case leReadSupportedStates
  case leSetRandomAddress(BluetoothAddress)
  case leSetScanParameters(Scan)
  case leSetScanEnable(Bool)
  case leSetExtendedScanParameters(Scan)
  case leSetExtendedScanEnable(Bool)

  /// How to listen for advertisements.
  package struct Scan: Equatable, Sendable {
    /// Asks advertisers for their scan response too.
    package var isActive: Bool
    package var interval: ControllerTime
    /// At most the interval; as long as it, the controller listens all the time.
    package var window: ControllerTime

    package init(isActive: Bool, interval: Duration, window: Duration) {
      self.isActive = isActive
      self.interval = ControllerTime(interval, in: .slot)
      self.window = ControllerTime(window, in: .slot)
    }
  }

  package var opcode: UInt16 {
    switch self {
    case .readLocalCommands: 0x1002
    case .leSetRandomAddress: 0x2005
    case .leSetScanParameters: 0x200b
    case .leSetScanEnable: 0x200c
    case .leReadSupportedStates: 0x201c
    case .leSetExtendedScanParameters: 0x2041
    case .leSetExtendedScanEnable: 0x2042
    }
  }

  /// Its name in the specification, for messages.
  package var name: String {
    switch self {
    case .readLocalCommands: "Read Local Supported Commands"
    case .leSetRandomAddress: "LE Set Random Address"
    case .leSetScanParameters: "LE Set Scan Parameters"
    case .leSetScanEnable: "LE Set Scan Enable"
    case .leReadSupportedStates: "LE Read Supported States"
    case .leSetExtendedScanParameters: "LE Set Extended Scan Parameters"
    case .leSetExtendedScanEnable: "LE Set Extended Scan Enable"
    }
  }

  /// The packet with the type in front that a raw socket takes.
  package var encoded: [UInt8] {
    let body = parameters
    var packet: [UInt8] = [0x01]
    packet += Wire.word(opcode)
    packet.append(UInt8(truncatingIfNeeded: body.count))
    return packet + body
  }

  private var parameters: [UInt8] {
    // Own address: random, so that a scan request does not say who we are. Every advertiser is listened to.
    let ownAddress: UInt8 = 0x01
    let everyAdvertiser: UInt8 = 0x00
    switch self {
    case .readLocalCommands, .leReadSupportedStates: return []
    case .leSetRandomAddress(let address): return address.wire
    case .leSetScanParameters(let scan):
      return [scan.isActive ? 1 : 0] + scan.interval.wire + scan.window.wire + [ownAddress, everyAdvertiser]
    // Duplicates are not filtered.
    case .leSetScanEnable(let on): return [on ? 1 : 0, 0]
    case .leSetExtendedScanParameters(let scan):
      // On the 1M PHY, where every advertisement begins.
      return [ownAddress, everyAdvertiser, 0x01, scan.isActive ? 1 : 0] + scan.interval.wire + scan.window.wire
    case .leSetExtendedScanEnable(let on): return [on ? 1 : 0, 0, 0, 0, 0, 0]
    }
  }
}

/// A status of the controller (Core, Vol 1, Part F).
package struct HCIStatus: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let success = HCIStatus(rawValue: 0x00)
  package static let unknownCommand = HCIStatus(rawValue: 0x01)
  package static let commandDisallowed = HCIStatus(rawValue: 0x0c)

  package var description: String {
    switch self {
    case .success: "success"
    case .unknownCommand: "unknown command"
    case .commandDisallowed: "command disallowed"
    default: "status 0x" + [rawValue].hex
    }
  }
}

/// An event of the controller, as a raw socket gives it.
package enum HCIEvent: Equatable, Sendable {
  case commandComplete(opcode: UInt16, HCIStatus, ByteView)
  case commandStatus(opcode: UInt16, HCIStatus)
  case advertisements([Advertisement])
  case hardwareError(UInt8)
  case other(UInt8)

  /// One advertisement that was heard.
  package struct Advertisement: Equatable, Sendable {
    package let address: BluetoothAddress
    /// Whether the advertiser takes connections, as far as this report says. A scan response belongs to an
    /// advertisement that was connectable, or to one that was not: it does not say.
    package let isConnectable: Bool
    package let rssi: Int8
    package let data: AdvertisingData
  }

  /// Nil for bytes that are no event, whole and well-formed.
  package init?(_ bytes: ByteView) {
    var reader = PacketReader(bytes)
    guard reader.byte() == 0x04, let code = reader.byte(), let length = reader.byte(), reader.rest.count == Int(length)
    else { return nil }
    switch code {
    case 0x0e:
      guard reader.byte() != nil, let opcode = reader.word() else { return nil }
      // Opcode 0 only says how many commands may follow.
      guard opcode != 0, let status = reader.byte() else {
        self = .other(code)
        return
      }
      self = .commandComplete(opcode: opcode, HCIStatus(rawValue: status), reader.rest)
    case 0x0f:
      guard let status = reader.byte(), reader.byte() != nil, let opcode = reader.word() else { return nil }
      self = .commandStatus(opcode: opcode, HCIStatus(rawValue: status))
    case 0x10:
      guard let code = reader.byte() else { return nil }
      self = .hardwareError(code)
    case 0x3e:
      guard let subevent = reader.byte() else { return nil }
      switch subevent {
      case 0x02:
        guard let reports = HCIEvent.legacyReports(&reader) else { return nil }
        self = .advertisements(reports)
      case 0x0d:
        guard let reports = HCIEvent.extendedReports(&reader) else { return nil }
        self = .advertisements(reports)
      default: self = .other(code)
      }
    default: self = .other(code)
    }
  }

  private static func address(_ type: UInt8, _ bytes: ByteView) -> BluetoothAddress? {
    switch type {
    // 2 and 3: a private address that the controller resolved to this one.
    case 0, 2: BluetoothAddress(wire: bytes, kind: .lePublic)
    case 1, 3: BluetoothAddress(wire: bytes, kind: .leRandom)
    default: nil
    }
  }

  private static func legacyReports(_ reader: inout PacketReader) -> [Advertisement]? {
    guard let count = reader.byte() else { return nil }
    var reports: [Advertisement] = []
    for _ in 0..<count {
      guard let event = reader.byte(), let type = reader.byte(), let bytes = reader.bytes(6),
        let length = reader.byte(),
        let data = reader.bytes(Int(length)), let rssi = reader.byte()
      else { return nil }
      guard let address = address(type, bytes) else { continue }
      // ADV_IND and ADV_DIRECT_IND; a scan response belongs to one that may be connectable.
      let isConnectable = event == 0 || event == 1 || event == 4
      reports.append(
        Advertisement(
          address: address, isConnectable: isConnectable, rssi: Int8(bitPattern: rssi),
          data: AdvertisingData(parsing: data)))
    }
    return reports
  }

  private static func extendedReports(_ reader: inout PacketReader) -> [Advertisement]? {
    guard let count = reader.byte() else { return nil }
    var reports: [Advertisement] = []
    for _ in 0..<count {
      // Type, address, then PHYs, set, power: 4 bytes; RSSI; periodic interval and direct address: 9 bytes.
      guard let event = reader.word(), let type = reader.byte(), let bytes = reader.bytes(6), reader.bytes(4) != nil,
        let rssi = reader.byte(), reader.bytes(9) != nil, let length = reader.byte(),
        let data = reader.bytes(Int(length))
      else { return nil }
      guard let address = address(type, bytes) else { continue }
      // Bit 0: connectable; bit 3: a scan response.
      reports.append(
        Advertisement(
          address: address, isConnectable: event & 0b1001 != 0, rssi: Int8(bitPattern: rssi),
          data: AdvertisingData(parsing: data)))
    }
    return reports
  }
}

/// Which things a controller can do at the same time (Core, Vol 4, Part E, 7.8.27).
package struct LEStates: OptionSet, Sendable {
  package let rawValue: UInt64
  package init(rawValue: UInt64) { self.rawValue = rawValue }
  package static let advertisingAndPassiveScan = LEStates(rawValue: 1 << 10)
  package static let advertisingAndActiveScan = LEStates(rawValue: 1 << 14)
  package static let advertisingAsPeripheral = LEStates(rawValue: 1 << 38)

  /// The answer to LE Read Supported States without its status; nil when it is too short.
  package init?(_ bytes: ByteView) {
    guard bytes.count >= 8 else { return nil }
    self.init(rawValue: bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) })
  }
}
