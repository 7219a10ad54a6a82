import CBOR
import CivilTime

/// What an item is taken for, by the members it has: also when it is not a good one.
enum InspectionSubject: String {
  case engagement = "DeviceEngagement"
  case establishment = "SessionEstablishment"
  case sessionData = "SessionData"
  case request = "DeviceRequest"
  case response = "DeviceResponse"
  case document = "Document"
  case issuerSigned = "IssuerSigned"
  case issuerAuth = "IssuerAuth"
  case securityObject = "MobileSecurityObject"
  case item = "IssuerSignedItem"
  case other = "CBOR"

  /// `root` is without tag 24 around it.
  init(_ root: CBORItem) {
    func has(_ keys: StaticString...) -> Bool { keys.contains { root[key: $0] != nil } }
    if root.kind == .map {
      if root[label: 1]?.kind == .array, root[label: 0] != nil || root[label: 2] != nil {
        self = .engagement
      } else if has("eReaderKey") {
        self = .establishment
      } else if has("docRequests") {
        self = .request
      } else if has("documents", "documentErrors") || has("version") && has("status") && !has("valueDigests") {
        self = .response
      } else if has("issuerSigned", "deviceSigned") {
        self = .document
      } else if has("issuerAuth") {
        self = .issuerSigned
      } else if has("valueDigests", "digestAlgorithm", "deviceKeyInfo") {
        self = .securityObject
      } else if has("elementValue", "elementIdentifier") {
        self = .item
      } else {
        self = has("data", "status") ? .sessionData : .other
      }
    } else {
      let parts = root.untagged(18)
      let isSigned = parts.count == 4 && parts.element(0)?.kind == .bytes && parts.element(1)?.kind == .map
      self = isSigned ? .issuerAuth : .other
    }
  }

  /// What of such an item is no secret.
  var disclosure: CBORDisclosure {
    switch self {
    case .engagement: Disclosures.engagement
    case .establishment: .record(["eReaderKey": Disclosures.coseKey, "data": .nothing])
    case .sessionData: .record(["data": .nothing, "status": .integer])
    case .request: Disclosures.request
    case .response: Disclosures.response
    case .document: Disclosures.document
    case .issuerSigned: Disclosures.issuerSigned
    case .issuerAuth: Disclosures.signed(Disclosures.securityObject)
    case .securityObject: Disclosures.securityObject
    case .item: Disclosures.item
    case .other: Disclosures.unknown
    }
  }
}

/// What may be shown of the structures of ISO/IEC 18013-5: everything but element values, salts, and what could
/// identify a person or a document.
private enum Disclosures {
  static let version = CBORDisclosure.text(isVersion)
  static let digestAlgorithm = CBORDisclosure.text(isDigestAlgorithm)
  static let date = CBORDisclosure.text { DateTime($0) != nil }

  static let coseKey = CBORDisclosure.labels(
    [1: .integer, 2: .shortBytes, 3: .integer, -1: .integer], others: .nothing)
  static let headers = CBORDisclosure.labels(
    [1: .integer, 2: .list(.integer), 4: .shortBytes, 33: .list(.nothing)], others: .nothing)

  static func signed(_ payload: CBORDisclosure) -> CBORDisclosure {
    .tuple([.embedded(headers), headers, .embedded(payload), .nothing])
  }

  static let securityObject = CBORDisclosure.record([
    "version": version, "digestAlgorithm": digestAlgorithm, "docType": .name,
    "valueDigests": .names(.labels([:], others: .nothing)),
    "deviceKeyInfo": .record([
      "deviceKey": coseKey, "keyInfo": .nothing,
      "keyAuthorizations": .record(["nameSpaces": .list(.name), "dataElements": .names(.list(.name))]),
    ]),
    "validityInfo": .record(["signed": date, "validFrom": date, "validUntil": date, "expectedUpdate": date]),
    "status": .record([
      "status_list": .record(["idx": .nothing, "uri": .nothing, "certificate": .nothing]),
      "identifier_list": .record(["id": .nothing, "uri": .nothing, "certificate": .nothing]),
    ]),
  ])

