import Bytes
internal import COpenSSL

/// A hash function of ISO/IEC 18013-5.
package enum HashAlgorithm: CaseIterable, Sendable {
  case sha256
  case sha384
  case sha512

  /// Bytes of a digest.
  package var digestSize: Int {
    switch self {
    case .sha256: 32
    case .sha384: 48
    case .sha512: 64
    }
  }

  var evp: OpaquePointer {
    switch self {
    case .sha256: Algorithms.shared.sha256
    case .sha384: Algorithms.shared.sha384
    case .sha512: Algorithms.shared.sha512
    }
  }
}

/// The digest of `bytes`.
package func digest(_ algorithm: HashAlgorithm, _ bytes: ByteView) -> [UInt8] {
  withBytes(of: bytes) { evpDigest(algorithm.evp, size: algorithm.digestSize, $0, $1) }
}

/// The digest of `bytes`.
package func digest(_ algorithm: HashAlgorithm, _ bytes: [UInt8]) -> [UInt8] {
  withBytes(of: bytes) { evpDigest(algorithm.evp, size: algorithm.digestSize, $0, $1) }
}

/// The SHA-1 digest, for key identifiers (RFC 5280 section 4.2.1.2) and nothing else.
package func sha1(_ bytes: ByteView) -> [UInt8] {
  withBytes(of: bytes) { evpDigest(EVP_sha1(), size: 20, $0, $1) }
}

func evpDigest(_ evp: OpaquePointer, size: Int, _ bytes: UnsafePointer<UInt8>, _ count: Int) -> [UInt8] {
  [UInt8](unsafeUninitializedCapacity: size) { buffer, initialized in
    guard EVP_Digest(bytes, count, buffer.baseAddress, nil, evp, nil) == 1 else {
      fatalError("\(openSSLError("EVP_Digest"))")  // fails for want of memory only
    }
    initialized = size
  }
}

/// Digests of many byte strings, one after another in one context: for a small one, making the context is most of the
/// work. Not thread-safe.
package final class Digester {
  private let algorithm: HashAlgorithm
  private let context: OpaquePointer  // owned, freed in deinit

  package init(_ algorithm: HashAlgorithm) {
    guard let context = EVP_MD_CTX_new() else {
      fatalError("\(openSSLError("EVP_MD_CTX_new"))")  // fails for want of memory only
    }
    self.algorithm = algorithm
    self.context = context
  }

  deinit { EVP_MD_CTX_free(context) }

  /// Whether `expected` is the digest of `bytes`.
  package func isDigest(_ expected: ByteView, of bytes: ByteView) -> Bool {
    guard expected.count == algorithm.digestSize else { return false }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: algorithm.digestSize) { digest in
      let good = withBytes(of: bytes) { bytes, count in
        EVP_DigestInit_ex2(context, algorithm.evp, nil) == 1 && EVP_DigestUpdate(context, bytes, count) == 1
          && EVP_DigestFinal_ex(context, digest.baseAddress, nil) == 1
      }
      guard good else { fatalError("\(openSSLError("EVP_Digest"))") }  // fails for want of memory only
      return withBytes(of: expected) { expected, count in CRYPTO_memcmp(expected, digest.baseAddress, count) == 0 }
    }
  }
}
