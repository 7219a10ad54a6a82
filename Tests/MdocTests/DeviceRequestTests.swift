import Bytes
import CBOR
import COSE
import Crypto
import Foundation
import TestSupport
import Testing

@testable import Mdoc

private let mDL = "org.iso.18013.5.1.mDL"
private let nameSpace = "org.iso.18013.5.1"

private func request(_ elements: [(String, Bool)]) -> ItemsRequest {
  ItemsRequest(
    docType: mDL,
    nameSpaces: [
      .init(nameSpace: nameSpace, elements: elements.map { .init(identifier: $0.0, intentToRetain: $0.1) })
    ])
}

/// The encoding of a request with these members instead of the usual ones.
private func encoded(_ members: [String: CBORValue?]) -> [UInt8] {
  var all: [String: CBORValue?] = [
    "version": "1.0",
    "docRequests": .array([.map(["itemsRequest": .encoded(request([("age_over_18", false)]).encodedBytes())])]),
  ]
  all.merge(members) { $1 }
  return CBORValue.map(all.compactMap { key, value in value.map { CBORValue.Pair(.text(key), $0) } }).encode()
}

/// A request whose only document has this ItemsRequest.
private func encoded(itemsRequest: CBORValue) -> [UInt8] {
  encoded(["docRequests": .array([.map(["itemsRequest": .embedded(itemsRequest)])])])
}

@Suite("Device requests")
struct DeviceRequestTests {
  static let annexDElements = [
    ("family_name", true), ("document_number", true), ("driving_privileges", true), ("issue_date", true),
    ("expiry_date", true), ("portrait", false),
  ]

  @Test("the request of Annex D is read, and written again byte for byte")
  func annexD() throws {
    let figure = AnnexD.deviceRequest
    let parsed = try DeviceRequest(figure)
    #expect(parsed.version == "1.0")
    let document = try #require(parsed.documents.first)
    #expect(parsed.documents.count == 1)
    #expect(document.itemsRequest == request(DeviceRequestTests.annexDElements))
    #expect(parsed.readerAuthAll.isEmpty && parsed.deviceRequestInfoBytes == nil && document.requestInfo == nil)
    #expect(document.readerAuth?.algorithm == .es256)
    #expect(document.readerAuth?.structure.x5chain.count == 1)
    #expect(Array(document.itemsRequestBytes) == request(DeviceRequestTests.annexDElements).encodedBytes())

    let signature = try #require(decodeCBOR(figure)[key: "docRequests"]?.element(0)?[key: "readerAuth"])
    let draft = DeviceRequestDraft(documents: [
      .init(
        itemsRequestBytes: request(DeviceRequestTests.annexDElements).encodedBytes(),
        readerAuth: .encoded(Array(signature.encoded)))
    ])
    #expect(draft.encode() == figure)
  }

  @Test("a written request reads the same, with several documents and name spaces")
  func roundTrip() throws {
    let requests = [
      ItemsRequest(
        docType: "eu.europa.ec.eudi.pid.1",
        nameSpaces: [
          .init(nameSpace: "z", elements: [.init(identifier: "b", intentToRetain: false)]),
          .init(nameSpace: "a", elements: [.init(identifier: "a", intentToRetain: true)]),
        ]),
      request([("age_over_21", false), ("age_over_18", false)]),
    ]
    let encoded = DeviceRequestDraft(requests).encode()
    #expect(try DeviceRequest(encoded).documents.map(\.itemsRequest) == requests)
    #expect(DeviceRequestDraft(requests).encode() == encoded)
  }

