import Bytes
import Crypto

/// A proof that the one who redeems a code is the one who asked for it (RFC 7636), by S256.
package struct CodeChallenge: Equatable, Sendable {
  /// 43 characters of the unreserved alphabet: kept until the code is redeemed.
  package let verifier: String

  package static let method = "S256"

  /// - Parameter random: 32 bytes.
  package init(random: [UInt8]) { verifier = Base64.url.encode(random) }

  /// What goes with the authorization request.
  package var challenge: String { CodeChallenge.challenge(of: verifier) }

  /// The challenge of a verifier (RFC 7636, section 4.2).
  package static func challenge(of verifier: String) -> String {
    Base64.url.encode(digest(.sha256, Array(verifier.utf8)))
  }
}
