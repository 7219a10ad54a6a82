import Bytes
import CBOR
import Crypto

/// Why a COSE_Key is no usable public key.
package enum COSEKeyError: Error, Equatable, Sendable {
  /// Not a map, or a member is missing or of a wrong kind.
  case malformed
  /// A key type or curve outside cipher suite 1 and its signature curves.
  case unsupportedCurve
  /// A coordinate that does not fit the field, after surplus leading zeros are taken away.
  case coordinateSize
  /// The boolean form of y, where policy refuses it.
  case compressedPoint
  /// Not a point of the curve, or the identity.
  case notOnCurve
}

extension Curve {
  private static let numbers: [(Int64, Curve)] = [
    (1, .p256), (2, .p384), (3, .p521), (4, .x25519), (5, .x448), (6, .ed25519), (7, .ed448),
    (256, .brainpoolP256r1), (257, .brainpoolP320r1), (258, .brainpoolP384r1), (259, .brainpoolP512r1),
  ]

  /// The number of the COSE registry (label -1 of a COSE_Key).
  package var coseNumber: Int64 { Curve.numbers.first { $0.1 == self }?.0 ?? 0 }

  /// Nil for a number of no curve here.
  package init?(coseNumber: Int64) {
    guard let curve = Curve.numbers.first(where: { $0.0 == coseNumber })?.1 else { return nil }
    self = curve
  }
}

extension PublicKey {
  /// The public key in a COSE_Key (RFC 9052 section 7). Labels other than kty, crv, x and y are ignored.
  ///
  /// Coordinates shorter than the field are padded on the left and surplus leading zeros are dropped: some issuers
  /// write them so, and whatever was signed proves itself.
  package convenience init(coseKey item: CBORItem, acceptsCompressed: Bool = true) throws(COSEKeyError) {
    guard item.kind == .map, let keyType = item[label: 1]?.int, let number = item[label: -1]?.int,
      let x = item[label: -2]?.bytes
    else { throw .malformed }
    guard let curve = Curve(coseNumber: number) else { throw .unsupportedCurve }
    guard keyType == (curve.kind == .weierstrass ? 2 : 1) else { throw .malformed }
    do {
      guard curve.kind == .weierstrass else {
        guard x.count == curve.fieldSize else { throw COSEKeyError.coordinateSize }
        try self.init(curve: curve, raw: x)
        return
      }
      let fittedX = try PublicKey.fit(x, to: curve)
      let y = item[label: -3]
      if let sign = y?.bool {
        guard acceptsCompressed else { throw COSEKeyError.compressedPoint }
        try self.init(curve: curve, x: fittedX, yIsOdd: sign)
      } else if let y = y?.bytes {
        try self.init(curve: curve, x: fittedX, y: try PublicKey.fit(y, to: curve))
      } else {
        throw COSEKeyError.malformed
      }
    } catch let error as COSEKeyError {
      throw error
    } catch {
      throw .notOnCurve
    }
  }

  /// Exactly one field length, big-endian.
  private static func fit(_ coordinate: ByteView, to curve: Curve) throws(COSEKeyError) -> ByteView {
    let surplus = max(0, coordinate.count - curve.fieldSize)
    guard coordinate.prefix(surplus).allSatisfy({ $0 == 0 }) else { throw .coordinateSize }
    let rest = coordinate.dropFirst(surplus)
    guard rest.count < curve.fieldSize else { return rest }
    return ([UInt8](repeating: 0, count: curve.fieldSize - rest.count) + rest)[...]
  }

  /// The COSE_Key of this key: labels 1, -1, -2 and -3 in this order, coordinates of fixed length.
  package var coseKey: CBORValue {
    let number = CBORValue.int(curve.coseNumber)
    return curve.kind == .weierstrass
      ? .map(labels: [1: 2, -1: number, -2: .bytes(x), -3: .bytes(y)])
      : .map(labels: [1: 1, -1: number, -2: .bytes(x)])
  }
}
