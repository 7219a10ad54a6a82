import Bytes
import Testing

@testable import Bluetooth

@Suite("ATT PDUs")
struct ATTPDUTests {
  private static func h(_ value: UInt16) -> AttributeHandle { AttributeHandle(value) }

  /// One PDU of every kind, its bytes, and the lengths that a truncation of it may have and still be one.
  static let pdus: [(pdu: ATTPDU, hex: String, shorter: [Int])] = [
    (.errorResponse(request: 0x0a, handle: h(0x1234), code: .invalidHandle), "010a341201", []),
    (.exchangeMTURequest(517), "020502", []),
    (.exchangeMTUResponse(23), "031700", []),
    (.findInformationRequest(HandleRange(h(1), h(0xffff))), "040100ffff", []),
    (.findInformationResponse([.init(handle: h(3), type: .clientConfiguration)]), "050103000229", []),
    (
      .findInformationResponse([
        .init(handle: h(3), type: .clientConfiguration), .init(handle: h(4), type: .characteristic),
      ]), "05010300022904000328", [6]
    ),
    (.findInformationResponse([.init(handle: h(9), type: UUID128(mdoc: 5))]), "05020900\(base)05000000", []),
    (
      .findByTypeValueRequest(.all, type: .primaryService, value: service.wire[...]),
      "060100ffff0028\(serviceWire)", Array(7..<23)
    ),
    (.findByTypeValueResponse([HandleRange(h(7), h(17)), HandleRange(h(20), h(30))]), "070700110014001e00", [5]),
    (.readByTypeRequest(HandleRange(h(7), h(17)), type: .characteristic), "08070011000328", []),
    (.readByTypeRequest(HandleRange(h(7), h(17)), type: service), "0807001100\(serviceWire)", [7]),
    (.readByTypeResponse([.init(handle: h(3), value: [0xaa])]), "09030300aa", []),
    (.readByTypeResponse([.init(handle: h(3), value: [])]), "09020300", []),
    (.readRequest(h(17)), "0a1100", []),
    (.readResponse([1, 2]), "0b0102", [1, 2]),
    (.readBlobRequest(h(17), offset: 256), "0c11000001", []),
    (.readBlobResponse([1, 2]), "0d0102", [1, 2]),
    (.readByGroupTypeRequest(.all, type: .primaryService), "100100ffff0028", []),
    (.readByGroupTypeResponse([.init(range: HandleRange(h(1), h(5)), value: [0, 0x18])]), "1106010005000018", []),
    (.writeRequest(h(10), [1, 0]), "120a000100", [3, 4]),
    (.writeResponse, "13", []),
    (.writeCommand(h(9), [1]), "52090001", [3]),
    (.notification(h(14), [0, 0xaa]), "1b0e0000aa", [3, 4]),
    (.indication(h(14), [0]), "1d0e0000", [3]),
    (.confirmation, "1e", []),
    (.other(0x16), "16", []),
  ]

  @Test("every kind of PDU is written and read", arguments: pdus.indices)
  func roundTrip(index: Int) throws {
    let (pdu, hex, _) = ATTPDUTests.pdus[index]
    #expect(pdu.encoded.hex == hex)
    #expect(try ATTPDU(try #require(bytes(hex: hex))[...]) == pdu)
  }

  @Test("a PDU is read from the middle of a buffer", arguments: pdus.indices)
  func slices(index: Int) throws {
    let (pdu, hex, _) = ATTPDUTests.pdus[index]
    let own = try #require(bytes(hex: hex))
    let buffer = [0xff, 0xff, 0xff] + own
    #expect(try ATTPDU(buffer[3...]) == pdu)
  }

  @Test(
    "every truncation of every PDU is refused, or is a shorter PDU where its length is free", arguments: pdus.indices)
  func truncations(index: Int) throws {
    let (_, hex, shorter) = ATTPDUTests.pdus[index]
    let whole = try #require(bytes(hex: hex))
    #expect(throws: ATTPDU.Violation.empty) { try ATTPDU([]) }
    for count in 1..<max(whole.count, 1) {
      let cut = whole[..<count]
      if shorter.contains(count) {
        #expect(try ATTPDU(cut).encoded == Array(cut))
      } else {
        #expect(throws: ATTPDU.Violation.length(opcode: whole[0]), "\(count) bytes of \(hex)") { try ATTPDU(cut) }
      }
    }
  }

  @Test(
    "a byte too many is refused where the length is fixed",
    arguments: [
      "010a34120100", "02050200", "03170000", "040100ffff00", "05010300022900", "0707001100ff", "0807001100032800",
      "09030300aaff", "0a110000", "0c1100000100", "100100ffff002800", "110601000500001800", "1300", "1e00",
    ])
  func trailing(hex: String) throws {
    let pdu = try #require(bytes(hex: hex))
    #expect(throws: ATTPDU.Violation.length(opcode: pdu[0])) { try ATTPDU(pdu[...]) }
  }

  @Test(
    "formats and entry sizes that do not exist are refused",
    arguments: ["050003000229", "05030300", "0901aa", "0900", "1103010005"])
  func formats(hex: String) throws {
    let pdu = try #require(bytes(hex: hex))
    #expect(throws: ATTPDU.Violation.format(opcode: pdu[0])) { try ATTPDU(pdu[...]) }
  }

  @Test("lists without an entry are refused", arguments: ["0501", "07", "0903", "1106"])
  func emptyLists(hex: String) throws {
    let pdu = try #require(bytes(hex: hex))
    #expect(throws: ATTPDU.Violation.length(opcode: pdu[0])) { try ATTPDU(pdu[...]) }
  }

  @Test("opcodes say what a PDU is for; unknown ones are requests, or commands with bit 6")
  func purposes() {
    let responses: Set<UInt8> = [0x01, 0x03, 0x05, 0x07, 0x09, 0x0b, 0x0d, 0x0f, 0x11, 0x13, 0x17, 0x19, 0x21]
    for opcode in UInt8.min...UInt8.max {
      let expected: ATTPDU.Purpose =
        switch opcode {
        case _ where opcode & 0x40 != 0: .command
        case _ where responses.contains(opcode): .response
        case 0x1b, 0x23: .notification
        case 0x1d: .indication
        case 0x1e: .confirmation
        default: .request
        }
      #expect(ATTPDU.purpose(of: opcode) == expected)
    }
  }
}
