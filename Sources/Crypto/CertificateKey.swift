internal import Bytes

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

/// A SubjectPublicKeyInfo (RFC 5280, RFC 5480, RFC 8410) in its parts.
struct PublicKeyInfo: Sendable {
  private let algorithm: OID
  private let parameters: DERReader.Element?
  private let bits: ByteView

  /// Nil when it is not of this shape.
  init?(_ info: DERReader.Element) {
    var reader = info.reader
    guard let identifier = reader.next(DERTag.sequence), let algorithm = identifier.algorithmIdentifier,
      let bits = reader.next(DERTag.bitString)?.content, bits.first == 0, reader.isAtEnd
    else { return nil }
    var parts = identifier.reader
    _ = parts.next()
    self.algorithm = algorithm
    parameters = parts.next()
    self.bits = bits.dropFirst()
  }

  /// The key, made and checked by OpenSSL, or why there is none.
  func key() -> Result<PublicKey, CertificateKeyFault> {
    switch algorithm {
    case ecPublicKey: return point()
    case edwards25519 where parameters == nil: return key { try PublicKey(curve: .ed25519, raw: bits) }
    case edwards448 where parameters == nil: return key { try PublicKey(curve: .ed448, raw: bits) }
    default: return .failure(algorithm.encoded.starts(with: pkcs1.encoded) ? .rsa : .unsupportedAlgorithm)
    }
  }

  private func point() -> Result<PublicKey, CertificateKeyFault> {
    guard let parameters else { return .failure(.unsupportedCurve) }
    if parameters.tag == DERTag.sequence { return .failure(.explicitParameters) }
    guard parameters.tag == DERTag.objectIdentifier, let curve = curves[OID(encoded: parameters.content)] else {
      return .failure(.unsupportedCurve)
    }
    switch bits.first {
    case 4:
      let coordinates = bits.dropFirst()
      guard coordinates.count == 2 * curve.fieldSize else { return .failure(.invalidPoint) }
      return key {
        try PublicKey(curve: curve, x: coordinates.prefix(curve.fieldSize), y: coordinates.suffix(curve.fieldSize))
      }
    case 2, 3, 6, 7: return .failure(.compressedPoint)
    default: return .failure(.invalidPoint)
    }
  }

  private func key(_ make: () throws -> PublicKey) -> Result<PublicKey, CertificateKeyFault> {
    (try? make()).map { .success($0) } ?? .failure(.invalidPoint)
  }
}

let ecPublicKey = OID(1, 2, 840, 10045, 2, 1)
private let edwards25519 = OID(1, 3, 101, 112)
private let edwards448 = OID(1, 3, 101, 113)
/// The arc of RSA keys, the PSS form included.
private let pkcs1 = OID(1, 2, 840, 113549, 1, 1)
private let curves: [OID: Curve] = [
  Curve.p256.oid: .p256, Curve.p384.oid: .p384, Curve.p521.oid: .p521, Curve.brainpoolP256r1.oid: .brainpoolP256r1,
  Curve.brainpoolP320r1.oid: .brainpoolP320r1, Curve.brainpoolP384r1.oid: .brainpoolP384r1,
  Curve.brainpoolP512r1.oid: .brainpoolP512r1,
]
