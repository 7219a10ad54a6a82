package import Bytes
package import CivilTime
internal import Synchronization

/// Why bytes are no certificate, or no revocation list.
package enum CertificateError: Error, Equatable, Sendable {
  /// Not one DER certificate (or list) and nothing else.
  case malformed
  /// A date that is not in the form of RFC 5280 section 4.1.2.5, or is no real date.
  case dateUnreadable
  /// Longer than `Certificate.maximumSize` or `CertificateRevocationList.maximumSize`.
  case tooLarge
}

/// An X.509 certificate: what it says. Nothing in it has been verified.
///
/// Read here and not by OpenSSL, whose `d2i_X509` takes twenty times as long: OpenSSL 3 looks up decoders for the public
/// key of every certificate, also of the ten thousand in a trust store whose keys nobody asks for. The reader is strict
/// DER throughout, in memory-safe code, and tests hold it against OpenSSL's.
/// Immutable: everything is read once, when it is made; the key is made by OpenSSL when it is first asked for.
package final class Certificate: Sendable {
  /// Longest encoding accepted, in bytes.
  package static let maximumSize = 65_536

  /// The exact DER.
  package let encoded: [UInt8]
  /// As people count them: 3 for `v3`.
  package let version: Int
  package let serialNumber: SerialNumber
  package let issuer: DistinguishedName
  package let subject: DistinguishedName
  package let notBefore: UnixTime
  package let notAfter: UnixTime
  private let publicKeyInfo: PublicKeyInfo
  /// The algorithm outside the signed part, which the signature was made with.
  package let signatureAlgorithm: OID
  /// Whether the algorithm inside the signed part is the same, parameters included.
  package let algorithmsAgree: Bool
  /// In the order of the certificate, duplicates included.
  package let extensions: [CertificateExtension]

  package let keyUsage: ExtensionReading<KeyUsage>
  package let extendedKeyUsage: ExtensionReading<[OID]>
  package let basicConstraints: ExtensionReading<BasicConstraints>
  package let subjectKeyIdentifier: ExtensionReading<ByteView>
  /// The key identifier; nil inside `present` when the authority is named in another way only.
  package let authorityKeyIdentifier: ExtensionReading<ByteView?>
  package let issuerAltName: ExtensionReading<GeneralNames>
  package let crlDistributionPoints: ExtensionReading<CRLDistributionPoints>

  let signedPart: SignedPart
  private let key = Mutex<Result<PublicKey, CertificateKeyFault>?>(nil)

  /// Reads one DER certificate; bytes after it are refused.
  package init(_ der: some Collection<UInt8>) throws(CertificateError) {
    guard der.count <= Certificate.maximumSize else { throw .tooLarge }
    let encoded = Array(der)
    guard let signedPart = SignedPart(encoded[...]) else { throw .malformed }
    var reader = signedPart.content
    guard let version = readVersion(&reader), let serial = reader.next(DERTag.integer),
      let serialNumber = SerialNumber(derContent: serial.content), let algorithm = reader.next(DERTag.sequence),
      algorithm.algorithmIdentifier != nil,
      let issuer = reader.next(DERTag.sequence).flatMap({ DistinguishedName(encoded: $0.encoded) }),
      var validity = reader.next(DERTag.sequence)?.reader, let start = validity.nextTime(),
      let end = validity.nextTime(), validity.isAtEnd,
      let subject = reader.next(DERTag.sequence).flatMap({ DistinguishedName(encoded: $0.encoded) }),
      let publicKeyInfo = reader.next(DERTag.sequence).flatMap(PublicKeyInfo.init)
    else { throw .malformed }
    // Unique identifiers of version 2, which nothing uses.
    _ = reader.next(DERTag.context(1, constructed: false))
    _ = reader.next(DERTag.context(2, constructed: false))
    guard let extensions = readExtensions(&reader, tag: 3), reader.isAtEnd else { throw .malformed }
    guard let notBefore = UnixTime(der: start), let notAfter = UnixTime(der: end) else { throw .dateUnreadable }

    self.encoded = encoded
    self.signedPart = signedPart
    self.version = version
    self.serialNumber = serialNumber
    self.issuer = issuer
    self.subject = subject
    self.notBefore = notBefore
    self.notAfter = notAfter
    self.publicKeyInfo = publicKeyInfo
    self.extensions = extensions
    signatureAlgorithm = signedPart.algorithm
    algorithmsAgree = algorithm.encoded == signedPart.algorithmIdentifier
    func read<Value>(_ oid: OID, _ decode: (ByteView) -> Value?) -> ExtensionReading<Value> {
      guard let found = extensions.first(where: { $0.oid == oid }) else { return .absent }
      guard let value = decode(found.value) else { return .malformed(isCritical: found.isCritical) }
      return .present(value, isCritical: found.isCritical)
    }
    keyUsage = read(.keyUsage, KeyUsage.init(der:))
    extendedKeyUsage = read(.extendedKeyUsage, ExtensionValue.extendedKeyUsage)
    basicConstraints = read(.basicConstraints, BasicConstraints.init(der:))
    subjectKeyIdentifier = read(.subjectKeyIdentifier, ExtensionValue.subjectKeyIdentifier)
    authorityKeyIdentifier = read(.authorityKeyIdentifier, ExtensionValue.authorityKeyIdentifier)
    issuerAltName = read(.issuerAltName, GeneralNames.init(der:))
    crlDistributionPoints = read(.crlDistributionPoints, CRLDistributionPoints.init(der:))
  }

  /// The public key, or why it cannot be used. Made once, when it is first asked for.
  package var publicKey: Result<PublicKey, CertificateKeyFault> {
    key.withLock { key in
      if let key { return key }
      let made = publicKeyInfo.key()
      key = made
      return made
    }
  }

  /// SHA-256 over the whole certificate: its name in the trust store. Computed on each call.
  package var fingerprint: [UInt8] { digest(.sha256, encoded) }

  /// Whether this key signed this certificate: ECDSA with SHA-256, SHA-384 or SHA-512 over the bytes as received.
  package func isSigned(by key: PublicKey) -> Bool { signedPart.isSigned(by: key) }

  /// Whether an extension occurs more than once.
  package var hasDuplicateExtension: Bool {
    extensions.indices.contains { index in extensions[..<index].contains { $0.oid == extensions[index].oid } }
  }
}

extension Certificate: Hashable {
  package static func == (left: Certificate, right: Certificate) -> Bool {
    left === right || left.encoded == right.encoded
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(encoded) }
}
