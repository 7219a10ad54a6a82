import Bytes
import CivilTime
import TestSupport
import Testing

@testable import Crypto

/// An issuer made for one test: a root and a signer in the mdoc profile, and their keys.
struct TestIssuer {
  static let now = UnixTime(seconds: 1_780_000_000)
  static let contact = IssuerContact(email: "pki@example.com", crlAddress: "http://example.com/crl")
  static let rootName = [NameAttribute(.countryName, "UT"), NameAttribute(.commonName, "Test root")]

  let rootKey: PrivateKey
  let signerKey: PrivateKey
  var root: CertificateDraft
  var signer: CertificateDraft

  init(_ curve: Curve = .p256) throws {
    rootKey = try PrivateKey.generate(curve)
    signerKey = try PrivateKey.generate(curve)
    root = CertificateDraft.issuerRoot(
      serialNumber: SerialNumber(magnitude: [0x81, 2, 3]), name: TestIssuer.rootName,
      notBefore: TestIssuer.now.adding(seconds: -86_400), notAfter: TestIssuer.now.adding(seconds: 300 * 86_400),
      publicKey: rootKey.publicKey, contact: TestIssuer.contact)
    signer = CertificateDraft.documentSigner(
      serialNumber: SerialNumber(magnitude: [4, 5, 6]), issuer: TestIssuer.rootName, issuerKey: rootKey.publicKey,
      subject: [NameAttribute(.countryName, "UT"), NameAttribute(.commonName, "Test signer")],
      notBefore: TestIssuer.now.adding(seconds: -3600), notAfter: TestIssuer.now.adding(seconds: 90 * 86_400),
      publicKey: signerKey.publicKey, contact: TestIssuer.contact)
  }

  func signedSigner() throws -> Certificate { try Certificate(try signer.encoded(signedBy: rootKey)) }
}

