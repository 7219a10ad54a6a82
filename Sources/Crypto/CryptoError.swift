internal import COpenSSL

/// Why a cryptographic operation gave no result. Carries no key, plaintext or other secret.
package enum CryptoError: Error, Equatable, Sendable {
  /// Bytes that are no key of the kind they are said to be: a scalar out of range, an unreadable key file.
  case invalidKey
  /// Coordinates that are no point of the curve, or the identity.
  case notOnCurve
  /// A key on a curve (or of an algorithm) outside cipher suite 1; `name` is OpenSSL's for it.
  case unsupportedCurve(name: String)
  /// An EC key that spells its curve out instead of naming it (RFC 5480 section 2.1.1 forbids that).
  case explicitParameters
  /// A key, coordinate, nonce or output whose number of bytes is not the one required.
  case wrongSize(expected: Int, actual: Int)
  /// No shared secret: the peer's key is on another curve, the curve cannot agree, or the output is all zero.
  case agreementFailed
  /// A curve was asked for what it cannot do: a signature by X25519, a hash with EdDSA, none with ECDSA.
  case unsuitableCurve(Curve)
  /// The tag of an encrypted message is not the right one.
  case authenticationFailed
  /// A call that should not fail did: its name, and the reasons in OpenSSL's queue, oldest first.
  case openSSL(call: String, reasons: [String])
}

/// OpenSSL's error queue of this thread, emptied into an error that names the call.
func openSSLError(_ call: String) -> CryptoError {
  var reasons: [String] = []
  while case let code = ERR_get_error(), code != 0 {
    if let text = ERR_reason_error_string(code) {  // a string of OpenSSL's table, valid for the process
      reasons.append(String(cString: text))
    } else {
      reasons.append("error \(code)")
    }
  }
  return .openSSL(call: call, reasons: reasons)
}

/// `error`, after emptying OpenSSL's queue, so that nothing of it turns up in a later call's error.
func discardingQueue(_ error: CryptoError) -> CryptoError {
  ERR_clear_error()
  return error
}

/// Empties OpenSSL's error queue of this thread after calls of a library that uses OpenSSL too and leaves its errors there.
package func discardOpenSSLErrors() { ERR_clear_error() }
