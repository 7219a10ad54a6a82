internal import COpenSSL

/// A private key with its public one. OpenSSL clears the secret when it is freed.
///
/// `@unchecked Sendable`: the EVP_PKEY is never changed after `init` (see `PublicKey`).
package final class PrivateKey: @unchecked Sendable {
  package let publicKey: PublicKey
  package var curve: Curve { publicKey.curve }
  /// Owned, freed in deinit. `publicKey` has an EVP_PKEY of its own, so that the secret does not outlive this object.
  let evp: OpaquePointer
  /// The part of OpenSSL in which the key's provider is; nil for the part that everything else uses. Never freed.
  private let library: OpaquePointer?

  /// A fresh key.
  package static func generate(_ curve: Curve) throws(CryptoError) -> PrivateKey {
    let type = curve.kind == .weierstrass ? "EC" : curve.openSSLName
    guard let context = EVP_PKEY_CTX_new_from_name(nil, type, nil) else {
      throw openSSLError("EVP_PKEY_CTX_new_from_name")
    }
    defer { EVP_PKEY_CTX_free(context) }
    guard EVP_PKEY_keygen_init(context) == 1 else { throw openSSLError("EVP_PKEY_keygen_init") }
    if curve.kind == .weierstrass {
      guard EVP_PKEY_CTX_set_group_name(context, curve.openSSLName) == 1 else {
        throw openSSLError("EVP_PKEY_CTX_set_group_name")
      }
    }
    var key: OpaquePointer?
    guard EVP_PKEY_generate(context, &key) == 1, let key else { throw openSSLError("EVP_PKEY_generate") }
    return try PrivateKey(adopting: key)
  }

  /// A key from its scalar (big-endian, `curve.fieldSize` bytes) or, for the other kinds, its seed or raw key.
  package convenience init(curve: Curve, scalar: some Collection<UInt8>) throws(CryptoError) {
    guard scalar.count == curve.fieldSize else {
      throw .wrongSize(expected: curve.fieldSize, actual: scalar.count)
    }
    let key: OpaquePointer?
    if curve.kind == .weierstrass {
      key = try weierstrassKey(curve, scalar: scalar)
    } else {
      key = withBytes(of: scalar) { EVP_PKEY_new_raw_private_key_ex(nil, curve.openSSLName, nil, $0, $1) }
    }
    guard let key else { throw discardingQueue(.invalidKey) }
    try self.init(adopting: key)
  }

  /// Takes over an EVP_PKEY with a private part, and frees it also when it refuses.
  init(adopting evp: OpaquePointer) throws(CryptoError) {
    do throws(CryptoError) {
      let curve = try PublicKey.curve(of: evp)
      if curve.kind == .weierstrass {
        guard let point = PublicKey.coordinates(of: evp, curve: curve) else { throw discardingQueue(.invalidKey) }
        publicKey = try PublicKey(curve: curve, x: point.x, y: point.y)
      } else {
        publicKey = try PublicKey(curve: curve, raw: PublicKey.rawKey(of: evp, curve: curve))
      }
      self.evp = evp
      library = nil
    } catch {
      EVP_PKEY_free(evp)
      throw error
    }
  }

  /// Takes over an EVP_PKEY that a provider of a library context signs with. The provider may keep the public half to
  /// itself, so that it is given; the caller proves that both belong together.
  init(adopting evp: OpaquePointer, of publicKey: PublicKey, in library: OpaquePointer?) {
    self.publicKey = publicKey
    self.evp = evp
    self.library = library
  }

  deinit { EVP_PKEY_free(evp) }

  /// The scalar, big-endian, `curve.fieldSize` bytes, for a library that calculates by itself.
  ///
  /// Throws `unsuitableCurve` for curves that are not Weierstrass's, and `invalidKey` where the scalar is not in this
  /// process but in what a provider asks.
  package func scalar() throws(CryptoError) -> SecretBytes {
    guard curve.kind == .weierstrass else { throw .unsuitableCurve(curve) }
    var isGood = false
    let scalar = SecretBytes(count: curve.fieldSize) {
      isGood = mdoc_ec_scalar(evp, $0.baseAddress, Int32($0.count)) == 1
    }
    guard isGood else { throw discardingQueue(.invalidKey) }
    return scalar
  }

  /// A signature of `message`: r || s or the EdDSA string. `hash` is nil for EdDSA and only there.
  package func signature(for message: some Collection<UInt8>, hash: HashAlgorithm?) throws(CryptoError) -> [UInt8] {
    guard let size = curve.signatureSize, (hash == nil) == (curve.kind == .edwards) else {
      throw .unsuitableCurve(curve)
    }
    let made = try derOrRawSignature(for: message, hash: hash)
    if hash == nil { return made }
    guard let raw = rawSignature(der: made, size: size / 2) else { throw openSSLError("d2i_ECDSA_SIG") }
    return raw
  }

  /// The signature as X.509 carries it: DER for ECDSA, raw for EdDSA.
  func derOrRawSignature(for message: some Collection<UInt8>, hash: HashAlgorithm?) throws(CryptoError) -> [UInt8] {
    guard let context = EVP_MD_CTX_new() else { throw openSSLError("EVP_MD_CTX_new") }
    defer { EVP_MD_CTX_free(context) }
    let name = hash.map { EVP_MD_get0_name($0.evp) } ?? nil
    guard EVP_DigestSignInit_ex(context, nil, name, library, nil, evp, nil) == 1 else {
      throw openSSLError("EVP_DigestSignInit_ex")
    }
    var signature = [UInt8](repeating: 0, count: 160)
    var count = signature.count
    guard withBytes(of: message, { EVP_DigestSign(context, &signature, &count, $0, $1) }) == 1 else {
      throw openSSLError("EVP_DigestSign")
    }
    return Array(signature.prefix(count))
  }

  /// The raw shared secret: the x coordinate in full length, or the output of X25519 and X448.
  ///
  /// Throws `agreementFailed` for a key on another curve and for an all-zero output (RFC 7748 section 6).
  package func sharedSecret(with peer: PublicKey) throws(CryptoError) -> SecretBytes {
    guard curve.kind != .edwards, peer.curve == curve else { throw .agreementFailed }
    guard let context = EVP_PKEY_CTX_new_from_pkey(library, evp, nil) else {
      throw openSSLError("EVP_PKEY_CTX_new_from_pkey")
    }
    defer { EVP_PKEY_CTX_free(context) }
    // no second validation of the peer: every PublicKey was checked when it was made, and all cofactors are one
    guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer_ex(context, peer.evp, 0) == 1 else {
      throw openSSLError("EVP_PKEY_derive_set_peer_ex")
    }
    var count = curve.fieldSize
    var code: Int32 = 0
    let secret = SecretBytes(count: count) { code = EVP_PKEY_derive(context, $0.baseAddress, &count) }
    guard code == 1, count == secret.count else { throw discardingQueue(.agreementFailed) }
    if curve.kind == .montgomery, secret.withBytes({ $0.reduce(0, |) }) == 0 { throw .agreementFailed }
    return secret
  }
}

