import Bytes
import CivilTime

/// One attribute of a name to be written.
package struct NameAttribute: Hashable, Sendable {
  package var type: OID
  package var text: String
  /// The DER tag of its string type.
  package var stringTag: UInt8

  package static let utf8String: UInt8 = 12
  package static let printableString: UInt8 = 19

  /// As the mdoc profile has it: countries are PrintableString, the others UTF8String, unless a tag is given.
  package init(_ type: OID, _ text: String, stringTag: UInt8? = nil) {
    self.type = type
    self.text = text
    self.stringTag = stringTag ?? (type == .countryName ? NameAttribute.printableString : NameAttribute.utf8String)
  }
}

/// An extension to be written.
package struct ExtensionDraft: Hashable, Sendable {
  package var oid: OID
  package var isCritical: Bool
  /// The DER inside the octet string.
  package var value: [UInt8]

  package init(_ oid: OID, isCritical: Bool = false, value: [UInt8]) {
    self.oid = oid
    self.isCritical = isCritical
    self.value = value
  }

  var encoded: [UInt8] {
    DER.sequence(DER.objectIdentifier(oid), isCritical ? DER.true : [], DER.octetString(value))
  }
}

/// A certificate before it is signed, for test issuers and a reader's own keys.
///
/// Every part can be changed, also into what no certificate may be: the writer checks nothing, because a test needs
/// wrong certificates. That is why it writes its DER itself and does not ask OpenSSL, which refuses most of them.
package struct CertificateDraft: Sendable {
  package var version = 3
  package var serialNumber: SerialNumber
  package var issuer: [NameAttribute]
  package var subject: [NameAttribute]
  package var notBefore: UnixTime
  package var notAfter: UnixTime
  /// SubjectPublicKeyInfo in DER.
  package var publicKeyInfo: [UInt8]
  /// Written in this order.
  package var extensions: [ExtensionDraft]
  /// The hash of the signature; nil pairs it with the curve of the signing key.
  package var hash: HashAlgorithm?
  /// The AlgorithmIdentifier inside the signed part, when it shall not be that of the signature.
  package var innerAlgorithm: [UInt8]?

  package init(
    serialNumber: SerialNumber, issuer: [NameAttribute], subject: [NameAttribute], notBefore: UnixTime,
    notAfter: UnixTime, publicKey: PublicKey, extensions: [ExtensionDraft] = []
  ) {
    self.serialNumber = serialNumber
    self.issuer = issuer
    self.subject = subject
    self.notBefore = notBefore
    self.notAfter = notAfter
    publicKeyInfo = CertificateDraft.publicKeyInfo(of: publicKey)
    self.extensions = extensions
  }

  /// The certificate in DER. ECDSA with the paired or given hash, or EdDSA.
  package func encoded(signedBy key: PrivateKey) throws(CryptoError) -> [UInt8] {
    let algorithm = signatureAlgorithm(key.curve, hash)
    var parts = version > 1 ? DER.element(DERTag.context(0, constructed: true), DER.integer(version - 1)) : []
    parts += DER.element(DERTag.integer, serialNumber.derContent)
    parts += innerAlgorithm ?? algorithm
    parts += encodedName(issuer)
    parts += DER.sequence(encodedTime(notBefore), encodedTime(notAfter))
    parts += encodedName(subject)
    parts += publicKeyInfo
    if !extensions.isEmpty {
      let list = DER.element(DERTag.sequence, Array(extensions.map(\.encoded).joined()))
      parts += DER.element(DERTag.context(3, constructed: true), list)
    }
    return try signed(DER.element(DERTag.sequence, parts), algorithm: algorithm, by: key, hash: hash)
  }

  /// The first extension with this identifier; setting it replaces, appends or (nil) removes.
  package subscript(_ oid: OID) -> ExtensionDraft? {
    get { extensions.first { $0.oid == oid } }
    set {
      let index = extensions.firstIndex { $0.oid == oid }
      switch (index, newValue) {
      case (let index?, let value?): extensions[index] = value
      case (let index?, nil): extensions.remove(at: index)
      case (nil, let value?): extensions.append(value)
      case (nil, nil): break
      }
    }
  }

  /// SubjectPublicKeyInfo of a key: curve by name, point uncompressed (or compressed, which certificates may not).
  package static func publicKeyInfo(of key: PublicKey, compressed: Bool = false) -> [UInt8] {
    guard key.curve.kind == .weierstrass else {
      return DER.sequence(DER.sequence(DER.objectIdentifier(key.curve.oid)), DER.bitString(key.x))
    }
    let prefix: UInt8 = compressed ? 2 | (key.y.last ?? 0) & 1 : 4
    var point = [prefix] + key.x
    if !compressed { point += key.y }
    return publicKeyInfo(curve: key.curve, point: point)
  }

  /// SubjectPublicKeyInfo of any bytes in place of a point.
  package static func publicKeyInfo(curve: Curve, point: [UInt8]) -> [UInt8] {
    DER.sequence(
      DER.sequence(DER.objectIdentifier(OID.ecPublicKey), DER.objectIdentifier(curve.oid)), DER.bitString(point))
  }
}

