import Bytes
internal import COpenSSL
import Synchronization

/// An EVP_PKEY without a private part and, once it has verified an ECDSA signature, a context for the next: setting one up
/// costs 4 us, and a reader meets a few signers again and again.
///
/// `@unchecked Sendable`: what changes does so in `setPoint`, which is for who has the only reference; OpenSSL's operations
/// on a constant key take locks where they share state.
final class OpenSSLKey: @unchecked Sendable {
  /// Owned, freed in deinit.
  let evp: OpaquePointer
  /// Owned, freed in deinit, used under its lock.
  private let verification = Mutex<Verification?>(nil)

  /// `@unchecked Sendable`: only ever inside the lock.
  private struct Verification: @unchecked Sendable { let context: OpaquePointer }

  init(owning evp: OpaquePointer) { self.evp = evp }

  deinit {
    EVP_PKEY_CTX_free(verification.withLock { $0?.context })
    EVP_PKEY_free(evp)
  }

  /// Makes this the key with another point of its curve (SEC 1 section 2.3.4), which is checked to be on it. Only for who has
  /// the only reference. A key for which this was false is of no use any more.
  func setPoint(_ encoded: [UInt8]) -> Bool { EVP_PKEY_set1_encoded_public_key(evp, encoded, encoded.count) == 1 }

  /// Whether this is an ECDSA signature of a digest. What OpenSSL has to say about it is in its queue.
  func isValid(derSignature: ByteView, ofDigest digest: [UInt8]) -> Bool {
    verification.withLock { verification in
      if verification == nil { verification = makeVerification() }
      guard let context = verification?.context else { return false }
      return withBytes(of: derSignature) { signature, count in
        EVP_PKEY_verify(context, signature, count, digest, digest.count) == 1
      }
    }
  }

  private func makeVerification() -> Verification? {
    guard let context = EVP_PKEY_CTX_new_from_pkey(nil, evp, nil) else { return nil }
    guard EVP_PKEY_verify_init(context) == 1 else {
      EVP_PKEY_CTX_free(context)
      return nil
    }
    return Verification(context: context)
  }
}
