import Bytes
import CBOR
import COSE

/// DeviceRequest (ISO/IEC 18013-5 section 8.3.2.1.2.1) as a wallet receives it.
///
/// Members of the second edition have their meaning from version 1.1 on and are ignored before.
package struct DeviceRequest: Sendable {
  package let version: String
  /// Never empty.
  package let documents: [DocRequest]
  /// The signatures over the whole request; empty when there are none.
  package let readerAuthAll: [COSESign1]
  /// DeviceRequestInfoBytes as received, tag 24 included; the content is not looked at.
  package let deviceRequestInfoBytes: ByteView?

  /// What is asked of one document.
  package struct DocRequest: Sendable {
    package let itemsRequest: ItemsRequest
    /// ItemsRequestBytes as received, tag 24 included: what the reader signed.
    package let itemsRequestBytes: ByteView
    /// The requestInfo member, not looked at.
    package let requestInfo: CBORItem?
    package let readerAuth: COSESign1?
  }

  /// Why bytes are no DeviceRequest.
  package enum Violation: Error, Equatable, Sendable {
    /// Not one CBOR item within the limits, or such an item inside tag 24.
    case notCBOR(CBORError)
    /// The version is not 1.x.
    case versionUnsupported
    case missing(Place)
    case wrongKind(Place)
    /// An array or map that must not be empty.
    case empty(Place)

    /// Where it is: keys and indices only, and the offset in the buffer that was decoded (in tag 24: its content).
    package struct Place: Equatable, Sendable {
      package let path: String
      package let offset: Int

      package init(_ path: String, offset: Int) {
        self.path = path
        self.offset = offset
      }
    }
  }

  /// Limits of a request: samples take up to 8 KiB.
  package static let limits = CBORLimits(depth: 24, items: 20_000, size: 1 << 20)

  package init(_ encoded: ByteView, limits: CBORLimits = limits) throws(Violation) {
    let root: CBORItem
    do throws(CBORError) {
      root = try decodeCBOR(encoded, limits: limits)
    } catch {
      throw .notCBOR(error)
    }
    guard root.kind == .map else { throw .wrongKind(.init("", offset: root.offset)) }
    let versionItem = try root.member("version", path: "version")
    guard let version = versionItem.text else {
      throw .wrongKind(.init("version", offset: versionItem.offset))
    }
    guard let minor = DeviceEngagement.minorVersion(of: version) else { throw .versionUnsupported }
    self.version = version
    var documents: [DocRequest] = []
    for (index, item) in try root.member("docRequests", path: "docRequests").nonEmptyElements("docRequests")
      .enumerated()
    {
      documents.append(try DocRequest(item, path: "docRequests[\(index)]"))
    }
    self.documents = documents
    var signatures: [COSESign1] = []
    if minor > 0, let item = root[key: "readerAuthAll"] {
      for (index, element) in try item.nonEmptyElements("readerAuthAll").enumerated() {
        signatures.append(try COSESign1(element, path: "readerAuthAll[\(index)]"))
      }
    }
    readerAuthAll = signatures
    let info = minor > 0 ? root[key: "deviceRequestInfo"] : nil
    if let info, info.embeddedBytes == nil { throw .wrongKind(.init("deviceRequestInfo", offset: info.offset)) }
    deviceRequestInfoBytes = info?.encoded
  }

  package init(_ encoded: [UInt8]) throws(Violation) {
    try self.init(encoded[...])
  }
}

extension DeviceRequest.DocRequest {
  fileprivate init(_ item: CBORItem, path: String) throws(DeviceRequest.Violation) {
    guard item.kind == .map else { throw .wrongKind(.init(path, offset: item.offset)) }
    let wrapped = try item.member("itemsRequest", path: path + ".itemsRequest")
    guard wrapped.embeddedBytes != nil else {
      throw .wrongKind(.init(path + ".itemsRequest", offset: wrapped.offset))
    }
    let content: CBORItem
    do throws(CBORError) {
      content = try wrapped.embedded(limits: DeviceRequest.limits)
    } catch {
      throw .notCBOR(CBORError(error.reason, offset: error.offset, path: path + ".itemsRequest"))
    }
    itemsRequest = try ItemsRequest(content, path: path + ".itemsRequest")
    itemsRequestBytes = wrapped.encoded
    requestInfo = content[key: "requestInfo"]
    if let signature = item[key: "readerAuth"] {
      readerAuth = try COSESign1(signature, path: path + ".readerAuth")
    } else {
      readerAuth = nil
    }
  }
}

extension ItemsRequest {
  /// The content of ItemsRequestBytes.
  fileprivate init(_ item: CBORItem, path: String) throws(DeviceRequest.Violation) {
    guard item.kind == .map else { throw .wrongKind(.init(path, offset: item.offset)) }
    let docType = try item.member("docType", path: path + ".docType")
    guard let docTypeText = docType.text else {
      throw .wrongKind(.init(path + ".docType", offset: docType.offset))
    }
    var nameSpaces: [NameSpaceRequest] = []
    let path = path + ".nameSpaces"
    for (key, value) in try item.member("nameSpaces", path: path).nonEmptyEntries(path) {
      guard let nameSpace = key.text else { throw .wrongKind(.init(path, offset: key.offset)) }
      var elements: [ElementRequest] = []
      for (key, value) in try value.nonEmptyEntries(path) {
        guard let identifier = key.text else { throw .wrongKind(.init(path, offset: key.offset)) }
        guard let retain = value.bool else { throw .wrongKind(.init(path, offset: value.offset)) }
        elements.append(ElementRequest(identifier: identifier, intentToRetain: retain))
      }
      nameSpaces.append(NameSpaceRequest(nameSpace: nameSpace, elements: elements))
    }
    self.init(docType: docTypeText, nameSpaces: nameSpaces)
  }
}

extension COSESign1 {
  fileprivate init(_ item: CBORItem, path: String) throws(DeviceRequest.Violation) {
    do throws(COSEError) {
      try self.init(item)
    } catch {
      throw .wrongKind(.init(path, offset: item.offset))
    }
  }
}

extension CBORItem {
  fileprivate func member(_ key: StaticString, path: String) throws(DeviceRequest.Violation) -> CBORItem {
    guard let value = self[key: key] else { throw .missing(.init(path, offset: offset)) }
    return value
  }

  fileprivate func nonEmptyElements(_ path: String) throws(DeviceRequest.Violation) -> Elements {
    guard let elements else { throw .wrongKind(.init(path, offset: offset)) }
    guard count != 0 else { throw .empty(.init(path, offset: offset)) }
    return elements
  }

  fileprivate func nonEmptyEntries(_ path: String) throws(DeviceRequest.Violation) -> Entries {
    guard let entries else { throw .wrongKind(.init(path, offset: offset)) }
    guard count != 0 else { throw .empty(.init(path, offset: offset)) }
    return entries
  }
}
