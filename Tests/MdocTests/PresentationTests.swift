import Bytes
import CBOR
import COSE
import Crypto
import Mdoc
import Testing

private func item(_ identifier: String, _ value: CBORValue, id: Int64 = 0) -> Credential.Item {
  Credential.Item(
    identifier: identifier,
    encoded: CBORValue.embedded(
      .map([
        "digestID": .int(id), "random": .bytes([UInt8](repeating: 7, count: 16)),
        "elementIdentifier": .text(identifier), "elementValue": value,
      ])
    ).encode())
}

private func credential(_ items: [Credential.Item], key: PrivateKey) -> Credential {
  Credential(
    docType: "doc", nameSpaces: [Credential.NameSpace(name: "space", items: items)],
    issuerAuth: CBORValue.array([.bytes([]), .map([]), .bytes([1]), .bytes([2])]).encode(), deviceKey: key)
}

private func request(_ elements: String..., nameSpace: String = "space") -> ItemsRequest {
  ItemsRequest(
    docType: "doc",
    nameSpaces: [
      ItemsRequest.NameSpaceRequest(
        nameSpace: nameSpace,
        elements: elements.map { ItemsRequest.ElementRequest(identifier: $0, intentToRetain: false) })
    ])
}

@Suite("A selection")
struct SelectionTests {
  let key: PrivateKey

  init() throws { key = try PrivateKey.generate(.p256) }

  private func chosen(_ held: [(Int, Bool)], for wanted: String...) -> [String] {
    let items = held.map { item("age_over_" + ($0.0 < 10 ? "0" : "") + String($0.0), .bool($0.1)) }
    let request = ItemsRequest(
      docType: "doc",
      nameSpaces: [
        ItemsRequest.NameSpaceRequest(
          nameSpace: "space",
          elements: wanted.map { ItemsRequest.ElementRequest(identifier: $0, intentToRetain: false) })
      ])
    return credential(items, key: key).selection(for: request).nameSpaces.flatMap { $0.items.map(\.identifier) }
  }

  @Test("answers an age limit with the nearest statement that decides it")
  func nearest() {
    let held = [(12, true), (16, true), (18, true), (21, true), (25, false), (65, false)]
    #expect(chosen(held, for: "age_over_18") == ["age_over_18"])
    #expect(chosen(held, for: "age_over_17") == ["age_over_18"])
    #expect(chosen(held, for: "age_over_21") == ["age_over_21"])
    #expect(chosen(held, for: "age_over_22") == [])
    #expect(chosen(held, for: "age_over_30") == ["age_over_25"])
    #expect(chosen(held, for: "age_over_70") == ["age_over_65"])
    #expect(chosen([(16, false)], for: "age_over_18") == ["age_over_16"])
    #expect(chosen([(16, true)], for: "age_over_18") == [])
    #expect(chosen([(21, false)], for: "age_over_18") == [])
  }

  @Test("gives a statement that answers two limits once")
  func once() {
    #expect(chosen([(21, true)], for: "age_over_18", "age_over_20") == ["age_over_21"])
  }

  @Test("treats other spellings of an age as plain names")
  func spelling() {
    #expect(chosen([(18, true)], for: "age_over_018", "Age_over_18", "age_over_1") == [])
  }

  @Test("takes elements from exactly the name space that was asked, and names what is missing")
  func missing() {
    let held = credential([item("family_name", "A")], key: key)
    let selection = held.selection(for: request("family_name", "portrait"))
    #expect(selection.nameSpaces.map(\.name) == ["space"] && selection.nameSpaces[0].items.count == 1)
    #expect(selection.missing == [Credential.Missing(nameSpace: "space", identifier: "portrait")])
    let other = held.selection(for: request("family_name", nameSpace: "space.US"))
    #expect(other.nameSpaces.isEmpty)
    #expect(other.missing == [Credential.Missing(nameSpace: "space.US", identifier: "family_name")])
  }
}

@Suite("A presented document")
struct DocumentPresentationTests {
  let transcript = CBORValue.array([.tag(24, .bytes([1])), .tag(24, .bytes([2])), .null]).encode()

  private func present(
    _ curve: Curve, _ method: DeviceAuthenticationMethod, readerKey: PublicKey?
  ) throws -> (ReturnedDocument, PublicKey) {
    let held = credential([item("a", 1), item("b", .bytes([1, 2, 3]))], key: try PrivateKey.generate(curve))
    let selection = held.selection(for: request("b", "c"))
    let presentation = DocumentPresentation(
      held, selection: selection, method: method, transcript: transcript, readerKey: readerKey)
    let bytes = DeviceResponseDraft(documents: [try presentation.document()]).encode()
    let response = try DeviceResponse(bytes[...])
    #expect(response.version == "1.0" && response.status == 0 && response.documentErrors.isEmpty)
    return (try #require(response.documents.first), held.deviceKey.publicKey)
  }

  @Test("keeps the chosen items and issuerAuth byte for byte")
  func bytesKept() throws {
    let (document, _) = try present(.p256, .signature, readerKey: nil)
    let signed = try IssuerSigned(document.issuerSigned)
    let items = try #require(signed.nameSpaces?.first?.items)
    #expect(items.map { Array($0.encoded) } == [item("b", .bytes([1, 2, 3])).encoded])
    #expect(
      document.issuerSigned?[key: "issuerAuth"].map { Array($0.encoded) }
        == CBORValue.array([.bytes([]), .map([]), .bytes([1]), .bytes([2])]).encode())
  }

