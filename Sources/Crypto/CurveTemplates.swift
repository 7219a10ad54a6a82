internal import COpenSSL

/// One public key (the generator) on each Weierstrass curve, made once, to be copied and given another point.
///
/// Why: a P-256 key from its point, on-curve check included, OpenSSL 3.0.19, where one ECDSA verification takes 84 us:
/// copy of a template 9 us; EVP_PKEY_fromdata with the curve's name 24 us; an EC_KEY in an EVP_PKEY 23 us, and 27 us
/// more at its first use; d2i_PUBKEY 236 us.
///
/// `@unchecked Sendable`: never changed after it is made, only duplicated; never freed.
struct CurveTemplates: @unchecked Sendable {
  private let evp: OpaquePointer?

  private static let p256 = CurveTemplates(.p256)
  private static let p384 = CurveTemplates(.p384)
  private static let p521 = CurveTemplates(.p521)
  private static let brainpoolP256r1 = CurveTemplates(.brainpoolP256r1)
  private static let brainpoolP320r1 = CurveTemplates(.brainpoolP320r1)
  private static let brainpoolP384r1 = CurveTemplates(.brainpoolP384r1)
  private static let brainpoolP512r1 = CurveTemplates(.brainpoolP512r1)

  /// The key to duplicate, or nil where this OpenSSL was built without the curve, and for the other kinds.
  static func template(_ curve: Curve) -> OpaquePointer? {
    switch curve {
    case .p256: p256.evp
    case .p384: p384.evp
    case .p521: p521.evp
    case .brainpoolP256r1: brainpoolP256r1.evp
    case .brainpoolP320r1: brainpoolP320r1.evp
    case .brainpoolP384r1: brainpoolP384r1.evp
    case .brainpoolP512r1: brainpoolP512r1.evp
    case .x25519, .x448, .ed25519, .ed448: nil
    }
  }

  private init(_ curve: Curve) {
    guard let group = EC_GROUP_new_by_curve_name(OBJ_sn2nid(curve.openSSLName)) else {
      ERR_clear_error()
      evp = nil
      return
    }
    defer { EC_GROUP_free(group) }
    var point = [UInt8](repeating: 0, count: 1 + 2 * curve.fieldSize)
    let count = EC_POINT_point2oct(
      group, EC_GROUP_get0_generator(group), POINT_CONVERSION_UNCOMPRESSED, &point, point.count, nil)
    evp = count == point.count ? mdoc_ec_public_key(curve.openSSLName, point, count) : nil
    if evp == nil { ERR_clear_error() }
  }
}
