internal import COpenSSL

/// Bytes that nobody may see, wiped when their owner is done with them. Not copyable, no description.
///
/// `@unchecked Sendable`: the memory has one owner and does not change after `init`.
package struct SecretBytes: ~Copyable, @unchecked Sendable {
  private let storage: UnsafeMutableBufferPointer<UInt8>  // owned: allocated in init, wiped and freed in deinit

  /// A copy of bytes that come from elsewhere; wiping the original is the caller's business.
  package init(copying bytes: some Collection<UInt8>) {
    self.init(count: bytes.count) { _ = $0.initialize(from: bytes) }
  }

  /// `count` bytes, zero until `fill` has written them.
  init(count: Int, fill: (UnsafeMutableBufferPointer<UInt8>) -> Void) {
    storage = .allocate(capacity: count)
    storage.initialize(repeating: 0)
    fill(storage)
  }

  deinit {
    if let base = storage.baseAddress { OPENSSL_cleanse(base, storage.count) }
    storage.deallocate()
  }

  package var count: Int { storage.count }

  /// Lends the bytes; the pointer is valid inside `body` only.
  package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
    try body(UnsafeBufferPointer(storage))
  }
}
