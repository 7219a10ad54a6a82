import Bytes
internal import COpenSSL

/// AES-256-GCM with a 12-byte nonce, a 16-byte tag behind the ciphertext and no additional data, as 18013-5 section
/// 9.1.1.5 uses it. A nonce may be used once for a key; counting is the session's business.
package struct AES256GCM: ~Copyable {
  /// Bytes that sealing adds.
  package static let tagSize = 16
  package static let nonceSize = 12

  private let context: OpaquePointer  // owned, holds the key schedule; OpenSSL clears it in deinit

  /// Takes a copy of a 32-byte key; another size is our own bug and stops the process.
  package init(key: borrowing SecretBytes) {
    precondition(key.count == 32, "an AES-256 key has 32 bytes")
    guard let context = EVP_CIPHER_CTX_new(),
      key.withBytes({ EVP_EncryptInit_ex2(context, Algorithms.shared.aes256GCM, $0.baseAddress, nil, nil) }) == 1
    else { fatalError("\(openSSLError("EVP_EncryptInit_ex2"))") }  // fails for want of memory only
    self.context = context
  }

  deinit { EVP_CIPHER_CTX_free(context) }

  /// The ciphertext and its tag.
  package func seal(_ plaintext: ByteView, nonce: [UInt8]) throws(CryptoError) -> [UInt8] {
    try check(nonce: nonce, messageSize: plaintext.count)
    guard EVP_EncryptInit_ex2(context, nil, nil, nonce, nil) == 1 else { throw openSSLError("EVP_EncryptInit_ex2") }
    var good = false
    let sealed = [UInt8](unsafeUninitializedCapacity: plaintext.count + AES256GCM.tagSize) { buffer, initialized in
      guard let output = buffer.baseAddress else { return }
      var written: Int32 = 0
      var rest: Int32 = 0
      good =
        withBytes(of: plaintext) { EVP_EncryptUpdate(context, output, &written, $0, Int32($1)) } == 1
        && EVP_EncryptFinal_ex(context, output + Int(written), &rest) == 1
        && Int(written + rest) == plaintext.count
        && EVP_CIPHER_CTX_ctrl(
          context, EVP_CTRL_AEAD_GET_TAG, Int32(AES256GCM.tagSize), output + plaintext.count) == 1
      initialized = good ? plaintext.count + AES256GCM.tagSize : 0
    }
    guard good else { throw openSSLError("EVP_EncryptUpdate") }
    return sealed
  }

  /// The plaintext of a sealed message. Throws `authenticationFailed` where the tag is missing or not right; what
  /// was decrypted until then is wiped.
  package func open(_ sealed: ByteView, nonce: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard sealed.count >= AES256GCM.tagSize else { throw .authenticationFailed }
    try check(nonce: nonce, messageSize: sealed.count)
    guard EVP_DecryptInit_ex2(context, nil, nil, nonce, nil) == 1 else { throw openSSLError("EVP_DecryptInit_ex2") }
    let ciphertext = sealed.dropLast(AES256GCM.tagSize)
    var tag = Array(sealed.suffix(AES256GCM.tagSize))
    var ready = false
    var authentic = false
    // one byte more than needed, so that the buffer exists also for an empty message
    let plaintext = [UInt8](unsafeUninitializedCapacity: ciphertext.count + 1) { buffer, initialized in
      guard let output = buffer.baseAddress else { return }
      var written: Int32 = 0
      var rest: Int32 = 0
      ready =
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(AES256GCM.tagSize), &tag) == 1
        && withBytes(of: ciphertext) { EVP_DecryptUpdate(context, output, &written, $0, Int32($1)) } == 1
        && Int(written) == ciphertext.count
      authentic = ready && EVP_DecryptFinal_ex(context, output + Int(written), &rest) == 1
      if !authentic { OPENSSL_cleanse(output, ciphertext.count) }
      initialized = authentic ? ciphertext.count : 0
    }
    guard ready else { throw openSSLError("EVP_DecryptUpdate") }
    guard authentic else { throw discardingQueue(.authenticationFailed) }
    return plaintext
  }

  private func check(nonce: [UInt8], messageSize: Int) throws(CryptoError) {
    guard nonce.count == AES256GCM.nonceSize else {
      throw .wrongSize(expected: AES256GCM.nonceSize, actual: nonce.count)
    }
    // OpenSSL counts in Int32
    let limit = Int(Int32.max) - AES256GCM.tagSize
    guard messageSize <= limit else { throw .wrongSize(expected: limit, actual: messageSize) }
  }
}
