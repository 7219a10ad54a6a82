internal import COpenSSL

extension PrivateKey {
  /// A key by its address in a store of OpenSSL: `file:/path`, or what a provider answers to, such as
  /// `pkcs11:token=door;object=reader?pin-source=file:/path` (pkcs11-provider) and `handle:0x81000001` (tpm2-openssl).
  ///
  /// The key stays where it is: the provider signs with it. A provider need not tell the public half of a private key
  /// (pkcs11-provider does not), so that it is given here; one signature proves that both belong together. Nobody is asked
  /// for a PIN or a passphrase. A PIN is tried once: a token counts those that are wrong.
  ///
  /// - Parameter provider: the provider to load first, by the name of its module; nil for none. It stays loaded, and serves
  ///   such keys only.
  package convenience init(
    store address: String, provider: String?, publicKey: PublicKey
  ) throws(KeyStoreFault) {
    ERR_clear_error()
    let library = try provider.map(ProviderLibraries.library(with:))
    SilentPrompt.answersEverybody()
    let found = mdoc_store_look(address, library, SilentPrompt.method, 1)
    guard let evp = found.key else {
      let errors = StoreErrors.take()
      throw PrivateKey.fault(at: address, library, isOpen: found.opened == 1, errors)
    }
    ERR_clear_error()
    self.init(adopting: evp, of: publicKey, in: library)
    let curve = publicKey.curve
    guard EVP_PKEY_is_a(evp, curve.kind == .weierstrass ? "EC" : curve.openSSLName) == 1 else { throw .otherKey }
    let hash: HashAlgorithm? = curve.kind == .edwards ? nil : .sha256
    let probe: [UInt8] = [0]
    let signature: [UInt8]
    do throws(CryptoError) {
      signature = try derOrRawSignature(for: probe, hash: hash)
    } catch {
      if case .openSSL(_, let reasons) = error { throw .cannotSign(reasons: reasons) }
      throw .cannotSign(reasons: [])
    }
    guard publicKey.isValid(derSignature: signature[...], for: probe[...], hash: hash) else {
      throw PrivateKey.discarding(.otherKey)
    }
  }

  /// What it is that is missing. pkcs11-provider says the same of every fault and leaves no error, so that the token is
  /// asked again, without its PIN.
  private static func fault(
    at address: String, _ library: OpaquePointer?, isOpen: Bool, _ errors: StoreErrors
  ) -> KeyStoreFault {
    guard isOpen else { return errors.isUnknownScheme ? .noStore : .storeClosed(reasons: errors.reasons) }
    guard let parts = PKCS11Address(address) else { return .keyAbsent(reasons: errors.reasons) }
    defer { ERR_clear_error() }
    // Whoever asks for a PIN has the token, and is not logged in to it.
    let before = SilentPrompt.count
    let keys = mdoc_store_look(parts.allOfToken("private"), library, SilentPrompt.method, 0).count
    if SilentPrompt.count != before { return parts.pinFile == nil ? .pinMissing : .pinRefused }
    let others = keys > 0 ? 0 : mdoc_store_look(parts.allOfToken("public"), library, SilentPrompt.method, 0).count
    return keys > 0 || others > 0 ? .keyAbsent(reasons: []) : .tokenAbsent
  }

  private static func discarding(_ fault: KeyStoreFault) -> KeyStoreFault {
    ERR_clear_error()
    return fault
  }
}

/// Why there is no key from a store of OpenSSL. Each is mended by something else.
package enum KeyStoreFault: Error, Equatable, Sendable {
  /// The provider cannot be loaded: its module is not installed, or does not start. OpenSSL's words.
  case provider(String, reasons: [String])
  /// No store answers to addresses of this kind.
  case noStore
  /// What the provider drives (for PKCS #11 the module of the token) is missing or does not start.
  case storeClosed(reasons: [String])
  /// PKCS #11: no token of this name, or one in which there is nothing.
  case tokenAbsent
  /// PKCS #11: the token wants a PIN, and none is named.
  case pinMissing
  /// PKCS #11: the token does not take the PIN that is named.
  case pinRefused
  /// The store is there, and has no such private key.
  case keyAbsent(reasons: [String])
  /// The key is there, and does not sign.
  case cannotSign(reasons: [String])
  /// The key is there, and is not the one that belongs to the public key.
  case otherKey
}
