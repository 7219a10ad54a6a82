/// Why no document was made. Nothing here is a peer's fault: it is what was asked of the issuer.
package enum IssuerError: Error, Equatable, Sendable {
  /// No portrait has this many bytes.
  case portraitSize(Int)
  /// This curve cannot sign, or not for this role (roots are on elliptic curves of ECDSA only).
  case curve(String)
  /// The cryptographic library refused; the text names the operation.
  case cryptography(String)
}
