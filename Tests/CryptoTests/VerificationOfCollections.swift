@testable import Crypto

/// The checks of `PublicKey` take views; tests have arrays.
extension PublicKey {
  func isValid(signature: some Collection<UInt8>, for message: some Collection<UInt8>, hash: HashAlgorithm?) -> Bool {
    isValid(signature: ArraySlice(signature), for: ArraySlice(message), hash: hash)
  }

  func isValid(
    derSignature: some Collection<UInt8>, for message: some Collection<UInt8>, hash: HashAlgorithm?
  ) -> Bool {
    isValid(derSignature: ArraySlice(derSignature), for: ArraySlice(message), hash: hash)
  }
}
