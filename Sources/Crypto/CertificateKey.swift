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

/// The key of a SubjectPublicKeyInfo (RFC 5280, RFC 5480, RFC 8410).
func readPublicKey(_ info: ByteView) -> Result<PublicKey, CertificateKeyFault> {
  guard var reader = DERReader.only(DERTag.sequence, in: info)?.reader,
    var algorithm = reader.next(DERTag.sequence)?.reader, let kind = algorithm.next(DERTag.objectIdentifier),
    let bits = reader.next(DERTag.bitString)?.content, bits.first == 0, reader.isAtEnd
  else { return .failure(.invalidPoint) }
  let parameters = algorithm.next()
  let point = bits.dropFirst()
  switch OID(encoded: kind.content) {
  case ecPublicKey: return readPoint(point, parameters: parameters)
  case edwards25519 where parameters == nil && algorithm.isAtEnd: return key { try PublicKey(curve: .ed25519, raw: point) }
  case edwards448 where parameters == nil && algorithm.isAtEnd: return key { try PublicKey(curve: .ed448, raw: point) }
  case let other: return .failure(other.encoded.starts(with: pkcs1.encoded) ? .rsa : .unsupportedAlgorithm)
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

private func readPoint(_ point: ByteView, parameters: DERReader.Element?) -> Result<PublicKey, CertificateKeyFault> {
  guard let parameters else { return .failure(.unsupportedCurve) }
  if parameters.tag == DERTag.sequence { return .failure(.explicitParameters) }
  guard parameters.tag == DERTag.objectIdentifier, let curve = curves[OID(encoded: parameters.content)] else {
    return .failure(.unsupportedCurve)
  }
  switch point.first {
  case 4:
    let coordinates = point.dropFirst()
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
