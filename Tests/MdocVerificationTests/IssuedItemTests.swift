import Bytes
import CBOR
import Crypto
import Issuer
import Mdoc
import MdocVerification
import Testing

/// An item written by hand: what a reader gets from issuers who encode in their own way.
private func item(
  _ identifier: String, _ value: [UInt8], map: [UInt8] = [0xa4], order: [Int] = [0, 1, 2, 3], end: [UInt8] = [],
  id: [UInt8] = [0], wrapper: (Int) -> [UInt8] = { [0xd8, 24, 0x59, UInt8($0 >> 8), UInt8($0 & 255)] }
) -> Credential.Item {
  let members: [[UInt8]] = [
    CBORValue.text("digestID").encode() + id,
    CBORValue.text("random").encode() + CBORValue.bytes([UInt8](repeating: 9, count: 16)).encode(),
    CBORValue.text("elementIdentifier").encode() + CBORValue.text(identifier).encode(),
    CBORValue.text("elementValue").encode() + value,
  ]
  let content = map + order.flatMap { members[$0] } + end
  return Credential.Item(identifier: identifier, encoded: wrapper(content.count) + content)
}

private let name = CBORValue.text("Spécimen").encode()

/// Encodings of the same item, none of them the shortest form in its usual order.
private let encodings: [(String, Credential.Item)] = [
  ("members in reverse", item("family_name", name, order: [3, 2, 1, 0])),
  ("a long map head", item("family_name", name, map: [0xb9, 0, 4])),
  ("an indefinite map", item("family_name", name, map: [0xbf], end: [0xff])),
  ("a long number", item("family_name", name, id: [0x1b, 0, 0, 0, 0, 0, 0, 0, 0])),
  (
    "a long text head",
    item("family_name", [0x7a, 0, 0, 0] + name.dropFirst(0).prefix(1).map { $0 & 0x1f } + name.dropFirst())
  ),
  ("text in pieces", item("family_name", [0x7f] + name + [0x60, 0xff])),
  (
    "a long tag",
    item("family_name", name, wrapper: { [0xda, 0, 0, 0, 24, 0x5a, 0, 0, UInt8($0 >> 8), UInt8($0 & 255)] })
  ),
  ("nested maps out of order", item("family_name", bytes(hex: "a261620161618202a1636e6574bf617a01617902ff") ?? [])),
  ("a float where an integer would do", item("family_name", [0xfb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0])),
]

@Suite("Items as the issuer encoded them")
struct IssuedItemTests {
  @Test("a digest is over the received bytes, however they are encoded", arguments: encodings.indices)
  func received(index: Int) throws {
    let (title, item) = encodings[index]
    var visit = try TestVisit()
    let verdict = try visit.verdict(on: visit.issue(items: [item]))
    #expect(verdict.isVerified && verdict.failures.isEmpty, "\(title): \(verdict.texts)")
    #expect(verdict.documents.first?.verified?.elements.map(\.name.element) == ["family_name"])
  }

  @Test("an item that says the same in other bytes is not what the issuer signed", arguments: encodings.indices)
  func encodedAgain(index: Int) throws {
    var visit = try TestVisit()
    let credential = try visit.issue(items: [item("family_name", name, map: [0xb8, 4])])
    let verdict = try visit.verdict(on: credential.with(items: [encodings[index].1]))
    #expect(verdict.failures == ["digestMismatch(org.iso.18013.5.1, family_name)"])
  }

  @Test("an element of 90 KiB has its digest, with the shortest head and with the longest", arguments: [false, true])
  func largeElement(isLong: Bool) throws {
    var visit = try TestVisit()
    let portrait = try #require(Portrait.jpeg(size: 90 << 10))
    let head: [UInt8] = isLong ? [0x5b, 0, 0, 0, 0, 0, 1, 0x68, 0] : [0x5a, 0, 1, 0x68, 0]
    let item = item(
      "portrait", head + portrait,
      wrapper: { count in
        let size = (0..<4).map { UInt8(count >> (24 - 8 * $0) & 255) }
        return [0xd8, 24] + (isLong ? [0x5b, 0, 0, 0, 0] : [0x5a]) + size
      })
    let credential = try visit.issue(items: [item])
    let verdict = try visit.verdict(on: credential, asking: ["portrait"])
    #expect(verdict.isVerified && verdict.texts.isEmpty)
    #expect(verdict.documents.first?.verified?.value(of: "portrait", in: TestVisit.nameSpace) == .data(portrait))
    var changed = item.encoded
    changed[60_000] ^= 1
    let other = try visit.verdict(
      on: credential.with(items: [.init(identifier: "portrait", encoded: changed)]), asking: ["portrait"])
    #expect(other.failures == ["digestMismatch(org.iso.18013.5.1, portrait)"])
  }