  static let item = CBORDisclosure.record([
    "digestID": .integer, "random": .nothing, "elementIdentifier": .name, "elementValue": .nothing,
  ])
  static let issuerNameSpaces = CBORDisclosure.names(.list(item))
  static let issuerSigned = CBORDisclosure.record([
    "nameSpaces": issuerNameSpaces, "issuerAuth": signed(securityObject),
  ])
  static let deviceAuth = CBORDisclosure.record(["deviceSignature": signed(.nothing), "deviceMac": signed(.nothing)])
  static let deviceSigned = CBORDisclosure.record(["nameSpaces": .names(.names(.nothing)), "deviceAuth": deviceAuth])
  static let errors = CBORDisclosure.names(.names(.integer))
  static let document = CBORDisclosure.record([
    "docType": .name, "issuerSigned": issuerSigned, "deviceSigned": deviceSigned, "errors": errors,
  ])
  static let documentErrors = CBORDisclosure.list(.names(.integer))
  static let response = CBORDisclosure.record([
    "version": version, "status": .integer, "documents": .list(document), "documentErrors": documentErrors,
    "zkDocuments": .list(.nothing),
  ])

  static let request = CBORDisclosure.record([
    "version": version,
    "docRequests": .list(
      .record([
        "itemsRequest": .record(["docType": .name, "nameSpaces": .names(.names(.flag)), "requestInfo": .nothing]),
        "readerAuth": signed(.nothing),
      ])),
    "readerAuthAll": .list(signed(.nothing)), "deviceRequestInfo": .nothing,
  ])

  static let engagement = CBORDisclosure.labels(
    [
      0: version, 1: .tuple([.integer, coseKey]), 5: .scalars, 6: .scalars,
      2: .list(.tuple([.integer, .integer, .labels([:], others: .scalars)])),
    ], others: .nothing)

  /// Anything else: its containers, and the parts of known structures that may be in it.
  static let unknown = CBORDisclosure.structure([
    "version": version, "docType": .name, "documents": .list(document), "documentErrors": documentErrors,
    "issuerSigned": issuerSigned, "deviceSigned": deviceSigned, "nameSpaces": issuerNameSpaces,
    "issuerAuth": signed(securityObject), "deviceAuth": deviceAuth, "digestID": .integer, "random": .nothing,
    "elementIdentifier": .name, "elementValue": .nothing, "errors": errors,
  ])

  static let keys: Set<String> = [
    "version", "status", "documents", "documentErrors", "zkDocuments", "docType", "issuerSigned", "deviceSigned",
    "errors",
    "nameSpaces", "issuerAuth", "deviceAuth", "deviceSignature", "deviceMac", "docRequests", "itemsRequest",
    "readerAuth",
    "readerAuthAll", "deviceRequestInfo", "requestInfo", "eReaderKey", "data", "digestAlgorithm", "valueDigests",
    "deviceKeyInfo", "deviceKey", "keyAuthorizations", "keyInfo", "validityInfo", "signed", "validFrom", "validUntil",
    "expectedUpdate", "digestID", "random", "elementIdentifier",
  ]
}

/// Whether a text is a version number.
func isVersion(_ text: String) -> Bool {
  (1...8).contains(text.utf8.count)
    && text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
}

/// Whether a text names a digest algorithm, one that may be used or not.
func isDigestAlgorithm(_ text: String) -> Bool {
  text.hasPrefix("SHA") && text.utf8.count <= 8 && text.utf8.dropFirst(3).allSatisfy { (0x2d...0x39).contains($0) }
}

extension CBORError {
  /// The error for people. Of its path only the members that every such structure has: a key further in may be a part
  /// of somebody's data.
  var disclosedDescription: String {
    var shown = ""
    for part in path.split(separator: ".", omittingEmptySubsequences: false) {
      let pieces = part.split(separator: "[", maxSplits: 1, omittingEmptySubsequences: false)
      let key = String(pieces.first ?? "")
      let indices = pieces.count > 1 ? "[" + pieces[1] : ""
      let isPlace = indices.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x5b || $0 == 0x5d }
      let isKnown = key.isEmpty ? shown.isEmpty : Int16(key) != nil || Disclosures.keys.contains(key)
      guard isPlace, isKnown else {
        shown += shown.isEmpty ? "some member" : ", further in"
        break
      }
      shown += (shown.isEmpty || key.isEmpty ? "" : ".") + key + indices
    }
    return "\(reason.rawValue) at byte \(offset)" + (shown.isEmpty ? "" : " in \(shown)")
  }
}
