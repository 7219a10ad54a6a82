/// Why a token or a key of JOSE is refused, or could not be made. Carries no value of anybody's.
package enum JOSEFault: Error, Equatable, Sendable {
  /// A token beyond its `maximumSize`, or a value in its header beyond what libjose has room for.
  case tooLarge
  /// What is not of its form: "compact form", "header", "payload", "alg", "enc", "x5c", "jwk", "apu", "apv", "epk",
  /// "encrypted key".
  case malformed(String)
  /// A header member that is not taken, with its name: "alg", "enc", "zip", "crit", "b64", "p2c".
  case unsupported(String)
  /// A JWK that is not usable: a member ("kty", "crv", "x", "y", "kid", "use", "alg"), whose key it is ("epk"), or why
  /// ("private", "not on the curve").
  case key(String)
  /// A signature that is not one by the key.
  case signature
  /// No plaintext: another key, or something was changed on the way. What exactly is not said.
  case decryption
  /// libjose, or the cryptography below it, failed in what should not fail.
  case library
}
