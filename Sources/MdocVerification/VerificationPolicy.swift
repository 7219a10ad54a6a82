import Crypto
import Mdoc
import Trust

/// The switches of a verification; each default is the strict reading the reference recommends.
package struct VerificationPolicy: Equatable, Sendable {
  /// Tolerance for a document that starts in the future, in seconds, for validFrom and signed alike (B13).
  package var clockSkewSeconds: Int64 = 300
  /// Largest DeviceResponse in bytes (A6).
  package var maximumResponseSize = 4 << 20
  /// Whether an algorithm must be the one paired with the curve (ES256 with P-256, and so on; B5, C3).
  package var strictAlgorithmPairing = true
  /// Whether a random of under 16 bytes is a failure instead of a warning (B10).
  package var failsShortRandom = false
  /// Whether a device-signed element without authorization is a failure instead of being dropped (C5).
  package var failsUnauthorizedDeviceElement = false
  /// Whether a device signature may carry its payload, when it equals the expected one (C3, C4).
  package var acceptsAttachedDevicePayload = false
  /// Whether MSO dates may have a fraction of a second (B6).
  package var acceptsFractionalSeconds = true
  /// Whether MSO dates may lack tag 0 (B6).
  package var acceptsUntaggedDates = false
  /// Whether a device key may be a compressed point (C2).
  package var acceptsCompressedPoints = true
  /// How issuer and subject names are compared (D1).
  package var nameComparison = NameComparison.normalized
  /// Whether the soft details of the signer profile are failures (D5).
  package var strictCertificateProfile = false
  /// Which edition of the standard the certificates of issuers are measured against (D6).
  package var certificateEdition = CertificateEdition.first
  /// What it costs when no revocation list can tell about a signer (D8).
  package var signerRevocation = RevocationDemand.prefer
  /// What it costs when no status list can tell about a document that names one (B15).
  package var documentStatus = RevocationDemand.prefer
  /// The same for single doc types, where a site demands more or less of some.
  package var signerRevocationByDocType: [String: RevocationDemand] = [:]
  package var documentStatusByDocType: [String: RevocationDemand] = [:]
  /// Extended key usage asked of a signer, by doc type; other doc types ask for none (D5).
  package var signerKeyUsages = [MDLElements.docType: OID.documentSigner]

  package init() {}

  func signerRevocation(for docType: String) -> RevocationDemand {
    signerRevocationByDocType[docType] ?? signerRevocation
  }

  func documentStatus(for docType: String) -> RevocationDemand { documentStatusByDocType[docType] ?? documentStatus }
}
