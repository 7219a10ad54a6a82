import Bytes
import Testing

@testable import Bluetooth

/// Handles of mdoc central client mode: GAP 1 to 5, GATT 6, mdoc service 7 to 17.
@Suite("ATT server")
struct ATTServerTests {
  private func answer(_ hex: String, mode: MdocMode = .centralClient, mtu: Int = 23) throws -> String? {
    var server = ATTServer(AttributeTable(mode: mode, service: service, ident: ident))
    return server.handle(try #require(bytes(hex: hex))[...], mtu: ATTMTU(mtu)).response?.encoded.hex
  }

  static let requests: [(request: String, mtu: Int, response: String)] = [
    // Exchange MTU, also for an offer below the floor
    ("021700", 23, "030502"), ("020000", 23, "030502"),
    // The mdoc service by its UUID, and in a range that leaves it out
    ("060100ffff0028\(serviceWire)", 23, "0707001100"), ("06010006000028\(serviceWire)", 23, "010601000a"),
    ("060100ffff00280018", 23, "0701000500"), ("060100ffff00280118", 23, "0706000600"),
    // All services: 16-bit ones first, then the 128-bit one
    ("100100ffff0028", 23, "1106010005000018060006000118"),
    ("100700ffff0028", 23, "111407001100\(serviceWire)"), ("100800ffff0028", 23, "011008000a"),
    ("100100ffff0128", 23, "011001000a"), ("100100ffff0328", 23, "0110010010"),
    // Characteristics: one at MTU 23, four at 86
    ("08070011000328", 23, "09150800140900\(base)05000000"),
    (
      "08070011000328", 86,
      "09150800140900\(base)050000000b00040c00\(base)060000000d00100e00\(base)070000001000021100\(base)08000000"
    ),
    (
      "08070011000328", 85,
      "09150800140900\(base)050000000b00040c00\(base)060000000d00100e00\(base)07000000"
    ),
    ("08110011000328", 23, "010811000a"),
    // The same type as 128 bits
    ("0807001100fb349b5f800000800010000003280000", 23, "09150800140900\(base)05000000"),
    // Descriptors by type, a readable value by type, one that is not
    ("08070011000229", 23, "09040a0000000f000000"),
    ("0807001100\(base)08000000", 23, "09121100\(ident.hex)"),
    ("0807001100\(base)05000000", 23, "0108090002"),
    ("080100ffff002a", 23, "09020300"), ("080100ffff012a", 23, "090405000000"),
    // Find Information changes the size of types only between responses
    ("040700ffff", 23, "05010700002808000328"), ("0409000900", 23, "05020900\(base)05000000"),
    ("040a000d00", 23, "05010a0002290b000328"), ("041200ffff", 23, "010412000a"),
    // Reads
    ("0a1100", 23, "0b\(ident.hex)"), ("0a0300", 23, "0b"), ("0a0a00", 23, "0b0000"),
    ("0c11000000", 23, "0d\(ident.hex)"), ("0c11000f00", 23, "0daf"), ("0c11001000", 23, "0d"),
    ("0a0700", 17, "0b\(serviceWire)"),
    // Writes
    ("120a000100", 23, "13"), ("120a000000", 23, "13"), ("12090001", 23, "13"), ("120c0000aa", 23, "13"),
  ]

  @Test("requests are answered", arguments: requests)
  func answers(request: String, mtu: Int, response: String) throws {
    #expect(try answer(request, mtu: mtu) == response)
  }

  @Test(
    "what cannot be answered is refused with its code",
    arguments: [
      // Ranges: from 0, backwards
      ("040000ffff", "0104000001"), ("0405000400", "0104050001"), ("060000ffff0028", "0106000001"),
      ("08020001000328", "0108020001"), ("100000ffff0028", "0110000001"),
      // Handles
      ("0a0000", "010a000001"), ("0a1200", "010a120001"), ("0affff", "010affff01"), ("0c12000000", "010c120001"),
      ("12000001", "0112000001"), ("12120001", "0112120001"),
      // Not to be read
      ("0a0900", "010a090002"), ("0a0c00", "010a0c0002"), ("0a0e00", "010a0e0002"), ("0c09000000", "010c090002"),
      // Not to be written
      ("12070001", "0112070003"), ("12080001", "0112080003"), ("120e0001", "01120e0003"), ("12110001", "0112110003"),
      ("12030041", "0112030003"),
      // Offset, descriptor length, descriptor value
      ("0c11001100", "010c110007"), ("120a0001", "01120a000d"), ("120a00010000", "01120a000d"),
      ("120a00", "01120a000d"),
      ("120a000200", "01120a00fd"), ("120a000101", "01120a00fd"),
      // Malformed
      ("02", "0102000004"), ("0200", "0102000004"), ("02050200", "0102000004"), ("0401", "0104000004"),
      ("060100ffff00", "0106000004"), ("080100ffff", "0108000004"), ("080100ffff000000", "0108000004"),
      ("0a", "010a000004"), ("0a0100ff", "010a000004"), ("0c1100", "010c000004"), ("100100ffff", "0110000004"),
      ("12", "0112000004"), ("1201", "0112000004"),
      // Not supported: Read Multiple, Prepare and Execute Write, Read Multiple Variable, unknown
      ("0e03000500", "010e000006"), ("160c00000000", "0116000006"), ("1801", "0118000006"),
      ("2003000500", "0120000006"),
      ("00", "0100000006"), ("3f", "013f000006"), ("80", "0180000006"), ("16", "0116000006"),
    ])
  func refusals(request: String, response: String) throws {
    #expect(try answer(request) == response)
  }

  @Test(
    "commands are never answered",
    arguments: ["5209", "52", "52000001", "520700ff", "520c0000", "d20c00", "42", "7f", "ff00"])
  func commands(command: String) throws {
    #expect(try answer(command) == nil)
  }

  @Test("mdoc peripheral server mode has other characteristics, and no Ident")
  func peripheralServer() throws {
    #expect(try answer("060100ffff0028\(serviceWire)", mode: .peripheralServer) == "0707000f00")
    #expect(
      try answer("08070011000328", mode: .peripheralServer, mtu: 517)
        == "09150800140900\(base)010000000b00040c00\(base)020000000d00100e00\(base)03000000")
    #expect(try answer("0a1000", mode: .peripheralServer) == "010a100001")
  }

