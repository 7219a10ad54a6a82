import Bytes
import Testing

@testable import Bluetooth

/// The bytes of hexadecimal digits in groups.
func octets(_ text: String) throws -> [UInt8] { try #require(bytes(hex: text.filter { $0 != " " })) }

private let device = BluetoothAddress(value: 0xca4d_d8cf_184b, kind: .leRandom)

@Suite("The management interface of Linux")
struct ManagementTests {
  /// Packets by the tables of doc/mgmt-api: opcode, controller 0, length, parameters.
  static let commands: [(ManagementCommand, String)] = [
    (.readIndexList, "0300 0000 0000"),
    (.readControllerInfo, "0400 0000 0000"),
    (.setPowered(true), "0500 0000 0100 01"),
    (.setPowered(false), "0500 0000 0100 00"),
    (.setConnectable(true), "0700 0000 0100 01"),
    (.setBondable(false), "0900 0000 0100 00"),
    (.setLE(true), "0d00 0000 0100 01"),
    (.setBREDR(false), "2a00 0000 0100 00"),
    (.disconnect(device), "1400 0000 0700 4b18cfd84dca 02"),
    (.setStaticAddress(device), "2b00 0000 0600 4b18cfd84dca"),
    (.setPrivacy(key: [UInt8](repeating: 0xee, count: 16)), "2f00 0000 1100 01 " + String(repeating: "ee", count: 16)),
    (.removeAdvertising(instance: 1), "3f00 0000 0100 01"),
    (.startServiceDiscovery(services: [service], rssi: -127), "3a00 0000 1400 06 81 0100 " + serviceWire),
    (.stopDiscovery, "2400 0000 0100 06"),
    (
      .loadConnectionParameters(
        device,
        ConnectionParameters(interval: .microseconds(7500)...(.milliseconds(15)), supervision: .seconds(4))),
      "3500 0000 1100 0100 4b18cfd84dca 02 0600 0c00 0000 9001"
    ),
    (
      .setDefaultConfiguration(
        ConnectionParameters(interval: .microseconds(7500)...(.milliseconds(15)), supervision: .seconds(4)).defaults
          + ManagementCommand.DefaultParameter.advertising(interval: .milliseconds(20)...(.milliseconds(30)))),
      "4c00 0000 1e00 1700020600 1800020c00 1900020000 1a00029001 0a00022000 0b00023000"
    ),
  ]

  @Test("commands are encoded as documented", arguments: commands)
  func encoding(command: ManagementCommand, expected: String) {
    #expect(command.encoded(for: 0).hex == expected.filter { $0 != " " })
  }

  @Test("a command about no controller has the index 0xffff")
  func noController() {
    #expect(ManagementCommand.readIndexList.encoded(for: ManagementCommand.noController).hex == "0300ffff0000")
  }

  @Test("a service is advertised connectable, with Flags of the kernel's and the 128-bit UUID")
  func advertising() throws {
    let command = ManagementCommand.addAdvertising(try .service(service))
    #expect(
      command.encoded(for: 1).hex
        == "3e0001001d00" + "01" + "0b000000" + "0000" + "0000" + "12" + "00" + "1107" + serviceWire)
  }

  @Test("a mode's time is rounded down to whole units")
  func units() {
    #expect(ControllerTime(.microseconds(7500), in: .interval).count == 6)
    #expect(ControllerTime(.milliseconds(20), in: .slot).count == 32)
    #expect(ControllerTime(.milliseconds(21), in: .slot).count == 33)
    #expect(ControllerTime(.seconds(4), in: .supervision).count == 400)
    #expect(ControllerTime(.seconds(100_000), in: .slot).count == .max)
  }

  /// Packets as the kernel sends them.
  static let events: [(String, ManagementEvent.Content)] = [
    ("0100 0000 0700 0500 00 81020000", .commandComplete(opcode: 5, .success, [0x81, 2, 0, 0])),
    ("0100 0000 0300 0500 00", .commandComplete(opcode: 5, .success, [])),
    ("0200 0000 0300 0d00 0b", .commandStatus(opcode: 0x0d, .rejected)),
    ("0200 0000 0300 0500 12", .commandStatus(opcode: 5, .blockedByRFKill)),
    ("0300 0000 0100 01", .controllerError(1)),
    ("0400 0000 0000", .indexAdded),
    ("0500 0000 0000", .indexRemoved),
    ("0600 0000 0400 01020000", .newSettings([.powered, .lowEnergy])),
    ("0c00 0000 0800 4b18cfd84dca 02 03", .deviceDisconnected(device, reason: 3)),
    // BR/EDR is nothing to us.
    ("0c00 0000 0800 4b18cfd84dca 00 03", .other(0x0c)),
    ("0b00 0000 0000", .other(0x0b)),
  ]

  @Test("events are read as documented", arguments: events)
  func reading(packet: String, expected: ManagementEvent.Content) throws {
    let bytes = try octets(packet)
    let event = try #require(ManagementEvent(bytes[...]))
    #expect(event.index == 0)
    #expect(event.content == expected)
    // Cut short it is none, wherever it is cut; and with more than it says neither.
    for count in 0..<bytes.count { #expect(ManagementEvent(bytes.prefix(count)) == nil) }
    #expect(ManagementEvent((bytes + [0])[...]) == nil)
  }

  @Test("an event that says it is whole and lacks fields is none", arguments: [1, 2, 3, 6, 0x0c, 0x12])
  func shortEvents(code: UInt8) {
    #expect(ManagementEvent([code, 0, 0, 0, 0, 0]) == nil)
  }

  @Test("a found device has its address, strength and advertising data")
  func deviceFound() throws {
    let data = "020106" + "1107" + serviceWire
    let packet = "120000002300" + "4b18cfd84dca" + "02" + "c8" + "00000000" + "1500" + data
    let event = try #require(ManagementEvent(octets(packet)[...]))
    guard case .deviceFound(let found) = event.content else {
      Issue.record("no device")
      return
    }
    #expect(found.address == device)
    #expect(found.rssi == -56)
    #expect(found.data.offers(service))
  }

  @Test("statuses have the names of the documentation")
  func statuses() {
    #expect(ManagementStatus.blockedByRFKill.description == "blocked by rfkill")
    #expect(ManagementStatus.permissionDenied.description == "permission denied")
    #expect(ManagementStatus(rawValue: 0x80).description == "status 128")
  }

  @Test("the list of controllers has to be as long as it says")
  func indices() {
    #expect(ControllerList.indices([2, 0, 0, 0, 1, 0]) == [0, 1])
    #expect(ControllerList.indices([0, 0]) == [])
    #expect(ControllerList.indices([2, 0, 0, 0]) == nil)
    #expect(ControllerList.indices([1, 0, 0, 0, 1]) == nil)
    #expect(ControllerList.indices([]) == nil)
  }

  @Test("controller information is read from its first 20 bytes")
  func information() throws {
    let bytes = try octets("01000032a6dc 09 0f00 ffbe0100 80000000 000000 7069")
    let information = try #require(ControllerInformation(bytes[...]))
    #expect(information.address.description == "DC:A6:32:00:00:01")
    #expect(information.versionText == "5.0")
    #expect(information.manufacturer == 15)
    #expect(information.supported.isSuperset(of: [.powered, .lowEnergy, .bredr, .privacy]))
    #expect(information.current == .bredr)
    for count in 0..<17 { #expect(ControllerInformation(bytes.prefix(count)) == nil) }
  }

  @Test("addresses are little-endian on the air and big-endian in text")
  func addresses() {
    #expect(device.description == "CA:4D:D8:CF:18:4B")
    #expect(device.wire.hex == "4b18cfd84dca")
    #expect(BluetoothAddress(wire: device.wire, kind: .leRandom) == device)
    #expect(BluetoothAddress(wire: [1, 2, 3], kind: .leRandom) == nil)
    #expect(BluetoothAddress.nonResolvable(.max).wire.last == 0x3f)
  }
}
