import Bytes
internal import COpenSSL

/// What deriving a key from a passphrase costs (scrypt, RFC 7914): 128 * blockSize * 2^logN bytes of memory, and as much
/// time for everybody who guesses.
package struct ScryptCost: Equatable, Sendable {
  /// The logarithm to base 2 of N.
  package let logN: Int
  /// r, in blocks of 128 bytes.
  package let blockSize: Int
  /// p
  package let parallelization: Int

  /// - Parameters:
  ///   - logN: 1 to 20.
  ///   - blockSize: 1 to 16.
  ///   - parallelization: 1 to 16.
  ///
  /// Nil outside these limits, or beyond 256 MiB: cost may come from a file that somebody else wrote.
  package init?(logN: Int, blockSize: Int = 8, parallelization: Int = 1) {
    guard (1...20).contains(logN), (1...16).contains(blockSize), (1...16).contains(parallelization),
      128 * blockSize << logN <= 256 << 20
    else { return nil }
    self.logN = logN
    self.blockSize = blockSize
    self.parallelization = parallelization
  }

  /// The most memory OpenSSL may take: what RFC 7914 needs, and a little more.
  fileprivate var memoryLimit: UInt64 {
    UInt64(128 * blockSize) * (UInt64(1) << UInt64(logN) + UInt64(parallelization) + 2) + 65_536
  }
}

/// `count` bytes derived from a passphrase by scrypt (RFC 7914). Throws when there is no memory for it, or when this
/// OpenSSL does not offer it.
package func scrypt(
  passphrase: borrowing SecretBytes, salt: [UInt8], cost: ScryptCost, count: Int
) throws(CryptoError) -> SecretBytes {
  var good = false
  let key = SecretBytes(count: count) { output in
    good = passphrase.withBytes { passphrase in
      withBytes(of: passphrase) { bytes, size in
        bytes.withMemoryRebound(to: CChar.self, capacity: size) { text in
          EVP_PBE_scrypt(
            text, size, salt, salt.count, UInt64(1) << UInt64(cost.logN), UInt64(cost.blockSize),
            UInt64(cost.parallelization), cost.memoryLimit, output.baseAddress, output.count) == 1
        }
      }
    }
  }
  guard good else { throw openSSLError("EVP_PBE_scrypt") }
  return key
}

extension SecretBytes {
  /// A copy of a part of the bytes. The range is ours; one outside the bytes is a bug and stops the process.
  package func part(_ range: Range<Int>) -> SecretBytes {
    SecretBytes(count: range.count) { part in
      withBytes { whole in _ = part.update(fromContentsOf: UnsafeBufferPointer(rebasing: whole[range])) }
    }
  }

  /// A copy of a part that may be known: one that nothing secret follows from.
  package func revealed(_ range: Range<Int>) -> [UInt8] { withBytes { Array($0[range]) } }
}
