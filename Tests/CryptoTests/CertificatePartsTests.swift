import Bytes
import CivilTime
import Testing

@testable import Crypto

@Suite("Object identifiers")
struct OIDTests {
  @Test(
    "dotted text and DER say the same",
    arguments: [
      ("1.2.840.10045.4.3.2", "2a8648ce3d040302"), ("2.5.29.15", "551d0f"), ("1.0.18013.5.1.2", "28818c5d050102"),
      ("2.999", "8837"), ("0.0", "00"), ("0.39", "27"), ("2.5.4.97", "550461"),
    ])
  func both(text: String, der: String) throws {
    let oid = try #require(OID(text))
    #expect(oid.encoded.hex == der)
    #expect(oid.description == text)
  }

  @Test(
    "text that is no identifier is refused",
    arguments: [
      "", "1", "1.", ".1", "1..2", "3.1", "1.40", "1.2.03", "1.2.-3", "1.2.+3", "1.2.a", "1.2.18446744073709551616",
      "1 .2",
    ])
  func refused(text: String) { #expect(OID(text) == nil) }

  @Test(
    "identifiers that are cut or have huge arcs are shown in hexadecimal",
    arguments: ["2a86", "2affffffffffffffffff7f"])
  func odd(der: String) throws { #expect(OID(encoded: try #require(bytes(hex: der))).description == "0x" + der) }
}

@Suite("Names")
struct DistinguishedNameTests {
  private func name(_ sets: [(oid: OID, tag: UInt8, bytes: [UInt8])]...) throws -> DistinguishedName {
    let content = sets.flatMap { set in
      DER.element(
        DERTag.set,
        set.flatMap { DER.sequence(DER.objectIdentifier($0.oid), DER.element($0.tag, $0.bytes)) })
    }
    return try #require(DistinguishedName(encoded: DER.element(DERTag.sequence, content)[...]))
  }

  @Test(
    "string types are read as text",
    arguments: [
      (12, "c3a9"), (20, "e9"), (30, "00e9"), (28, "000000e9"),
    ])
  func types(tag: UInt8, hex: String) throws {
    let read = try name([(.commonName, tag, try #require(bytes(hex: hex)))])
    #expect(read.commonNames == ["\u{E9}"])
    #expect(try read.normalized == name([(.commonName, 12, Array(" \u{C9} ".utf8))]).normalized)
  }

  @Test(
    "bytes that are no text of their type make no name",
    arguments: [
      (12, "ff"), (12, "c0af"), (30, "004100"), (30, "d800"), (28, "000041"), (28, "00110000"), (2, "05"), (0x8C, "41"),
    ])
  func noText(tag: UInt8, hex: String) throws {
    let value = DER.element(tag, try #require(bytes(hex: hex)))
    let pair = DER.sequence(DER.objectIdentifier(.commonName), value)
    #expect(DistinguishedName(encoded: DER.sequence(DER.element(DERTag.set, pair))[...]) == nil)
  }

  @Test("bit strings are empty as text and shown in hexadecimal")
  func bitStrings() throws {
    let bits = try name([(.commonName, 3, [0, 5])])
    #expect(bits.commonNames == [""])
    #expect(bits.description == "CN=#0005")
    #expect(try bits.normalized != name([(.commonName, 3, [0, 6])]).normalized)
  }

  @Test(
    "a name is shown safely",
    arguments: [
      ("plain", "CN=plain"), ("a,b+c", "CN=a\\,b\\+c"), ("#x", "CN=\\#x"), (" x ", "CN=\\ x\\ "), ("a b", "CN=a b"),
      ("\u{1B}[2J", "CN=\\1b[2J"), ("a\nb\r", "CN=a\\0ab\\0d"), ("\u{202E}x", "CN=\\e2\\80\\aex"),
      ("\u{200B}", "CN=\\e2\\80\\8b"), ("\u{0}", "CN=\\00"), ("Zo\u{EB}", "CN=Zo\u{EB}"),
      ("=\\\"<>;", "CN=\\=\\\\\\\"\\<\\>\\;"),
    ])
  func safe(text: String, shown: String) throws {
    #expect(try name([(.commonName, 12, Array(text.utf8))]).description == shown)
  }

  @Test("attributes of one relative name are joined, and their order does not count when normalized")
  func multiple() throws {
    let a = (oid: OID.commonName, tag: UInt8(12), bytes: Array("A".utf8))
    let b = (oid: OID.organizationName, tag: UInt8(12), bytes: Array("B".utf8))
    let read = try name([a, b], [(.countryName, 19, Array("UT".utf8))])
    #expect(read.description == "CN=A+O=B, C=UT")
    #expect(read.attributes.map(\.relativeName) == [0, 0, 1])
    #expect(try read.normalized == name([b, a], [(.countryName, 12, Array("ut".utf8))]).normalized)
    #expect(try read.normalized != name([a], [b], [(.countryName, 19, Array("UT".utf8))]).normalized)
  }

  @Test("an empty name and an empty relative name are read without a trap")
  func empty() throws {
    #expect(try name().description == "")
    let odd = try #require(DistinguishedName(encoded: [0x30, 0x02, 0x31, 0x00]))
    #expect(odd.attributes.isEmpty)
    let after = try name([], [(.commonName, 12, [65])])
    #expect(after.description == "CN=A")
    #expect(after.normalized != [])
  }

  @Test(
    "bytes that are no name are refused", arguments: ["", "30", "3100", "30023000", "300431023000", "3006310430020603"])
  func refused(hex: String) throws {
    #expect(DistinguishedName(encoded: try #require(bytes(hex: hex))[...]) == nil)
  }
}

@Suite("Extension values")
struct ExtensionValueTests {
  private func der(_ hex: String) throws -> ByteView { try #require(bytes(hex: hex))[...] }

  @Test(
    "key usage bits",
    arguments: [
      ("03020780", KeyUsage.digitalSignature), ("03020106", [.keyCertSign, .crlSign]), ("0303070080", .decipherOnly),
      ("030100", []),
    ] as [(String, KeyUsage)])
  func keyUsage(hex: String, usage: KeyUsage) throws { #expect(KeyUsage(der: try der(hex)) == usage) }

  @Test(
    "key usage that is none",
    arguments: ["", "0300", "030101", "03020880", "0302078000", "04020780", "0306000000000001"])
  func noKeyUsage(hex: String) throws {
    #expect(KeyUsage(der: try der(hex)) == nil)
  }

  @Test(
    "basic constraints",
    arguments: [
      ("3000", false, nil), ("30030101ff", true, nil), ("3003010100", false, nil), ("30060101ff020100", true, 0),
      ("30070101ff02027fff", true, 0x7FFF),
    ] as [(String, Bool, Int?)])
  func basicConstraints(hex: String, isAuthority: Bool, pathLength: Int?) throws {
    let read = try #require(BasicConstraints(der: try der(hex)))
    #expect(read.isAuthority == isAuthority)
    #expect(read.pathLength == pathLength)
  }

  @Test(
    "basic constraints that are none",
    arguments: [
      "", "30", "3001", "30020100", "30030201ff", "30060201000101ff", "30080101ff0205010000000000", "300000",
      "30040101ff00",
    ])
  func noBasicConstraints(hex: String) throws { #expect(BasicConstraints(der: try der(hex)) == nil) }

  @Test("key identifiers and purposes")
  func identifiers() throws {
    #expect(ExtensionValue.subjectKeyIdentifier(try der("0402abcd"))?.elementsEqual([0xAB, 0xCD]) == true)
    #expect(ExtensionValue.subjectKeyIdentifier(try der("0400")) == nil)
    #expect(ExtensionValue.authorityKeyIdentifier(try der("30048002abcd"))??.elementsEqual([0xAB, 0xCD]) == true)
    #expect(ExtensionValue.authorityKeyIdentifier(try der("3000")) == .some(nil))
    #expect(ExtensionValue.authorityKeyIdentifier(try der("30028000")) == nil)
    #expect(ExtensionValue.authorityKeyIdentifier(try der("30020500")) == nil)
    #expect(ExtensionValue.extendedKeyUsage(try der("3000")) == nil)
    #expect(ExtensionValue.extendedKeyUsage(try der("300406022a03")) == [OID(1, 2, 3)])
  }

  @Test("distribution points: addresses, reasons, relative names")
  func points() throws {
    let uri = DER.element(0x86, Array("http://x".utf8))
    let full = DER.element(0xA0, DER.element(0xA0, uri))
    func read(_ point: [UInt8]) -> CRLDistributionPoints? {
      CRLDistributionPoints(der: DER.sequence(DER.sequence(point))[...])
    }
    #expect(read(full)?.uris == ["http://x"])
    #expect(read(full)?.hasHTTPAddress == true)
    #expect(read(full + DER.element(0x81, [0, 0x80]))?.hasReasonsOrIssuer == true)
    #expect(read(full + DER.element(0xA2, uri))?.hasReasonsOrIssuer == true)
    #expect(read(DER.element(0xA0, DER.element(0xA1, [])))?.uris == [])
    #expect(read(DER.element(0xA0, DER.element(0xA0, []))) == nil)
    #expect(read(full + [5, 0]) == nil)
    #expect(CRLDistributionPoints(der: [0x30, 0]) == nil)
  }

  @Test("every cut of a value is refused without a trap")
  func cuts() throws {
    let value = ExtensionDraft.crlDistributionPoints(uri: "http://example.com").value
    for count in 0..<value.count { #expect(CRLDistributionPoints(der: value.prefix(count)) == nil) }
    let names = ExtensionDraft.issuerAltName(email: "a@b", uri: "http://x").value
    for count in 0..<names.count { #expect(GeneralNames(der: names.prefix(count)) == nil) }
    #expect(GeneralNames(der: names[...])?.uris == ["http://x"])
  }
}

@Suite("PEM")
struct PEMTests {
  @Test("blocks come back as written, whatever is around them")
  func blocks() throws {
    let a = [UInt8](0...100)
    let text = "text\n\(PEM.encode("A", a))more\r\n  -----BEGIN X509 CRL-----\r\n\tAQID\r\n-----END X509 CRL-----  "
    #expect(
      try PEM.blocks(in: text) == [PEM.Block(label: "A", bytes: a), PEM.Block(label: "X509 CRL", bytes: [1, 2, 3])])
    #expect(try PEM.blocks(in: "nothing") == [])
    #expect(PEM.encode("A", a).split(separator: "\n").allSatisfy { $0.utf8.count <= 64 })
  }

  @Test("a damaged block is refused at the line it begins in")
  func damaged() {
    #expect(throws: PEM.Violation.unterminated(line: 2)) { try PEM.blocks(in: "\n-----BEGIN A-----\nAQID") }
    #expect(throws: PEM.Violation.unterminated(line: 1)) { try PEM.blocks(in: "-----BEGIN A-----\n-----END B-----") }
    #expect(throws: PEM.Violation.unterminated(line: 1)) { try PEM.blocks(in: "-----BEGIN A-----\n-----BEGIN A-----") }
    #expect(throws: PEM.Violation.notBase64(line: 1)) { try PEM.blocks(in: "-----BEGIN A-----\nAQ*D\n-----END A-----") }
  }
}
