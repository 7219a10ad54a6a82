import Bytes
import CBOR
import COSE
import Crypto
import Testing

@testable import Mdoc

@Suite("Ephemeral keys in the forms of the field")
struct EngagementKeyTests {
  /// The key that an engagement with this COSE_Key gives.
  private func key(in engagement: CBORValue) throws -> PublicKey {
    var draft = DeviceEngagementDraft(key: try PrivateKey.generate(.p256).publicKey)
    draft.eDeviceKeyBytes = CBORValue.embedded(engagement).encode()
    let read = try DeviceEngagement(draft.encode())
    #expect(Array(read.eDeviceKeyBytes) == CBORValue.embedded(engagement).encode())
    return read.eDeviceKey
  }

  /// The key of a first message with this COSE_Key.
  private func key(inMessage coseKey: CBORValue) throws -> PublicKey {
    let message = SessionEstablishment.encode(eReaderKeyBytes: CBORValue.embedded(coseKey).encode(), data: [1])
    return try SessionEstablishment(message[...]).eReaderKey()
  }

  private func map(_ key: PublicKey, x: [UInt8]? = nil, y: CBORValue) -> CBORValue {
    .map(labels: [1: 2, -1: .int(key.curve.coseNumber), -2: .bytes(x ?? key.x), -3: y])
  }

  @Test("a compressed point is solved by its sign, on either side", arguments: [Curve.p256, .p384, .p521])
  func compressed(curve: Curve) throws {
    var signs: Set<Bool> = []
    for _ in 0..<64 where signs.count < 2 {
      let key = try PrivateKey.generate(curve).publicKey
      let isOdd = key.y.last.map { $0 & 1 == 1 } ?? false
      guard signs.insert(isOdd).inserted else { continue }
      #expect(try self.key(in: map(key, y: .bool(isOdd))) == key)
      #expect(try self.key(inMessage: map(key, y: .bool(isOdd))) == key)
      // The other sign is the other point, never one with a y of 0 or 1.
      let other = try self.key(in: map(key, y: .bool(!isOdd)))
      #expect(other != key && other.x == key.x && other.y != key.y)
    }
    #expect(signs.count == 2)
  }

  @Test("a coordinate without its leading zeros is the same coordinate, one byte more is none")
  func narrow() throws {
    var found: PublicKey?
    for _ in 0..<8000 where found == nil {
      let key = try PrivateKey.generate(.p256).publicKey
      if key.x.first == 0 { found = key }
    }
    let key = try #require(found)
    let y = CBORValue.bytes(key.y)
    for x in [Array(key.x.drop { $0 == 0 }), key.x, [0] + key.x] {
      #expect(try self.key(in: map(key, x: x, y: y)) == key && self.key(inMessage: map(key, x: x, y: y)) == key)
    }
    #expect(throws: DeviceEngagement.Violation.keyInvalid(.coordinateSize)) {
      try self.key(in: map(key, x: [1] + key.x, y: y))
    }
    #expect(throws: COSEKeyError.coordinateSize) { try self.key(inMessage: map(key, x: [1] + key.x, y: y)) }
  }
}
