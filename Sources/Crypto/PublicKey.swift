import Bytes
internal import COpenSSL

/// A public key on one of the curves of cipher suite 1, checked: its point is on the curve and not the identity.
///
package final class PublicKey: Sendable {
  package let curve: Curve
  /// The x coordinate, big-endian, `curve.fieldSize` bytes; for the other kinds the key itself.
  package let x: [UInt8]
  /// The y coordinate like `x`; empty for the other kinds.
  package let y: [UInt8]
  private let key: OpenSSLKey
  /// Where the key goes when this ends; nil where it is of another make.
  private let origin: CurveKeys?

  /// For OpenSSL's calls. Holds no private part.
  var evp: OpaquePointer { key.evp }

  /// A Weierstrass key from coordinates of exactly `curve.fieldSize` bytes.
  package init(curve: Curve, x: ByteView, y: ByteView) throws(CryptoError) {
    let x = Array(x)
    let y = Array(y)
    guard curve.kind == .weierstrass else { throw .unsuitableCurve(curve) }
    try PublicKey.check(size: x.count, of: curve)
    try PublicKey.check(size: y.count, of: curve)
    let origin = CurveKeys.of(curve)
    guard let key = origin?.take(point: [4] + x + y) else { throw discardingQueue(.notOnCurve) }
    self.curve = curve
    self.x = x
    self.y = y
    self.key = key
    self.origin = origin
  }

  /// The same from any collections.
  package convenience init(
    curve: Curve, x: some Collection<UInt8>, y: some Collection<UInt8>
  ) throws(CryptoError) {
    try self.init(curve: curve, x: ArraySlice(x), y: ArraySlice(y))
  }

  /// A Weierstrass key from a compressed point: x of exactly `curve.fieldSize` bytes and the parity of y.
  package init(curve: Curve, x: some Collection<UInt8>, yIsOdd: Bool) throws(CryptoError) {
    let x = Array(x)
    guard curve.kind == .weierstrass else { throw .unsuitableCurve(curve) }
    try PublicKey.check(size: x.count, of: curve)
    let origin = CurveKeys.of(curve)
    guard let key = origin?.take(point: [yIsOdd ? 3 : 2] + x),
      let coordinates = PublicKey.coordinates(of: key.evp, curve: curve)
    else { throw discardingQueue(.notOnCurve) }
    self.curve = curve
    self.x = coordinates.x
    self.y = coordinates.y
    self.key = key
    self.origin = origin
  }

  /// A Montgomery or Edwards key from its `curve.fieldSize` bytes (RFC 7748, RFC 8032).
  package init(curve: Curve, raw: some Collection<UInt8>) throws(CryptoError) {
    let raw = Array(raw)
    guard curve.kind != .weierstrass else { throw .unsuitableCurve(curve) }
    try PublicKey.check(size: raw.count, of: curve)
    guard let evp = EVP_PKEY_new_raw_public_key_ex(nil, curve.openSSLName, nil, raw, raw.count) else {
      throw discardingQueue(.invalidKey)
    }
    self.curve = curve
    self.x = raw
    self.y = []
    key = OpenSSLKey(owning: evp)
    origin = nil
  }

  /// Takes over an EVP_PKEY that OpenSSL read (from a certificate or a file), and frees it also when it refuses.
  ///
  /// The caller must hold the only private use of it: it may be shared by reference, but must not be changed.
  init(adopting evp: OpaquePointer) throws(CryptoError) {
    do throws(CryptoError) {
      let curve = try PublicKey.curve(of: evp)
      switch curve.kind {
      case .weierstrass:
        // fails for the identity, which has no affine coordinates
        guard let coordinates = PublicKey.coordinates(of: evp, curve: curve) else { throw discardingQueue(.notOnCurve) }
        x = coordinates.x
        y = coordinates.y
      case .montgomery, .edwards:
        x = try PublicKey.rawKey(of: evp, curve: curve)
        y = []
      }
      self.curve = curve
      key = OpenSSLKey(owning: evp)
      origin = nil
    } catch {
      EVP_PKEY_free(evp)
      throw error
    }
  }

  /// A key from the DER of a SubjectPublicKeyInfo (RFC 5280 section 4.1), with nothing behind it.
  convenience init(subjectPublicKeyInfo der: some Collection<UInt8>) throws(CryptoError) {
    let evp = withBytes(of: der) { bytes, count -> OpaquePointer? in
      var next: UnsafePointer<UInt8>? = bytes
      guard let key = d2i_PUBKEY(nil, &next, count) else { return nil }
      if next == bytes + count { return key }
      EVP_PKEY_free(key)
      return nil
    }
    guard let evp else { throw discardingQueue(.invalidKey) }
    ERR_clear_error()
    try self.init(adopting: evp)
  }

  deinit { origin?.giveBack(key) }

  /// Whether `signature` is one of `message` by this key: r || s or the EdDSA string, exactly `curve.signatureSize`
  /// bytes. `hash` is nil for EdDSA and only there. Anything else is not valid; nothing is thrown.
  package func isValid(signature: ByteView, for message: ByteView, hash: HashAlgorithm?) -> Bool {
    guard signature.count == curve.signatureSize, (hash == nil) == (curve.kind == .edwards) else { return false }
    guard let hash else { return verifyMessage(signature, message) }
    let half = signature.startIndex + curve.fieldSize
    let der = derSignature(r: signature[..<half], s: signature[half...])
    return isValid(derSignature: der[...], for: message, hash: hash)
  }

  /// The same with an ECDSA signature as X.509 carries it (DER); EdDSA has no other form than raw.
  func isValid(derSignature: ByteView, for message: ByteView, hash: HashAlgorithm?) -> Bool {
    guard let hash else { return isValid(signature: derSignature, for: message, hash: nil) }
    guard curve.kind == .weierstrass else { return false }
    // measured with P-256: no difference to EVP_DigestVerify (84 us each), and one object less
    return isValid(derSignature: derSignature, ofDigest: digest(hash, message))
  }

  /// The same with the message hashed already. ECDSA only.
  func isValid(derSignature: ByteView, ofDigest digest: [UInt8]) -> Bool {
    guard curve.kind == .weierstrass else { return false }
    let good = key.isValid(derSignature: derSignature, ofDigest: digest)
    if !good { ERR_clear_error() }
    return good
  }

  private func verifyMessage(_ signature: ByteView, _ message: ByteView) -> Bool {
    guard let context = EVP_MD_CTX_new() else { return false }
    defer { EVP_MD_CTX_free(context) }
    let good = withBytes(of: signature) { signature, signatureCount in
      withBytes(of: message) { message, count in
        EVP_DigestVerifyInit_ex(context, nil, nil, nil, nil, evp, nil) == 1
          && EVP_DigestVerify(context, signature, signatureCount, message, count) == 1
      }
    }
    if !good { ERR_clear_error() }
    return good
  }
}

