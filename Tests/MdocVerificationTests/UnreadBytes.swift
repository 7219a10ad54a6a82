import Bytes
import CBOR
import Mdoc
import MdocVerification

/// The bytes of a genuine DeviceResponse that may change without a check taking notice, each with the reason why that is
/// right. Found by walking the structure, so that a response of any size has its own.
struct UnreadBytes {
  enum Reason: String, CaseIterable {
    /// Later editions stay readable by the first: "1." and any digits.
    case minorVersion = "digits of the minor version"
    case documentErrors = "documentErrors, the wallet's own account of what it keeps back"
    case errors = "errors of a document, the same"
    case header = "members of an unprotected header that nobody reads"
    /// A holder may disclose nothing; whoever misspells the name of it all does.
    case nameSpaces = "the name of the issuer's nameSpaces: nothing is disclosed under another"

    /// What is shown afterwards, seen beside what was shown before.
    func allows(_ changed: Shown, of genuine: Shown) -> Bool {
      self == .nameSpaces ? changed == genuine.withoutElements : changed == genuine
    }
  }

  private(set) var ranges: [(range: Range<Int>, reason: Reason)] = []

  init(in response: [UInt8]) throws {
    let root = try decodeCBOR(response)
    if let version = root[key: "version"]?.textBytes {
      ranges.append((version.startIndex + 2..<version.endIndex, .minorVersion))
    }
    add(root, "documentErrors", .documentErrors)
    for document in root[key: "documents"]?.elements.map({ Array($0) }) ?? [] {
      add(document, "errors", .errors)
      guard let issued = document[key: "issuerSigned"], let device = document[key: "deviceSigned"]?[key: "deviceAuth"]
      else { continue }
      for (key, _) in members(of: issued) where key.isText("nameSpaces" as StaticString) {
        ranges.append((range(key, key), .nameSpaces))
      }
      // The certificates under label 33 of the issuer's are read, and nothing else of either.
      addHeader(of: issued[key: "issuerAuth"], reading: 33)
      for (_, proof) in members(of: device) { addHeader(of: proof, reading: nil) }
    }
  }

  func reason(at position: Int) -> Reason? { ranges.first { $0.range.contains(position) }?.reason }

  private func range(_ first: CBORItem, _ last: CBORItem) -> Range<Int> {
    first.encoded.startIndex..<last.encoded.endIndex
  }

  private func members(of map: CBORItem?) -> [(key: CBORItem, value: CBORItem)] {
    guard let entries = map?.entries else { return [] }
    return entries.map { $0 }
  }

  private mutating func add(_ map: CBORItem, _ name: String, _ reason: Reason) {
    for (key, value) in members(of: map) where key.isText(name) {
      ranges.append((range(key, value), reason))
    }
  }

  private mutating func addHeader(of structure: CBORItem?, reading label: Int64?) {
    for (key, value) in members(of: structure?.element(1)) where label == nil || key.int != label {
      ranges.append((range(key, value), .header))
    }
  }
}

/// What a verified document lets a reader see.
struct Shown: Equatable {
  private struct Element: Equatable {
    let name: ElementName
    let value: ElementValue
    let isDeviceSigned: Bool
  }

  private let docType: String
  private let issuingCountry: String?
  private var elements: [Element]
  private var ages: [AgeResult]

  init(_ document: VerifiedDocument) {
    docType = document.docType
    issuingCountry = document.issuingCountry
    elements = document.elements.map { Element(name: $0.name, value: $0.value, isDeviceSigned: $0.isDeviceSigned) }
    ages = document.ages
  }

  /// The same document with nothing from its issuer but the signature.
  var withoutElements: Shown {
    var result = self
    result.elements.removeAll { !$0.isDeviceSigned }
    result.ages = ages.map { AgeResult(nameSpace: $0.nameSpace, limit: $0.limit, answer: .unknown) }
    return result
  }
}