  @Test("a link without a service to offer still is a server: GAP without a name, and GATT")
  func basicServices() throws {
    var server = ATTServer(AttributeTable())
    let all = server.handle(ATTPDU.readByGroupTypeRequest(.all, type: .primaryService).encoded[...], mtu: ATTMTU())
    #expect(all.response?.encoded.hex == "1106010005000018060006000118")
    #expect(all.event == nil)
  }

  @Test("writes are reported with their characteristic, and a subscription can be read back")
  func events() throws {
    var server = ATTServer(AttributeTable(mode: .centralClient, service: service, ident: ident))
    func feed(_ hex: String) throws -> ATTServer.Outcome {
      server.handle(try #require(bytes(hex: hex))[...], mtu: ATTMTU())
    }
    #expect(try feed("52090001") == .init(event: .written(.state, [1])))
    #expect(try feed("520c0000aa") == .init(event: .written(.clientToServer, [0, 0xaa])))
    #expect(try feed("120c0000") == .init(response: .writeResponse, event: .written(.clientToServer, [0])))
    #expect(try feed("520f000100") == .init(event: .subscribed(.serverToClient, true)))
    #expect(server.isSubscribed(to: .serverToClient) && !server.isSubscribed(to: .state))
    #expect(try feed("0a0f00").response == .readResponse([1, 0]))
    #expect(try feed("120f000000") == .init(response: .writeResponse, event: .subscribed(.serverToClient, false)))
    #expect(!server.isSubscribed(to: .serverToClient))
    #expect(try feed("021700").event == .mtuOffered(23))
    #expect(try feed("520e0000").event == nil)
  }
}
