import Bytes
import CBOR
import COSE
import Crypto
import Foundation
import TestSupport
import Testing

@testable import Mdoc

@Suite("Reader authentication")
struct ReaderAuthenticationTests {
  private func annexD() throws -> (transcript: SessionTranscript, document: DeviceRequest.DocRequest) {
    let request = try DeviceRequest(AnnexD.deviceRequest)
    return (try SessionTranscript(encoded: AnnexD.sessionTranscript[...]), try #require(request.documents.first))
  }

  @Test("the reader's signature in Annex D is valid, and over exactly this transcript and these items")
  func annexDSignature() throws {
    let (transcript, document) = try annexD()
    let key = try PublicKey(curve: .p256, x: AnnexD.readerKeyX, y: AnnexD.readerKeyY)
    let signature = try #require(document.readerAuth)
    let payload = ReaderAuthentication.payload(
      transcript: transcript, itemsRequestBytes: document.itemsRequestBytes)
    #expect(ReaderAuthentication.isValid(signature, over: payload, key: key))
    #expect(!ReaderAuthentication.isValid(signature, over: payload, key: try PrivateKey.generate(.p256).publicKey))

    for place in [0, payload.count / 2, payload.count - 1] {
      var changed = payload
      changed[place] ^= 1
      #expect(!ReaderAuthentication.isValid(signature, over: changed, key: key))
    }
    let other = SessionTranscript(
      engagement: AnnexD.deviceEngagement, eReaderKeyBytes: AnnexD.eDeviceKeyBytes, handover: .qrCode)
    let foreign = ReaderAuthentication.payload(transcript: other, itemsRequestBytes: document.itemsRequestBytes)
    #expect(!ReaderAuthentication.isValid(signature, over: foreign, key: key))
  }

  @Test("the payload is the standard's, byte for byte")
  func annexDPayload() throws {
    let (transcript, document) = try annexD()
    guard let figure = try sharedBytes("vectors/annex-d/reader-authentication-bytes.cbor") else { return }
    #expect(
      ReaderAuthentication.payload(transcript: transcript, itemsRequestBytes: document.itemsRequestBytes) == figure)
  }

