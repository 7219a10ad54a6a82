import CivilTime
import Crypto
import TestSupport
import Testing

@testable import Trust

/// One deviation of the signer, and the one detail it must give.
struct ProfileCase: CustomTestStringConvertible, Sendable {
  let name: String
  let faults: [SignerProfileFault]
  let change: @Sendable (inout TestPKI) throws -> Void
  var testDescription: String { name }

  init(_ name: String, _ faults: SignerProfileFault..., change: @escaping @Sendable (inout TestPKI) throws -> Void) {
    self.name = name
    self.faults = faults
    self.change = change
  }
}

private let basicConstraints = OID.basicConstraints
private let garbage: [UInt8] = [0x30, 0x05, 1]

private let cases: [ProfileCase] =
  [
    ProfileCase("nothing wrong") { _ in },
    ProfileCase(
      "version 1", .version, .keyUsage, .authorityKeyIdentifier, .subjectKeyIdentifier, .issuerAltName,
      .crlDistributionPoints, .extendedKeyUsage
    ) {
      $0.signer.version = 1
      $0.signer.extensions = []
    },
    ProfileCase("version 2 with extensions", .version) { $0.signer.version = 2 },
    ProfileCase("compressed key", .publicKey) {
      $0.signer.publicKeyInfo = CertificateDraft.publicKeyInfo(of: $0.signerKey.publicKey, compressed: true)
    },
    ProfileCase("explicit parameters", .publicKey) {
      $0.signer.publicKeyInfo = explicitP256KeyInfo(x: $0.signerKey.publicKey.x, y: $0.signerKey.publicKey.y)
    },
    ProfileCase("key off the curve", .publicKey) {
      $0.signer.publicKeyInfo = CertificateDraft.publicKeyInfo(
        curve: .p256, point: [4] + [UInt8](repeating: 7, count: 64))
    },
    ProfileCase("Ed25519 key") {
      $0.signer.publicKeyInfo = CertificateDraft.publicKeyInfo(of: try PrivateKey.generate(.ed25519).publicKey)
    },
    ProfileCase("inner algorithm differs", .signatureAlgorithm) {
      // ecdsa-with-SHA384
      $0.signer.innerAlgorithm = [0x30, 10, 6, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 3]
    },
    ProfileCase("no key usage", .keyUsage) { $0.signer[.keyUsage] = nil },
    ProfileCase("key usage that cannot be read", .keyUsage) {
      $0.signer[.keyUsage] = ExtensionDraft(.keyUsage, isCritical: true, value: garbage)
    },
    ProfileCase("non-repudiation", .keyUsage) { $0.signer[.keyUsage] = .keyUsage(.nonRepudiation) },
    ProfileCase("a further key usage", .keyUsage) {
      $0.signer[.keyUsage] = .keyUsage([.digitalSignature, .keyAgreement])
    },
    ProfileCase("a key usage in the second octet", .keyUsage) {
      $0.signer[.keyUsage] = .keyUsage([.digitalSignature, .decipherOnly])
    },
    ProfileCase("key usage not critical", .keyUsageNotCritical) {
      $0.signer[.keyUsage] = .keyUsage(.digitalSignature, isCritical: false)
    },
    ProfileCase("no extended key usage", .extendedKeyUsage) { $0.signer[.extendedKeyUsage] = nil },
    ProfileCase("reader authentication as extended key usage", .extendedKeyUsage) {
      $0.signer[.extendedKeyUsage] = .extendedKeyUsage([.readerAuthentication])
    },
    ProfileCase("any extended key usage", .extendedKeyUsage) {
      $0.signer[.extendedKeyUsage] = .extendedKeyUsage([try #require(OID("2.5.29.37.0"))])
    },
    ProfileCase("extended key usage that cannot be read", .extendedKeyUsage) {
      $0.signer[.extendedKeyUsage] = ExtensionDraft(.extendedKeyUsage, isCritical: true, value: garbage)
    },
    ProfileCase("a further extended key usage") {
      $0.signer[.extendedKeyUsage] = .extendedKeyUsage([.readerAuthentication, .documentSigner])
    },
    ProfileCase("extended key usage not critical", .extendedKeyUsageNotCritical) {
      $0.signer[.extendedKeyUsage] = .extendedKeyUsage([.documentSigner], isCritical: false)
    },
    ProfileCase("no extended key usage where none is wanted") {
      $0.signer[.extendedKeyUsage] = nil
      $0.requirements.keyPurpose = nil
    },
    ProfileCase("a CA", .certificateAuthority) { $0.signer[basicConstraints] = .basicConstraints(isAuthority: true) },
    ProfileCase("basic constraints that cannot be read", .certificateAuthority) {
      $0.signer[basicConstraints] = ExtensionDraft(basicConstraints, isCritical: true, value: garbage)
    },
    ProfileCase("basic constraints of no CA", .basicConstraints) {
      $0.signer[basicConstraints] = .basicConstraints(isAuthority: false)
    },
    ProfileCase("unknown critical", .unknownCriticalExtension) {
      $0.signer[try #require(OID("1.2.3.4"))] = ExtensionDraft(
        try #require(OID("1.2.3.4")), isCritical: true, value: [5, 0])
    },
    ProfileCase("unknown, not critical") {
      $0.signer[try #require(OID("1.2.3.4"))] = ExtensionDraft(try #require(OID("1.2.3.4")), value: [5, 0])
    },
    ProfileCase("critical issuer alternative name") {
      $0.signer[.issuerAltName] = .issuerAltName(uri: "https://example.com", isCritical: true)
    },
    ProfileCase("an extension twice", .duplicateExtension) {
      $0.signer.extensions.append(.keyUsage(.digitalSignature))
    },
    ProfileCase("457 days") { $0.signer.notAfter = $0.signer.notBefore.adding(seconds: 457 * TestPKI.day) },
    ProfileCase("a second over 457 days", .validityPeriod) {
      $0.signer.notAfter = $0.signer.notBefore.adding(seconds: 457 * TestPKI.day + 1)
    },
    ProfileCase("serial number zero", .serialNumber) { $0.signer.serialNumber = SerialNumber(magnitude: []) },
    ProfileCase("negative serial number", .serialNumber) {
      $0.signer.serialNumber = SerialNumber(magnitude: [9], isNegative: true)
    },
    ProfileCase("serial number of 20 octets") {
      $0.signer.serialNumber = SerialNumber(magnitude: [UInt8](repeating: 0x7F, count: 20))
    },
    ProfileCase("serial number of 21 octets", .serialNumber) {
      $0.signer.serialNumber = SerialNumber(magnitude: [UInt8](repeating: 0x7F, count: 21))
    },
    ProfileCase("no authority key identifier", .authorityKeyIdentifier) { $0.signer[.authorityKeyIdentifier] = nil },
    ProfileCase("authority key identifier without a key", .authorityKeyIdentifier) {
      $0.signer[.authorityKeyIdentifier] = ExtensionDraft(.authorityKeyIdentifier, value: [0x30, 0])
    },
    ProfileCase("no subject key identifier", .subjectKeyIdentifier) { $0.signer[.subjectKeyIdentifier] = nil },
    ProfileCase("no issuer alternative name", .issuerAltName) { $0.signer[.issuerAltName] = nil },
    ProfileCase("no distribution point", .crlDistributionPoints) { $0.signer[.crlDistributionPoints] = nil },
    ProfileCase("distribution point without a scheme", .crlDistributionPoints) {
      $0.signer[.crlDistributionPoints] = .crlDistributionPoints(uri: "example.com/crl")
    },
    ProfileCase("distribution point with another scheme", .crlDistributionPoints) {
      $0.signer[.crlDistributionPoints] = .crlDistributionPoints(uri: "ldap://example.com/crl")
    },
    ProfileCase("distribution point in capitals") {
      $0.signer[.crlDistributionPoints] = .crlDistributionPoints(uri: "HTTPS://EXAMPLE.COM/CRL")
    },
    ProfileCase("no common name", .subject) { $0.signer.subject = [NameAttribute(.countryName, "UT")] },
  ]
  + ["2.5.29.33", "2.5.29.30", "2.5.29.36", "2.5.29.54", "2.5.29.46"].map { oid in
    ProfileCase("forbidden \(oid)", .forbiddenExtension) {
      $0.signer[try #require(OID(oid))] = ExtensionDraft(try #require(OID(oid)), value: [5, 0])
    }
  }

@Suite("The signer profile (D5)")
struct SignerProfileTests {
  @Test("one deviation gives its one detail", arguments: cases)
  func deviations(of item: ProfileCase) throws {
    var pki = try TestPKI()
    try item.change(&pki)
    let verdict = try pki.verdict()
    #expect(Set(verdict.findings) == Set(item.faults.map { ChainFinding(.signerProfile($0), isHard: $0.isHard) }))
    #expect(verdict.findings.count == item.faults.count)
    #expect(verdict.isTrusted == !item.faults.contains { $0.isHard })
  }

  @Test("a strict profile takes every detail as a failure", arguments: cases)
  func strict(_ item: ProfileCase) throws {
    var pki = try TestPKI()
    try item.change(&pki)
    pki.requirements.isStrict = true
    #expect(Set(try pki.verdict().findings) == Set(item.faults.map { hard(.signerProfile($0)) }))
  }

  @Test("every detail has a case and an explanation")
  func complete() {
    #expect(Set(cases.flatMap(\.faults)) == Set(SignerProfileFault.allCases))
    #expect(Set(SignerProfileFault.allCases.map(\.explanation)).count == SignerProfileFault.allCases.count)
  }
}

@Suite("The profile of issuer roots (D6)")
struct AnchorProfileTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    let faults: [AnchorProfileFault]
    let change: @Sendable (inout TestPKI) throws -> Void
    var testDescription: String { name }
  }

  static let cases: [Case] = [
    Case(name: "nothing wrong", faults: []) { _ in },
    Case(name: "version 2", faults: [.version]) { $0.root.version = 2 },
    Case(name: "Edwards key", faults: [.publicKey]) {
      $0.root.publicKeyInfo = CertificateDraft.publicKeyInfo(of: try PrivateKey.generate(.ed448).publicKey)
    },
    Case(name: "without cRLSign", faults: [.keyUsage]) { $0.root[.keyUsage] = .keyUsage(.keyCertSign) },
    Case(name: "key usage not critical", faults: [.keyUsage]) {
      $0.root[.keyUsage] = .keyUsage([.keyCertSign, .crlSign], isCritical: false)
    },
    Case(name: "no CA", faults: [.basicConstraints]) {
      $0.root[.basicConstraints] = .basicConstraints(isAuthority: false)
    },
    Case(name: "path length 1", faults: [.basicConstraints]) {
      $0.root[.basicConstraints] = .basicConstraints(isAuthority: true, pathLength: 1)
    },
    Case(name: "unlimited path", faults: [.basicConstraints]) {
      $0.root[.basicConstraints] = .basicConstraints(isAuthority: true)
    },
    Case(name: "constraints not critical", faults: [.basicConstraints]) {
      $0.root[.basicConstraints] = .basicConstraints(isAuthority: true, pathLength: 0, isCritical: false)
    },
    Case(name: "20 years", faults: []) {
      $0.root.notAfter = $0.root.notBefore.adding(seconds: 7305 * TestPKI.day)
    },
    Case(name: "over 20 years", faults: [.validityPeriod]) {
      $0.root.notAfter = $0.root.notBefore.adding(seconds: 7305 * TestPKI.day + 1)
    },
    Case(name: "no subject key identifier", faults: [.subjectKeyIdentifier]) { $0.root[.subjectKeyIdentifier] = nil },
    Case(name: "no contact", faults: [.issuerAltName]) { $0.root[.issuerAltName] = nil },
    Case(name: "no distribution point", faults: [.crlDistributionPoints]) { $0.root[.crlDistributionPoints] = nil },
    Case(name: "unknown critical", faults: [.unknownCriticalExtension]) {
      $0.root.extensions.append(ExtensionDraft(.nameConstraints, isCritical: true, value: [0x30, 0]))
    },
  ]

  @Test("one deviation gives its one detail", arguments: cases)
  func deviations(_ item: Case) throws {
    var pki = try TestPKI()
    try item.change(&pki)
    #expect(try pki.rootCertificate().anchorProfileFaults == item.faults)
  }

  @Test("by the second edition a root need not name a list, but one that it names needs an address")
  func editions() throws {
    var pki = try TestPKI()
    pki.root[.crlDistributionPoints] = nil
    #expect(try pki.rootCertificate().anchorProfileFaults(.first) == [.crlDistributionPoints])
    #expect(try pki.rootCertificate().anchorProfileFaults(.second) == [])
    #expect(try pki.verdict().findings == [ChainFinding(.anchorProfile(.crlDistributionPoints), isHard: false)])
    pki.requirements.edition = .second
    #expect(try pki.verdict().findings == [])
    pki.root[.crlDistributionPoints] = .crlDistributionPoints(uri: "example.com")
    #expect(try pki.rootCertificate().anchorProfileFaults(.second) == [.crlDistributionPoints])
    #expect(try pki.verdict().findings == [ChainFinding(.anchorProfile(.crlDistributionPoints), isHard: false)])
  }

  @Test("nothing is trusted that a root with an unknown critical extension signed")
  func unknownCritical() throws {
    var pki = try TestPKI()
    pki.root.extensions.append(ExtensionDraft(.nameConstraints, isCritical: true, value: [0x30, 0]))
    #expect(try pki.verdict().findings == [hard(.anchorProfile(.unknownCriticalExtension))])
  }

  @Test("every detail has a case and an explanation")
  func complete() {
    #expect(Set(Self.cases.flatMap(\.faults)) == Set(AnchorProfileFault.allCases))
    #expect(Set(AnchorProfileFault.allCases.map(\.explanation)).count == AnchorProfileFault.allCases.count)
  }

  @Test("the faults of a root are warnings, also when the signer profile is strict")
  func soft() throws {
    var pki = try TestPKI()
    pki.root[.keyUsage] = .keyUsage(.keyCertSign)
    pki.requirements.isStrict = true
    #expect(try pki.verdict().findings == [ChainFinding(.anchorProfile(.keyUsage), isHard: false)])
  }
}
