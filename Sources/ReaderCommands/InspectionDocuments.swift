import Bytes
import CBOR
import COSE
import Crypto
import JSON
import Mdoc

/// Responses and the documents in them.
extension Inspection {
  mutating func inspectResponse(_ bytes: ByteView, _ root: CBORItem) {
    let response: DeviceResponse
    do throws(DeviceResponse.Violation) {
      response = try DeviceResponse(bytes)
    } catch {
      switch error {
      case .notCBOR(let error): problem("not one well-formed CBOR item: \(error.disclosedDescription)")
      case .wrongShape(let path):
        let (offset, isThere) = place(of: path, in: root)
        let what = isThere ? "of the wrong kind" : "missing from the map"
        problem("\(path.isEmpty ? "the response" : path): \(what) at byte \(offset)")
      }
      return
    }
    add("version", name(response.version, when: isVersion))
    if !response.isVersionSupported { warn("version: not 1.x, so a reader refuses the response") }
    add("status", .string(statusText(response.status)))
    let documents = root[key: "documents"]?.elements.map(Array.init) ?? []
    var facts: [JSONValue] = []
    for (place, document) in documents.enumerated() {
      facts.append(inspectDocument(document, at: "documents[\(place)]"))
    }
    add("documents", .array(facts))
    if !response.documentErrors.isEmpty {
      add(
        "documentErrors",
        .array(response.documentErrors.map { ["docType": name($0.docType), "code": .integer(Int($0.code))] }))
    }
    if response.hasZKDocuments { warn("zkDocuments: nothing here can check zero-knowledge documents") }
  }

  private func statusText(_ status: UInt64) -> String {
    switch status {
    case 0: "0 (OK)"
    case 10: "10 (general error)"
    case 11: "11 (the wallet could not decode the request)"
    case 12: "12 (the wallet found the request not valid)"
    default: "\(status) (unknown)"
    }
  }

  mutating func inspectDocument(_ document: CBORItem, at path: String) -> JSONValue {
    let prefix = path.isEmpty ? "" : path + "."
    var facts: [JSONValue.Member] = []
    if let docType = document[key: "docType"]?.text {
      facts.append(.init("docType", name(docType)))
    } else {
      problem("\(prefix)docType: missing or no text at byte \(document.offset)")
    }
    if let signed = document[key: "issuerSigned"] {
      facts.append(.init("issuerSigned", .object(inspectIssuerSigned(signed, at: prefix + "issuerSigned"))))
    } else {
      problem("\(prefix)issuerSigned: missing at byte \(document.offset)")
    }
    if let device = inspectDevice(document[key: "deviceSigned"], at: prefix + "deviceSigned") {
      facts.append(.init("deviceSigned", device))
    }
    let errors = document[key: "errors"]?.entries.map(Array.init) ?? []
    if !errors.isEmpty {
      facts.append(
        .init(
          "errors",
          .array(
            errors.map { key, value in
              let elements = value.entries.map(Array.init) ?? []
              return [
                "nameSpace": name(key.text ?? ""),
                "elements": .array(elements.map { name($0.key.text ?? "") }),
              ]
            })))
    }
    return .object(facts)
  }

  mutating func inspectIssuerSigned(_ item: CBORItem, at path: String) -> [JSONValue.Member] {
    let prefix = path.isEmpty ? "" : path + "."
    let auth = item[key: "issuerAuth"]
    // The issuer's own digests tell whether what is shown is what was signed.
    let object = auth.flatMap { try? COSESign1($0) }?.structure.payload
      .flatMap { try? MobileSecurityObject(payload: $0, dates: .init(acceptsUntagged: true)) }
    var facts: [JSONValue.Member] = []
    if let nameSpaces = item[key: "nameSpaces"] {
      facts.append(.init("nameSpaces", inspectNameSpaces(nameSpaces, object: object, at: prefix + "nameSpaces")))
    }
    if let auth {
      facts.append(.init("issuerAuth", .object(inspectIssuerAuth(auth, at: prefix + "issuerAuth"))))
    } else {
      problem("\(prefix)issuerAuth: missing at byte \(item.offset)")
    }
    return facts
  }

  private mutating func inspectNameSpaces(
    _ item: CBORItem, object: MobileSecurityObject?, at path: String
  ) -> JSONValue {
    guard let entries = item.entries else {
      problem("\(path): no map at byte \(item.offset)")
      return []
    }
    var facts: [JSONValue] = []
    for (place, (key, value)) in entries.enumerated() {
      guard let nameSpace = key.text, let elements = value.elements else {
        problem("\(path): entry \(place) is no name space with a list of items at byte \(value.offset)")
        continue
      }
      var items: [JSONValue] = []
      for (index, element) in elements.enumerated() {
        let label = "\(path), entry \(place)[\(index)]"
        if let fact = inspectItem(element, in: nameSpace, object: object, at: label) { items.append(fact) }
      }
      facts.append(["nameSpace": name(nameSpace), "elements": .array(items)])
    }
    return .array(facts)
  }

