internal import COpenSSL

extension PrivateKey {
  /// A key from PEM text: PKCS #8 or the older forms of OpenSSL, not encrypted. Throws `invalidKey` for anything
  /// else, and as `PublicKey` does for curves that are not ours.
  package convenience init(pem: String) throws(CryptoError) {
    var text = pem
    let key = text.withUTF8 { bytes -> OpaquePointer? in
      guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
      defer { BIO_free(bio) }
      // without a callback of ours OpenSSL would ask for a passphrase at the terminal
      return PEM_read_bio_PrivateKey_ex(bio, nil, { _, _, _, _ in -1 }, nil, nil, nil)
    }
    guard let key else { throw discardingQueue(.invalidKey) }
    ERR_clear_error()
    try self.init(adopting: key)
    // a file can name a public point that does not belong to its scalar; OpenSSL takes that on trust
    guard curve.kind != .weierstrass || PrivateKey.isPair(evp) else { throw discardingQueue(.invalidKey) }
  }

  /// The key as PKCS #8 PEM text, not encrypted, for the key files of the test issuer and the wallet.
  package func pkcs8PEM() throws(CryptoError) -> String {
    guard let bio = BIO_new(BIO_s_secmem()) else { throw openSSLError("BIO_new") }
    defer { BIO_free(bio) }
    guard PEM_write_bio_PKCS8PrivateKey(bio, evp, nil, nil, 0, nil, nil) == 1 else {
      throw openSSLError("PEM_write_bio_PKCS8PrivateKey")
    }
    var bytes: UnsafeMutablePointer<UInt8>?
    let count = mdoc_bio_bytes(bio, &bytes)
    guard count > 0, let bytes else { throw openSSLError("BIO_get_mem_data") }
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  private static func isPair(_ evp: OpaquePointer) -> Bool {
    guard let context = EVP_PKEY_CTX_new_from_pkey(nil, evp, nil) else { return false }
    defer { EVP_PKEY_CTX_free(context) }
    return EVP_PKEY_pairwise_check(context) == 1
  }
}