@Suite("Certificates")
struct CertificateTests {
  @Test("a document signer reads back as it was drafted")
  func readsBack() throws {
    let issuer = try TestIssuer()
    let der = try issuer.signer.encoded(signedBy: issuer.rootKey)
    let certificate = try Certificate(der)
    #expect(certificate.encoded == der)
    #expect(certificate.version == 3)
    #expect(certificate.serialNumber.description == "040506")
    #expect(certificate.issuer.description == "C=UT, CN=Test root")
    #expect(certificate.subject.commonNames == ["Test signer"])
    #expect(certificate.subject.countries == ["UT"])
    #expect(certificate.subject.states == [])
    #expect(certificate.notBefore == issuer.signer.notBefore)
    #expect(certificate.notAfter == issuer.signer.notAfter)
    #expect(try certificate.publicKey.get() == issuer.signerKey.publicKey)
    #expect(certificate.signatureAlgorithm == .ecdsaWithSHA256)
    #expect(certificate.algorithmsAgree)
    #expect(
      certificate.extensions.map(\.oid.description) == [
        "2.5.29.35", "2.5.29.14", "2.5.29.15", "2.5.29.37", "2.5.29.18", "2.5.29.31",
      ])
    #expect(certificate.keyUsage == .present(.digitalSignature, isCritical: true))
    #expect(certificate.extendedKeyUsage == .present([.documentSigner], isCritical: true))
    #expect(certificate.basicConstraints == .absent)
    #expect(certificate.subjectKeyIdentifier.value?.elementsEqual(issuer.signerKey.publicKey.keyIdentifier) == true)
    #expect(certificate.authorityKeyIdentifier.value??.elementsEqual(issuer.rootKey.publicKey.keyIdentifier) == true)
    #expect(certificate.issuerAltName.value?.emails == ["pki@example.com"])
    #expect(certificate.crlDistributionPoints.value?.uris == ["http://example.com/crl"])
    #expect(certificate.crlDistributionPoints.value?.hasReasonsOrIssuer == false)
    #expect(!certificate.hasDuplicateExtension)
    #expect(certificate.fingerprint == digest(.sha256, der))
  }

  @Test("a root reads back with its constraints")
  func readsRoot() throws {
    let issuer = try TestIssuer()
    let root = try Certificate(try issuer.root.encoded(signedBy: issuer.rootKey))
    #expect(root.issuer == root.subject)
    #expect(root.basicConstraints.value?.isAuthority == true)
    #expect(root.basicConstraints.value?.pathLength == 0)
    #expect(root.keyUsage.value == [.keyCertSign, .crlSign])
    #expect(root.serialNumber.description == "810203")
    #expect(root.serialNumber.octetCount == 4)
    #expect(root.isSigned(by: issuer.rootKey.publicKey))
  }

  @Test(
    "a certificate is signed by its issuer's key and by no other",
    arguments: [
      Curve.p256, .p384, .p521, .brainpoolP256r1, .brainpoolP320r1, .brainpoolP384r1, .brainpoolP512r1,
    ])
  func signature(curve: Curve) throws {
    let issuer = try TestIssuer(curve)
    let certificate = try issuer.signedSigner()
    #expect(try certificate.publicKey.get().curve == curve)
    #expect(certificate.isSigned(by: issuer.rootKey.publicKey))
    #expect(!certificate.isSigned(by: issuer.signerKey.publicKey))
    var changed = certificate.encoded
    // The last byte of the subject's common name.
    let place = try #require(changed.indices.last { changed[$0...].starts(with: "signer".utf8) })
    changed[place + 5] = UInt8(ascii: "R")
    #expect(!(try Certificate(changed)).isSigned(by: issuer.rootKey.publicKey))
  }

  @Test("every hash is accepted whatever the curve", arguments: [HashAlgorithm.sha256, .sha384, .sha512])
  func hashes(hash: HashAlgorithm) throws {
    var issuer = try TestIssuer()
    issuer.signer.hash = hash
    #expect(try issuer.signedSigner().isSigned(by: issuer.rootKey.publicKey))
  }

  @Test(
    "an Edwards key is read, and the signature it made on a certificate is checked", arguments: [Curve.ed25519, .ed448])
  func edwards(curve: Curve) throws {
    var issuer = try TestIssuer()
    let key = try PrivateKey.generate(curve)
    issuer.signer.publicKeyInfo = CertificateDraft.publicKeyInfo(of: key.publicKey)
    #expect(try issuer.signedSigner().publicKey.get() == key.publicKey)
    let other = try Certificate(try issuer.signer.encoded(signedBy: key))
    #expect(other.signatureAlgorithm.description == (curve == .ed25519 ? "1.3.101.112" : "1.3.101.113"))
    #expect(other.isSigned(by: key.publicKey))
  }

  @Test("a cut certificate and one with a byte after it are malformed")
  func exactLength() throws {
    let issuer = try TestIssuer()
    let der = try issuer.signer.encoded(signedBy: issuer.rootKey)
    for count in 0..<der.count {
      #expect(throws: CertificateError.malformed) { try Certificate(der.prefix(count)) }
    }
    #expect(throws: CertificateError.malformed) { try Certificate(der + [0]) }
    #expect(throws: CertificateError.malformed) { try Certificate([UInt8](repeating: 0xA5, count: 32)) }
    #expect(throws: CertificateError.tooLarge) { try Certificate([UInt8](repeating: 0, count: 65_537)) }
  }

  @Test("lengths that are not in their shortest form are malformed")
  func notDER() throws {
    let issuer = try TestIssuer()
    let der = try issuer.signer.encoded(signedBy: issuer.rootKey)
    // 30 82 hh ll ... as 30 83 00 hh ll ..., which OpenSSL alone would read.
    #expect(der[1] == 0x82)
    #expect(throws: CertificateError.malformed) { try Certificate([0x30, 0x83, 0] + der.dropFirst(2)) }
    #expect(throws: CertificateError.malformed) { try Certificate([0x30, 0x80] + der.dropFirst(4) + [0, 0]) }
  }

  @Test("a date that does not exist makes a certificate unreadable")
  func dates() throws {
    var issuer = try TestIssuer()
    issuer.signer.notAfter = UnixTime(seconds: 1_782_864_000)  // 2026-07-01
    let der = try issuer.signer.encoded(signedBy: issuer.rootKey)
    let place = try #require(der.indices.first { der[$0...].starts(with: "260701".utf8) })
    for text in ["260631000000Z", "261301000000Z", "260701240000Z", "260701006000Z", "26070100000aZ", "260701000000z"] {
      var changed = der
      changed.replaceSubrange(place..<place + 13, with: text.utf8)
      #expect(throws: CertificateError.dateUnreadable) { try Certificate(changed) }
    }
    issuer.signer.notAfter = UnixTime(seconds: 2_524_608_000)  // 2050-01-01, the first GeneralizedTime
    #expect(try issuer.signedSigner().notAfter.description == "2050-01-01T00:00:00Z")
    issuer.signer.notBefore = UnixTime(seconds: -631_152_000)  // 1950-01-01, the first UTCTime
    #expect(try issuer.signedSigner().notBefore.description == "1950-01-01T00:00:00Z")
  }

  @Test("the reason why a public key is unusable is told")
  func keys() throws {
    var issuer = try TestIssuer()
    let key = issuer.signerKey.publicKey
    func fault(_ info: [UInt8]) throws -> CertificateKeyFault? {
      issuer.signer.publicKeyInfo = info
      guard case .failure(let fault) = try issuer.signedSigner().publicKey else { return nil }
      return fault
    }
    #expect(try fault(CertificateDraft.publicKeyInfo(of: key)) == nil)
    #expect(try fault(CertificateDraft.publicKeyInfo(of: key, compressed: true)) == .compressedPoint)
    #expect(try fault(explicitP256KeyInfo(x: key.x, y: key.y)) == .explicitParameters)
    var point = [4] + key.x + key.y
    point[64] ^= 1
    #expect(try fault(CertificateDraft.publicKeyInfo(curve: .p256, point: point)) == .invalidPoint)
    #expect(try fault(CertificateDraft.publicKeyInfo(curve: .p256, point: [0])) == .invalidPoint)
    #expect(try fault(CertificateDraft.publicKeyInfo(curve: .p256, point: [])) == .invalidPoint)
    #expect(try fault(CertificateDraft.publicKeyInfo(curve: .p384, point: [4] + key.x + key.y)) == .invalidPoint)
    let x25519 = try PrivateKey.generate(.x25519).publicKey
    #expect(try fault(CertificateDraft.publicKeyInfo(of: x25519)) == .unsupportedAlgorithm)
    // secp256k1, a named curve that is none of ours: its generator.
    let generator = try #require(
      bytes(
        hex:
          "0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8"
      ))
    let k1 = DER.sequence(
      DER.sequence(DER.objectIdentifier(OID(1, 2, 840, 10045, 2, 1)), DER.objectIdentifier(OID(1, 3, 132, 0, 10))),
      DER.bitString(generator))
    #expect(try fault(k1) == .unsupportedCurve)
    let rsa = DER.sequence(
      DER.sequence(DER.objectIdentifier(OID(1, 2, 840, 113549, 1, 1, 1)), [5, 0]),
      DER.bitString(DER.sequence(DER.element(2, [0] + [UInt8](repeating: 0xC1, count: 256)), DER.integer(65537))))
    #expect(try fault(rsa) == .rsa)
  }

  @Test("algorithms that differ inside and outside are told and do not change what was signed")
  func innerAlgorithm() throws {
    var issuer = try TestIssuer()
    issuer.signer.innerAlgorithm = DER.sequence(DER.objectIdentifier(.ecdsaWithSHA384))
    let certificate = try issuer.signedSigner()
    #expect(!certificate.algorithmsAgree)
    #expect(certificate.isSigned(by: issuer.rootKey.publicKey))
  }

  @Test(
    "serial numbers keep their sign and their octets",
    arguments: [
      (SerialNumber(magnitude: []), "00", 1), (SerialNumber(magnitude: [0, 5]), "05", 1),
      (SerialNumber(magnitude: [5], isNegative: true), "-05", 1),
      (SerialNumber(magnitude: [0x80], isNegative: true), "-80", 1),
      (SerialNumber(magnitude: [0x81], isNegative: true), "-81", 2),
      (SerialNumber(magnitude: [1, 0, 0], isNegative: true), "-010000", 3),
      (SerialNumber(magnitude: [0x80]), "80", 2),
      (SerialNumber(magnitude: [UInt8](repeating: 0x7F, count: 20)), String(repeating: "7f", count: 20), 20),
      (SerialNumber(magnitude: [UInt8](repeating: 0xFF, count: 20)), String(repeating: "ff", count: 20), 21),
    ])
  func serialNumbers(serial: SerialNumber, text: String, octets: Int) throws {
    var issuer = try TestIssuer()
    issuer.signer.serialNumber = serial
    let certificate = try issuer.signedSigner()
    #expect(certificate.serialNumber == serial)
    #expect(certificate.serialNumber.description == text)
    #expect(certificate.serialNumber.octetCount == octets)
    #expect(serial.derContent.count == octets)
  }

  @Test("a version 1 certificate has no extensions")
  func versionOne() throws {
    var issuer = try TestIssuer()
    issuer.signer.version = 1
    issuer.signer.extensions = []
    let certificate = try issuer.signedSigner()
    #expect(certificate.version == 1)
    #expect(certificate.extensions.isEmpty)
    #expect(certificate.keyUsage == .absent)
  }

  @Test("every certificate of the reference samples is read")
  func samples() throws {
    guard let der = try sharedBytes("vectors/annex-d/ds.der"), let root = try sharedBytes("vectors/annex-d/iaca.der"),
      let reader = try sharedBytes("vectors/annex-d/reader.der")
    else { return }
    let signer = try Certificate(der)
    let anchor = try Certificate(root)
    #expect(signer.isSigned(by: try anchor.publicKey.get()))
    #expect(signer.issuer == anchor.subject)
    #expect(try Certificate(reader).extendedKeyUsage.value == [.readerAuthentication])
  }
}
