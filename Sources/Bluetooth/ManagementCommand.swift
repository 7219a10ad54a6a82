import Bytes

/// A command of the Bluetooth management interface of Linux (doc/mgmt-api of BlueZ): the kernel does it, no daemon.
package enum ManagementCommand: Equatable, Sendable {
  case readIndexList
  case readControllerInfo
  case setPowered(Bool)
  case setConnectable(Bool)
  case setBondable(Bool)
  case setLE(Bool)
  case setBREDR(Bool)
  /// Ends the link to a device.
  case disconnect(BluetoothAddress)
  /// The address that is used where a public one is not; needs an adapter that is powered off.
  case setStaticAddress(BluetoothAddress)
  /// Resolvable private addresses made with this key (16 bytes); needs an adapter that is powered off.
  case setPrivacy(key: [UInt8])
  case addAdvertising(Advertising)
  /// 0 stands for all instances.
  case removeAdvertising(instance: UInt8)
  case startServiceDiscovery(services: [UUID128], rssi: Int8)
  case stopDiscovery
  /// For connections to one device.
  case loadConnectionParameters(BluetoothAddress, ConnectionParameters)
  /// Defaults for every connection, scan and advertisement from now on; kernel 5.8 and later.
  case setDefaultConfiguration([DefaultParameter])

  /// What to advertise, and how.
  package struct Advertising: Equatable, Sendable {
    /// From 1.
    package var instance: UInt8
    package var flags: AdvertisingFlags
    /// Whole advertising data without Flags.
    package var data: [UInt8]

    package init(instance: UInt8, flags: AdvertisingFlags, data: [UInt8]) {
      self.instance = instance
      self.flags = flags
      self.data = data
    }

    /// A service that can be connected to. The kernel adds Flags (general discoverable, and BR/EDR not supported
    /// while it is off), 3 bytes. Throws with the byte count when the data does not fit.
    package static func service(_ uuid: UUID128) throws(AdvertisingData.Violation) -> Advertising {
      Advertising(
        instance: 1, flags: [.connectable, .discoverable, .addsFlags],
        data: try AdvertisingData.service(uuid).encoded(reserved: 3))
    }
  }

  package struct AdvertisingFlags: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package static let connectable = AdvertisingFlags(rawValue: 1)
    package static let discoverable = AdvertisingFlags(rawValue: 2)
    package static let addsFlags = AdvertisingFlags(rawValue: 8)
  }

  /// A default of the kernel, by its number in doc/mgmt-api.
  package struct DefaultParameter: Equatable, Sendable {
    package let type: UInt16
    package let value: UInt16
  }

  /// The number of the command.
  package var opcode: UInt16 {
    switch self {
    case .readIndexList: 0x0003
    case .readControllerInfo: 0x0004
    case .setPowered: 0x0005
    case .setConnectable: 0x0007
    case .setBondable: 0x0009
    case .setLE: 0x000d
    case .disconnect: 0x0014
    case .stopDiscovery: 0x0024
    case .setBREDR: 0x002a
    case .setStaticAddress: 0x002b
    case .setPrivacy: 0x002f
    case .loadConnectionParameters: 0x0035
    case .startServiceDiscovery: 0x003a
    case .addAdvertising: 0x003e
    case .removeAdvertising: 0x003f
    case .setDefaultConfiguration: 0x004c
    }
  }

  /// Its name in the documentation, for messages.
  package var name: String {
    switch self {
    case .readIndexList: "Read Controller Index List"
    case .readControllerInfo: "Read Controller Information"
    case .setPowered(let on): "Set Powered \(on ? "on" : "off")"
    case .setConnectable: "Set Connectable"
    case .setBondable: "Set Bondable"
    case .setLE: "Set Low Energy"
    case .disconnect: "Disconnect"
    case .stopDiscovery: "Stop Discovery"
    case .setBREDR: "Set BR/EDR"
    case .setStaticAddress: "Set Static Address"
    case .setPrivacy: "Set Privacy"
    case .loadConnectionParameters: "Load Connection Parameters"
    case .startServiceDiscovery: "Start Service Discovery"
    case .addAdvertising: "Add Advertising"
    case .removeAdvertising: "Remove Advertising"
    case .setDefaultConfiguration: "Set Default System Configuration"
    }
  }

  /// The packet for a controller; commands about none of them take `noController`.
  package func encoded(for index: UInt16) -> [UInt8] {
    let body = parameters
    var packet = Wire.word(opcode)
    packet += Wire.word(index)
    packet += Wire.word(UInt16(clamping: body.count))
    return packet + body
  }

  /// The index that stands for no controller.
  package static let noController: UInt16 = 0xffff

  private var parameters: [UInt8] {
    switch self {
    case .readIndexList, .readControllerInfo: return []
    case .setPowered(let on), .setConnectable(let on), .setBondable(let on), .setLE(let on), .setBREDR(let on):
      return [on ? 1 : 0]
    case .disconnect(let address): return address.wire + [address.kind.rawValue]
    case .setStaticAddress(let address): return address.wire
    case .setPrivacy(let key): return [1] + key
    case .addAdvertising(let advertising):
      // Duration 0 and time-out 0: until it is removed. No scan response.
      var bytes = [advertising.instance]
      bytes += Wire.long(advertising.flags.rawValue)
      bytes += [0, 0, 0, 0, UInt8(truncatingIfNeeded: advertising.data.count), 0]
      bytes += advertising.data
      return bytes
    case .removeAdvertising(let instance): return [instance]
    case .startServiceDiscovery(let services, let rssi):
      var bytes = [DiscoveryType.lowEnergy, UInt8(bitPattern: rssi)]
      bytes += Wire.word(UInt16(clamping: services.count))
      for service in services { bytes += service.wire128 }
      return bytes
    case .stopDiscovery: return [DiscoveryType.lowEnergy]
    case .loadConnectionParameters(let address, let parameters):
      var bytes = Wire.word(1)
      bytes += address.wire
      bytes.append(address.kind.rawValue)
      bytes += parameters.minimum.wire
      bytes += parameters.maximum.wire
      bytes += Wire.word(parameters.latency)
      bytes += parameters.supervision.wire
      return bytes
    case .setDefaultConfiguration(let parameters):
      var bytes: [UInt8] = []
      for parameter in parameters {
        bytes += Wire.word(parameter.type)
        bytes.append(2)
        bytes += Wire.word(parameter.value)
      }
      return bytes
    }
  }

  private enum DiscoveryType {
    /// LE public and LE random.
    static let lowEnergy: UInt8 = 0x06
  }
}

