/// One thing that a verifier does wrong, for wallets to be tried against. `expectation` is what a good wallet makes of it.
package enum VerifierDeviation: String, CaseIterable, Sendable {
  // The request object
  case otherClientID = "other-client-id"
  case otherAudience = "other-audience"
  case noAudience = "no-audience"
  case expiredRequest = "expired-request"
  case requestOfTomorrow = "request-of-tomorrow"
  case otherType = "other-type"
  case otherMediaType = "other-media-type"
  case flippedSignature = "flipped-signature"
  case otherKey = "other-key"
  case unsigned = "unsigned"
  case noCertificate = "no-certificate"
  case brokenCertificate = "broken-certificate"
  case criticalHeader = "critical-header"
  case noWalletNonce = "no-wallet-nonce"
  case requestMissing = "request-missing"
  case requestOnAnotherHost = "request-on-another-host"
  case hugeRequest = "huge-request"
  case pageInsteadOfRequest = "page-instead-of-request"
  // Who asks
  case otherName = "other-name"
  case otherHash = "other-hash"
  case otherHost = "other-host"
  case insecureResponse = "insecure-response"
  case unknownPrefix = "unknown-prefix"
  // What is asked for
  case noNonce = "no-nonce"
  case noQuery = "no-query"
  case outdatedQuery = "outdated-query"
  case bothQueries = "both-queries"
  case pathAsText = "path-as-text"
  case namespaceAndClaimName = "namespace-and-claim-name"
  case scopeInsteadOfQuery = "scope-instead-of-query"
  case transactionData = "transaction-data"
  case otherResponseType = "other-response-type"
  case otherResponseMode = "other-response-mode"
  case otherFormats = "other-formats"
  // How the answer is encrypted
  case noEncryptionKey = "no-encryption-key"
  case encryptionKeyWithoutAlgorithm = "encryption-key-without-algorithm"
  case keyOffTheCurve = "key-off-the-curve"
  case unknownEncryption = "unknown-encryption"
  // The answer to the answer
  case serverError = "server-error"
  case refusesAnswer = "refuses-answer"
  case redirectsAnswer = "redirects-answer"
  case garbledAnswer = "garbled-answer"

  /// The code of `RequestFault` that a good wallet gives.
  package var expectation: String {
    switch self {
    case .otherClientID: "parameterConflicting"
    case .otherAudience, .noAudience: "requestObjectAudience"
    case .expiredRequest, .requestOfTomorrow: "requestObjectExpired"
    case .otherType, .otherMediaType, .pageInsteadOfRequest: "requestObjectType"
    case .flippedSignature, .otherKey: "requestObjectSignature"
    case .unsigned, .criticalHeader: "requestObjectMalformed"
    case .noCertificate: "clientCertificateMissing"
    case .brokenCertificate: "clientCertificateMalformed"
    case .noWalletNonce: "walletNonceMismatch"
    case .requestMissing, .requestOnAnotherHost, .serverError, .refusesAnswer, .redirectsAnswer: "verifierRefused"
    case .hugeRequest: "tooLarge"
    case .otherName: "clientNameMismatch"
    case .otherHash: "clientHashMismatch"
    case .otherHost: "clientHostMismatch"
    case .insecureResponse: "addressInsecure"
    case .unknownPrefix: "clientUnsupported"
    case .noNonce: "parameterMissing"
    case .noQuery, .outdatedQuery, .bothQueries, .pathAsText, .namespaceAndClaimName: "queryMalformed"
    case .scopeInsteadOfQuery, .transactionData, .otherResponseType, .otherResponseMode, .otherFormats:
      "parameterUnsupported"
    case .noEncryptionKey, .encryptionKeyWithoutAlgorithm, .keyOffTheCurve: "encryptionKeyMissing"
    case .unknownEncryption: "encryptionUnsupported"
    case .garbledAnswer: "verifierAnswerMalformed"
    }
  }
}