  @Test("digests of no item are decoys, and a document of some of its items is whole")
  func decoys() throws {
    var visit = try TestVisit()
    let credential = try visit.issue { $0.decoys = 8 }
    #expect(try visit.verdict(on: credential).isVerified)
    let items = try #require(credential.nameSpaces.first?.items)
    let one = try visit.verdict(on: credential.with(items: [items[1]]))
    #expect(one.isVerified && one.documents.first?.verified?.missing.map(\.element) == ["family_name"])
    let none = Credential(
      docType: credential.docType, nameSpaces: [], issuerAuth: credential.issuerAuth, deviceKey: visit.deviceKey)
    #expect(try visit.verdict(on: none).isVerified)
  }

  @Test("an item without its own digest in its own name space fails the document, whatever the others say")
  func foreignItems() throws {
    var visit = try TestVisit()
    let credential = try visit.issue(items: [item("family_name", name), item("given_name", name, id: [1])])
    func failures(_ items: Credential.Item...) throws -> Set<String> {
      let verdict = try visit.verdict(on: credential.with(items: items), asking: ["family_name", "given_name"])
      #expect(verdict.isVerified == verdict.failures.isEmpty)
      return verdict.failures
    }
    let (first, second) = (item("family_name", name), item("given_name", name, id: [1]))
    #expect(try failures(first, second) == [])
    #expect(
      try failures(first, item("given_name", CBORValue.text("Spécimem").encode(), id: [1])) == [
        "digestMismatch(org.iso.18013.5.1, given_name)"
      ])
    #expect(
      try failures(first, item("given_name", name, id: [2])) == ["digestMissing(org.iso.18013.5.1, given_name)"])
    #expect(
      try failures(item("family_name", name, id: [1]), item("given_name", name, id: [0])) == [
        "digestMismatch(org.iso.18013.5.1, family_name)", "digestMismatch(org.iso.18013.5.1, given_name)",
      ])
    let other = Credential(
      docType: credential.docType,
      nameSpaces: [.init(name: TestVisit.nameSpace, items: [first]), .init(name: "org.example", items: [second])],
      issuerAuth: credential.issuerAuth, deviceKey: visit.deviceKey)
    #expect(try visit.verdict(on: other).failures == ["digestMissing(org.example, given_name)"])
  }

  @Test(
    "a digest id of 2^31 or more is none",
    arguments: [
      "1a80000000", "1b0000000100000000", "1b7fffffffffffffff", "1b8000000000000000", "1bffffffffffffffff", "20",
      "3b7fffffffffffffff", "3bffffffffffffffff", "f93c00",
    ])
  func digestIDs(id: String) throws {
    var visit = try TestVisit()
    let credential = try visit.issue(items: [item("family_name", name, id: bytes(hex: id) ?? [])])
    #expect(try visit.verdict(on: credential).failures == ["itemMalformed(org.iso.18013.5.1)"])
    let largest = item("family_name", name, id: [0x1a, 0x7f, 0xff, 0xff, 0xff])
    let digests = CBORValue.map([
      .init(.unsigned(0x7fff_ffff), .bytes(digest(.sha256, largest.encoded))),
      .init(.unsigned(.max), .bytes([1])),
    ])
    let good = try visit.issue([]) { $0.editMSO = { $0["valueDigests"] = .map([.init("org.iso.18013.5.1", digests)]) } }
    #expect(try visit.verdict(on: good.with(items: [largest])).isVerified)
  }

  @Test("each map and array around the items may have a longer head than it needs")
  func outerHeads() throws {
    var visit = try TestVisit()
    let credential = try visit.issue { terms in
      terms.editPayload = { payload in
        guard let object = (try? decodeCBOR(payload))?.embeddedBytes.map(Array.init) else { return }
        payload = CBORValue.tag(24, .bytes(widened(object))).encode()
      }
    }
    let document = try visit.presentation(credential.with(issuerAuth: widened(credential.issuerAuth))).document()
    let issuerSigned = try #require(document["issuerSigned"])
    let nameSpaces = try #require(issuerSigned["nameSpaces"])
    let spaces = issuerSigned.replacing("nameSpaces", with: .encoded(widened(nameSpaces.encode())))
    let wide = document.replacing("issuerSigned", with: .encoded(widened(spaces.encode())))
    let response = CBORValue.map([
      "version": "1.0", "status": .encoded([0x1b, 0, 0, 0, 0, 0, 0, 0, 0]),
      "documents": .encoded(widened(CBORValue.array([.encoded(widened(wide.encode()))]).encode())),
    ])
    let verdict = try visit.verdict(on: widened(response.encode()))
    #expect(verdict.isVerified && verdict.texts.isEmpty, "\(verdict.texts)")
  }
}
