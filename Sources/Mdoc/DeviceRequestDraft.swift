import CBOR

/// A DeviceRequest that a reader is about to send. The same draft gives the same bytes.
package struct DeviceRequestDraft: Sendable {
  /// "1.0", or "1.1" when a member of the second edition is there.
  package var version = "1.0"
  package var documents: [Document]
  /// COSE_Sign1 structures over the whole request; left out when empty.
  package var readerAuthAll: [CBORValue] = []
  /// DeviceRequestInfoBytes, tag 24 included.
  package var deviceRequestInfoBytes: [UInt8]?

  /// One document of the request.
  package struct Document: Sendable {
    /// ItemsRequestBytes, tag 24 included: what `readerAuth` signs.
    package var itemsRequestBytes: [UInt8]
    /// A COSE_Sign1 with detached payload.
    package var readerAuth: CBORValue?

    package init(itemsRequestBytes: [UInt8], readerAuth: CBORValue? = nil) {
      self.itemsRequestBytes = itemsRequestBytes
      self.readerAuth = readerAuth
    }
  }

  package init(documents: [Document]) {
    self.documents = documents
  }

  /// An unsigned request for documents.
  package init(_ requests: [ItemsRequest]) {
    documents = requests.map { Document(itemsRequestBytes: $0.encodedBytes()) }
  }

  /// Members in the order of the standard's text.
  package func encode() -> [UInt8] {
    var writer = CBORWriter()
    writer.map(count: 2 + (readerAuthAll.isEmpty ? 0 : 1) + (deviceRequestInfoBytes == nil ? 0 : 1))
    writer.text("version")
    writer.text(version)
    writer.text("docRequests")
    writer.array(count: documents.count)
    for document in documents {
      writer.map(count: document.readerAuth == nil ? 1 : 2)
      writer.text("itemsRequest")
      writer.raw(document.itemsRequestBytes)
      if let readerAuth = document.readerAuth {
        writer.text("readerAuth")
        readerAuth.write(to: &writer)
      }
    }
    if !readerAuthAll.isEmpty {
      writer.text("readerAuthAll")
      writer.array(count: readerAuthAll.count)
      for signature in readerAuthAll { signature.write(to: &writer) }
    }
    if let deviceRequestInfoBytes {
      writer.text("deviceRequestInfo")
      writer.raw(deviceRequestInfoBytes)
    }
    return writer.bytes
  }
}

extension ItemsRequest {
  /// ItemsRequestBytes: name spaces and elements in the order they stand here, tag 24 around them.
  ///
  /// A name space or an element that stands here twice is written once: the first mention counts, and the reader may
  /// keep an element only if every mention says so.
  package func encodedBytes(requestInfo: CBORValue? = nil) -> [UInt8] {
    let nameSpaces = merged
    var inner = CBORWriter()
    inner.map(count: requestInfo == nil ? 2 : 3)
    inner.text("docType")
    inner.text(docType)
    inner.text("nameSpaces")
    inner.map(count: nameSpaces.count)
    for nameSpace in nameSpaces {
      inner.text(nameSpace.nameSpace)
      inner.map(count: nameSpace.elements.count)
      for element in nameSpace.elements {
        inner.text(element.identifier)
        inner.bool(element.intentToRetain)
      }
    }
    if let requestInfo {
      inner.text("requestInfo")
      requestInfo.write(to: &inner)
    }
    return embedCBOR(inner.bytes)
  }

  private var merged: [NameSpaceRequest] {
    var names: [String] = []
    var elements: [String: [ElementRequest]] = [:]
    for request in nameSpaces {
      if elements[request.nameSpace] == nil {
        names.append(request.nameSpace)
        elements[request.nameSpace] = []
      }
      for element in request.elements {
        let known = elements[request.nameSpace, default: []]
        if let place = known.firstIndex(where: { $0.identifier == element.identifier }) {
          elements[request.nameSpace]?[place] = ElementRequest(
            identifier: element.identifier, intentToRetain: known[place].intentToRetain && element.intentToRetain)
        } else {
          elements[request.nameSpace, default: []].append(element)
        }
      }
    }
    return names.map { NameSpaceRequest(nameSpace: $0, elements: elements[$0] ?? []) }
  }
}
