internal import COpenSSL
import Synchronization

/// Keys on one Weierstrass curve, to be given a point.
///
/// Why: a P-256 key from its point, on-curve check included, OpenSSL 3.0.22, where one ECDSA verification takes 84 us:
/// a copy of a key 9 us; EVP_PKEY_fromdata with the curve's name 24 us; an EC_KEY in an EVP_PKEY 23 us, and 27 us more
/// at its first use; d2i_PUBKEY 236 us. Another point for a key that has served is 2 us, and it has its context still:
/// of key and one verification together that takes 8 us away.
///
/// `@unchecked Sendable`: the template is never changed after it is made, only duplicated; the rest is under a lock.
final class CurveKeys: @unchecked Sendable {
  /// As many as one visit has at a time: the signer's, the device's, and the session's.
  static let mostSpare = 4

  /// The generator as a point without compression.
  private let generator: [UInt8]
  /// A key with it; nil where this OpenSSL was built without the curve.
  private let template: OpaquePointer?
  /// Those that nobody has. Their point is the generator, since the key of a document names its holder.
  private let spare = Mutex<[OpenSSLKey]>([])

  private static let p256 = CurveKeys(.p256)
  private static let p384 = CurveKeys(.p384)
  private static let p521 = CurveKeys(.p521)
  private static let brainpoolP256r1 = CurveKeys(.brainpoolP256r1)
  private static let brainpoolP320r1 = CurveKeys(.brainpoolP320r1)
  private static let brainpoolP384r1 = CurveKeys(.brainpoolP384r1)
  private static let brainpoolP512r1 = CurveKeys(.brainpoolP512r1)

  /// The keys of a curve; nil for the other kinds.
  static func of(_ curve: Curve) -> CurveKeys? {
    switch curve {
    case .p256: p256
    case .p384: p384
    case .p521: p521
    case .brainpoolP256r1: brainpoolP256r1
    case .brainpoolP320r1: brainpoolP320r1
    case .brainpoolP384r1: brainpoolP384r1
    case .brainpoolP512r1: brainpoolP512r1
    case .x25519, .x448, .ed25519, .ed448: nil
    }
  }

  private init(_ curve: Curve) {
    var point = [UInt8](repeating: 0, count: 1 + 2 * curve.fieldSize)
    var key: OpaquePointer?
    if let group = EC_GROUP_new_by_curve_name(OBJ_sn2nid(curve.openSSLName)) {
      let count = EC_POINT_point2oct(
        group, EC_GROUP_get0_generator(group), POINT_CONVERSION_UNCOMPRESSED, &point, point.count, nil)
      if count == point.count { key = mdoc_ec_public_key(curve.openSSLName, point, count) }
      EC_GROUP_free(group)
    }
    if key == nil { ERR_clear_error() }
    generator = point
    template = key
  }

  /// A key with this point (SEC 1 section 2.3.4); nil where it is not on the curve, and where there is no such curve. Whoever
  /// has it gives it back, with no other reference to it left.
  func take(point: [UInt8]) -> OpenSSLKey? {
    guard let key = spare.withLock({ $0.popLast() }) ?? copy() else { return nil }
    return key.setPoint(point) ? key : nil
  }

  func giveBack(_ key: OpenSSLKey) {
    guard spare.withLock({ $0.count }) < CurveKeys.mostSpare else { return }
    guard key.setPoint(generator) else { return ERR_clear_error() }
    spare.withLock { if $0.count < CurveKeys.mostSpare { $0.append(key) } }
  }

  private func copy() -> OpenSSLKey? {
    guard let template, let key = EVP_PKEY_dup(template) else { return nil }
    return OpenSSLKey(owning: key)
  }
}
