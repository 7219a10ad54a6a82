internal import COpenSSL

extension PrivateKey {
  /// A key by its address in a store of OpenSSL: `file:/path`, or what a provider answers to, such as
  /// `pkcs11:token=door;object=reader` (pkcs11-provider) and `handle:0x81000001` (tpm2-openssl).
  ///
  /// The key stays where it is: the provider signs with it.
  ///
  /// - Parameter provider: the provider to load first, by the name of its module; nil for none. It stays loaded.
  /// Throws `providerMissing` when it cannot be loaded, `invalidKey` when the store has no private key there, and as
  /// `PublicKey` does for curves that are not ours.
  package convenience init(store address: String, provider: String?) throws(CryptoError) {
    if let provider {
      // A provider that is asked for by name replaces the built-in ones unless those are asked for as well.
      guard OSSL_PROVIDER_load(nil, "default") != nil, OSSL_PROVIDER_load(nil, provider) != nil else {
        throw discardingQueue(.providerMissing(provider))
      }
    }
    let key = mdoc_store_private_key(address)
    guard let key else { throw discardingQueue(.invalidKey) }
    ERR_clear_error()
    try self.init(adopting: key)
  }
}
