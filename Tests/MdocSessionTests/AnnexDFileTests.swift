import Bytes
import CBOR
import COSE
@testable import Crypto
import Foundation
import Mdoc
import TestSupport
import Testing

@testable import MdocSession

/// The example of Annex D as files of other projects: one transaction, and each file is what our own faces make of the
/// others, or a figure that stands in the tests.
@Suite("ISO/IEC 18013-5 Annex D, file by file")
struct AnnexDFileTests {
  private static let folder = "vectors/annex-d"
  /// Whose outcomes are looked at elsewhere.
  private static let elsewhere: Set<String> = ["negative-device-responses.json", "PROVENANCE.md"]

  private let reader: PrivateKey
  private let device: PrivateKey
  private let transcript: SessionTranscript
  private let request: CBORItem
  private let document: CBORItem
  private let readerAuth: COSESign1
  private let issuerAuth: COSESign1
  private let mac: COSEMac0

  init() throws {
    reader = try PrivateKey(curve: .p256, scalar: AnnexD.eReaderKeyScalar)
    device = try PrivateKey(curve: .p256, scalar: AnnexD.eDeviceKeyScalar)
    transcript = try SessionTranscript(encoded: AnnexD.sessionTranscript[...])
    request = try #require(try decodeCBOR(AnnexD.deviceRequest)[key: "docRequests"]?.element(0))
    document = try #require(try decodeCBOR(AnnexD.deviceResponse)[key: "documents"]?.element(0))
    readerAuth = try COSESign1(try #require(request[key: "readerAuth"]))
    issuerAuth = try COSESign1(try #require(document[key: "issuerSigned"]?[key: "issuerAuth"]))
    mac = try COSEMac0(try #require(document[key: "deviceSigned"]?[key: "deviceAuth"]?[key: "deviceMac"]))
  }

  private func json(_ name: String) throws -> [String: Any] {
    try #require(try sharedJSON("\(AnnexDFileTests.folder)/\(name)") as? [String: Any])
  }

  private func content(_ name: String) throws -> [UInt8] {
    try #require(try sharedBytes("\(AnnexDFileTests.folder)/\(name)"))
  }

  private func element(_ identifier: String) throws -> CBORItem {
    let items = try #require(document[key: "issuerSigned"]?[key: "nameSpaces"]?[key: "org.iso.18013.5.1"]?.elements)
    let found = try items.map { try $0.embedded() }.first { $0.text(under: "elementIdentifier") == identifier }
    return try #require(found?[key: "elementValue"])
  }

  private var authenticationBytes: [UInt8] {
    get throws {
      DeviceAuthentication.payload(
        transcript: transcript.encoded[...], docType: "org.iso.18013.5.1.mDL",
        nameSpacesBytes: try #require(document[key: "deviceSigned"]?[key: "nameSpaces"]?.encoded))
    }
  }

  private var readerAuthenticationBytes: [UInt8] {
    get throws {
      ReaderAuthentication.payload(
        transcript: transcript, itemsRequestBytes: try #require(request[key: "itemsRequest"]?.encoded))
    }
  }

  /// What each file of bytes must be.
  private func made() throws -> [String: [UInt8]] {
    let payload = try #require(issuerAuth.structure.payload)
    var session = try SessionEncryption(
      side: .reader, ownKey: reader, peerKey: device.publicKey, transcript: transcript)
    var holder = try SessionEncryption(
      side: .holder, ownKey: device, peerKey: reader.publicKey, transcript: transcript)
    let eReaderKeyBytes = try #require(try decodeCBOR(transcript.encoded).element(1)?.encoded)
    return [
      "device-authentication-bytes.cbor": try authenticationBytes,
      "device-engagement-qr.cbor": AnnexD.deviceEngagement,
      "device-mac-structure.cbor": mac.structure.input(payload: try authenticationBytes[...]),
      "device-request.cbor": AnnexD.deviceRequest,
      "device-response.cbor": AnnexD.deviceResponse,
      "driving-privileges.cbor": Array(try element("driving_privileges").encoded),
      "ds.der": Array(try #require(issuerAuth.structure.x5chain.first)),
      "e-device-key-bytes.cbor": AnnexD.eDeviceKeyBytes,
      "iaca.der": AnnexD.issuerRoot,
      "issuer-auth-sig-structure.cbor": issuerAuth.structure.input(payload: payload),
      "issuer-auth.cbor": Array(try #require(document[key: "issuerSigned"]?[key: "issuerAuth"]?.encoded)),
      "items-request.cbor": Array(try #require(request[key: "itemsRequest"]?.embeddedBytes)),
      "mso.cbor": Array(try #require(try decodeCBOR(payload).embeddedBytes)),
      "nfc-handover-request.ndef": AnnexD.handoverRequest,
      "nfc-handover-select.ndef": AnnexD.handoverSelect,
      "portrait.jpg": Array(try #require(try element("portrait").bytes)),
      "reader-auth-sig-structure.cbor": readerAuth.structure.input(payload: try readerAuthenticationBytes[...]),
      "reader-auth.cbor": Array(try #require(request[key: "readerAuth"]?.encoded)),
      "reader-authentication-bytes.cbor": try readerAuthenticationBytes,
      "reader.der": Array(try #require(readerAuth.structure.x5chain.first)),
      "session-data.cbor": SessionData(data: try holder.seal(AnnexD.deviceResponse[...])[...]).encode(),
      "session-establishment.cbor": SessionEstablishment.encode(
        eReaderKeyBytes: eReaderKeyBytes,
        data: try session.seal(AnnexD.deviceRequest[...])),
      "session-termination.cbor": SessionData(status: SessionData.Status.termination).encode(),
      "session-transcript-bytes.cbor": transcript.tagged,
      "session-transcript.cbor": SessionTranscript(
        engagement: try #require(try decodeCBOR(AnnexD.sessionTranscript).element(0)?.embeddedBytes),
        eReaderKeyBytes: eReaderKeyBytes,
        handover: .nfc(select: AnnexD.handoverSelect, request: AnnexD.handoverRequest)
      ).encoded,
    ]
  }

  @Test("every file of the folder is made again, byte for byte, or has its signature checked")
  func files() throws {
    guard let folder = shared(AnnexDFileTests.folder) else { return }
    let made = try made()
    let values = ["keys-and-expected.json", "mdoc-uri.json", "reader-root.der"]
    var tally = VectorTally("Annex D files")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    for name in names where !AnnexDFileTests.elsewhere.contains(name) {
      switch name {
      case "keys-and-expected.json":
        let differences = try differences()
        tally.count("\(name): \(differences)", passes: differences.isEmpty)
      case "mdoc-uri.json":
        let file = try json(name)
        let uri = try EngagementURI(file["uri"] as? String ?? "")
        tally.count(
          name,
          passes: uri.engagement == AnnexD.deviceEngagement && uri.text == file["uri"] as? String
            && uri.engagement.hex == file["cborHex"] as? String)
      case "reader-root.der":
        let root = try Certificate(content(name))
        let leaf = try Certificate(content("reader.der"))
        tally.count(name, passes: leaf.isSigned(by: try root.publicKey.get()) && leaf.issuer == root.subject)
      default: tally.count(name, passes: try made[name] == content(name))
      }
    }
    #expect(tally.failures == [])
    #expect(Set(names) == Set(made.keys).union(values).union(AnnexDFileTests.elsewhere))
    print(tally)
  }

  /// Keys, secrets and tags of every step, as the other projects computed them: those that are otherwise here.
  private func differences() throws -> [String] {
    let file = try json("keys-and-expected.json")
    var differences: [String] = []
    func compare(_ object: String, _ member: String, _ value: String) {
      let wanted = (file[object] as? [String: Any])?[member] as? String
      if wanted != value { differences.append("\(object).\(member)") }
    }
    func hex(_ secret: borrowing SecretBytes) -> String { secret.withBytes { Array($0).hex } }
    let scalar = (file["staticDeviceKey"] as? [String: Any])?["d"] as? String
    let holder = try PrivateKey(curve: .p256, scalar: try #require(bytes(hex: scalar ?? "")))
    for (name, key) in [("eDeviceKey", device), ("eReaderKey", reader), ("staticDeviceKey", holder)] {
      compare(name, "d", hex(try key.scalar()))
      compare(name, "x", key.publicKey.x.hex)
      compare(name, "y", key.publicKey.y.hex)
    }
    let secret = try reader.sharedSecret(with: device.publicKey)
    let salt = transcript.salt
    compare("sessionEncryption", "zab", hex(secret))
    compare("sessionEncryption", "salt", salt.hex)
    compare("sessionEncryption", "skReader", hex(SessionEncryption.key(of: .reader, secret: secret, salt: salt)))
    compare("sessionEncryption", "skDevice", hex(SessionEncryption.key(of: .holder, secret: secret, salt: salt)))
    let macKey = try DeviceAuthentication.macKey(
      own: reader, peer: holder.publicKey, transcript: transcript.encoded[...])
    compare("deviceMac", "zab", hex(try reader.sharedSecret(with: holder.publicKey)))
    compare("deviceMac", "eMacKey", hex(macKey))
    compare("deviceMac", "tag", mac.structure.proof.hex)
    if !mac.isValid(for: try authenticationBytes[...], key: macKey) { differences.append("MAC") }
    let leaf = try Certificate(try #require(readerAuth.structure.x5chain.first))
    let readerKey = try leaf.publicKey.get()
    if !readerAuth.isValid(for: try readerAuthenticationBytes[...], key: readerKey) {
      differences.append("reader signature")
    }
    let ident = DeviceEngagement.bleIdent(eDeviceKeyBytes: AnnexD.eDeviceKeyBytes[...])
    compare("bleIdent", "identFromEDeviceKeyBytes", ident.hex)
    return try differences + digestDifferences(file) + messageDifferences(file)
  }

  /// Identifiers of items whose digest is otherwise.
  private func digestDifferences(_ file: [String: Any]) throws -> [String] {
    let wanted = (file["issuerAuth"] as? [String: Any])?["digests"] as? [[String: Any]] ?? []
    let items = try #require(document[key: "issuerSigned"]?[key: "nameSpaces"]?[key: "org.iso.18013.5.1"]?.elements)
    var found: [String: String] = [:]
    for item in items {
      found[try item.embedded().text(under: "elementIdentifier") ?? ""] = digest(.sha256, item.encoded).hex
    }
    #expect(wanted.count == 6 && found.count == 6)
    return wanted.compactMap { entry in
      let element = entry["elementIdentifier"] as? String ?? ""
      return found[element] == entry["issuerSignedItemBytesSha256"] as? String ? nil : element
    }
  }

  /// Messages of either side with counters from 1 to 3 that are sealed otherwise.
  private func messageDifferences(_ file: [String: Any]) throws -> [String] {
    let messages = (file["extraSessionMessages"] as? [String: Any])?["messages"] as? [[String: Any]] ?? []
    #expect(messages.count == 6)
    var ours = try SessionEncryption(
      side: .reader, ownKey: reader, peerKey: device.publicKey, transcript: transcript)
    var theirs = try SessionEncryption(
      side: .holder, ownKey: device, peerKey: reader.publicKey, transcript: transcript)
    var differences: [String] = []
    for message in messages {
      let plaintext = try #require(bytes(hex: message["plaintext"] as? String ?? ""))
      let sender = message["sender"] as? String ?? ""
      let sealed = sender == "reader" ? try ours.seal(plaintext[...]) : try theirs.seal(plaintext[...])
      if sealed.hex != message["ciphertextWithTag"] as? String { differences.append("message of \(sender)") }
    }
    return differences
  }
}
