import CivilTime
import Crypto
import Testing

@testable import Trust

/// One deviation of a reader certificate, and the details it must give.
private struct ReaderCase: CustomTestStringConvertible, Sendable {
  let name: String
  let faults: [ReaderProfileFault]
  let change: @Sendable (inout CertificateDraft) throws -> Void
  var testDescription: String { name }

  init(
    _ name: String, _ faults: ReaderProfileFault..., change: @escaping @Sendable (inout CertificateDraft) throws -> Void
  ) {
    self.name = name
    self.faults = faults
    self.change = change
  }
}

private let cases: [ReaderCase] = [
  ReaderCase("nothing wrong") { _ in },
  ReaderCase("no issuer alternative name, which a reader need not have") { $0[.issuerAltName] = nil },
  ReaderCase("a DNS name for online use") { $0.extensions.append(.subjectAltName(dnsName: "door.example.com")) },
  ReaderCase("basic constraints that say no CA") { $0.extensions.append(.basicConstraints(isAuthority: false)) },
  ReaderCase(
    "version 1", .version, .keyUsage, .authorityKeyIdentifier, .subjectKeyIdentifier, .crlDistributionPoints,
    .extendedKeyUsage
  ) {
    $0.version = 1
    $0.extensions = []
  },
  ReaderCase("off the curve", .publicKey, .subjectKeyIdentifier) {
    $0.publicKeyInfo = CertificateDraft.publicKeyInfo(curve: .p256, point: [4] + [UInt8](repeating: 7, count: 64))
  },
  ReaderCase("inner algorithm differs", .signatureAlgorithm) {
    $0.innerAlgorithm = [0x30, 10, 6, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 3]
  },
  ReaderCase("key agreement", .keyUsage) { $0[.keyUsage] = .keyUsage(.keyAgreement) },
  ReaderCase("key usage not critical", .keyUsageNotCritical) {
    $0[.keyUsage] = .keyUsage(.digitalSignature, isCritical: false)
  },
  ReaderCase("no extended key usage", .extendedKeyUsage) { $0[.extendedKeyUsage] = nil },
  ReaderCase("a document signer's", .extendedKeyUsage) { $0[.extendedKeyUsage] = .extendedKeyUsage([.documentSigner]) },
  ReaderCase("extended key usage not critical", .extendedKeyUsageNotCritical) {
    $0[.extendedKeyUsage] = .extendedKeyUsage([.readerAuthentication], isCritical: false)
  },
  ReaderCase("name constraints", .forbiddenExtension) {
    $0.extensions.append(ExtensionDraft(.nameConstraints, isCritical: false, value: [0x30, 0]))
  },
  ReaderCase("an OCSP service in place of a list") {
    $0[.crlDistributionPoints] = nil
    $0.extensions.append(ExtensionDraft(.authorityInfoAccess, isCritical: false, value: [0x30, 0]))
  },
  ReaderCase("a CA", .certificateAuthority) { $0.extensions.append(.basicConstraints(isAuthority: true)) },
  ReaderCase("unknown critical extension", .unknownCriticalExtension) {
    $0.extensions.append(ExtensionDraft(try #require(OID("1.2.3.4")), isCritical: true, value: [5, 0]))
  },
  ReaderCase("the same extension twice", .duplicateExtension) {
    $0.extensions.append(.subjectAltName(dnsName: "a.example.com"))
    $0.extensions.append(.subjectAltName(dnsName: "b.example.com"))
  },
  ReaderCase("1187 days, not one more") { $0.notAfter = $0.notBefore.adding(seconds: 1187 * TestPKI.day) },
  ReaderCase("1187 days and a second", .validityPeriod) {
    $0.notAfter = $0.notBefore.adding(seconds: 1187 * TestPKI.day + 1)
  },
  ReaderCase("serial number zero", .serialNumber) { $0.serialNumber = SerialNumber(magnitude: [0]) },
  ReaderCase("no authority key identifier", .authorityKeyIdentifier) { $0[.authorityKeyIdentifier] = nil },
  ReaderCase("no subject key identifier", .subjectKeyIdentifier) { $0[.subjectKeyIdentifier] = nil },
  ReaderCase("another key's subject key identifier", .subjectKeyIdentifier) {
    $0[.subjectKeyIdentifier] = .subjectKeyIdentifier([UInt8](repeating: 1, count: 20))
  },
  ReaderCase("no address of a revocation list", .crlDistributionPoints) { $0[.crlDistributionPoints] = nil },
  ReaderCase("no common name", .subject) { $0.subject = [NameAttribute(.countryName, "UT")] },
]

@Suite("The profile of reader certificates")
struct ReaderProfileTests {
  @Test("each deviation has its own detail, and nothing else", arguments: cases)
  fileprivate func deviations(_ deviation: ReaderCase) throws {
    let rootKey = try PrivateKey.generate(.p256)
    let key = try PrivateKey.generate(.p256)
    var draft = CertificateDraft.readerAuthentication(
      serialNumber: SerialNumber(magnitude: [9]), issuer: [NameAttribute(.commonName, "Reader CA")],
      issuerKey: rootKey.publicKey, subject: [NameAttribute(.commonName, "Door 1")],
      notBefore: TestPKI.now.adding(seconds: -3600), notAfter: TestPKI.now.adding(seconds: 365 * TestPKI.day),
      publicKey: key.publicKey, contact: TestPKI.contact)
    try deviation.change(&draft)
    let faults = try Certificate(try draft.encoded(signedBy: rootKey)).readerProfileFaults
    #expect(Set(faults) == Set(deviation.faults))
    #expect(faults.count == deviation.faults.count)
  }

  @Test("every detail is reached by some case")
  func coverage() {
    #expect(Set(cases.flatMap(\.faults)) == Set(ReaderProfileFault.allCases))
  }
}
