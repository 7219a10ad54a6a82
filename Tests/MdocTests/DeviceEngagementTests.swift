import Bluetooth
import Bytes
import CBOR
import COSE
import Crypto
import Foundation
import TestSupport
import Testing

@testable import Mdoc

private let uuid = UUID128(0..<16)!
private let otherUUID = UUID128(16..<32)!

/// The Annex D key, so that a test need not make one.
private func annexDKey() throws -> PublicKey {
  try DeviceEngagement(AnnexD.deviceEngagement).eDeviceKey
}

private func draft(_ bluetooth: BluetoothRetrieval? = BluetoothRetrieval(centralClient: uuid)) throws
  -> DeviceEngagementDraft
{
  DeviceEngagementDraft(key: try annexDKey(), bluetooth: bluetooth)
}

/// An engagement whose only method is Bluetooth with these options.
private func engagement(options: [CBORValue.Pair]) throws -> DeviceEngagement {
  var draft = try draft()
  draft.methods = [.array([2, 1, .map(options)])]
  return try DeviceEngagement(draft.encode())
}

@Suite("Device engagement")
struct DeviceEngagementTests {
  @Test("the engagement of Annex D is read, and written again byte for byte")
  func annexD() throws {
    let engagement = try DeviceEngagement(AnnexD.deviceEngagement)
    #expect(Array(engagement.encoded) == AnnexD.deviceEngagement)
    #expect(Array(engagement.eDeviceKeyBytes) == AnnexD.eDeviceKeyBytes)
    #expect(engagement.minorVersion == 0)
    #expect(engagement.eDeviceKey.curve == .p256)
    #expect(engagement.warnings == [])
    let bluetooth = try engagement.requiredBluetooth()
    #expect(bluetooth.peripheralServer == nil)
    #expect(bluetooth.centralClient?.description == "45efef74-2b2c-4837-a9a3-b0e1d05a6917")
    #expect(
      DeviceEngagementDraft(key: engagement.eDeviceKey, bluetooth: bluetooth).encode() == AnnexD.deviceEngagement)
  }

  @Test("the Ident value is derived from the tagged key bytes")
  func ident() throws {
    #expect(try DeviceEngagement(AnnexD.deviceEngagement).bleIdent.hex == "8da0b7a85919f05673054ea996bbd124")
  }

  @Test("an engagement on every curve that can agree is written and read", arguments: Curve.allCases)
  func curves(curve: Curve) throws {
    let key = try PrivateKey.generate(curve).publicKey
    let encoded = DeviceEngagementDraft(key: key, bluetooth: BluetoothRetrieval(centralClient: uuid)).encode()
    if curve.kind == .edwards {
      #expect(throws: DeviceEngagement.Violation.keyCannotAgree(curve)) { try DeviceEngagement(encoded) }
    } else {
      #expect(try DeviceEngagement(encoded).eDeviceKey == key)
    }
  }

  @Test("a view inside a larger buffer is read like the bytes alone")
  func view() throws {
    let buffer = [0, 0, 0] + AnnexD.deviceEngagement + [0, 0]
    let engagement = try DeviceEngagement(buffer.dropFirst(3).dropLast(2))
    #expect(Array(engagement.eDeviceKeyBytes) == AnnexD.eDeviceKeyBytes)
    #expect(engagement.bleIdent.hex == "8da0b7a85919f05673054ea996bbd124")
  }

  @Test(
    "any version 1.x is read, another one is refused",
    arguments: [
      ("1.0", 0), ("1.1", 1), ("1.9", 9), ("1.12", 12), ("1.0.1", 0), ("2.0", nil), ("0.9", nil), ("1", nil),
      ("1.", nil),
      ("", nil), ("1,0", nil), ("10.0", nil), ("1.x", nil),
    ] as [(String, Int?)])
  func versions(text: String, minor: Int?) throws {
    var draft = try draft()
    draft.version = text
    if let minor {
      #expect(try DeviceEngagement(draft.encode()).minorVersion == minor)
    } else {
      #expect(throws: DeviceEngagement.Violation.versionUnsupported) { try DeviceEngagement(draft.encode()) }
    }
  }

  @Test("a cipher suite other than 1 is refused", arguments: [0, 2, -1, .max, .min] as [Int64])
  func cipherSuites(number: Int64) throws {
    var draft = try draft()
    draft.cipherSuite = .int(number)
    #expect(throws: DeviceEngagement.Violation.cipherSuiteUnsupported) { try DeviceEngagement(draft.encode()) }
  }

  @Test("a key that is none is refused by what is wrong with it")
  func keys() throws {
    let key = try annexDKey()
    func refusal(_ content: CBORValue) throws -> DeviceEngagement.Violation? {
      var draft = try draft()
      draft.eDeviceKeyBytes = CBORValue.embedded(content).encode()
      do {
        _ = try DeviceEngagement(draft.encode())
        return nil
      } catch {
        return error
      }
    }
    let x = CBORValue.bytes(key.x)
    #expect(try refusal(key.coseKey) == nil)
    #expect(try refusal(.map(labels: [1: 2, -1: 1, -2: x, -3: x])) == .keyInvalid(.notOnCurve))
    #expect(try refusal(.map(labels: [1: 2, -1: 1, -2: x])) == .keyInvalid(.malformed))
    #expect(try refusal(.map(labels: [1: 2, -1: 99, -2: x, -3: x])) == .keyInvalid(.unsupportedCurve))
    #expect(try refusal("not a map") == .keyInvalid(.malformed))
    #expect(try refusal(.encoded([0xff])) == .keyInvalid(.malformed))
    #expect(DeviceEngagement.Violation.keyInvalid(.malformed).code == "engagementKeyInvalid")
  }

  @Test("a member that is missing or of a wrong kind is named")
  func members() throws {
    func refusal(_ members: [CBORValue.Pair]) throws -> DeviceEngagement.Violation? {
      do {
        _ = try DeviceEngagement(CBORValue.map(members).encode())
        return nil
      } catch {
        return error
      }
    }
    let key = CBORValue.encoded(AnnexD.eDeviceKeyBytes)
    let security = CBORValue.Pair(1, .array([1, key]))
    #expect(try refusal([.init(0, "1.0"), security]) == nil)
    #expect(try refusal([security]) == .malformed(member: 0, offset: 0))
    #expect(try refusal([.init(0, 1), security]) == .malformed(member: 0, offset: 2))
    #expect(try refusal([.init(0, "1.0")]) == .malformed(member: 1, offset: 0))
    #expect(try refusal([.init(0, "1.0"), .init(1, 5)]) == .malformed(member: 1, offset: 7))
    #expect(try refusal([.init(0, "1.0"), .init(1, .array([]))]) == .malformed(member: 1, offset: 7))
    #expect(try refusal([.init(0, "1.0"), .init(1, .array([1]))]) == .malformed(member: 1, offset: 7))
    #expect(try refusal([.init(0, "1.0"), .init(1, .array(["1", key]))]) == .malformed(member: 1, offset: 7))
    #expect(try refusal([.init(0, "1.0"), .init(1, .array([1, .bytes([])]))]) == .malformed(member: 1, offset: 9))
    #expect(try refusal([.init(0, "1.0"), security, .init(2, 7)]) == .malformed(member: 2, offset: 89))
    #expect(throws: DeviceEngagement.Violation.malformed(member: nil, offset: 0)) { try DeviceEngagement([0x80]) }
    #expect(DeviceEngagement.Violation.malformed(member: 0, offset: 0).code == "engagementMalformed")
  }

  @Test("every truncation is refused as truncated")
  func truncations() {
    for count in 0..<AnnexD.deviceEngagement.count {
      do {
        _ = try DeviceEngagement(AnnexD.deviceEngagement.prefix(count))
        Issue.record("read \(count) bytes")
      } catch {
        guard case .notCBOR(let fault) = error else {
          Issue.record("\(error) for \(count) bytes")
          continue
        }
        #expect(fault.reason == .truncated, "\(count) bytes")
      }
    }
  }

  @Test("a byte too many, a key twice and a large code are refused")
  func notOneItem() throws {
    #expect(throws: DeviceEngagement.Violation.notCBOR(CBORError(.trailingBytes, offset: 116))) {
      try DeviceEngagement(AnnexD.deviceEngagement + [0])
    }
    #expect(throws: DeviceEngagement.Violation.notCBOR(CBORError(.tooLarge, offset: 4096))) {
      try DeviceEngagement([UInt8](repeating: 0, count: 4097))
    }
    var doubled = CBORWriter()
    doubled.map(count: 2)
    for _ in 0..<2 {
      doubled.int(0)
      doubled.text("1.0")
    }
    #expect(throws: DeviceEngagement.Violation.notCBOR(CBORError(.duplicateKey, offset: 6, path: "0"))) {
      try DeviceEngagement(doubled.bytes)
    }
  }

  @Test("no single turned bit of an engagement does harm")
  func bitFlips() {
    var read = 0
    for bit in 0..<8 * AnnexD.deviceEngagement.count {
      var changed = AnnexD.deviceEngagement
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      if let engagement = try? DeviceEngagement(changed) {
        #expect(Array(engagement.encoded) == changed)
        read += 1
      }
    }
    // Bits of the UUID and a few others mean something else, but nothing wrong; those of the key never do.
    #expect(read >= 128 && read < 200)
  }

  @Test("members of the second edition and unknown ones stay in the transcript")
  func unknownMembers() throws {
    var draft = try draft()
    draft.extraMembers = [
      .init(6, .map([.init(3, true)])), .init(7, "reserved"), .init(-1, 1), .init("vendor", .null),
    ]
    let encoded = draft.encode()
    let engagement = try DeviceEngagement(encoded)
    #expect(
      Set(engagement.warnings.map { "\($0)" })
        == Set(
          [.memberOfLaterEdition(6), .unknownMember(7), .unknownMember(-1), .unknownMember(nil)]
            .map { (warning: DeviceEngagement.Warning) in "\(warning)" }))
    #expect(engagement.capabilities == DeviceEngagement.Capabilities())
    let transcript = SessionTranscript(engagement: engagement, eReaderKey: try annexDKey(), handover: .qrCode)
    #expect(try decodeCBOR(transcript.encoded).element(0)?.embeddedBytes.map(Array.init) == encoded)
  }

  @Test("key 5 of a version 1.0 engagement means nothing, whatever it holds")
  func originInfosTooEarly() throws {
    var draft = try draft()
    draft.extraMembers = [.init(5, .array(["org.iso.18013.5.1.mDL"]))]
    let engagement = try DeviceEngagement(draft.encode())
    #expect(engagement.warnings == [.memberOfLaterEdition(5)])
    #expect(try engagement.requiredBluetooth().centralClient == uuid)
  }

  @Test("capabilities are read from version 1.1 on, origin infos are passed over")
  func secondEdition() throws {
    var draft = try draft()
    draft.version = "1.1"
    draft.extraMembers = [
      .init(5, .array([.map(["cat": 1, "type": 1, "details": .map([])]), "stray"])),
      .init(6, .map(labels: [2: true, 3: true])),
    ]
    let engagement = try DeviceEngagement(draft.encode())
    #expect(engagement.minorVersion == 1)
    #expect(engagement.capabilities == .init(handoverSessionEstablishment: true, readerAuthAll: true))
    #expect(engagement.warnings == [])
    draft.extraMembers = [.init(5, 1), .init(6, "none")]
    let odd = try DeviceEngagement(draft.encode())
    #expect(odd.warnings == [.memberIgnored(5), .memberIgnored(6)])
    #expect(odd.capabilities == .init())
  }

  @Test("an empty list of methods and none have the same outcome")
  func noMethods() throws {
    var draft = try draft(nil)
    for methods in [nil, []] as [[CBORValue]?] {
      draft.methods = methods
      let engagement = try DeviceEngagement(draft.encode())
      #expect(engagement.bluetooth == nil && engagement.warnings == [])
      #expect(throws: DeviceEngagement.Violation.noUsableMethod) { try engagement.requiredBluetooth() }
    }
    #expect(DeviceEngagement.Violation.noUsableMethod.code == "noUsableMethod")
  }

  @Test("server retrieval alone is no usable method")
  func serverRetrieval() throws {
    var draft = try draft(nil)
    draft.extraMembers = [.init(3, .map(["webApi": .array([1, "https://example.com", "token"])]))]
    let engagement = try DeviceEngagement(draft.encode())
    #expect(engagement.warnings == [.serverRetrievalIgnored])
    #expect(throws: DeviceEngagement.Violation.noUsableMethod) { try engagement.requiredBluetooth() }
  }

  @Test(
    "each mode alone and both together are offered as they are",
    arguments: [
      BluetoothRetrieval(peripheralServer: .init(uuid: uuid)),
      BluetoothRetrieval(centralClient: uuid),
      BluetoothRetrieval(peripheralServer: .init(uuid: uuid), centralClient: uuid),
      BluetoothRetrieval(
        peripheralServer: .init(uuid: uuid, address: [1, 2, 3, 4, 5, 6], psm: 0x80), centralClient: otherUUID),
    ])
  func modes(bluetooth: BluetoothRetrieval) throws {
    let engagement = try DeviceEngagement(draft(bluetooth).encode())
    #expect(engagement.bluetooth == bluetooth)
    #expect(engagement.warnings == [])
  }

  @Test("two Bluetooth entries count as one, and the first offer of a mode is kept")
  func twoEntries() throws {
    var draft = try draft()
    draft.methods = [
      BluetoothRetrieval(centralClient: uuid).method,
      BluetoothRetrieval(peripheralServer: .init(uuid: uuid), centralClient: otherUUID).method,
      BluetoothRetrieval(peripheralServer: .init(uuid: otherUUID, psm: 0x81)).method,
    ]
    #expect(
      try DeviceEngagement(draft.encode()).bluetooth
        == BluetoothRetrieval(peripheralServer: .init(uuid: uuid), centralClient: uuid))
  }

  @Test("methods of other types, later versions and odd shapes are passed over")
  func otherMethods() throws {
    var draft = try draft()
    draft.methods = [
      .array([1, 1, .map(labels: [0: 255, 1: 256])]), .array([3, 1, .map([])]), .array([9, 1, .map([])]),
      .array([2, 2, .map([])]), .array([2, 1]), .array([]), 5, .array([-2, 1, .map([])]),
      BluetoothRetrieval(centralClient: uuid).method,
    ]
    let engagement = try DeviceEngagement(draft.encode())
    #expect(engagement.bluetooth == BluetoothRetrieval(centralClient: uuid))
    #expect(
      engagement.warnings
        == [1, 3, 9, 2, 2, nil, nil, nil].map { DeviceEngagement.Warning.methodSkipped(type: $0) })
  }

  @Test(
    "a mode without a UUID of 16 bytes is refused by itself",
    arguments: [
      ([.init(0, true)], .peripheralServer, .uuidMissing),
      ([.init(1, true)], .centralClient, .uuidMissing),
      ([.init(1, true), .init(10, .bytes(uuid.bytes))], .centralClient, .uuidMissing),
      ([.init(0, true), .init(10, .bytes([1, 2]))], .peripheralServer, .uuidSize(2)),
      ([.init(1, true), .init(11, .bytes(uuid.bytes + [0]))], .centralClient, .uuidSize(17)),
      ([.init(0, true), .init(10, "00000000-0000-0000-0000-000000000000")], .peripheralServer, .uuidKind),
      ([.init(1, 1), .init(11, .bytes(uuid.bytes))], .centralClient, .flagKind),
    ] as [([CBORValue.Pair], MdocMode, BluetoothRetrieval.Refusal)])
  func refusedModes(options: [CBORValue.Pair], mode: MdocMode, refusal: BluetoothRetrieval.Refusal)
    throws
  {
    let alone = try engagement(options: options)
    #expect(alone.warnings == [.bluetoothModeRefused(mode, refusal)])
    #expect(throws: DeviceEngagement.Violation.noUsableMethod) { try alone.requiredBluetooth() }
    // The other mode, in an entry of its own, is not touched by it.
    let other =
      mode == .centralClient
      ? BluetoothRetrieval(peripheralServer: .init(uuid: uuid)) : BluetoothRetrieval(centralClient: uuid)
    var draft = try draft()
    draft.methods = [.array([2, 1, .map(options)]), other.method]
    #expect(try DeviceEngagement(draft.encode()).bluetooth == other)
  }

  @Test("a flag that is false or absent offers nothing, with or without a UUID")
  func flagsNotSet() throws {
    let engagement = try engagement(options: [.init(0, false), .init(10, .bytes(uuid.bytes)), .init(11, .bytes([]))])
    #expect(engagement.bluetooth == nil && engagement.warnings == [])
  }

  @Test("an address or PSM that is none is left out, and the mode stays")
  func oddOptions() throws {
    for (address, psm) in [(.bytes([1]), 0x7f), ("00", 0x100), (1, -1)] as [(CBORValue, CBORValue)] {
      let engagement = try engagement(
        options: [.init(0, true), .init(10, .bytes(uuid.bytes)), .init(20, address), .init(21, psm)])
      #expect(engagement.bluetooth == BluetoothRetrieval(peripheralServer: .init(uuid: uuid)))
      #expect(engagement.warnings == [.bluetoothOptionIgnored(20), .bluetoothOptionIgnored(21)])
    }
  }

  @Test("engagements of other implementations have their declared outcome")
  func vectors() throws {
    struct Entry: Decodable {
      struct Key: Decodable {
        let x, y: String
      }
      struct Method: Decodable {
        struct Bluetooth: Decodable {
          let peripheralServerUuid, centralClientUuid: String?
        }
        let ble: Bluetooth?
      }
      let name, cborHex, uri, expect, version: String
      let eDeviceKey: Key?
      let bleIdentHex: String?
      let retrievalMethods: [Method]
    }
    guard let data = try sharedBytes("vectors/engagement/engagements.json") else { return }
    let entries = try JSONDecoder().decode([Entry].self, from: Data(data))
    #expect(entries.count >= 5)
    var tally = VectorTally("engagements")
    for entry in entries {
      let uri = try EngagementURI(entry.uri)
      if entry.expect == "reject" {
        let error = thrown(DeviceEngagement.Violation.self) { _ = try DeviceEngagement(uri.engagement) }
        tally.count(entry.name, passes: uri.engagement.hex == entry.cborHex && error == .keyInvalid(.malformed))
        continue
      }
      let engagement = try DeviceEngagement(uri.engagement)
      let (server, client) = (engagement.bluetooth?.peripheralServer?.uuid, engagement.bluetooth?.centralClient)
      tally.count(
        entry.name,
        [
          "bytes": uri.engagement.hex == entry.cborHex,
          "version": "1.\(engagement.minorVersion)" == entry.version,
          "key": engagement.eDeviceKey.x.hex == entry.eDeviceKey?.x
            && engagement.eDeviceKey.y.hex == entry.eDeviceKey?.y,
          "ident": engagement.bleIdent.hex == entry.bleIdentHex,
          "server": server?.bytes.hex == entry.retrievalMethods.compactMap(\.ble?.peripheralServerUuid).first,
          "client": client?.bytes.hex == entry.retrievalMethods.compactMap(\.ble?.centralClientUuid).first,
        ])
    }
    #expect(tally.failures == [])
    print(tally)
  }
}
