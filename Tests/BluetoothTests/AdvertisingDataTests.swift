import Bytes
import Testing

@testable import Bluetooth

private let otherWire = UUID128(text: "00000001-a123-48ce-896b-4c76973373e6")!.wire128.hex

@Suite("Advertising data")
struct AdvertisingDataTests {
  /// Data, and whether it offers the service.
  static let cases: [(String, Bool)] = [
    ("", false),
    ("020106", false),
    ("1107" + serviceWire, true),
    ("1106" + serviceWire, true),
    ("020106" + "1107" + serviceWire, true),
    ("1107" + serviceWire + "020106", true),
    // Two UUIDs, ours second; more than legacy advertising holds, as extended advertising can.
    ("2107" + otherWire + serviceWire, true),
    ("1107" + otherWire, false),
    // Whole UUIDs count, a piece at the end does not.
    ("1507" + serviceWire + "01020304", true),
    ("1007" + String(serviceWire.dropLast(2)), false),
    // Not as 16-bit UUIDs, service data or a name.
    ("1103" + serviceWire, false),
    ("1121" + serviceWire, false),
    ("1109" + serviceWire, false),
    // A structure that does not fit ends the list, one before it counts.
    ("1107" + serviceWire + "ff07", true),
    ("ff07" + serviceWire, false),
    ("1107" + String(serviceWire.dropLast(2)), false),
    // A length of zero ends it.
    ("00" + "1107" + serviceWire, false),
    ("020106" + "00000000", false),
    // A length without a type, at the very end.
    ("1107" + serviceWire + "05", true),
    ("01", false),
    ("0107", false),
  ]

  @Test("the service is found in whole lists of 128-bit UUIDs and nowhere else", arguments: cases)
  func offers(data: String, expected: Bool) throws {
    let bytes = try octets(data)
    #expect(AdvertisingData(parsing: bytes[...]).offers(service) == expected)
  }

  @Test("a service needs 18 bytes, 21 with Flags")
  func service128() throws {
    let data = AdvertisingData.service(service)
    let bytes = try data.encoded()
    #expect(bytes.hex == "1107" + serviceWire)
    let full = try data.encoded(reserved: 13)
    #expect(full.count == 18)
    #expect(throws: AdvertisingData.Violation.tooLong(byteCount: 32, limit: 31)) { try data.encoded(reserved: 14) }
  }

  /// Field lengths beside the service, bytes that the system adds, and the byte count when it is too much.
  static let sets: [([Int], Int, Int?)] = [
    ([], 3, nil), ([8], 3, nil), ([9], 3, 32), ([8], 4, 32), ([3, 3], 3, nil), ([3, 4], 3, 32), ([16], 0, 36),
    ([16], 3, 39), ([255], 0, 275),
  ]

  @Test("every set of fields fits or is refused with its byte count", arguments: sets)
  func sizes(lengths: [Int], reserved: Int, tooLong: Int?) throws {
    let fields = lengths.map { AdvertisingData.Field(type: 0x09, data: [UInt8](repeating: 0x41, count: $0)[...]) }
    let data = AdvertisingData(AdvertisingData.service(service).fields + fields)
    if let tooLong {
      #expect(throws: AdvertisingData.Violation.tooLong(byteCount: tooLong, limit: 31)) {
        try data.encoded(reserved: reserved)
      }
    } else {
      let bytes = try data.encoded(reserved: reserved)
      #expect(AdvertisingData(parsing: bytes[...]) == data)
    }
  }
}
