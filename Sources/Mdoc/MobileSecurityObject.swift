import Bytes
import CBOR
import CivilTime
import Crypto

/// The mobile security object (ISO/IEC 18013-5 section 9.1.2.4): what the issuer signed.
package struct MobileSecurityObject: Sendable {
  package let version: String
  /// As written: only "SHA-256", "SHA-384" and "SHA-512" are digest algorithms.
  package let digestAlgorithm: String
  package let docType: String
  /// The digests of each name space.
  package let valueDigests: [NameSpaceDigests]
  /// A COSE_Key, not yet looked into.
  package let deviceKey: CBORItem
  package let keyAuthorizations: KeyAuthorizations
  package let validity: ValidityInfo
  /// The status member, when it is there and not null.
  package let status: CBORItem?

  /// The object has a member that is missing, of a wrong kind, or contradicts another.
  package struct Malformed: Error, Equatable, Sendable {
    /// Which member.
    package let path: String
  }

  /// How dates are read.
  package struct DateRules: Sendable {
    package var acceptsFraction: Bool
    package var acceptsUntagged: Bool

    package init(acceptsFraction: Bool = true, acceptsUntagged: Bool = false) {
      self.acceptsFraction = acceptsFraction
      self.acceptsUntagged = acceptsUntagged
    }
  }

  /// Reads the payload of issuerAuth: T24(map) and nothing else.
  package init(payload: ByteView, dates: DateRules) throws(Malformed) {
    guard let outer = try? decodeCBOR(payload), let object = try? outer.embedded(), object.kind == .map else {
      throw Malformed(path: "")
    }
    func member(_ key: StaticString) throws(Malformed) -> CBORItem {
      guard let value = object[key: key] else { throw Malformed(path: key.description) }
      return value
    }
    func text(_ key: StaticString) throws(Malformed) -> String {
      guard let value = object.text(under: key) else { throw Malformed(path: key.description) }
      return value
    }
    version = try text("version")
    digestAlgorithm = try text("digestAlgorithm")
    docType = try text("docType")
    valueDigests = try MobileSecurityObject.digests(member("valueDigests"))
    let keyInfo = try member("deviceKeyInfo")
    guard let key = keyInfo[key: "deviceKey"] else { throw Malformed(path: "deviceKeyInfo.deviceKey") }
    deviceKey = key
    guard let authorizations = KeyAuthorizations(keyInfo[key: "keyAuthorizations"]) else {
      throw Malformed(path: "deviceKeyInfo.keyAuthorizations")
    }
    keyAuthorizations = authorizations
    validity = try ValidityInfo(member("validityInfo"), dates: dates)
    status = object[key: "status"].flatMap { $0.isNull ? nil : $0 }
  }

  private static func digests(_ item: CBORItem) throws(Malformed) -> [NameSpaceDigests] {
    guard let entries = item.entries else { throw Malformed(path: "valueDigests") }
    var result: [NameSpaceDigests] = []
    for (key, value) in entries {
      guard let nameSpace = key.text, let digests = NameSpaceDigests(nameSpace: nameSpace, value) else {
        throw Malformed(path: "valueDigests")
      }
      result.append(digests)
    }
    return result
  }

  /// The digest the issuer signed for an item; nil when the name space or the id is not there.
  package func digest(_ id: UInt64, in nameSpace: String) -> ByteView? {
    valueDigests.first { $0.nameSpace == nameSpace }?.digest(id)
  }
}

extension HashAlgorithm {
  /// The name in `digestAlgorithm` of a mobile security object.
  package var msoName: String {
    switch self {
    case .sha256: "SHA-256"
    case .sha384: "SHA-384"
    case .sha512: "SHA-512"
    }
  }

  /// The algorithm of exactly the three names a mobile security object may use.
  package init?(msoName: String) {
    guard let algorithm = HashAlgorithm.allCases.first(where: { $0.msoName == msoName }) else { return nil }
    self = algorithm
  }
}

/// The digests of one name space.
package struct NameSpaceDigests: Sendable {
  package let nameSpace: String
  private let digests: CBORByteStrings

  /// Nil unless this is a map of uint to bstr.
  init?(nameSpace: String, _ item: CBORItem) {
    guard let digests = CBORByteStrings(item) else { return nil }
    self.nameSpace = nameSpace
    self.digests = digests
  }

  /// The digest the issuer signed for an item; nil when the id is not there.
  package func digest(_ id: UInt64) -> ByteView? { digests[id] }
}

/// What the device key may sign: whole name spaces, or single elements.
package struct KeyAuthorizations: Sendable {
  private let nameSpaces: [String]
  private let dataElements: [(nameSpace: String, elements: [String])]

  /// Absent authorizations authorize nothing. Nil when malformed, or when a name space stands in both lists.
  init?(_ item: CBORItem?) {
    guard let item else {
      nameSpaces = []
      dataElements = []
      return
    }
    guard item.kind == .map else { return nil }
    var nameSpaces: [String] = []
    if let list = item[key: "nameSpaces"] {
      guard let texts = list.texts else { return nil }
      nameSpaces = texts
    }
    var dataElements: [(nameSpace: String, elements: [String])] = []
    if let map = item[key: "dataElements"] {
      guard let entries = map.entries else { return nil }
      for (key, value) in entries {
        guard let nameSpace = key.text, let elements = value.texts, !nameSpaces.contains(nameSpace) else { return nil }
        dataElements.append((nameSpace, elements))
      }
    }
    self.nameSpaces = nameSpaces
    self.dataElements = dataElements
  }

  package func covers(_ element: String, in nameSpace: String) -> Bool {
    nameSpaces.contains(nameSpace)
      || dataElements.contains { $0.nameSpace == nameSpace && $0.elements.contains(element) }
  }
}

/// The dates of the object. expectedUpdate is an expectation only; it has to be a date all the same.
package struct ValidityInfo: Sendable {
  package let signed: UnixTime
  package let validFrom: UnixTime
  package let validUntil: UnixTime

  init(_ item: CBORItem, dates: MobileSecurityObject.DateRules) throws(MobileSecurityObject.Malformed) {
    func date(_ key: StaticString) throws(MobileSecurityObject.Malformed) -> UnixTime {
      guard let instant = item[key: key].flatMap({ ValidityInfo.instant($0, dates) }) else {
        throw MobileSecurityObject.Malformed(path: "validityInfo.\(key)")
      }
      return instant
    }
    signed = try date("signed")
    validFrom = try date("validFrom")
    validUntil = try date("validUntil")
    if item[key: "expectedUpdate"] != nil { _ = try date("expectedUpdate") }
  }

  private static func instant(_ item: CBORItem, _ rules: MobileSecurityObject.DateRules) -> UnixTime? {
    guard item.tagNumber == 0 || rules.acceptsUntagged, let text = item.untagged(0).textBytes,
      let date = DateTime(characters: text), rules.acceptsFraction || !date.hasFraction
    else { return nil }
    return date.instant
  }
}

extension CBORItem {
  /// The texts of an array of texts; nil for anything else.
  fileprivate var texts: [String]? {
    guard let elements else { return nil }
    var result: [String] = []
    for element in elements {
      guard let text = element.text else { return nil }
      result.append(text)
    }
    return result
  }
}