/// A Weierstrass key pair from its scalar; nil when OpenSSL cannot make it.
private func weierstrassKey(_ curve: Curve, scalar: some Collection<UInt8>) throws(CryptoError) -> OpaquePointer? {
  guard let group = EC_GROUP_new_by_curve_name(OBJ_sn2nid(curve.openSSLName)) else {
    throw openSSLError("EC_GROUP_new_by_curve_name")
  }
  defer { EC_GROUP_free(group) }
  guard let number = withBytes(of: scalar, { BN_bin2bn($0, Int32($1), nil) }) else { throw openSSLError("BN_bin2bn") }
  defer { BN_clear_free(number) }
  guard let order = EC_GROUP_get0_order(group) else { throw openSSLError("EC_GROUP_get0_order") }
  guard BN_is_zero(number) == 0, BN_cmp(number, order) < 0 else { throw .invalidKey }
  BN_set_flags(number, BN_FLG_CONSTTIME)
  guard let point = EC_POINT_new(group) else { throw openSSLError("EC_POINT_new") }
  defer { EC_POINT_free(point) }
  guard EC_POINT_mul(group, point, number, nil, nil, nil) == 1 else { throw openSSLError("EC_POINT_mul") }
  var encoded = [UInt8](repeating: 0, count: 1 + 2 * curve.fieldSize)
  guard
    EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, &encoded, encoded.count, nil) == encoded.count
  else { throw openSSLError("EC_POINT_point2oct") }
  return mdoc_ec_key_pair(
    curve.openSSLName, number, (EC_GROUP_order_bits(group) + 7) / 8, encoded, encoded.count)
}
