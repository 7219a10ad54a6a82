import Web

/// Why an issuance, or one credential of it, failed: who is at fault, at which step, and what was expected.
///
/// Carries names of members and codes, never a token, code, nonce or value of a document. Text of a stranger in it is `printable`.
package struct IssuanceError: Error, Equatable, Sendable {
  /// Whose doing it is.
  package enum Party: String, Sendable {
    case issuer
    case authorizationServer = "authorization server"
    case wallet
  }

  /// What was under way.
  package enum Step: String, Sendable {
    case offer
    case issuerMetadata = "issuer metadata"
    case serverMetadata = "authorization server metadata"
    case roots
    case pushedRequest = "pushed authorization request"
    case authorization
    case token
    case nonce
    case credential
    case deferredCredential = "deferred credential"
    case notification
    /// The check of a credential that has come.
    case validation
  }

  package let party: Party
  package let step: Step
  package let problem: Problem

  package init(_ party: Party, _ step: Step, _ problem: Problem) {
    self.party = party
    self.step = step
    self.problem = problem
  }

  /// What is wrong.
  package enum Problem: Equatable, Sendable {
    // The answer as such
    /// No whole answer came; the code is that of `ExchangeFailure`.
    case noAnswer(String)
    /// The answer sends the wallet elsewhere, which it does not follow.
    case redirected
    /// A status that is not due here, without an error code.
    case status(Int)
    /// No JSON object, or one that says it is something else.
    case notJSON
    /// A member is missing.
    case missing(String)
    /// A member is of a wrong kind, or its value is none that it may have.
    case malformed(String)
    /// There are more of a thing than `IssuanceLimits` allows or than were asked for.
    case tooMany(String)
    /// The answer is not encrypted, or not so that it can be read, although that was asked.
    case notEncrypted
    // Addresses; the text is the member
    /// Neither https nor this machine.
    case notConfidential(String)
    /// A host that nobody named: not the issuer's, not one of its authorization servers'.
    case otherHost(String)
    // Offer and metadata
    /// The text starts no issuance: another scheme, or not exactly one of `credential_offer` and `credential_offer_uri`.
    case notAnOffer
    /// A server of a draft of the protocol; the text is what was seen.
    case issuerSpeaksDraft(String)
    /// The metadata is that of another server: the identifier in it is not, to the character, the one it was asked by.
    case otherIdentifier
    /// The offer names a configuration that the metadata does not have.
    case unknownConfiguration(String)
    /// Nothing that is offered has the format `mso_mdoc`.
    case noMdocOffered
    /// The server in the offer is none of the issuer's.
    case unknownAuthorizationServer
    /// Neither grant of the offer can be used with this server.
    case noUsableGrant
    /// The server wants something that this wallet has not; the text is the member.
    case unsupported(String)
    // Authorization
    /// The answer is not to this request.
    case otherState
    /// The answer is from another server (RFC 9207).
    case otherAuthorizationServer
    /// The answer went to another address than the wallet's.
    case otherRedirect
    /// A token type that was not agreed on.
    case tokenType
    /// The server said no; the text is its description, which may be empty.
    case refused(IssuanceErrorCode, String)
    /// The same with a code that is none of these specifications'.
    case refusedOtherwise(String, String)
    /// The issuer is not ready, and the caller's patience is over; the number is when to ask again, in seconds.
    case stillPending(seconds: Int)
    // What was issued
    case credential(IssuedCredentialFault)
    // The wallet
    /// The caller gave up, or had no redirect, code or keys to give.
    case givenUp
    /// The caller's keys are not as many or not of the kind that was asked.
    case keys
    /// A good credential that the caller could not store.
    case notKept
    /// The cryptographic library refused.
    case cryptography
  }
}

extension IssuanceError: CustomStringConvertible {
  /// One line for people: `issuer, credential: refused with invalid_proof: signature`.
  package var description: String { "\(party.rawValue), \(step.rawValue): \(problem)" }
}

extension IssuanceError.Problem: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noAnswer(let code): "no answer (\(code))"
    case .redirected: "redirects, which is not followed"
    case .status(let status): "status \(status) without an error code"
    case .notJSON: "the answer is no JSON object"
    case .missing(let member): "\(member) is missing"
    case .malformed(let member): "\(member) is malformed"
    case .tooMany(let things): "too many \(things)"
    case .notEncrypted: "the answer is not encrypted as asked"
    case .notConfidential(let member): "\(member) is neither https nor on this machine"
    case .otherHost(let member): "\(member) is on a host that nobody named"
    case .notAnOffer: "no credential offer"
    case .issuerSpeaksDraft(let sign): "the server speaks a draft of OpenID4VCI (\(sign)), not 1.0"
    case .otherIdentifier: "the identifier in the metadata is another one"
    case .unknownConfiguration(let name): "the metadata has no configuration \(name)"
    case .noMdocOffered: "nothing that is offered has the format mso_mdoc"
    case .unknownAuthorizationServer: "the authorization server in the offer is none of the issuer's"
    case .noUsableGrant: "no grant that can be used"
    case .unsupported(let member): "\(member) asks for what this wallet has not"
    case .otherState: "the answer has another state"
    case .otherAuthorizationServer: "the answer is from another authorization server"
    case .otherRedirect: "the answer went to another address"
    case .tokenType: "the token is of a type that was not agreed on"
    case .refused(let code, let text): "refused with \(code.rawValue)" + (text.isEmpty ? "" : ": \(text)")
    case .refusedOtherwise(let code, let text): "refused with \(code)" + (text.isEmpty ? "" : ": \(text)")
    case .stillPending(let seconds): "not ready; ask again in \(seconds) seconds"
    case .credential(let fault): fault.description
    case .givenUp: "given up"
    case .keys: "no fitting device keys"
    case .notKept: "the credential could not be stored"
    case .cryptography: "cryptography failed"
    }
  }
}
