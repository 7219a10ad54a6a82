import Bluetooth

/// What the adapter is used for and how; the defaults are for a door with one built-in adapter.
package struct AdapterSettings: Equatable, Sendable {
  /// `hci0` and its like; nil for the first that there is.
  package var name: String?
  /// How often we advertise while a wallet is awaited.
  package var advertisingInterval = Duration.milliseconds(20)...Duration.milliseconds(30)
  /// How often the radio begins to listen for advertisements, and how long it does: the same for all the time.
  package var scanInterval = Duration.milliseconds(30)
  package var scanWindow = Duration.milliseconds(30)
  /// What we ask for, on connections in both roles: the faster they meet, the faster a portrait comes.
  package var connectionInterval = Duration.microseconds(7500)...Duration.milliseconds(15)
  /// After how long without a word a connection is lost.
  package var supervision = Duration.seconds(4)
  /// For one attempt to connect to a device that was heard.
  package var connectLimit = Duration.seconds(5)
  /// Whether channels are offered and opened beside GATT.
  package var usesChannels = true
  /// For a channel to a device that is connected already.
  package var channelLimit = Duration.seconds(2)
  /// How long each mode has the radio to itself where the adapter cannot do both at once.
  package var turn = Duration.seconds(3)
  /// Bytes that the kernel may keep of a connection until we read. It drops what does not fit, without a word.
  package var receiveBuffer: Int32 = 4 << 20
  /// Whether an adapter is refused that a Bluetooth daemon or another reader works on as well.
  package var refusesRivals = true

  package init() {}

  var parameters: ConnectionParameters { ConnectionParameters(interval: connectionInterval, supervision: supervision) }
}

/// What was found out about the adapter while it was made ready.
package struct AdapterFacts: Equatable, Sendable {
  /// `hci0`.
  package let name: String
  /// All adapters that can be had, this one among them.
  package let present: [String]
  package let information: ControllerInformation
  /// What is on now.
  package let settings: ControllerSettings
  package let states: LEStates
  /// Scans with the commands of Bluetooth 5.
  package let usesExtendedScan: Bool
  /// The kernel takes defaults for connections; else it uses its own, 30 to 50 ms.
  package let hasFastConnections: Bool
  /// Other programs with a Bluetooth management or controller socket.
  package let holders: [AdapterHolder]

  /// Advertises with addresses that change.
  package var hasPrivateAddresses: Bool { settings.contains(.privacy) }
  /// Can advertise and listen at once.
  package var doesBothModes: Bool { !states.isDisjoint(with: [.advertisingAndActiveScan, .advertisingAndPassiveScan]) }
}
