internal import COpenSSL

extension PublicKey {
  /// A key from PEM text with one `PUBLIC KEY` block (RFC 7468 section 13). Throws `invalidKey` for anything else, and as
  /// the other initializers do for curves that are not ours.
  package convenience init(pem: String) throws(CryptoError) {
    var text = pem
    let evp = text.withUTF8 { bytes -> OpaquePointer? in
      guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
      defer { BIO_free(bio) }
      return PEM_read_bio_PUBKEY_ex(bio, nil, { _, _, _, _ in -1 }, nil, nil, nil)
    }
    guard let evp else { throw discardingQueue(.invalidKey) }
    defer { EVP_PKEY_free(evp) }
    let curve = try PublicKey.curve(of: evp)
    if curve.kind == .weierstrass {
      guard let point = PublicKey.coordinates(of: evp, curve: curve) else { throw discardingQueue(.invalidKey) }
      try self.init(curve: curve, x: point.x, y: point.y)
    } else {
      try self.init(curve: curve, raw: PublicKey.rawKey(of: evp, curve: curve))
    }
  }
}
