import CivilTime
import Crypto

/// A test issuer's root (IACA): its key, its self-signed certificate, and its name.
package struct IssuerAuthority: Sendable {
  package let key: PrivateKey
  /// The certificate in DER: what a reader is given to trust.
  package let certificate: [UInt8]
  package let name: [NameAttribute]
  /// Where its certificates point for mail and lists.
  package let contact: IssuerContact

  /// Where test certificates point for mail and lists: names that RFC 2606 reserves.
  package static let contact = IssuerContact(email: "iaca@issuer.example", crlAddress: "http://issuer.example/iaca.crl")

  /// Makes a root of the profile: valid from `notBefore`, for nine years or until `notAfter`.
  ///
  /// - Parameters:
  ///   - country: ISO 3166-1 alpha-2.
  ///   - state: stateOrProvinceName (ISO 3166-2), which signers then carry too; nil for none.
  ///   - edit: changes the certificate before it is signed.
  /// - Throws: `curve` for a curve that no root may have.
  package init(
    curve: Curve = .p256, country: String = "UT", state: String? = nil, commonName: String = "Test IACA",
    notBefore: UnixTime, notAfter: UnixTime? = nil, contact: IssuerContact = contact,
    random: inout some RandomNumberGenerator, edit: (inout CertificateDraft) -> Void = { _ in }
  ) throws(IssuerError) {
    self.contact = contact
    guard curve.kind == .weierstrass else { throw .curve(curve.rawValue) }
    key = try PrivateKey.make(curve, random: &random)
    var name = [NameAttribute(.countryName, country)]
    if let state { name.append(NameAttribute(.stateOrProvinceName, state)) }
    name.append(NameAttribute(.commonName, commonName))
    var draft = CertificateDraft.issuerRoot(
      serialNumber: serialNumber(from: &random), name: name, notBefore: notBefore,
      notAfter: notAfter ?? notBefore.adding(seconds: 9 * 365 * 86_400), publicKey: key.publicKey,
      contact: contact)
    edit(&draft)
    self.name = draft.subject
    certificate = try encode(draft, key)
  }

  /// Takes up a root that was made before. Throws `curve` when the certificate is not of this key.
  package init(key: PrivateKey, certificate: Certificate) throws(IssuerError) {
    guard case .success(let publicKey) = certificate.publicKey, publicKey == key.publicKey else {
      throw .cryptography("root: certificate and key do not belong together")
    }
    self.key = key
    self.certificate = certificate.encoded
    contact = IssuerContact(
      email: IssuerAuthority.contact.email,
      crlAddress: certificate.crlDistributionPoints.value?.uris.first ?? IssuerAuthority.contact.crlAddress)
    name = certificate.subject.attributes.map { NameAttribute($0.type, $0.text, stringTag: $0.stringTag) }
  }

  /// The certificate as PEM text.
  package var pem: String { PEM.encode("CERTIFICATE", certificate) }

  /// Makes a document signer under this root.
  ///
  /// - Parameters:
  ///   - purposes: extended key usage; empty leaves the extension out.
  ///   - signedBy: signs the certificate instead of the root's key: a forgery.
  ///   - edit: changes the certificate before it is signed.
  /// - Throws: `curve` for a curve that cannot sign.
  package func makeSigner(
    curve: Curve = .p256, commonName: String = "Test Document Signer", notBefore: UnixTime, notAfter: UnixTime,
    purposes: [OID] = [.documentSigner], signedBy forger: PrivateKey? = nil, random: inout some RandomNumberGenerator,
    edit: (inout CertificateDraft) -> Void = { _ in }
  ) throws(IssuerError) -> DocumentSigner {
    guard curve.kind != .montgomery else { throw .curve(curve.rawValue) }
    let signerKey = try PrivateKey.make(curve, random: &random)
    let subject =
      name.filter { $0.type == .countryName || $0.type == .stateOrProvinceName }
      + [NameAttribute(.commonName, commonName)]
    var draft = CertificateDraft.documentSigner(
      serialNumber: serialNumber(from: &random), issuer: name, issuerKey: key.publicKey, subject: subject,
      notBefore: notBefore, notAfter: notAfter, publicKey: signerKey.publicKey, contact: contact,
      purposes: purposes)
    if purposes.isEmpty { draft[.extendedKeyUsage] = nil }
    edit(&draft)
    return DocumentSigner(key: signerKey, certificate: try encode(draft, forger ?? key))
  }
}

/// A document signer: its key and its certificate, which goes into x5chain.
package struct DocumentSigner: Sendable {
  package let key: PrivateKey
  /// DER.
  package let certificate: [UInt8]

  package init(key: PrivateKey, certificate: [UInt8]) {
    self.key = key
    self.certificate = certificate
  }
}

extension PrivateKey {
  /// A key drawn from a generator: the same one again for the same seed. For tests and test issuers only.
  package static func make(
    _ curve: Curve, random: inout some RandomNumberGenerator
  ) throws(IssuerError) -> PrivateKey {
    // Scalars beyond the group order are drawn again; the order of P-521 has only one bit in its first byte.
    for _ in 0..<200 {
      var scalar = bytes(curve.fieldSize, from: &random)
      if curve == .p521 { scalar[0] &= 1 }
      do {
        return try PrivateKey(curve: curve, scalar: scalar)
      } catch {
        guard error == .invalidKey else { throw .cryptography("key on \(curve.rawValue)") }
      }
    }
    throw .cryptography("key on \(curve.rawValue)")
  }
}

private func encode(_ draft: CertificateDraft, _ key: PrivateKey) throws(IssuerError) -> [UInt8] {
  do { return try draft.encoded(signedBy: key) } catch { throw .cryptography("certificate signature") }
}

/// A positive number of 16 octets.
private func serialNumber(from random: inout some RandomNumberGenerator) -> SerialNumber {
  var magnitude = bytes(16, from: &random)
  magnitude[0] = magnitude[0] & 0x3f | 0x40
  return SerialNumber(magnitude: magnitude)
}
