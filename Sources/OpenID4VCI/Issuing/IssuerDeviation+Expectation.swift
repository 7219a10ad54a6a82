extension IssuerDeviation {
  /// What a good wallet makes of a deviation.
  package enum Expectation: Equatable, Sendable {
    /// It gets what it wants all the same, one credential for each key.
    case success
    /// It gets this many fewer, and nothing failed.
    case fewer(Int)
    /// The claim fails as a whole.
    case refusal(IssuanceError)
    /// Each credential fails.
    case failure(IssuanceError)
    /// Some credentials are good, and beside them this many fail.
    case failures(Int, IssuanceError)
  }

  /// Grants in which the deviation can show at all.
  package var grants: [GrantType] {
    switch self {
    case .otherState, .otherIssuerInResponse, .pushedRequestRequired: [.authorizationCode]
    case .refuses(let code):
      switch code {
      case _ where code.place == .authorization: [.authorizationCode]
      default: GrantType.allCases
      }
    default: GrantType.allCases
    }
  }

  /// What a good wallet makes of it, of an mDL in `copies` copies, under a grant.
  package func expectation(copies: Int, grant: GrantType) -> Expectation {
    func issued(_ fault: IssuedCredentialFault) -> IssuanceError {
      IssuanceError(.issuer, .validation, .credential(fault))
    }
    switch self {
    case .oldWellKnownPlace: return .refusal(IssuanceError(.issuer, .issuerMetadata, .status(404)))
    case .otherIdentifier: return .refusal(IssuanceError(.issuer, .issuerMetadata, .otherIdentifier))
    case .draftMetadata:
      return .refusal(IssuanceError(.issuer, .issuerMetadata, .issuerSpeaksDraft("credentials_supported")))
    case .hugeMetadata: return .refusal(IssuanceError(.issuer, .issuerMetadata, .noAnswer("tooLarge")))
    case .endpointElsewhere:
      return .refusal(IssuanceError(.issuer, .issuerMetadata, .otherHost("credential_endpoint")))
    case .otherState: return .refusal(IssuanceError(.authorizationServer, .authorization, .otherState))
    case .otherIssuerInResponse:
      return .refusal(IssuanceError(.authorizationServer, .authorization, .otherAuthorizationServer))
    case .pageInsteadOfToken: return .refusal(IssuanceError(.authorizationServer, .token, .notJSON))
    case .otherTokenType: return .refusal(IssuanceError(.authorizationServer, .token, .tokenType))
    case .draftNonce:
      return .refusal(IssuanceError(.issuer, .token, .issuerSpeaksDraft("c_nonce in the token response")))
    case .pushedRequestRequired, .possessionDemanded, .possessionNonceDemanded, .nullNonce, .invalidNonceOnce,
      .encryptionRequired:
      return .success
    case .invalidNonceAlways: return .failure(IssuanceError(.issuer, .credential, .refused(.invalidNonce, "")))
    case .redirectElsewhere: return .failure(IssuanceError(.issuer, .credential, .redirected))
    case .unencryptedAnswer: return .failure(IssuanceError(.issuer, .credential, .notEncrypted))
    case .draftCredential: return .failure(IssuanceError(.issuer, .credential, .issuerSpeaksDraft("credential")))
    case .deferredForEver:
      return .failure(IssuanceError(.issuer, .deferredCredential, .stillPending(seconds: 5)))
    case .fewerCredentials: return .fewer(1)
    case .moreCredentials: return .failures(1, IssuanceError(.issuer, .credential, .tooMany("credentials")))
    case .wrappedInDocument: return .failure(issued(.wrapped(.document)))
    case .wrappedInResponse: return .failure(issued(.wrapped(.deviceResponse)))
    case .wrappedInByteString: return .failure(issued(.wrapped(.byteString)))
    case .paddedCredential: return .failure(issued(.padded))
    case .otherDocType: return .failure(issued(.otherDocType))
    case .otherDeviceKey: return .failure(issued(.otherDeviceKey))
    case .repeatedDeviceKey: return .failures(copies - 1, issued(.repeatedDeviceKey))
    case .badDigest:
      return .failure(issued(.notAuthentic(["digestMismatch(org.iso.18013.5.1, family_name)"])))
    case .missingElement:
      return .failure(issued(.missingElement(nameSpace: "org.iso.18013.5.1", element: "family_name")))
    case .badIssuerSignature: return .failure(issued(.notAuthentic(["issuerSignatureInvalid"])))
    case .unknownRoot: return .failure(issued(.untrustedIssuer))
    case .expiredDocument: return .failure(issued(.notAuthentic(["expired"])))
    case .refuses(let code): return IssuerDeviation.expectation(of: code, grant: grant)
    }
  }

  private static func expectation(of code: IssuanceErrorCode, grant: GrantType) -> Expectation {
    switch code.place {
    case .authorization:
      return .refusal(IssuanceError(.authorizationServer, .authorization, .refused(code, "")))
    case .token:
      let isWaiting = grant == .preAuthorizedCode && (code == .authorizationPending || code == .slowDown)
      guard isWaiting else {
        return .refusal(IssuanceError(.authorizationServer, .token, .refused(code, "told to refuse")))
      }
      // Until patience is over: five seconds and five more with each `slow_down`.
      let seconds = code == .slowDown ? 80 : 5
      return .refusal(IssuanceError(.authorizationServer, .token, .stillPending(seconds: seconds)))
    case .credential:
      let text = code == .invalidToken || code == .insufficientScope ? "" : "told to refuse"
      return .failure(IssuanceError(.issuer, .credential, .refused(code, text)))
    case .deferredCredential:
      return .failure(IssuanceError(.issuer, .deferredCredential, .refused(code, "told to refuse")))
    // Whatever an issuer makes of a notification: the credentials are there.
    case .notification: return .success
    }
  }
}

extension IssuerDeviation.Expectation: CustomStringConvertible {
  /// One line for people.
  package var description: String {
    switch self {
    case .success: "the wallet gets every credential"
    case .fewer(let count): "the wallet gets \(count) credential fewer"
    case .refusal(let error): "the claim fails: \(error)"
    case .failure(let error): "each credential fails: \(error)"
    case .failures(let count, let error): "\(count) of the credentials fail: \(error)"
    }
  }
}
