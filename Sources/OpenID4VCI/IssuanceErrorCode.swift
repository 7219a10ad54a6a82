/// The error codes of the servers of an issuance, one to one.
package enum IssuanceErrorCode: String, CaseIterable, Sendable {
  // Authorization and token: RFC 6749 sections 4.1.2.1 and 5.2
  case invalidRequest = "invalid_request"
  case invalidClient = "invalid_client"
  case invalidGrant = "invalid_grant"
  case unauthorizedClient = "unauthorized_client"
  case unsupportedGrantType = "unsupported_grant_type"
  case unsupportedResponseType = "unsupported_response_type"
  case invalidScope = "invalid_scope"
  case accessDenied = "access_denied"
  case serverError = "server_error"
  case temporarilyUnavailable = "temporarily_unavailable"
  /// RFC 9396, section 5.
  case invalidAuthorizationDetails = "invalid_authorization_details"
  /// RFC 8628, section 3.5: the user has not done their part yet.
  case authorizationPending = "authorization_pending"
  /// RFC 8628, section 3.5: the same, and ask less often.
  case slowDown = "slow_down"
  // RFC 9449, sections 5 and 8
  case invalidDPoPProof = "invalid_dpop_proof"
  case useDPoPNonce = "use_dpop_nonce"
  // RFC 6750, section 3.1
  case invalidToken = "invalid_token"
  case insufficientScope = "insufficient_scope"
  // OpenID4VCI 1.0, sections 8.3.1.2, 9.3 and 11.3
  case invalidCredentialRequest = "invalid_credential_request"
  case unknownCredentialConfiguration = "unknown_credential_configuration"
  case unknownCredentialIdentifier = "unknown_credential_identifier"
  case invalidProof = "invalid_proof"
  case invalidNonce = "invalid_nonce"
  case invalidEncryptionParameters = "invalid_encryption_parameters"
  case credentialRequestDenied = "credential_request_denied"
  case invalidTransactionID = "invalid_transaction_id"
  case invalidNotificationID = "invalid_notification_id"
  case invalidNotificationRequest = "invalid_notification_request"

  /// Codes that only drafts of OpenID4VCI had.
  static let ofDrafts: Set<String> = [
    "issuance_pending", "unsupported_credential_type", "unsupported_credential_format", "invalid_or_missing_proof",
  ]
}
