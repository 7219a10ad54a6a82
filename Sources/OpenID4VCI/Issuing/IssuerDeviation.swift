/// One way in which an issuer does wrong, or asks for something that not every issuer asks for: what a wallet has to survive.
package enum IssuerDeviation: Hashable, Sendable {
  // Metadata
  /// Issuer metadata behind the path only, where drafts had it: for an identifier with a path.
  case oldWellKnownPlace
  /// `credential_issuer` in the metadata is another one.
  case otherIdentifier
  /// Metadata of draft 11, with `credentials_supported`.
  case draftMetadata
  /// More bytes of metadata than anybody needs.
  case hugeMetadata
  /// The metadata points to another host for credentials.
  case endpointElsewhere
  // Authorization
  /// The authorization response has another state.
  case otherState
  /// The authorization response names another server.
  case otherIssuerInResponse
  /// Authorization requests have to be pushed.
  case pushedRequestRequired
  // Token
  /// A page of HTML where a token is due.
  case pageInsteadOfToken
  /// A token type that nobody knows.
  case otherTokenType
  /// Tokens are for proofs of possession only, which the metadata does not say.
  case possessionDemanded
  /// Proofs of possession need the server's nonce.
  case possessionNonceDemanded
  /// The nonce comes with the token and from nowhere else, as in drafts.
  case draftNonce
  // Nonce
  /// The first nonce is null.
  case nullNonce
  /// The first proof's nonce is refused.
  case invalidNonceOnce
  /// Every nonce is refused.
  case invalidNonceAlways
  // Credential endpoint
  /// The credential endpoint sends the wallet to another host.
  case redirectElsewhere
  /// Requests and answers have to be encrypted.
  case encryptionRequired
  /// The answer comes in the clear although the wallet asked for an encrypted one.
  case unencryptedAnswer
  /// A member `credential` instead of the list, as in drafts.
  case draftCredential
  /// The credential is never ready.
  case deferredForEver
  /// One credential fewer than proofs.
  case fewerCredentials
  /// One credential more than proofs.
  case moreCredentials
  // The credential
  /// A Document of a DeviceResponse instead of the IssuerSigned in it.
  case wrappedInDocument
  /// A whole DeviceResponse instead of the IssuerSigned in it.
  case wrappedInResponse
  /// The IssuerSigned in a byte string with tag 24.
  case wrappedInByteString
  /// Base64 of the standard alphabet, with padding.
  case paddedCredential
  /// The signed doc type is another one.
  case otherDocType
  /// Bound to a key that nobody proved.
  case otherDeviceKey
  /// All copies are bound to one key.
  case repeatedDeviceKey
  /// An item was changed after it was signed.
  case badDigest
  /// An element is left out that the metadata calls mandatory.
  case missingElement
  /// Another key than the signer's signed the document.
  case badIssuerSignature
  /// The signer is of a root that nobody knows.
  case unknownRoot
  /// The validity of the document is over.
  case expiredDocument
  // Refusals
  /// The endpoint where this code belongs answers with it, whatever it is asked.
  case refuses(IssuanceErrorCode)

  /// Where a code is due.
  package enum Place: Sendable {
    case authorization
    case token
    case credential
    case deferredCredential
    case notification
  }

  private static let plain: [IssuerDeviation] = [
    .oldWellKnownPlace, .otherIdentifier, .draftMetadata, .hugeMetadata, .endpointElsewhere, .otherState,
    .otherIssuerInResponse, .pushedRequestRequired, .pageInsteadOfToken, .otherTokenType, .possessionDemanded,
    .possessionNonceDemanded, .draftNonce, .nullNonce, .invalidNonceOnce, .invalidNonceAlways, .redirectElsewhere,
    .encryptionRequired, .unencryptedAnswer, .draftCredential, .deferredForEver, .fewerCredentials, .moreCredentials,
    .wrappedInDocument, .wrappedInResponse, .wrappedInByteString, .paddedCredential, .otherDocType, .otherDeviceKey,
    .repeatedDeviceKey, .badDigest, .missingElement, .badIssuerSignature, .unknownRoot, .expiredDocument,
  ]

  /// Each of them.
  package static let all = plain + IssuanceErrorCode.allCases.map(IssuerDeviation.refuses)

  /// Its name on a command line: `other-state`, `refuses-invalid_grant`.
  package var name: String {
    if case .refuses(let code) = self { return "refuses-" + code.rawValue }
    var name = ""
    for character in "\(self)" {
      if character.isUppercase { name += "-" }
      name += character.lowercased()
    }
    return name
  }

  /// Nil for a name of none.
  package init?(name: String) {
    guard let found = IssuerDeviation.all.first(where: { $0.name == name }) else { return nil }
    self = found
  }
}

extension IssuanceErrorCode {
  /// The endpoint that answers with it, when it is told to.
  var place: IssuerDeviation.Place {
    switch self {
    case .accessDenied, .unsupportedResponseType, .serverError, .temporarilyUnavailable, .invalidAuthorizationDetails:
      .authorization
    case .invalidRequest, .invalidClient, .invalidGrant, .unauthorizedClient, .unsupportedGrantType, .invalidScope,
      .authorizationPending, .slowDown, .invalidDPoPProof, .useDPoPNonce:
      .token
    case .invalidToken, .insufficientScope, .invalidCredentialRequest, .unknownCredentialConfiguration,
      .unknownCredentialIdentifier, .invalidProof, .invalidNonce, .invalidEncryptionParameters,
      .credentialRequestDenied:
      .credential
    case .invalidTransactionID: .deferredCredential
    case .invalidNotificationID, .invalidNotificationRequest: .notification
    }
  }
}