extension PublicKey: Equatable {
  package static func == (left: PublicKey, right: PublicKey) -> Bool {
    left.curve == right.curve && left.x == right.x && left.y == right.y
  }
}

extension PublicKey {
  private static func check(size: Int, of curve: Curve) throws(CryptoError) {
    guard size == curve.fieldSize else { throw .wrongSize(expected: curve.fieldSize, actual: size) }
  }

  /// The affine coordinates in fixed length, or nil for the identity.
  static func coordinates(of evp: OpaquePointer, curve: Curve) -> (x: [UInt8], y: [UInt8])? {
    let size = curve.fieldSize
    // the encoded point is cheap to read; its form is that of the key's origin
    var point = [UInt8](repeating: 0, count: 1 + 2 * size)
    var count = 0
    if EVP_PKEY_get_octet_string_param(evp, OSSL_PKEY_PARAM_PUB_KEY, &point, point.count, &count) == 1,
      count == point.count, point[0] == 4
    {
      return (Array(point[1...size]), Array(point[(size + 1)...]))
    }
    ERR_clear_error()
    var x = [UInt8](repeating: 0, count: size)
    var y = x
    guard mdoc_ec_coordinates(evp, &x, &y, Int32(curve.fieldSize)) == 1 else { return nil }
    return (x, y)
  }

  static func rawKey(of evp: OpaquePointer, curve: Curve) throws(CryptoError) -> [UInt8] {
    var key = [UInt8](repeating: 0, count: curve.fieldSize)
    var count = key.count
    guard EVP_PKEY_get_raw_public_key(evp, &key, &count) == 1, count == key.count else {
      throw openSSLError("EVP_PKEY_get_raw_public_key")
    }
    return key
  }

  /// The curve of a key that OpenSSL read; refuses RSA, explicit parameters and curves that are not ours.
  static func curve(of evp: OpaquePointer) throws(CryptoError) -> Curve {
    switch EVP_PKEY_get_base_id(evp) {
    case NID_X25519: return .x25519
    case NID_X448: return .x448
    case NID_ED25519: return .ed25519
    case NID_ED448: return .ed448
    case NID_X9_62_id_ecPublicKey:
      guard mdoc_ec_has_explicit_parameters(evp) == 0 else { throw discardingQueue(.explicitParameters) }
      var name = [CChar](repeating: 0, count: 64)
      var count = 0
      guard EVP_PKEY_get_group_name(evp, &name, name.count, &count) == 1 else {
        throw discardingQueue(.unsupportedCurve(name: "EC"))
      }
      let text = String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
      guard let curve = Curve(groupName: text) else { throw .unsupportedCurve(name: text) }
      return curve
    default:
      throw .unsupportedCurve(name: EVP_PKEY_get0_type_name(evp).map { String(cString: $0) } ?? "unknown")
    }
  }
}
