import CivilTime
import Crypto

@testable import Trust

/// A root and a signer in the mdoc profile; one change makes one case.
struct TestPKI {
  static let now = UnixTime(seconds: 1_780_000_000)
  static let day: Int64 = 86_400
  static let mdl = "org.iso.18013.5.1.mDL"
  static let contact = IssuerContact(email: "pki@example.com", crlAddress: "http://example.com/crl")

  var rootKey: PrivateKey
  let signerKey: PrivateKey
  var root: CertificateDraft
  var signer: CertificateDraft
  var requirements = ChainRequirements(docType: TestPKI.mdl, keyPurpose: .documentSigner)
  var comparison = NameComparison.normalized
  var trustedSigners: [TrustedSigner] = []

  init() throws {
    rootKey = try PrivateKey.generate(.p256)
    signerKey = try PrivateKey.generate(.p256)
    let name = [NameAttribute(.countryName, "UT"), NameAttribute(.commonName, "Test Root")]
    root = CertificateDraft.issuerRoot(
      serialNumber: SerialNumber(magnitude: [1]), name: name, notBefore: TestPKI.now.adding(seconds: -TestPKI.day),
      notAfter: TestPKI.now.adding(seconds: 1000 * TestPKI.day), publicKey: rootKey.publicKey,
      contact: TestPKI.contact)
    signer = CertificateDraft.documentSigner(
      serialNumber: SerialNumber(magnitude: [2]), issuer: name, issuerKey: rootKey.publicKey,
      subject: [NameAttribute(.countryName, "UT"), NameAttribute(.commonName, "Test Signer")],
      notBefore: TestPKI.now.adding(seconds: -3600), notAfter: TestPKI.now.adding(seconds: 100 * TestPKI.day),
      publicKey: signerKey.publicKey, contact: TestPKI.contact)
  }

  mutating func setCountry(_ countries: [String], root isRoot: Bool) {
    let attributes = countries.map { NameAttribute(.countryName, $0) }
    if isRoot {
      root.subject = attributes + [NameAttribute(.commonName, "Test Root")]
      root.issuer = root.subject
      signer.issuer = root.subject
    } else {
      signer.subject = attributes + [NameAttribute(.commonName, "Test Signer")]
    }
  }

  func rootCertificate() throws -> Certificate { try Certificate(try root.encoded(signedBy: rootKey)) }
  func signerCertificate() throws -> Certificate { try Certificate(try signer.encoded(signedBy: rootKey)) }
  func anchor(docTypes: Set<String>? = nil) throws -> TrustAnchor {
    TrustAnchor(try rootCertificate(), docTypes: docTypes, source: "test")
  }

  func verdict(
    anchors: [TrustAnchor]? = nil, signer: Certificate? = nil, at now: UnixTime = TestPKI.now,
    revocation: RevocationAnswer = .unknown
  ) throws -> ChainVerdict {
    let trust = SignerTrust(
      anchors: TrustAnchors(try anchors ?? [anchor()]), trustedSigners: trustedSigners, nameComparison: comparison)
    return trust.assess(try signer ?? signerCertificate())
      .verdict(for: requirements, at: now) { _, _ in revocation }
  }
}

func hard(_ reason: ChainReason) -> ChainFinding { ChainFinding(reason) }
func soft(_ reason: ChainReason) -> ChainFinding { ChainFinding(reason, isHard: false) }

extension ChainVerdict {
  /// Whether nothing hard was found.
  var isTrusted: Bool { !findings.contains { $0.isHard } }
}