  @Test("an element asked for twice is written once, and kept only when every mention says so")
  func merged() throws {
    let twice = ItemsRequest(
      docType: mDL,
      nameSpaces: [
        .init(
          nameSpace: nameSpace,
          elements: [.init(identifier: "a", intentToRetain: true), .init(identifier: "b", intentToRetain: true)]),
        .init(nameSpace: "other", elements: [.init(identifier: "a", intentToRetain: true)]),
        .init(nameSpace: nameSpace, elements: [.init(identifier: "a", intentToRetain: false)]),
      ])
    #expect(
      try DeviceRequest(DeviceRequestDraft([twice]).encode()).documents.first?.itemsRequest.nameSpaces == [
        .init(
          nameSpace: nameSpace,
          elements: [.init(identifier: "a", intentToRetain: false), .init(identifier: "b", intentToRetain: true)]),
        .init(nameSpace: "other", elements: [.init(identifier: "a", intentToRetain: true)]),
      ])
  }

  @Test("members of the second edition count from version 1.1 on")
  func secondEdition() throws {
    let info = CBORValue.embedded(.map(["useCases": .array([])])).encode()
    let key = try PrivateKey.generate(.p256)
    var draft = DeviceRequestDraft([request([("age_over_18", false)])])
    draft.readerAuthAll = [try COSESign1.sign([], with: key, isDetached: true)]
    draft.deviceRequestInfoBytes = info
    draft.version = "1.1"
    let second = try DeviceRequest(draft.encode())
    #expect(second.readerAuthAll.count == 1)
    #expect(second.deviceRequestInfoBytes.map(Array.init) == info)
    draft.version = "1.0"
    let first = try DeviceRequest(draft.encode())
    #expect(first.readerAuthAll.isEmpty && first.deviceRequestInfoBytes == nil)
    #expect(try DeviceRequest(encoded(["readerAuthAll": 5, "unknown": 1])).documents.count == 1)
  }

  @Test("requestInfo and unknown members are carried along")
  func requestInfo() throws {
    let items = request([("age_over_18", false)])
    let bytes = items.encodedBytes(requestInfo: .map(["maximumResponseSize": 1000]))
    let document = try DeviceRequest(DeviceRequestDraft(documents: [.init(itemsRequestBytes: bytes)]).encode())
      .documents.first
    #expect(document?.itemsRequest == items)
    #expect(document?.requestInfo?[key: "maximumResponseSize"]?.uint == 1000)
  }

  @Test(
    "a fault is refused by its reason and place",
    arguments: [
      (encoded(["version": nil]), .missing(.init("version", offset: 0))),
      (encoded(["version": 1]), .wrongKind(.init("version", offset: 9))),
      (encoded(["version": "2.0"]), .versionUnsupported),
      (encoded(["docRequests": nil]), .missing(.init("docRequests", offset: 0))),
      (encoded(["docRequests": .array([])]), .empty(.init("docRequests", offset: 25))),
      (encoded(["docRequests": .map([])]), .wrongKind(.init("docRequests", offset: 25))),
      (encoded(["docRequests": .array([5])]), .wrongKind(.init("docRequests[0]", offset: 26))),
      (encoded(["docRequests": .array([.map([])])]), .missing(.init("docRequests[0].itemsRequest", offset: 26))),
      (
        encoded(["docRequests": .array([.map(["itemsRequest": .map([])])])]),
        .wrongKind(.init("docRequests[0].itemsRequest", offset: 40))
      ),
      (encoded(itemsRequest: 5), .wrongKind(.init("docRequests[0].itemsRequest", offset: 43))),
      (
        encoded(itemsRequest: .map(["nameSpaces": .map([])])),
        .missing(.init("docRequests[0].itemsRequest.docType", offset: 43))
      ),
      (
        encoded(itemsRequest: .map(["docType": "x"])),
        .missing(.init("docRequests[0].itemsRequest.nameSpaces", offset: 43))
      ),
      (
        encoded(itemsRequest: .map(["docType": "x", "nameSpaces": .map([])])),
        .empty(.init("docRequests[0].itemsRequest.nameSpaces", offset: 65))
      ),
      (
        encoded(itemsRequest: .map(["docType": "x", "nameSpaces": .map(["n": .map([])])])),
        .empty(.init("docRequests[0].itemsRequest.nameSpaces", offset: 69))
      ),
      (
        encoded(itemsRequest: .map(["docType": "x", "nameSpaces": .map(["n": .map(["e": 1])])])),
        .wrongKind(.init("docRequests[0].itemsRequest.nameSpaces", offset: 72))
      ),
      (
        encoded(itemsRequest: .map(["docType": "x", "nameSpaces": .map(["n": .map(labels: [1: true])])])),
        .wrongKind(.init("docRequests[0].itemsRequest.nameSpaces", offset: 70))
      ),
      (
        encoded(itemsRequest: .encoded([0xa1])),
        .notCBOR(CBORError(.truncated, offset: 43, path: "docRequests[0].itemsRequest"))
      ),
      (
        encoded([
          "docRequests": .array([
            .map(["itemsRequest": .encoded(request([("e", false)]).encodedBytes()), "readerAuth": .array([])])
          ])
        ]), .wrongKind(.init("docRequests[0].readerAuth", offset: 38))
      ),
      (encoded(["version": "1.1", "readerAuthAll": .array([])]), .empty(.init("readerAuthAll", offset: 0))),
      (encoded(["version": "1.1", "deviceRequestInfo": 5]), .wrongKind(.init("deviceRequestInfo", offset: 0))),
      ([0x80], .wrongKind(.init("", offset: 0))),
    ] as [([UInt8], DeviceRequest.Violation)])
  func refused(bytes: [UInt8], violation: DeviceRequest.Violation) {
    var violation = violation
    // The place of the last two depends on what stands before them: found here instead of counted by hand.
    switch violation {
    case .empty(let place) where place.path == "readerAuthAll":
      violation = .empty(.init(place.path, offset: bytes.lastIndex(of: 0x80) ?? 0))
    case .wrongKind(let place) where place.path == "deviceRequestInfo":
      violation = .wrongKind(.init(place.path, offset: bytes.lastIndex(of: 0x05) ?? 0))
    default: break
    }
    #expect(throws: violation) { try DeviceRequest(bytes) }
  }

  @Test("every truncation is refused as truncated, a byte too many as trailing")
  func truncations() {
    let figure = AnnexD.deviceRequest
    for count in 0..<figure.count {
      do {
        _ = try DeviceRequest(figure.prefix(count))
        Issue.record("read \(count) bytes")
      } catch {
        guard case .notCBOR(let fault) = error, fault.reason == .truncated else {
          Issue.record("\(error) for \(count) bytes")
          continue
        }
      }
    }
    #expect(throws: DeviceRequest.Violation.notCBOR(CBORError(.trailingBytes, offset: 719))) {
      try DeviceRequest(figure + [0])
    }
  }

  @Test("requests of other implementations are read, their bytes kept")
  func vectors() throws {
    struct Entry: Decodable {
      struct Document: Decodable {
        let docType: String
        let nameSpaces: [String: [String: Bool]]
      }
      let name, cborHex, version: String
      let docRequests: [Document]
      let readerAuthAllCount: Int?
      let deviceRequestInfoDiagnostic: String?
    }
    guard let data = try sharedBytes("vectors/requests/device-requests.json") else { return }
    let entries = try JSONDecoder().decode([Entry].self, from: Data(data))
    #expect(entries.count >= 7)
    var tally = VectorTally("device requests")
    for entry in entries {
      let encoded = try #require(bytes(hex: entry.cborHex))
      let parsed = try DeviceRequest(encoded)
      tally.count(
        entry.name,
        [
          "version": parsed.version == entry.version,
          "readerAuthAll": parsed.readerAuthAll.count == entry.readerAuthAllCount ?? 0,
          "info": (parsed.deviceRequestInfoBytes != nil) == (entry.deviceRequestInfoDiagnostic != nil),
          "docTypes": parsed.documents.map(\.itemsRequest.docType) == entry.docRequests.map(\.docType),
        ])
      for (document, expected) in zip(parsed.documents, entry.docRequests) {
        var nameSpaces: [String: [String: Bool]] = [:]
        for nameSpace in document.itemsRequest.nameSpaces {
          nameSpaces[nameSpace.nameSpace] = Dictionary(
            uniqueKeysWithValues: nameSpace.elements.map { ($0.identifier, $0.intentToRetain) })
        }
        #expect(nameSpaces == expected.nameSpaces, "\(entry.name)")
        #expect(document.itemsRequestBytes.hex.hasPrefix("d818"))
        #expect(entry.cborHex.contains(document.itemsRequestBytes.hex))
      }
    }
    #expect(tally.failures == [])
    print(tally)
  }
}
