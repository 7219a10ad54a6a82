import Testing

@testable import Bluetooth

@Suite("UUIDs")
struct UUID128Tests {
  @Test("a UUID has a text form, a big-endian form and a little-endian form on the air")
  func forms() throws {
    let uuid = try #require(UUID128(text: "00000005-A123-48CE-896B-4C76973373E6"))
    #expect(uuid.description == "00000005-a123-48ce-896b-4c76973373e6")
    #expect(uuid == UUID128(mdoc: 5))
    #expect(uuid.bytes.first == 0 && uuid.bytes[3] == 5 && uuid.bytes[4] == 0xa1 && uuid.bytes.last == 0xe6)
    #expect(uuid.wire == uuid.bytes.reversed() && uuid.wire128 == uuid.wire)
    #expect(UUID128(uuid.bytes) == uuid)
    #expect(UUID128(wire: uuid.wire) == uuid)
    #expect(uuid.short == nil)
  }

  @Test("a 16-bit UUID equals its 128-bit form")
  func short() throws {
    let long = try #require(UUID128(text: "00002902-0000-1000-8000-00805f9b34fb"))
    #expect(long == .clientConfiguration)
    #expect(long.short == 0x2902)
    #expect(long.wire == [0x02, 0x29])
    #expect(long.wire128.count == 16)
    #expect(UUID128(wire: [0x02, 0x29]) == long)
    #expect(UUID128(wire: long.wire128) == long)
  }

  @Test(
    "other texts and sizes are no UUIDs",
    arguments: [
      "", "00000005A12348CE896B4C76973373E6", "00000005-A123-48CE-896B-4C76973373E",
      "g0000005-A123-48CE-896B-4C76973373E6",
      "00000005-A123-48CE-896B-4C76973373E6-", "0000005-0A123-48CE-896B-4C76973373E6",
    ])
  func refused(text: String) {
    #expect(UUID128(text: text) == nil)
  }

  @Test("only 2 and 16 bytes are UUIDs on the air", arguments: 0...18)
  func sizes(count: Int) {
    let bytes = [UInt8](repeating: 1, count: count)
    #expect((UUID128(wire: bytes) != nil) == (count == 2 || count == 16))
    #expect((UUID128(bytes) != nil) == (count == 16))
  }
}
