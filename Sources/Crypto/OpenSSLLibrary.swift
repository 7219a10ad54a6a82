internal import COpenSSL

/// The version of the OpenSSL library in use (not of the headers). Versions before 3.0.7 have known memory errors
/// in certificate checks (two advisories of November 2022); a reader refuses to start on them.
package var openSSLVersion: (major: Int, minor: Int, patch: Int) {
  (Int(OPENSSL_version_major()), Int(OPENSSL_version_minor()), Int(OPENSSL_version_patch()))
}

/// Algorithms fetched once. A fetch for each operation costs more than hashing a small item does.
///
/// `@unchecked Sendable`: the objects are immutable, reference-counted by OpenSSL with atomics, and never freed.
struct Algorithms: @unchecked Sendable {
  let sha256: OpaquePointer
  let sha384: OpaquePointer
  let sha512: OpaquePointer
  let aes256GCM: OpaquePointer
  let hkdf: OpaquePointer
  let hmac: OpaquePointer

  static let shared = Algorithms()

  static func hash(named name: String) -> OpaquePointer? { EVP_MD_fetch(nil, name, nil) }

  private init() {
    guard let sha256 = Algorithms.hash(named: "SHA256"), let sha384 = Algorithms.hash(named: "SHA384"),
      let sha512 = Algorithms.hash(named: "SHA512"), let aes256GCM = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil),
      let hkdf = EVP_KDF_fetch(nil, "HKDF", nil), let hmac = EVP_MAC_fetch(nil, "HMAC", nil)
    else { fatalError("this OpenSSL has no default provider: \(openSSLError("fetch"))") }
    self.sha256 = sha256
    self.sha384 = sha384
    self.sha512 = sha512
    self.aes256GCM = aes256GCM
    self.hkdf = hkdf
    self.hmac = hmac
  }
}

/// Lends the bytes of a collection to a call into C, without a copy where they are contiguous.
///
/// The pointer is never null, also for no bytes: OpenSSL reads a null pointer as "absent" in places. It is valid
/// inside `body` only.
@inline(__always)
func withBytes<Result>(
  of bytes: some Collection<UInt8>, _ body: (UnsafePointer<UInt8>, Int) -> Result
) -> Result {
  func lend(_ buffer: UnsafeBufferPointer<UInt8>) -> Result {
    if let base = buffer.baseAddress { return body(base, buffer.count) }
    var nothing: UInt8 = 0
    return withUnsafePointer(to: &nothing) { body($0, 0) }
  }
  if let result = bytes.withContiguousStorageIfAvailable(lend) { return result }
  return Array(bytes).withUnsafeBufferPointer(lend)
}

/// `count` random bytes of OpenSSL's generator.
///
/// Stops the process when there is no entropy: nothing sensible can be done without.
package func randomBytes(_ count: Int) -> [UInt8] {
  [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
    if count > 0, RAND_bytes_ex(nil, buffer.baseAddress, count, 0) != 1 {
      fatalError("no random bytes: \(openSSLError("RAND_bytes_ex"))")
    }
    initialized = count
  }
}
