/// One way to issue a document wrongly. The raw value is the name on the command line, and that of the reference
/// peer, so that both issuers speak one language.
package enum Flaw: String, CaseIterable, Sendable {
  case expired
  case notYetValid = "not-yet-valid"
  case inconsistentValidity = "inconsistent-validity"
  case signedBeforeSigner = "signed-before-signer"
  case untrustedRoot = "untrusted-root"
  case forgedSigner = "forged-signer"
  case foreignIssuerSignature = "foreign-issuer-signature"
  case signerExpired = "signer-expired"
  case signerUsage = "signer-usage"
  case signerIsCA = "signer-is-ca"
  case signerKeyUsage = "signer-key-usage"
  case signerCritical = "signer-critical"
  case signerCountry = "signer-country"
  case digestAlgorithm = "digest-algorithm"
  case msoMalformed = "mso-malformed"
  case shortRandom = "short-random"

  /// What a good reader finds.
  package var expectation: String {
    switch self {
    case .expired: "expired"
    case .notYetValid: "notYetValid"
    case .inconsistentValidity: "validityInfoInconsistent"
    case .signedBeforeSigner: "signedOutsideSignerValidity"
    case .untrustedRoot: "noTrustAnchor"
    case .forgedSigner: "signerCertSignatureInvalid"
    case .foreignIssuerSignature: "issuerSignatureInvalid"
    case .signerExpired: "signerCertExpired"
    case .signerUsage: "signerProfile(extendedKeyUsage), for an mDL"
    case .signerIsCA: "signerProfile(certificateAuthority)"
    case .signerKeyUsage: "signerProfile(keyUsage)"
    case .signerCritical: "signerProfile(unknownCriticalExtension)"
    case .signerCountry: "countryMismatchChain, and countryMismatch where an mDL returns issuing_country"
    case .digestAlgorithm: "digestAlgorithmUnsupported"
    case .msoMalformed: "msoMalformed"
    case .shortRandom: "randomTooShort, a warning"
    }
  }
}