  @Test("a signature by a key of each signing curve is valid in a request that was sent", arguments: Curve.allCases)
  func roundTrip(curve: Curve) throws {
    guard curve.kind != .montgomery else {
      let transcript = try annexD().transcript
      let key = try PrivateKey.generate(curve)
      #expect(throws: COSEError.unsupportedAlgorithm) {
        try ReaderAuthentication.sign(transcript: transcript, itemsRequestBytes: [], key: key, certificates: [])
      }
      return
    }
    let (transcript, document) = try annexD()
    let key = try PrivateKey.generate(curve)
    let items = document.itemsRequestBytes
    let info: ByteView = [0xd8, 0x18, 0x41, 0xa0]
    var draft = DeviceRequestDraft(documents: [
      .init(
        itemsRequestBytes: Array(items),
        readerAuth: try ReaderAuthentication.sign(
          transcript: transcript, itemsRequestBytes: items, key: key, certificates: [[1], [2]]))
    ])
    draft.version = "1.1"
    draft.deviceRequestInfoBytes = Array(info)
    draft.readerAuthAll = [
      try ReaderAuthentication.signAll(
        transcript: transcript, itemsRequestBytes: [items], deviceRequestInfoBytes: info, key: key,
        certificates: [[3]])
    ]
    let received = try DeviceRequest(draft.encode())
    let single = try #require(received.documents.first?.readerAuth)
    #expect(single.structure.x5chain.map(Array.init) == [[1], [2]])
    #expect(
      ReaderAuthentication.isValid(
        single, over: ReaderAuthentication.payload(transcript: transcript, itemsRequestBytes: items),
        key: key.publicKey))
    let all = try #require(received.readerAuthAll.first)
    #expect(all.structure.x5chain.map(Array.init) == [[3]])
    let payload = ReaderAuthentication.payloadForAll(
      transcript: transcript, itemsRequestBytes: received.documents.map(\.itemsRequestBytes),
      deviceRequestInfoBytes: received.deviceRequestInfoBytes)
    #expect(ReaderAuthentication.isValid(all, over: payload, key: key.publicKey))
    #expect(!ReaderAuthentication.isValid(single, over: payload, key: key.publicKey))
  }

  @Test("the payload for all has null where there is no DeviceRequestInfo")
  func payloadForAll() throws {
    let transcript = try SessionTranscript(encoded: [0x83, 0xf6, 0xf6, 0xf6])
    let items: [ByteView] = [[0xd8, 0x18, 0x41, 0xa0], [0xd8, 0x18, 0x41, 0x80]]
    let payload = ReaderAuthentication.payloadForAll(
      transcript: transcript, itemsRequestBytes: items, deviceRequestInfoBytes: nil)
    let name = Array("ReaderAuthenticationAll".utf8)
    #expect(payload.hex == "d8185827" + "8477" + name.hex + "83f6f6f6" + "82d81841a0d8184180" + "f6")
  }

  @Test("an attached payload and an unknown critical header make a signature invalid")
  func oddStructures() throws {
    let key = try PrivateKey.generate(.p256)
    let payload: [UInt8] = [1, 2, 3]
    let attached = try COSESign1(decodeCBOR(COSESign1.sign(payload, with: key, isDetached: false).encode()))
    #expect(!ReaderAuthentication.isValid(attached, over: payload, key: key.publicKey))
    let detached = try COSESign1(decodeCBOR(COSESign1.sign(payload, with: key, isDetached: true).encode()))
    #expect(ReaderAuthentication.isValid(detached, over: payload, key: key.publicKey))

    /// A right signature under a protected header with these critical labels.
    func signature(critical: [CBORValue]) throws -> COSESign1 {
      let protected = CBORValue.map(labels: [1: -7, 2: .array(critical)]).encode()
      func structure(_ proof: [UInt8]) -> CBORValue { .array([.bytes(protected), .map([]), .null, .bytes(proof)]) }
      let unsigned = try COSESign1(decodeCBOR(structure([]).encode()))
      let proof = try key.signature(for: unsigned.structure.input(payload: payload[...]), hash: .sha256)
      return try COSESign1(decodeCBOR(structure(proof).encode()))
    }
    #expect(ReaderAuthentication.isValid(try signature(critical: [1]), over: payload, key: key.publicKey))
    for critical in [[99], [1, 99], []] as [[CBORValue]] {
      #expect(!ReaderAuthentication.isValid(try signature(critical: critical), over: payload, key: key.publicKey))
    }
  }

  @Test("signatures of other readers are valid where their transcript is known")
  func vectors() throws {
    struct Entry: Decodable {
      let name, cborHex: String
      let sessionTranscriptHex: String?
    }
    guard let data = try sharedBytes("vectors/requests/device-requests.json") else { return }
    var tally = VectorTally("signatures of readers")
    for entry in try JSONDecoder().decode([Entry].self, from: Data(data)) {
      guard let hex = entry.sessionTranscriptHex else {
        tally.leaveOut("whose transcript is not known")
        continue
      }
      let encodedTranscript = try #require(bytes(hex: hex))
      let transcript = try SessionTranscript(encoded: encodedTranscript[...])
      let encodedRequest = try #require(bytes(hex: entry.cborHex))
      let document = try #require(DeviceRequest(encodedRequest).documents.first)
      let signature = try #require(document.readerAuth)
      // The P-256 key in the certificate: its bit string starts with 03 42 00 04.
      let leaf = Array(try #require(signature.structure.x5chain.first))
      let start = try #require(
        (0..<leaf.count - 68).first { leaf[$0..<$0 + 4].elementsEqual([0x03, 0x42, 0x00, 0x04]) })
      let key = try PublicKey(
        curve: .p256, x: leaf[start + 4..<start + 36], y: leaf[start + 36..<start + 68])
      let payload = ReaderAuthentication.payload(
        transcript: transcript, itemsRequestBytes: document.itemsRequestBytes)
      tally.count(entry.name, passes: ReaderAuthentication.isValid(signature, over: payload, key: key))
    }
    #expect(tally.failures == [] && tally.run >= 2)
    print(tally)
  }
}
