import Bytes
import CivilTime

extension ExtensionDraft {
  package static func keyUsage(_ usage: KeyUsage, isCritical: Bool = true) -> ExtensionDraft {
    var bytes: [UInt8] = []
    var rest = usage.rawValue
    while rest != 0 {
      bytes.append((0..<8).reduce(0) { $0 | (rest >> UInt32($1) & 1 == 1 ? 0x80 >> UInt8($1) : 0) })
      rest >>= 8
    }
    let unused = UInt8(bytes.last?.trailingZeroBitCount ?? 0)
    return ExtensionDraft(
      .keyUsage, isCritical: isCritical, value: DER.element(DERTag.bitString, [unused] + bytes))
  }

  package static func extendedKeyUsage(_ purposes: [OID], isCritical: Bool = true) -> ExtensionDraft {
    ExtensionDraft(
      .extendedKeyUsage, isCritical: isCritical,
      value: DER.element(DERTag.sequence, Array(purposes.map(DER.objectIdentifier).joined())))
  }

  package static func basicConstraints(
    isAuthority: Bool, pathLength: Int? = nil, isCritical: Bool = true
  ) -> ExtensionDraft {
    ExtensionDraft(
      .basicConstraints, isCritical: isCritical,
      value: DER.sequence(isAuthority ? DER.true : [], pathLength.map(DER.integer) ?? []))
  }

  package static func subjectKeyIdentifier(_ identifier: [UInt8]) -> ExtensionDraft {
    ExtensionDraft(.subjectKeyIdentifier, value: DER.octetString(identifier))
  }

  package static func authorityKeyIdentifier(_ identifier: [UInt8]) -> ExtensionDraft {
    ExtensionDraft(
      .authorityKeyIdentifier, value: DER.sequence(DER.element(DERTag.context(0, constructed: false), identifier)))
  }

  package static func issuerAltName(
    email: String? = nil, uri: String? = nil, isCritical: Bool = false
  ) -> ExtensionDraft {
    ExtensionDraft(.issuerAltName, isCritical: isCritical, value: DER.sequence(names(1, email), names(6, uri)))
  }

  package static func subjectAltName(dnsName: String) -> ExtensionDraft {
    ExtensionDraft(.subjectAltName, value: DER.sequence(names(2, dnsName)))
  }

  package static func crlDistributionPoints(uri: String) -> ExtensionDraft { crlDistributionPoints(uris: [uri]) }

  /// One distribution point with several addresses of the same list (RFC 5280 section 4.2.1.13).
  package static func crlDistributionPoints(uris: [String]) -> ExtensionDraft {
    let full = DER.element(DERTag.context(0, constructed: true), uris.flatMap { names(6, $0) })
    return ExtensionDraft(
      .crlDistributionPoints,
      value: DER.sequence(DER.sequence(DER.element(DERTag.context(0, constructed: true), full))))
  }

  private static func names(_ tag: UInt8, _ text: String?) -> [UInt8] {
    text.map { DER.element(DERTag.context(tag, constructed: false), Array($0.utf8)) } ?? []
  }
}

/// What the certificates of one issuer have in common beside its name and keys.
package struct IssuerContact: Sendable {
  package var email: String
  package var crlAddress: String

  package init(email: String, crlAddress: String) {
    self.email = email
    self.crlAddress = crlAddress
  }
}

/// The mdoc profiles (ISO/IEC 18013-5 annex B), conforming; change what a test needs.
extension CertificateDraft {
  /// An issuer root (IACA) for its own key: self-signed, path length 0.
  package static func issuerRoot(
    serialNumber: SerialNumber, name: [NameAttribute], notBefore: UnixTime, notAfter: UnixTime, publicKey: PublicKey,
    contact: IssuerContact
  ) -> CertificateDraft {
    CertificateDraft(
      serialNumber: serialNumber, issuer: name, subject: name, notBefore: notBefore, notAfter: notAfter,
      publicKey: publicKey,
      extensions: [
        .basicConstraints(isAuthority: true, pathLength: 0), .keyUsage([.keyCertSign, .crlSign]),
        .subjectKeyIdentifier(publicKey.keyIdentifier), .issuerAltName(email: contact.email),
        .crlDistributionPoints(uri: contact.crlAddress),
      ])
  }

  /// A document signer under a root.
  package static func documentSigner(
    serialNumber: SerialNumber, issuer: [NameAttribute], issuerKey: PublicKey, subject: [NameAttribute],
    notBefore: UnixTime, notAfter: UnixTime, publicKey: PublicKey, contact: IssuerContact,
    purposes: [OID] = [.documentSigner]
  ) -> CertificateDraft {
    CertificateDraft(
      serialNumber: serialNumber, issuer: issuer, subject: subject, notBefore: notBefore, notAfter: notAfter,
      publicKey: publicKey,
      extensions: [
        .authorityKeyIdentifier(issuerKey.keyIdentifier), .subjectKeyIdentifier(publicKey.keyIdentifier),
        .keyUsage(.digitalSignature), .extendedKeyUsage(purposes), .issuerAltName(email: contact.email),
        .crlDistributionPoints(uri: contact.crlAddress),
      ])
  }

  /// A reader authentication certificate under a reader root.
  package static func readerAuthentication(
    serialNumber: SerialNumber, issuer: [NameAttribute], issuerKey: PublicKey, subject: [NameAttribute],
    notBefore: UnixTime, notAfter: UnixTime, publicKey: PublicKey, contact: IssuerContact
  ) -> CertificateDraft {
    documentSigner(
      serialNumber: serialNumber, issuer: issuer, issuerKey: issuerKey, subject: subject, notBefore: notBefore,
      notAfter: notAfter, publicKey: publicKey, contact: contact, purposes: [.readerAuthentication])
  }
}