  /// One item of a name space, read leniently, so that what a reader refuses can be seen.
  private mutating func inspectItem(
    _ item: CBORItem, in nameSpace: String, object: MobileSecurityObject?, at path: String
  ) -> JSONValue? {
    let content: CBORItem
    do throws(CBORError) {
      content = try item.embedded()
    } catch {
      let isWrapped = item.embeddedBytes != nil
      let reason = isWrapped ? "the item inside tag 24: \(text(of: error))" : "no byte string in tag 24"
      problem("\(path): \(reason) (the tag at byte \(item.offset))")
      return nil
    }
    var facts: [JSONValue.Member] = []
    for missing in Inspection.missingMembers(of: content) {
      problem("\(path): \(missing) is missing or of the wrong kind (the tag at byte \(item.offset))")
    }
    if let identifier = content[key: "elementIdentifier"]?.text { facts.append(.init("element", name(identifier))) }
    if let value = content[key: "elementValue"] { facts.append(.init("value", self.value(value))) }
    guard let id = content[key: "digestID"]?.uint else { return .object(facts) }
    facts.append(.init("digestID", id < 1 << 62 ? .integer(Int(id)) : .string("\(id)")))
    if id >= 1 << 31 { warn("\(path): its digestID is not below 2^31, so a reader refuses it") }
    if let object, let algorithm = HashAlgorithm(msoName: object.digestAlgorithm) {
      let signed = object.digest(id, in: nameSpace)
      let state = signed.map { $0.elementsEqual(digest(algorithm, item.encoded)) ? "matches" : "differs" } ?? "missing"
      facts.append(.init("digest", .string(state)))
    }
    if let random = content[key: "random"]?.bytes, random.count < 16 {
      facts.append(.init("randomSize", .integer(random.count)))
    }
    return .object(facts)
  }

  /// The members of an IssuerSignedItem that are missing or of another kind.
  static func missingMembers(of item: CBORItem) -> [String] {
    var missing: [String] = []
    if item[key: "digestID"]?.uint == nil { missing.append("digestID") }
    if item[key: "random"]?.bytes == nil { missing.append("random") }
    if item[key: "elementIdentifier"]?.text == nil { missing.append("elementIdentifier") }
    if item[key: "elementValue"] == nil { missing.append("elementValue") }
    return missing
  }

  mutating func inspectIssuerAuth(_ item: CBORItem, at path: String) -> [JSONValue.Member] {
    let label = path.isEmpty ? "issuerAuth" : path
    guard let auth = try? COSESign1(item) else {
      problem("\(label): no COSE_Sign1 at byte \(item.offset)")
      return []
    }
    var facts = headerFacts(auth.structure, at: label, wantsChain: true)
    guard let payload = auth.structure.payload else {
      problem("\(label): its payload, the mobile security object, is missing at byte \(item.offset)")
      return facts
    }
    facts.append(
      .init("mobileSecurityObject", .object(inspectObject(payload, at: path.isEmpty ? "" : "\(path) payload"))))
    return facts
  }

  private mutating func inspectDevice(_ item: CBORItem?, at path: String) -> JSONValue? {
    let device: DeviceSigned
    do throws(DeviceSigned.Violation) {
      device = try DeviceSigned(item)
    } catch {
      switch (error, item) {
      case (.missing, _): warn("\(path): no device authentication, so a reader refuses the document")
      case (.malformed, let item):
        problem("\(path): not a DeviceSigned at byte \(item?.offset ?? 0)")
      }
      return nil
    }
    let structure: COSEStructure
    let kind: String
    switch device.auth {
    case .signature(let signature): (structure, kind) = (signature.structure, "deviceSignature")
    case .mac(let mac): (structure, kind) = (mac.structure, "deviceMac")
    }
    if structure.payload != nil { warn("\(path): the payload is attached, where it should be left out") }
    let nameSpaces = device.nameSpaces.map { space -> JSONValue in
      [
        "nameSpace": name(space.nameSpace),
        "elements": .array(space.elements.map { ["element": name($0.identifier), "value": value($0.value)] }),
      ]
    }
    return .object(
      [.init("authentication", .string(kind))] + headerFacts(structure, at: path, wantsChain: false)
        + [.init("nameSpaces", .array(nameSpaces))])
  }

  // MARK: Places of what is wrong

  /// The byte where the item of a path of member names and indices begins, or where the last item towards it does.
  private func place(of path: String, in root: CBORItem) -> (offset: Int, isThere: Bool) {
    var item = root
    for part in path.split(separator: ".") {
      let pieces = part.split(separator: "[")
      guard let next = item.value(under: String(pieces[0])) else { return (item.offset, false) }
      item = next
      for index in pieces.dropFirst() {
        guard let element = Int(index.dropLast()).flatMap(item.element) else { return (item.offset, false) }
        item = element
      }
    }
    return (item.offset, true)
  }
}
