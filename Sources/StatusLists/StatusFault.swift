/// Why a list gives no answer about a document. The raw value is the stable detail of `statusUnavailable`.
package enum StatusFault: String, Error, CaseIterable, Sendable {
  /// There is no copy of the list.
  case fetchFailed = "statusFetchFailed"
  case tokenMalformed = "statusTokenMalformed"
  case signatureInvalid = "statusSignatureInvalid"
  /// Its signer has nothing to do with the issuer of the document.
  case signerUntrusted = "statusSignerUntrusted"
  /// It is the list of another address.
  case subjectMismatch = "statusSubjectMismatch"
  /// Its expiry has passed.
  case expired = "statusExpired"
  /// The copy is older than its issuer (ttl) or this reader (`StatusSource.longestLife`) allows copies to become, or was
  /// fetched later than now.
  case stale = "statusStale"
}

/// What lists say about a document.
package enum StatusAnswer: Hashable, Sendable {
  case valid
  /// For good.
  case revoked
  /// Perhaps for a time only.
  case suspended
  /// A value that means nothing here: not accepted.
  case unknownValue
  /// The list has no such entry: not accepted.
  case indexOutOfRange
  /// Nothing can be said.
  case unavailable(StatusFault)
}

extension StatusAnswer {
  /// One word, for events.
  package var text: String {
    switch self {
    case .valid: "valid"
    case .revoked: "revoked"
    case .suspended: "suspended"
    case .unknownValue: "unknownValue"
    case .indexOutOfRange: "indexOutOfRange"
    case .unavailable: "unknown"
    }
  }
}
