import Crypto
import Trust

/// Why a check failed, warned, dropped something or had something to say: the stable reason codes.
///
/// The names are those of the reference list of checks (parts A to E); session failures (part F) are in
/// `MdocSession`, decisions of the site in `Policy`. Parameters name elements, never their values.
package enum Reason: Hashable, Sendable {
  // A: the response
  case responseMalformed
  case responseVersionUnsupported
  case responseStatus(UInt64)
  case noDocuments
  case documentNotReturned(docType: String, code: Int64)
  case zkDocumentsUnsupported
  case unrequestedDocument(docType: String)
  case responseTooLarge
  // B: issuer data authentication
  case issuerAuthMalformed
  case issuerAlgUnsupported
  case signerCertificateMissing
  case signerCertificateMalformed
  case issuerSignatureInvalid
  case msoMalformed
  case msoVersionUnsupported
  case digestAlgorithmUnsupported
  case itemMalformed(nameSpace: String)
  case digestMissing(nameSpace: String, element: String)
  case digestMismatch(nameSpace: String, element: String)
  case duplicateElement(nameSpace: String, element: String)
  case randomTooShort(nameSpace: String, element: String)
  case docTypeMismatch
  case signedOutsideSignerValidity
  case notYetValid
  case expired
  case validityInfoInconsistent
  case countryMismatch
  case jurisdictionMismatch
  case revoked
  case suspended
  case statusUnknownValue
  case statusIndexOutOfRange
  case statusUnavailable(detail: String)
  // C: device authentication
  case deviceAuthMissing
  case deviceAuthMalformed
  case deviceKeyInvalid
  case deviceSignatureInvalid
  case deviceMacInvalid
  case deviceElementUnauthorized(nameSpace: String, element: String)
  case ambiguousElement(nameSpace: String, element: String)
  // D: the signer chain
  case chain(ChainReason)
  /// What is wrong with the signer's public key, beside `signerProfile(publicKey)`.
  case signerKey(CertificateKeyFault)
  // E: request matching and presentation
  case unrequestedElement(nameSpace: String, element: String)
  case ageContradictory(nameSpace: String, element: String)
  case elementTypeInvalid(nameSpace: String, element: String)
  case documentExpired
  case portraitUnreadable
}
