import Bytes
internal import COpenSSL
import CivilTime

/// Why bytes are no certificate, or no revocation list.
package enum CertificateError: Error, Equatable, Sendable {
  /// Not one DER certificate (or list) and nothing else.
  case malformed
  /// A date that is not in the form of RFC 5280 section 4.1.2.5, or is no real date.
  case dateUnreadable
  /// Longer than `Certificate.maximumSize` or `CertificateRevocationList.maximumSize`.
  case tooLarge
}

/// Why the public key of a certificate cannot be used.
package enum CertificateKeyFault: String, Error, Hashable, Sendable {
  case rsa
  /// Neither RSA, EC nor one of the two Edwards curves.
  case unsupportedAlgorithm
  case unsupportedCurve
  /// The curve is written out instead of named.
  case explicitParameters
  /// A point in compressed or hybrid form; certificates carry both coordinates.
  case compressedPoint
  /// Not the encoding of a point on the curve.
  case invalidPoint
}

/// An X.509 certificate: what it says. Nothing in it has been verified.
///
/// OpenSSL decides whether bytes are a certificate and reads its frame and key; values are those of the bytes as
/// received. Immutable: everything is read once, when it is made.
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
  package let publicKey: Result<PublicKey, CertificateKeyFault>
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

  /// Reads one DER certificate; bytes after it are refused.
  package init(_ der: some Collection<UInt8>) throws(CertificateError) {
    guard der.count <= Certificate.maximumSize else { throw .tooLarge }
    let encoded = Array(der)
    guard let signedPart = SignedPart(encoded[...]) else { throw .malformed }
    guard let x509 = parse(encoded) else {
      ERR_clear_error()
      throw .malformed
    }
    // Ours alone until here; everything is copied out of it below.
    defer { X509_free(x509) }

    guard let issuer = distinguishedName(X509_get_issuer_name(x509)),
      let subject = distinguishedName(X509_get_subject_name(x509))
    else { throw .malformed }
    guard let notBefore = unixTime(X509_get0_notBefore(x509)), let notAfter = unixTime(X509_get0_notAfter(x509)) else {
      throw .dateUnreadable
    }
    var reader = signedPart.content
    _ = reader.next(DERTag.context(0, constructed: true))
    _ = reader.next(DERTag.integer)
    algorithmsAgree = reader.next(DERTag.sequence)?.encoded == signedPart.algorithmIdentifier

    self.encoded = encoded
    self.signedPart = signedPart
    self.issuer = issuer
    self.subject = subject
    self.notBefore = notBefore
    self.notAfter = notAfter
    signatureAlgorithm = signedPart.algorithm
    version = X509_get_version(x509) &+ 1
    serialNumber = SerialNumber(X509_get0_serialNumber(x509))
    publicKey = readPublicKey(x509)
    let extensions = readExtensions(count: X509_get_ext_count(x509)) { X509_get_ext(x509, $0) }
    self.extensions = extensions
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

  /// The names of the subject beside its distinguished name, such as the DNS names of a server. Read on each call: document
  /// signers have none that anybody asks for.
  package var subjectAltName: ExtensionReading<GeneralNames> {
    guard let found = extensions.first(where: { $0.oid == .subjectAltName }) else { return .absent }
    guard let names = GeneralNames(der: found.value) else { return .malformed(isCritical: found.isCritical) }
    return .present(names, isCritical: found.isCritical)
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

/// A certificate serial number.
package struct SerialNumber: Hashable, Sendable {
  /// The absolute value, big-endian, without leading zeros; empty for zero.
  package let magnitude: [UInt8]
  package let isNegative: Bool

  package init(magnitude: some Sequence<UInt8>, isNegative: Bool = false) {
    self.magnitude = Array(magnitude.drop { $0 == 0 })
    self.isNegative = isNegative && !self.magnitude.isEmpty
  }

  package var isZero: Bool { magnitude.isEmpty }

  /// How many content octets its DER has; the profile allows 20.
  package var octetCount: Int {
    guard let first = magnitude.first else { return 1 }
    let needsSign =
      isNegative ? first > 0x80 || first == 0x80 && magnitude.dropFirst().contains { $0 != 0 } : first >= 0x80
    return magnitude.count + (needsSign ? 1 : 0)
  }
}

extension SerialNumber: CustomStringConvertible {
  /// Hexadecimal, as `openssl x509 -serial` prints it but in lower case.
  package var description: String {
    (isNegative ? "-" : "") + (magnitude.isEmpty ? "00" : magnitude.hex)
  }
}

/// The three parts of everything that X.509 signs, as received.
struct SignedPart: Sendable {
  /// The bytes the signature is over, tag and length included.
  let bytes: ByteView
  /// What `bytes` holds, to be read from its start.
  let content: DERReader
  /// The signature algorithm with its parameters.
  let algorithmIdentifier: ByteView
  let algorithm: OID
  let signature: ByteView

  /// Nil when `encoded` is not one strict DER element of this shape.
  init?(_ encoded: ByteView) {
    guard DERReader.isWellFormed(encoded), var reader = DERReader.only(DERTag.sequence, in: encoded)?.reader,
      let signed = reader.next(DERTag.sequence),
      let algorithm = reader.next(DERTag.sequence), let identifier = algorithm.reader.first(DERTag.objectIdentifier),
      let signature = reader.next(DERTag.bitString)?.content, signature.first == 0, reader.isAtEnd
    else { return nil }
    bytes = signed.encoded
    content = signed.reader
    algorithmIdentifier = algorithm.encoded
    self.algorithm = OID(encoded: identifier.content)
    self.signature = signature.dropFirst()
  }

  func isSigned(by key: PublicKey) -> Bool {
    // Whether the profile allows the algorithm is another question, with a finding of its own.
    if algorithm == .ed25519 && key.curve == .ed25519 || algorithm == .ed448 && key.curve == .ed448 {
      return key.isValid(signature: signature, for: bytes, hash: nil)
    }
    guard let hash = ecdsaHashes[algorithm] else { return false }
    return key.isValid(derSignature: signature, for: bytes, hash: hash)
  }
}

let ecdsaHashes: [OID: HashAlgorithm] = [
  .ecdsaWithSHA256: .sha256, .ecdsaWithSHA384: .sha384, .ecdsaWithSHA512: .sha512,
]

/// An OpenSSL library context without algorithms.
///
/// Decoding a certificate also decodes its key, for which OpenSSL 3 makes and searches a list of all decoders and key
/// types: four fifths of the time, growing with every algorithm the process has used. Without algorithms there is
/// nothing to search. The key is made from its bytes afterwards, as that of a phone is.
///
/// `@unchecked Sendable`: set up once, never changed or freed; OpenSSL locks what it shares.
private struct FrameLibrary: @unchecked Sendable {
  let context: OpaquePointer

  static let shared = FrameLibrary()

  private init() {
    guard let context = OSSL_LIB_CTX_new(), OSSL_PROVIDER_load(context, "null") != nil else {
      fatalError("OpenSSL has no null provider: \(openSSLError("OSSL_PROVIDER_load"))")
    }
    self.context = context
  }
}

private func parse(_ encoded: [UInt8]) -> OpaquePointer? {
  encoded.withUnsafeBufferPointer { buffer in
    // d2i moves the pointer, not the bytes; both live for this closure.
    var position = buffer.baseAddress
    var x509 = X509_new_ex(FrameLibrary.shared.context, nil)
    // Frees and forgets the object when it fails.
    guard d2i_X509(&x509, &position, buffer.count) != nil, let x509 else { return nil }
    guard let start = buffer.baseAddress, position == start + buffer.count else {
      X509_free(x509)
      return nil
    }
    return x509
  }
}

/// The name OpenSSL holds, copied; `name` lives as long as its certificate or list.
func distinguishedName(_ name: OpaquePointer?) -> DistinguishedName? {
  var start: UnsafePointer<UInt8>?
  var count = 0
  guard let name, X509_NAME_get0_der(name, &start, &count) == 1 else { return nil }
  return DistinguishedName(encoded: Array(UnsafeBufferPointer(start: start, count: count))[...])
}

/// The instant of an ASN.1 time of RFC 5280: whole seconds, UTC, written with Z. Nil for anything else.
func unixTime(_ time: UnsafePointer<ASN1_TIME>?) -> UnixTime? {
  guard let time else { return nil }
  let bytes = stringBytes(time)
  let isGeneralized = ASN1_STRING_type(time) == V_ASN1_GENERALIZEDTIME
  guard bytes.count == (isGeneralized ? 15 : 13), bytes.last == UInt8(ascii: "Z") else { return nil }
  var values: [Int] = []
  var position = isGeneralized ? 4 : 2
  guard var year = digits(bytes[..<position]) else { return nil }
  // Two digits stand for 1950 to 2049.
  if !isGeneralized { year += year < 50 ? 2000 : 1900 }
  for _ in 0..<5 {
    guard let value = digits(bytes[position..<position + 2]) else { return nil }
    values.append(value)
    position += 2
  }
  guard let date = CalendarDate(year: year, month: values[0], day: values[1]), values[2] < 24, values[3] < 60,
    values[4] < 60
  else { return nil }
  return UnixTime(seconds: Int64(date.daysSince1970) * 86_400 + Int64(values[2] * 3600 + values[3] * 60 + values[4]))
}

private func digits(_ bytes: ByteView) -> Int? {
  var value = 0
  for byte in bytes {
    guard (0x30...0x39).contains(byte) else { return nil }
    value = value * 10 + Int(byte - 0x30)
  }
  return value
}

/// The bytes of an OpenSSL string, copied; `string` lives as long as what holds it.
private func stringBytes(_ string: UnsafePointer<ASN1_STRING>?) -> [UInt8] {
  guard let string else { return [] }
  return Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
}

extension SerialNumber {
  init(_ number: UnsafePointer<ASN1_INTEGER>?) {
    // OpenSSL keeps the absolute value and the sign in the type.
    self.init(
      magnitude: stringBytes(number), isNegative: number.map { ASN1_STRING_type($0) == V_ASN1_NEG_INTEGER } ?? false)
  }
}

func objectIdentifier(_ object: OpaquePointer?) -> OID {
  OID(encoded: UnsafeBufferPointer(start: OBJ_get0_data(object), count: OBJ_length(object)))
}

/// The extensions of a certificate or list; `at` gives pointers that it owns.
func readExtensions(count: Int32, at: (Int32) -> OpaquePointer?) -> [CertificateExtension] {
  (0..<max(0, count)).compactMap { index in
    guard let found = at(index) else { return nil }
    return CertificateExtension(
      oid: objectIdentifier(X509_EXTENSION_get_object(found)),
      isCritical: X509_EXTENSION_get_critical(found) != 0,
      value: stringBytes(X509_EXTENSION_get_data(found))[...])
  }
}

private func readPublicKey(_ x509: OpaquePointer) -> Result<PublicKey, CertificateKeyFault> {
  var algorithm: OpaquePointer?
  var point: UnsafePointer<UInt8>?
  var pointCount: Int32 = 0
  var parameters: UnsafeMutablePointer<X509_ALGOR>?
  guard X509_PUBKEY_get0_param(&algorithm, &point, &pointCount, &parameters, X509_get_X509_PUBKEY(x509)) == 1 else {
    return .failure(.invalidPoint)
  }
  let identifier = objectIdentifier(algorithm)
  guard let point, pointCount > 0 else { return .failure(.invalidPoint) }
  let bytes = Array(UnsafeBufferPointer(start: point, count: Int(pointCount)))
  switch identifier {
  case .ecPublicKey: return readECPoint(bytes, parameters)
  case .ed25519: return Result { try PublicKey(curve: .ed25519, raw: bytes) }.mapError { _ in .invalidPoint }
  case .ed448: return Result { try PublicKey(curve: .ed448, raw: bytes) }.mapError { _ in .invalidPoint }
  // PKCS #1 and its PSS form.
  default:
    let isRSA = identifier.encoded.starts(with: OID(1, 2, 840, 113549, 1, 1).encoded)
    return .failure(isRSA ? .rsa : .unsupportedAlgorithm)
  }
}

private func readECPoint(
  _ point: [UInt8], _ parameters: UnsafeMutablePointer<X509_ALGOR>?
) -> Result<PublicKey, CertificateKeyFault> {
  var parameterType: Int32 = 0
  var parameter: UnsafeRawPointer?
  X509_ALGOR_get0(nil, &parameterType, &parameter, parameters)
  guard parameterType == V_ASN1_OBJECT, let parameter else { return .failure(.explicitParameters) }
  if [2, 3, 6, 7].contains(point[0]) { return .failure(.compressedPoint) }
  guard let curve = Curve(identifier: objectIdentifier(OpaquePointer(parameter))) else {
    return .failure(.unsupportedCurve)
  }
  guard point[0] == 4, point.count == 1 + 2 * curve.fieldSize else { return .failure(.invalidPoint) }
  do throws(CryptoError) {
    return .success(try PublicKey(curve: curve, x: point[1...curve.fieldSize], y: point[(curve.fieldSize + 1)...]))
  } catch {
    return .failure(.invalidPoint)
  }
}
