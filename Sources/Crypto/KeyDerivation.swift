import Bytes
internal import COpenSSL

/// HKDF (RFC 5869) with SHA-256: `count` bytes, at most 8160, derived from a secret. `info` has at most 1024 bytes.
///
/// The sizes are ours, never a peer's; breaking them is a bug and stops the process.
package func hkdfSHA256(secret: borrowing SecretBytes, salt: ByteView, info: ByteView, count: Int) -> SecretBytes {
  var good = false
  let output = SecretBytes(count: count) { output in
    good = secret.withBytes { deriveSHA256(secret: $0, salt: salt, info: info, into: output) }
  }
  guard good else { fatalError("\(openSSLError("EVP_KDF_derive"))") }
  return output
}

/// HKDF with SHA-256 of input that is not secret (the BLE Ident value); the same rules.
package func hkdfSHA256(secret: [UInt8], salt: ByteView, info: ByteView, count: Int) -> [UInt8] {
  [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
    let output = UnsafeMutableBufferPointer(rebasing: buffer[..<count])
    guard secret.withUnsafeBufferPointer({ deriveSHA256(secret: $0, salt: salt, info: info, into: output) }) else {
      fatalError("\(openSSLError("EVP_KDF_derive"))")
    }
    initialized = count
  }
}

/// Fills `output`; false when OpenSSL refuses (its queue then says why).
func deriveSHA256(
  secret: UnsafeBufferPointer<UInt8>, salt: ByteView, info: ByteView, into output: UnsafeMutableBufferPointer<UInt8>
) -> Bool {
  withBytes(of: secret) { secret, secretCount in
    withBytes(of: salt) { salt, saltCount in
      withBytes(of: info) { info, infoCount in
        mdoc_hkdf_sha256(
          Algorithms.shared.hkdf, secret, secretCount, salt, saltCount, info, infoCount, output.baseAddress,
          output.count) == 1
      }
    }
  }
}

/// HMAC (RFC 2104) with SHA-256: 32 bytes. Compare it with `isEqualInConstantTime`.
package func hmacSHA256(key: borrowing SecretBytes, message: ByteView) -> [UInt8] {
  key.withBytes { key in
    withBytes(of: key) { key, keyCount in
      withBytes(of: message) { message, count in
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, initialized in
          guard mdoc_hmac_sha256(Algorithms.shared.hmac, key, keyCount, message, count, buffer.baseAddress) == 1 else {
            fatalError("\(openSSLError("EVP_MAC_final"))")  // fails for want of memory only
          }
          initialized = 32
        }
      }
    }
  }
}
