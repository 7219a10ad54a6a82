import Crypto
import Mdoc

/// A credential that was issued to this wallet, and whose every check passed but one that is stated apart: whether its issuer is
/// trusted.
package struct ClaimedCredential: Sendable {
  /// As the wallet keeps it, with the device key that the issuer bound it to.
  package let credential: Credential
  /// Why its issuer is trusted.
  package let trust: IssuerTrust
  /// Whose certificate is in x5chain.
  package let signer: Certificate
  /// When its validity ends and begins, as signed.
  package let validity: ValidityInfo
}

/// Who vouches for the issuer of a credential.
package enum IssuerTrust: String, Sendable {
  /// A root that was given to the wallet.
  case givenRoot
  /// A root that the issuer publishes at the address in its metadata, over https.
  case publishedRoot
  /// Nobody, and the caller allows that.
  case none
}
