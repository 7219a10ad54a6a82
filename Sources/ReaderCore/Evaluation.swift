import Crypto
import Mdoc

/// An answer to be verified and judged, with everything the verification needs. Personal data: used once, then gone.
package struct Evaluation: Sendable {
  /// The decrypted DeviceResponse.
  package let response: [UInt8]
  /// Of this session: what device authentication is bound to.
  package let transcript: SessionTranscript
  /// For device authentication by MAC.
  package let readerKey: PrivateKey?
  /// What was asked for; the rest is dropped.
  package let requested: [ItemsRequest]
}

/// What came of an evaluation, fit for logs.
package struct Assessment: Sendable {
  package let isGranted: Bool
  /// Reason codes with parameters; empty when granted.
  package let reasons: [String]
  /// Findings that cost nothing.
  package let remarks: [String]
  /// Of the document that decided; of the first returned one when none did.
  package let docType: String?
  package let issuingCountry: String?
  /// What revocation lists say about the signer of that document (good, revoked, unknown); nil when nobody was asked.
  package var signerRevocation: String?
  /// What status lists say about that document; nil when it names none.
  package var documentStatus: String?
  /// How long the verification took.
  package let verifying: Duration
  /// How long the site's policy took.
  package let deciding: Duration

  package init(
    isGranted: Bool, reasons: [String], remarks: [String], docType: String?, issuingCountry: String?,
    verifying: Duration, deciding: Duration
  ) {
    self.isGranted = isGranted
    self.reasons = reasons
    self.remarks = remarks
    self.docType = docType
    self.issuingCountry = issuingCountry
    self.verifying = verifying
    self.deciding = deciding
  }
}