/// A revocation list before it is signed.
package struct RevocationListDraft: Sendable {
  package var issuer: [NameAttribute]
  package var thisUpdate: UnixTime
  package var nextUpdate: UnixTime?
  package var revoked: [(serialNumber: SerialNumber, date: UnixTime)]
  package var extensions: [ExtensionDraft]
  package var hash: HashAlgorithm?

  /// A list in the mdoc profile: authority key identifier of the issuer's key, and a number.
  package init(
    issuer: [NameAttribute], issuerKey: PublicKey, thisUpdate: UnixTime, nextUpdate: UnixTime?, number: Int = 1,
    revoked: [(serialNumber: SerialNumber, date: UnixTime)] = []
  ) {
    self.issuer = issuer
    self.thisUpdate = thisUpdate
    self.nextUpdate = nextUpdate
    self.revoked = revoked
    extensions = [
      .authorityKeyIdentifier(issuerKey.keyIdentifier), ExtensionDraft(.crlNumber, value: DER.integer(number)),
    ]
  }

  /// The list in DER.
  package func encoded(signedBy key: PrivateKey) throws(CryptoError) -> [UInt8] {
    let algorithm = signatureAlgorithm(key.curve, hash)
    var parts = DER.integer(1) + algorithm + encodedName(issuer) + encodedTime(thisUpdate)
    if let nextUpdate { parts += encodedTime(nextUpdate) }
    if !revoked.isEmpty {
      var entries: [UInt8] = []
      for entry in revoked {
        entries += DER.sequence(
          DER.element(DERTag.integer, entry.serialNumber.derContent), encodedTime(entry.date))
      }
      parts += DER.element(DERTag.sequence, entries)
    }
    if !extensions.isEmpty {
      let list = DER.element(DERTag.sequence, Array(extensions.map(\.encoded).joined()))
      parts += DER.element(DERTag.context(0, constructed: true), list)
    }
    return try signed(DER.element(DERTag.sequence, parts), algorithm: algorithm, by: key, hash: hash)
  }
}

extension SerialNumber {
  /// Two's complement in the fewest octets.
  var derContent: [UInt8] {
    guard isNegative else { return magnitude.first.map { $0 < 0x80 ? magnitude : [0] + magnitude } ?? [0] }
    var bytes = [0] + magnitude.map { ~$0 }
    bytes[0] = 0xFF
    for index in bytes.indices.reversed() {
      let (sum, overflow) = bytes[index].addingReportingOverflow(1)
      bytes[index] = sum
      if !overflow { break }
    }
    if bytes[1] >= 0x80 { bytes.removeFirst() }
    return bytes
  }
}

extension PublicKey {
  /// SHA-1 of the public key bits: the key identifier of the mdoc profile (RFC 5280 section 4.2.1.2, method 1).
  package var keyIdentifier: [UInt8] { sha1((curve.kind == .weierstrass ? [4] + x + y : x)[...]) }
}

extension Curve {
  /// The identifier of the named curve, or of the algorithm for the other kinds.
  var oid: OID {
    switch self {
    case .p256: OID(1, 2, 840, 10045, 3, 1, 7)
    case .p384: OID(1, 3, 132, 0, 34)
    case .p521: OID(1, 3, 132, 0, 35)
    case .brainpoolP256r1: OID(1, 3, 36, 3, 3, 2, 8, 1, 1, 7)
    case .brainpoolP320r1: OID(1, 3, 36, 3, 3, 2, 8, 1, 1, 9)
    case .brainpoolP384r1: OID(1, 3, 36, 3, 3, 2, 8, 1, 1, 11)
    case .brainpoolP512r1: OID(1, 3, 36, 3, 3, 2, 8, 1, 1, 13)
    case .x25519: OID(1, 3, 101, 110)
    case .x448: OID(1, 3, 101, 111)
    case .ed25519: OID(1, 3, 101, 112)
    case .ed448: OID(1, 3, 101, 113)
    }
  }

  fileprivate var pairedHash: HashAlgorithm {
    switch fieldSize {
    case ...40: .sha256
    case ...48: .sha384
    default: .sha512
    }
  }
}

private func signatureAlgorithm(_ curve: Curve, _ hash: HashAlgorithm?) -> [UInt8] {
  guard curve.kind == .weierstrass else { return DER.sequence(DER.objectIdentifier(curve.oid)) }
  switch hash ?? curve.pairedHash {
  case .sha256: return DER.sequence(DER.objectIdentifier(.ecdsaWithSHA256))
  case .sha384: return DER.sequence(DER.objectIdentifier(.ecdsaWithSHA384))
  case .sha512: return DER.sequence(DER.objectIdentifier(.ecdsaWithSHA512))
  }
}

private func signed(
  _ content: [UInt8], algorithm: [UInt8], by key: PrivateKey, hash: HashAlgorithm?
) throws(CryptoError) -> [UInt8] {
  let hash = key.curve.kind == .edwards ? nil : hash ?? key.curve.pairedHash
  return DER.sequence(content, algorithm, DER.bitString(try key.derOrRawSignature(for: content, hash: hash)))
}

private func encodedName(_ attributes: [NameAttribute]) -> [UInt8] {
  var relativeNames: [UInt8] = []
  for attribute in attributes {
    let pair = DER.sequence(
      DER.objectIdentifier(attribute.type), DER.element(attribute.stringTag, Array(attribute.text.utf8)))
    relativeNames += DER.element(DERTag.set, pair)
  }
  return DER.element(DERTag.sequence, relativeNames)
}

/// UTCTime through 2049, GeneralizedTime after it (RFC 5280 section 4.1.2.5).
private func encodedTime(_ time: UnixTime) -> [UInt8] {
  let digits = time.description.utf8.filter { (0x30...0x39).contains($0) } + [UInt8(ascii: "Z")]
  let year = time.date().year
  return (1950..<2050).contains(year)
    ? DER.element(DERTag.utcTime, digits.dropFirst(2)) : DER.element(DERTag.generalizedTime, digits)
}
