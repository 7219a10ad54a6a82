import Bytes
import Testing

@testable import Bluetooth

private let reportData = "020106" + "1107" + serviceWire
private let sender = BluetoothAddress(value: 0xca4d_d8cf_184b, kind: .leRandom)

@Suite("Packets of the controller")
struct HCIPacketTests {
  static let scan = HCICommand.Scan(isActive: true, interval: .milliseconds(30), window: .milliseconds(30))
  static let commands: [(HCICommand, String)] = [
    (.readLocalCommands, "01 0210 00"),
    (.leReadSupportedStates, "01 1c20 00"),
    (.leSetRandomAddress(sender), "01 0520 06 4b18cfd84dca"),
    (.leSetScanParameters(scan), "01 0b20 07 01 3000 3000 01 00"),
    // The last byte: duplicates are not filtered.
    (.leSetScanEnable(true), "01 0c20 02 01 00"),
    (.leSetScanEnable(false), "01 0c20 02 00 00"),
    (.leSetExtendedScanParameters(scan), "01 4120 08 01 00 01 01 3000 3000"),
    (.leSetExtendedScanEnable(true), "01 4220 06 01 00 0000 0000"),
  ]

  @Test("commands are encoded as specified", arguments: commands)
  func encoding(command: HCICommand, expected: String) {
    #expect(command.encoded.hex == expected.filter { $0 != " " })
  }

  static let events: [(String, HCIEvent)] = [
    ("04 0e 04 01 0c20 00", .commandComplete(opcode: 0x200c, .success, [])),
    ("04 0e 04 01 0c20 0c", .commandComplete(opcode: 0x200c, .commandDisallowed, [])),
    ("04 0e 05 01 0210 00 ff", .commandComplete(opcode: 0x1002, .success, [0xff])),
    ("04 0f 04 01 01 0b20", .commandStatus(opcode: 0x200b, HCIStatus(rawValue: 1))),
    ("04 10 01 03", .hardwareError(3)),
    ("04 0e 03 01 0000", .other(0x0e)),
    ("04 05 04 00 0100 13", .other(0x05)),
    ("04 3e 01 01", .other(0x3e)),
  ]

  @Test("events are read as specified", arguments: events)
  func reading(packet: String, expected: HCIEvent) throws {
    let bytes = try octets(packet)
    #expect(HCIEvent(bytes[...]) == expected)
    for count in 0..<bytes.count { #expect(HCIEvent(bytes.prefix(count)) == nil) }
    #expect(HCIEvent((bytes + [0])[...]) == nil)
    #expect(HCIEvent(([2] + bytes.dropFirst())[...]) == nil)
  }

  private func reports(_ body: String) throws -> [HCIEvent.Advertisement]? {
    let bytes = try octets(body)
    guard case .advertisements(let reports)? = HCIEvent(([4, 0x3e, UInt8(bytes.count)] + bytes)[...]) else {
      return nil
    }
    return reports
  }

  @Test(
    "an advertisement says whether it can be connected to",
    arguments: [(0, true), (1, true), (2, false), (3, false), (4, true)])
  func connectable(event: UInt8, expected: Bool) throws {
    let report = try #require(
      try reports("0201" + [event].hex + "01" + "4b18cfd84dca" + "15" + reportData + "c8")?.first)
    #expect(report.address == sender)
    #expect(report.isConnectable == expected)
    #expect(report.rssi == -56)
    #expect(report.data.offers(service))
  }

  @Test("one event may hold several reports, and one with an unknown kind of address does not count")
  func several() throws {
    let one = "00" + "00" + "4b18cfd84dca" + "00" + "c8"
    let anonymous = "00" + "ff" + "000000000000" + "00" + "c8"
    let found = try #require(try reports("0203" + one + anonymous + one))
    #expect(found.map(\.address.kind) == [.lePublic, .lePublic])
  }

  @Test("a report that is cut short makes the event none")
  func short() throws {
    let whole = "0201" + "00" + "01" + "4b18cfd84dca" + "15" + reportData + "c8"
    for count in stride(from: 4, to: whole.count, by: 2) {
      let found = try reports(String(whole.prefix(count)))
      #expect(found == nil)
    }
    let extended =
      "0d01" + "1300" + "01" + "4b18cfd84dca" + "0100ff7f" + "c8" + "0000" + "00" + "000000000000" + "15" + reportData
    for count in stride(from: 4, to: extended.count, by: 2) {
      let found = try reports(String(extended.prefix(count)))
      #expect(found == nil)
    }
  }

  @Test("an extended report is read like a legacy one", arguments: [("1300", true), ("1b00", true), ("1000", false)])
  func extended(event: String, expected: Bool) throws {
    let body =
      "0d01" + event + "01" + "4b18cfd84dca" + "0100ff7f" + "c8" + "0000" + "00" + "000000000000" + "15" + reportData
    let report = try #require(try reports(body)?.first)
    #expect(report.address == sender)
    #expect(report.isConnectable == expected)
    #expect(report.rssi == -56)
    #expect(report.data.offers(service))
  }

  @Test("states that go together are bits of 8 bytes")
  func states() throws {
    let states = try #require(LEStates(octets("ffff3fffff030000")[...]))
    #expect(states.contains(.advertisingAndActiveScan))
    #expect(states.contains(.advertisingAsPeripheral))
    let few = try #require(LEStates([0xff, 0x00, 0, 0, 0, 0, 0, 0]))
    #expect(few.isDisjoint(with: [.advertisingAndActiveScan, .advertisingAndPassiveScan, .advertisingAsPeripheral]))
    #expect(LEStates([0xff]) == nil)
  }
}