  @Test("is signed over DeviceAuthenticationBytes with the device key", arguments: Curve.allCases)
  func signature(curve: Curve) throws {
    guard curve.kind != .montgomery else {
      #expect(throws: PresentationError.cannotSign) { try present(curve, .signature, readerKey: nil) }
      return
    }
    let (document, key) = try present(curve, .signature, readerKey: nil)
    let signed = try DeviceSigned(document.deviceSigned)
    guard case .signature(let signature) = signed.auth else { return #expect(Bool(false), "no signature") }
    let payload = DeviceAuthentication.payload(
      transcript: transcript[...], docType: "doc", nameSpacesBytes: signed.nameSpacesBytes)
    #expect(Array(signed.nameSpacesBytes) == [0xd8, 0x18, 0x41, 0xa0])
    #expect(signature.structure.payload == nil && signature.isValid(for: payload[...], key: key))
    #expect(!signature.isValid(for: payload[...] + [0], key: key))
  }

  @Test("is authenticated with EMacKey where a MAC is wanted", arguments: Curve.allCases)
  func mac(curve: Curve) throws {
    let reader = try PrivateKey.generate(curve)
    guard curve.kind != .edwards else {
      #expect(throws: PresentationError.cannotAgree) { try present(curve, .mac, readerKey: reader.publicKey) }
      return
    }
    let (document, key) = try present(curve, .mac, readerKey: reader.publicKey)
    let signed = try DeviceSigned(document.deviceSigned)
    guard case .mac(let mac) = signed.auth else { return #expect(Bool(false), "no MAC") }
    let payload = DeviceAuthentication.payload(
      transcript: transcript[...], docType: "doc", nameSpacesBytes: signed.nameSpacesBytes)
    let macKey = try DeviceAuthentication.macKey(own: reader, peer: key, transcript: transcript[...])
    let (isValid, isValidForOther) = (
      mac.isValid(for: payload[...], key: macKey), mac.isValid(for: payload[...] + [0], key: macKey)
    )
    #expect(isValid && !isValidForOther)
  }

  @Test("cannot be authenticated with a MAC without a reader key, or with one on another curve")
  func noMac() throws {
    #expect(throws: PresentationError.cannotAgree) { try present(.p256, .mac, readerKey: nil) }
    let other = try PrivateKey.generate(.p384).publicKey
    #expect(throws: PresentationError.cannotAgree) { try present(.p256, .mac, readerKey: other) }
  }

  @Test("says what is missing in errors, with code 0")
  func errors() throws {
    let held = credential([item("a", 1)], key: try PrivateKey.generate(.p256))
    let presentation = DocumentPresentation(
      held, selection: held.selection(for: request("a", "c")), method: .signature, transcript: transcript,
      readerKey: nil)
    let encoded = try decodeCBOR(try presentation.document().encode())
    #expect(encoded[key: "errors"]?[key: "space"]?[key: "c"]?.uint == 0)
    #expect(encoded[key: "errors"]?[key: "space"]?.count == 1)
  }

  @Test("is not there when it was refused: documentErrors say so, and nothing else")
  func refused() throws {
    let response = try DeviceResponse(DeviceResponseDraft(notReturned: ["doc"]).encode()[...])
    #expect(response.status == 0 && response.documents.isEmpty)
    #expect(response.documentErrors.map(\.docType) == ["doc"] && response.documentErrors.map(\.code) == [0])
  }
}

@Suite("A stored credential")
struct CredentialTests {
  @Test("is the same after IssuerSigned was written and read")
  func roundTrip() throws {
    let held = credential([item("a", 1), item("b", "x")], key: try PrivateKey.generate(.p256))
    let read = try Credential(docType: "doc", issuerSigned: held.issuerSigned[...], deviceKey: held.deviceKey)
    #expect(read.nameSpaces == held.nameSpaces && read.issuerAuth == held.issuerAuth)
  }

  @Test(
    "is refused with the member that is wrong",
    arguments: [
      ("a0", Credential.Violation.member("issuerAuth")),
      ("a16a6973737565724175746801", .member("issuerAuth")),
      ("a26a6973737565724175746880" + "6a6e616d6553706163657301", .member("nameSpaces")),
      ("a26a6973737565724175746880" + "6a6e616d65537061636573a1617381" + "01", .member("nameSpaces.s")),
      ("a1", .notCBOR(CBORError(.truncated, offset: 0))),
    ])
  func refused(hex: String, violation: Credential.Violation) throws {
    let stored = try #require(bytes(hex: hex))
    let key = try PrivateKey.generate(.p256)
    #expect(throws: violation) { try Credential(docType: "doc", issuerSigned: stored[...], deviceKey: key) }
  }
}
