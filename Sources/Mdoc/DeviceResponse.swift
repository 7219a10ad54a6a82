import Bytes
import CBOR

/// A DeviceResponse as received (ISO/IEC 18013-5 section 8.3.2.1.2.2): parsed, and nobody's word for anything yet.
package struct DeviceResponse: Sendable {
  package let version: String
  /// 0 is OK; beside anything else documents are not to be looked at.
  package let status: UInt64
  package let documents: [ReturnedDocument]
  /// What the wallet says about doc types it did not return.
  package let documentErrors: [DocumentError]
  /// Whether zero-knowledge documents came, which nothing here can check.
  package let hasZKDocuments: Bool

  /// One entry of documentErrors. A code beyond 64 bits is brought to the nearest end.
  package struct DocumentError: Equatable, Sendable {
    package let docType: String
    package let code: Int64
  }

  /// Why bytes are no DeviceResponse.
  package enum Violation: Error, Equatable, Sendable {
    case notCBOR(CBORError)
    /// A member is missing or of a wrong kind; `path` names it.
    case wrongShape(path: String)
  }

  /// Reads the response: the tree outside byte strings, as check A1 asks.
  package init(_ bytes: ByteView, limits: CBORLimits = CBORLimits()) throws(Violation) {
    let root: CBORItem
    do { root = try decodeCBOR(bytes, limits: limits).untagged(55799) } catch { throw .notCBOR(error) }
    guard root.kind == .map else { throw .wrongShape(path: "") }
    guard let version = root.text(under: "version") else { throw .wrongShape(path: "version") }
    guard let status = root.uint(under: "status") else { throw .wrongShape(path: "status") }
    self.version = version
    self.status = status
    var documents: [ReturnedDocument] = []
    if let list = root[key: "documents"] {
      guard let elements = list.elements else { throw .wrongShape(path: "documents") }
      for element in elements { documents.append(try ReturnedDocument(element, place: documents.count)) }
    }
    self.documents = documents
    documentErrors = try root[key: "documentErrors"].map(DeviceResponse.errors) ?? []
    hasZKDocuments = root[key: "zkDocuments"] != nil
  }

  private static func errors(_ list: CBORItem) throws(Violation) -> [DocumentError] {
    guard let elements = list.elements else { throw .wrongShape(path: "documentErrors") }
    var result: [DocumentError] = []
    for element in elements {
      guard let entries = element.entries else { throw .wrongShape(path: "documentErrors") }
      for (key, value) in entries {
        guard let docType = key.text, let code = value.clampedInt else { throw .wrongShape(path: "documentErrors") }
        result.append(DocumentError(docType: docType, code: code))
      }
    }
    return result
  }

  /// Whether the version is "1." and digits.
  package var isVersionSupported: Bool {
    let text = version.utf8
    return text.count > 2 && text.starts(with: "1.".utf8)
      && text.dropFirst(2).allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }
}

/// One document of a response; what is below issuerSigned and deviceSigned is not looked at yet.
package struct ReturnedDocument: Sendable {
  package let docType: String
  package let issuerSigned: CBORItem?
  package let deviceSigned: CBORItem?

  init(_ item: CBORItem, place: Int) throws(DeviceResponse.Violation) {
    guard item.kind == .map else { throw .wrongShape(path: "documents[\(place)]") }
    guard let docType = item.text(under: "docType") else { throw .wrongShape(path: "documents[\(place)].docType") }
    if let errors = item[key: "errors"] {
      guard ReturnedDocument.areErrors(errors) else { throw .wrongShape(path: "documents[\(place)].errors") }
    }
    self.docType = docType
    issuerSigned = item[key: "issuerSigned"]
    deviceSigned = item[key: "deviceSigned"]
  }

  /// A map of name space to a map of element to error code.
  private static func areErrors(_ item: CBORItem) -> Bool {
    guard let nameSpaces = item.entries else { return false }
    return nameSpaces.allSatisfy { key, value in
      guard key.kind == .text, let elements = value.entries else { return false }
      return elements.allSatisfy { $0.key.kind == .text && $0.value.isInteger }
    }
  }
}

extension CBORItem {
  /// An integer brought into 64 bits; nil for other kinds.
  fileprivate var clampedInt: Int64? {
    guard isInteger else { return nil }
    return int ?? (kind == .unsigned ? .max : .min)
  }
}