/// A time in units of the controller.
package struct ControllerTime: Equatable, Sendable {
  /// How long one unit is.
  package enum Unit: Int64, Sendable {
    /// Advertising and scanning: 0.625 ms.
    case slot = 625
    /// Connection interval: 1.25 ms.
    case interval = 1250
    /// Supervision: 10 ms.
    case supervision = 10000
  }

  /// How many units.
  package let count: UInt16

  /// The nearest whole number of units, rounded down.
  package init(_ duration: Duration, in unit: Unit) {
    let (seconds, attoseconds) = duration.components
    let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    count = UInt16(clamping: microseconds / unit.rawValue)
  }

  var wire: [UInt8] { Wire.word(count) }
}

/// How two devices meet on an LE connection (Core, Vol 6, Part B, 4.5.1 and 4.5.2).
package struct ConnectionParameters: Equatable, Sendable {
  package let minimum: ControllerTime
  package let maximum: ControllerTime
  /// Meetings that the peripheral may miss.
  package let latency: UInt16
  package let supervision: ControllerTime

  package init(interval: ClosedRange<Duration>, latency: UInt16 = 0, supervision: Duration) {
    minimum = ControllerTime(interval.lowerBound, in: .interval)
    maximum = ControllerTime(interval.upperBound, in: .interval)
    self.latency = latency
    self.supervision = ControllerTime(supervision, in: .supervision)
  }

  /// These as defaults of the kernel, for connections in both roles.
  package var defaults: [ManagementCommand.DefaultParameter] {
    [
      .init(type: 0x0017, value: minimum.count), .init(type: 0x0018, value: maximum.count),
      .init(type: 0x0019, value: latency), .init(type: 0x001a, value: supervision.count),
    ]
  }
}

extension ManagementCommand.DefaultParameter {
  /// How often an advertisement is sent.
  package static func advertising(interval: ClosedRange<Duration>) -> [ManagementCommand.DefaultParameter] {
    [
      .init(type: 0x000a, value: ControllerTime(interval.lowerBound, in: .slot).count),
      .init(type: 0x000b, value: ControllerTime(interval.upperBound, in: .slot).count),
    ]
  }
}
