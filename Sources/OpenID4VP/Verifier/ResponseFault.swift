import JOSE

/// Why an answer is none to a verifier's request. `code` is stable; no case carries a value of a document.
package enum ResponseFault: Error, Equatable, Sendable {
  /// No transaction of that name, or it is over.
  case transactionUnknown
  /// It has been answered already.
  case transactionUsed
  /// The body is no form.
  case formMalformed
  /// `response` where an answer in the clear was asked for, or the other way round.
  case responseModeMismatch
  case stateMismatch
  /// The envelope is none.
  case envelopeMalformed(JOSEFault)
  /// What the envelope says of itself and was not offered: `alg`, `enc`, `kid`, `apu`, `apv`.
  case envelopeUnexpected(String)
  case decryptionFailed
  /// The contents of the envelope are no JSON object.
  case payloadMalformed
  case tokenMissing
  /// `vp_token` is not of its form.
  case tokenMalformed
  /// An id in it that was not asked for.
  case queryUnknown
  /// Several credentials where one was asked for.
  case tooManyCredentials
  /// What is there under an id is no mdoc.
  case formatUnexpected
  /// `presentation_submission`, which Annex B has, does not fit the definition.
  case submissionMismatch

  package var code: String {
    switch self {
    case .transactionUnknown: "transactionUnknown"
    case .transactionUsed: "transactionUsed"
    case .formMalformed: "formMalformed"
    case .responseModeMismatch: "responseModeMismatch"
    case .stateMismatch: "stateMismatch"
    case .envelopeMalformed: "jweInvalid"
    case .envelopeUnexpected(let member): "jweUnexpected(\(member))"
    case .decryptionFailed: "jweDecryptionFailed"
    case .payloadMalformed: "payloadMalformed"
    case .tokenMissing: "vpTokenMissing"
    case .tokenMalformed: "vpTokenMalformed"
    case .queryUnknown: "vpTokenQueryUnknown"
    case .tooManyCredentials: "vpTokenTooMany"
    case .formatUnexpected: "vpTokenFormat"
    case .submissionMismatch: "submissionMismatch"
    }
  }
}
