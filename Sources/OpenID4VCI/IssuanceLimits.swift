/// What an issuance may cost its wallet: everything that comes from a stranger's server is bounded here and nowhere else.
package enum IssuanceLimits {
  /// Bytes of an offer, by value or by reference.
  package static let offerSize = 1 << 16
  /// Bytes of a metadata document.
  package static let metadataSize = 1 << 20
  /// Bytes of an answer that carries no credential: tokens, nonces, errors.
  package static let answerSize = 1 << 16
  /// Bytes of an answer that carries credentials.
  package static let credentialAnswerSize = 16 << 20
  /// Bytes of the list of an issuer's roots.
  package static let rootsSize = 1 << 20

  /// Configurations in one offer.
  package static let offeredConfigurations = 32
  /// Configurations in the metadata of one issuer.
  package static let configurations = 1000
  /// Claims that one configuration describes.
  package static let claims = 500
  /// Parts of the path of a claim.
  package static let pathParts = 8
  /// Display entries (languages) of one thing.
  package static let displays = 100
  /// Authorization servers that are asked for their metadata.
  package static let authorizationServers = 4
  /// Credential identifiers of one configuration in a token answer.
  package static let credentialIdentifiers = 32
  /// Copies of one credential, whatever batch size the issuer names.
  package static let copies = 100
  /// Roots that an issuer publishes.
  package static let roots = 100

  /// Characters of a token, code, nonce or identifier that is sent back.
  package static let opaqueText = 8192
  /// Characters of a name that is shown to people.
  package static let displayText = 200

  /// Polls of a deferred credential or of a pending token.
  package static let polls = 100
  /// Seconds between two polls where the server names fewer, or none.
  package static let shortestInterval = 1
  /// Seconds a poll waits when the server says nothing (RFC 8628, section 3.5).
  package static let usualInterval = 5
}

/// A name or description that a stranger wrote in any script, as it may be shown: cut to `IssuanceLimits.displayText` characters,
/// without control, format and unassigned characters, which could make it look like something else.
func shown(_ text: String) -> String {
  let scalars = text.unicodeScalars.filter { scalar in
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }
  return String(String.UnicodeScalarView(scalars.prefix(IssuanceLimits.displayText)))
}
