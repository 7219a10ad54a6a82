import Bytes
import CBOR
import COSE
import Crypto
import TestSupport
import Testing

@testable import Mdoc

@Suite("Session messages")
struct SessionMessagesTests {
  @Test("the first message of Annex D is read, and written again byte for byte")
  func annexD() throws {
    let figure = AnnexD.sessionEstablishment
    let message = try SessionEstablishment(figure[...])
    #expect(message.eReaderKeyBytes.prefix(4).hex == "d818584b")
    #expect(message.data.count == 735)
    #expect(try message.eReaderKey().curve == .p256)
    #expect(SessionEstablishment.encode(eReaderKeyBytes: message.eReaderKeyBytes, data: message.data) == figure)
  }

  @Test(
    "a first message without its members is refused",
    arguments: [
      ("a0", .missing(member: "eReaderKey")),
      ("a1646461746140", .missing(member: "eReaderKey")),
      ("a16a655265616465724b657940", .wrongKind(member: "eReaderKey", offset: 12)),
      ("a16a655265616465724b6579d81840", .missing(member: "data")),
      ("a26a655265616465724b6579d8184064646174616178", .wrongKind(member: "data", offset: 20)),
      ("a16a455265616465724b6579d81840", .missing(member: "eReaderKey")),
      ("80", .notMap),
      ("", .notCBOR(CBORError(.truncated, offset: 0))),
    ] as [(String, SessionMessageViolation)])
  func establishmentRefused(hex: String, violation: SessionMessageViolation) throws {
    let message = try #require(bytes(hex: hex))
    #expect(throws: violation) { try SessionEstablishment(message[...]) }
  }

  @Test("the reader's key is looked at only when it is asked for")
  func readerKey() throws {
    func key(_ content: [UInt8]) throws -> PublicKey {
      let message = SessionEstablishment.encode(
        eReaderKeyBytes: CBORValue.embedded(.encoded(content)).encode(), data: [])
      return try SessionEstablishment(message[...]).eReaderKey()
    }
    #expect(throws: COSEKeyError.malformed) { try key([]) }
    #expect(throws: COSEKeyError.malformed) { try key([0x80]) }
    let x = CBORValue.bytes([UInt8](repeating: 1, count: 32))
    #expect(throws: COSEKeyError.notOnCurve) {
      try key(CBORValue.map(labels: [1: 2, -1: 1, -2: x, -3: x]).encode())
    }
  }

  @Test(
    "data, status or both are read",
    arguments: [
      ("a1646461746143010203", SessionData(data: [1, 2, 3])),
      ("a16673746174757314", SessionData(status: 20)),
      ("a26464617461410166737461747573181e", SessionData(data: [1], status: 30)),
      ("a2667374617475730a646461746140", SessionData(data: [], status: 10)),
      ("a4617801646461746141010902617900", SessionData(data: [1])),
      ("b900017900046461746159000101", SessionData(data: [1])),
      ("bf64646174615f41014102ffff", SessionData(data: [1, 2])),
      ("a1667374617475731bffffffffffffffff", SessionData(status: .max)),
    ])
  func read(hex: String, expected: SessionData) throws {
    let message = try #require(bytes(hex: hex))
    #expect(try SessionData(message[...]) == expected)
  }

  @Test(
    "what is no session data is refused",
    arguments: [
      ("a0", .missing(member: "data")),
      ("a1617801", .missing(member: "data")),
      ("a16464617461f6", .wrongKind(member: "data", offset: 6)),
      ("a16464617461d81840", .wrongKind(member: "data", offset: 6)),
      ("a16673746174757333", .wrongKind(member: "status", offset: 8)),
      ("a266737461747573f664646174614101", .wrongKind(member: "status", offset: 8)),
      ("a2646461746140646461746140", .notCBOR(CBORError(.duplicateKey, offset: 7, path: "data"))),
      ("a1667374617475731400", .notCBOR(CBORError(.trailingBytes, offset: 9))),
      ("14", .notMap),
    ] as [(String, SessionMessageViolation)])
  func refused(hex: String, violation: SessionMessageViolation) throws {
    let message = try #require(bytes(hex: hex))
    #expect(throws: violation) { try SessionData(message[...]) }
  }

  @Test("messages are written with exactly these bytes")
  func written() {
    #expect(SessionData(status: 20).encode().hex == "a16673746174757314")
    #expect(SessionData(status: 10).encode().hex == "a1667374617475730a")
    #expect(SessionData(data: [1, 2]).encode().hex == "a16464617461420102")
    #expect(SessionData(data: [1], status: 20).encode().hex == "a26464617461410166737461747573" + "14")
  }
}
