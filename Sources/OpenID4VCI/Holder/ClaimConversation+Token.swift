import Bytes
import JSON
import Web

extension ClaimConversation {
  /// Gets leave for these configurations.
  func getToken(for configurations: [CredentialConfiguration]) throws(IssuanceError) {
    let request: FormFields
    switch offer.grant {
    case .authorizationCode:
      let authorization = try authorize(for: configurations)
      request = [
        "grant_type": GrantType.authorizationCode.rawValue, "code": authorization.code,
        "redirect_uri": claim.options.redirectAddress, "code_verifier": authorization.verifier,
        "client_id": claim.options.clientID,
        "resource": offer.issuer.authorizationServers.isEmpty ? nil : offer.issuer.identifier.text,
      ]
    case .preAuthorizedCode:
      let transactionCode = try askForTransactionCode()
      if let transactionCode { secrets.append(transactionCode) }
      request = [
        "grant_type": GrantType.preAuthorizedCode.rawValue,
        "pre-authorized_code": offer.offer.preAuthorizedCode?.code, "tx_code": transactionCode, "client_id": clientID,
      ]
    }
    token = try requestToken(request)
  }

  private func askForTransactionCode() throws(IssuanceError) -> String? {
    guard let description = offer.transactionCode else { return nil }
    let text: String
    do { text = try claim.transactionCode(description) } catch { throw IssuanceError(.wallet, .token, .givenUp) }
    guard !text.isEmpty, text.utf8.count <= IssuanceLimits.opaqueText else {
      throw IssuanceError(.wallet, .token, .malformed("tx_code"))
    }
    return text
  }

  /// Asks until there is a token, a refusal, or the caller's patience is over: a server may say that somebody has yet to agree.
  private func requestToken(_ request: FormFields) throws(IssuanceError) -> AccessToken {
    let dialogue = claim.dialogue(.authorizationServer, .token)
    var seconds = IssuanceLimits.usualInterval
    for _ in 0..<IssuanceLimits.polls {
      let answer = try answer(to: .post(offer.server.tokenEndpoint, form: request), dialogue)
      if answer.status == 200 { return try read(answer, dialogue) }
      let refusal = dialogue.refusal(answer, secrets: secrets)
      guard offer.grant == .preAuthorizedCode, case .refused(let code, _) = refusal.problem,
        code == .authorizationPending || code == .slowDown
      else { throw refusal }
      let members = try MemberReading(dialogue.object(in: answer), of: .authorizationServer, at: .token)
      seconds = try interval(members, usual: seconds)
      if code == .slowDown { seconds += IssuanceLimits.usualInterval }
      try wait(seconds: seconds, dialogue)
    }
    throw dialogue.failure(.stillPending(seconds: seconds))
  }

  private func read(_ answer: WebAnswer, _ dialogue: ServerDialogue) throws(IssuanceError) -> AccessToken {
    let members = try MemberReading(dialogue.object(in: answer), of: .authorizationServer, at: .token)
    guard let value = try members.opaque("access_token") else { throw members.failure(.missing("access_token")) }
    secrets.append(value)
    // Drafts gave the nonce here; an issuer of 1.0 has an endpoint for it (VI03).
    if members["c_nonce"] != nil, offer.issuer.nonceEndpoint == nil {
      throw IssuanceError(.issuer, .token, .issuerSpeaksDraft("c_nonce in the token response"))
    }
    let type = try members.requiredText("token_type").lowercased()
    guard type == "bearer" || (type == "dpop" && possession != nil) else { throw members.failure(.tokenType) }
    var details: [AuthorizationDetail] = []
    if let list = members["authorization_details"] {
      details = try AuthorizationDetail.list(list, of: .authorizationServer, at: .token)
    }
    return AccessToken(value: value, isBoundToKey: type == "dpop", details: details)
  }
}
