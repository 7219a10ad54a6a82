import JOSE
import JSON

/// One thing that a wallet does wrong when it answers online, for verifiers to be tried against. What is wrong inside a
/// DeviceResponse is another list's matter.
package enum AnswerDeviation: String, CaseIterable, Sendable {
  // The form and the envelope
  case noState = "no-state"
  case otherState = "other-state"
  case otherMode = "other-mode"
  case garbledEnvelope = "garbled-envelope"
  case unadvertisedEncryption = "unadvertised-encryption"
  case otherKeyID = "other-key-id"
  case otherEncryptionKey = "other-encryption-key"
  case payloadNoObject = "payload-no-object"
  case noPartyInformation = "no-party-information"
  // vp_token
  case noToken = "no-token"
  case emptyToken = "empty-token"
  case tokenOfDraft = "token-of-draft"
  case unknownQueryID = "unknown-query-id"
  case presentationTwice = "presentation-twice"
  case paddedPresentation = "padded-presentation"
  case otherFormat = "other-format"
  case otherSubmission = "other-submission"
  // The transcript that the device signs
  case transcriptNonce = "transcript-nonce"
  case transcriptClient = "transcript-client"
  case transcriptAddress = "transcript-address"
  case transcriptThumbprint = "transcript-thumbprint"
  // Afterwards
  case answersTwice = "answers-twice"

  /// What a good verifier makes of it: a code of `ResponseFault`, or of a verdict.
  package var expectation: String {
    switch self {
    case .noState, .otherState: "stateMismatch"
    case .otherMode: "responseModeMismatch"
    case .garbledEnvelope: "jweInvalid"
    case .unadvertisedEncryption: "jweUnexpected(enc)"
    case .otherKeyID: "jweUnexpected(kid)"
    case .otherEncryptionKey: "jweDecryptionFailed"
    case .payloadNoObject: "payloadMalformed"
    case .noPartyInformation: "jweUnexpected(apu)"
    case .noToken: "vpTokenMissing"
    case .emptyToken, .tokenOfDraft: "vpTokenMalformed"
    case .unknownQueryID: "vpTokenQueryUnknown"
    case .presentationTwice: "vpTokenTooMany"
    case .paddedPresentation, .otherFormat: "vpTokenFormat"
    case .otherSubmission: "submissionMismatch"
    case .transcriptNonce, .transcriptClient, .transcriptAddress, .transcriptThumbprint: "deviceSignatureInvalid"
    case .answersTwice: "transactionUsed"
    }
  }

  /// Whether an answer to this request can be wrong in this way.
  package func applies(to request: AuthorizationRequest) -> Bool {
    switch self {
    case .garbledEnvelope, .unadvertisedEncryption, .otherKeyID, .otherEncryptionKey, .payloadNoObject:
      request.encryption != nil
    case .noPartyInformation, .otherSubmission: request.form == .annexB
    case .transcriptThumbprint: request.form == .final && request.encryption != nil
    case .emptyToken, .tokenOfDraft, .unknownQueryID, .presentationTwice: request.form == .final
    default: true
    }
  }
}
