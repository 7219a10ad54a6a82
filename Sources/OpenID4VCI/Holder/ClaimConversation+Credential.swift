import Bytes
import Crypto
import JSON
import Web

extension ClaimConversation {
  /// What to ask the credential endpoint for: exactly one of the two, the identifier where the token answer gave one.
  private enum Selection {
    case configuration(String)
    case identifier(String)

    var member: JSONValue.Member {
      switch self {
      case .configuration(let id): JSONValue.Member("credential_configuration_id", .string(id))
      case .identifier(let id): JSONValue.Member("credential_identifier", .string(id))
      }
    }
  }

  /// Everything of one configuration: one result for each copy, or for each request that failed as a whole.
  func retrieve(_ configuration: CredentialConfiguration) -> [ClaimResult] {
    let identifiers = (token?.details ?? []).filter { $0.configurationID == configuration.id }.flatMap(\.identifiers)
    var selections = identifiers.prefix(IssuanceLimits.credentialIdentifiers).map(Selection.identifier)
    if selections.isEmpty { selections = [.configuration(configuration.id)] }
    var results: [ClaimResult] = []
    for selection in selections {
      do { results += try retrieve(configuration, selection) } catch {
        results.append(result(configuration, .failure(error)))
      }
    }
    return results
  }

  private func result(
    _ configuration: CredentialConfiguration, _ outcome: Result<ClaimedCredential, IssuanceError>
  ) -> ClaimResult {
    ClaimResult(configurationID: configuration.id, docType: configuration.docType ?? "", outcome: outcome)
  }

  private func retrieve(
    _ configuration: CredentialConfiguration, _ selection: Selection
  ) throws(IssuanceError) -> [ClaimResult] {
    guard configuration.acceptsES256Proofs else {
      throw IssuanceError(.issuer, .issuerMetadata, .unsupported("proof_types_supported"))
    }
    guard !configuration.requiresKeyAttestation else {
      throw IssuanceError(.issuer, .issuerMetadata, .unsupported("key_attestations_required"))
    }
    let keys = try makeKeys(for: configuration)
    let protection = try MessageProtection(for: offer.issuer, isWanted: claim.options.wantsEncryption)
    let response = try requestCredentials(selection.member, keys: keys, protection)
    return accept(response, of: configuration, keys: keys)
  }

  private func makeKeys(for configuration: CredentialConfiguration) throws(IssuanceError) -> [PrivateKey] {
    let count = max(1, min(claim.options.copies, offer.issuer.batchSize, IssuanceLimits.copies))
    let keys: [PrivateKey]
    do { keys = try claim.deviceKeys(count, configuration) } catch {
      throw IssuanceError(.wallet, .credential, .givenUp)
    }
    let points = Set(keys.map(\.publicKey.x))
    guard keys.count == count, points.count == count, keys.allSatisfy({ $0.curve == .p256 }) else {
      throw IssuanceError(.wallet, .credential, .keys)
    }
    return keys
  }

  // MARK: The request

  /// Asks with a fresh nonce; and once more with another, when the issuer did not like that one.
  private func requestCredentials(
    _ selection: JSONValue.Member, keys: [PrivateKey], _ protection: MessageProtection
  ) throws(IssuanceError) -> MemberReading {
    let dialogue = claim.dialogue(.issuer, .credential)
    var nonce = try fetchNonce()
    for attempt in 0...1 {
      let body = JSONValue.object(
        [selection, JSONValue.Member("proofs", .object(["jwt": .array(try proofs(keys, nonce: nonce))]))]
          + (protection.parameters.map { [JSONValue.Member("credential_response_encryption", $0)] } ?? []))
      let request = try protection.request(to: offer.issuer.credentialEndpoint, body: body, dialogue)
      let answer = try answer(
        to: request, dialogue, size: IssuanceLimits.credentialAnswerSize, token: token)
      switch answer.status {
      case 200: return try MemberReading(protection.object(in: answer, dialogue), of: .issuer, at: .credential)
      case 202: return try awaitCredentials(answer, protection)
      default: break
      }
      let refusal = refusal(answer, dialogue)
      guard attempt == 0, offer.issuer.nonceEndpoint != nil, case .refused(let code, _) = refusal.problem,
        code == .invalidNonce || (code == .invalidProof && nonce == nil)
      else { throw refusal }
      nonce = try fetchNonce()
    }
    throw dialogue.failure(.refused(.invalidNonce, ""))
  }

  /// An error of a draft brings the next nonce along; an issuer of 1.0 has an endpoint for it.
  private func refusal(_ answer: WebAnswer, _ dialogue: ServerDialogue) -> IssuanceError {
    if offer.issuer.nonceEndpoint == nil, JSONValue(reading: answer.body)?["c_nonce"] != nil {
      return dialogue.failure(.issuerSpeaksDraft("c_nonce in an error"))
    }
    return dialogue.refusal(answer, secrets: secrets)
  }

  private func proofs(_ keys: [PrivateKey], nonce: String?) throws(IssuanceError) -> [JSONValue] {
    var proofs: [JSONValue] = []
    for key in keys {
      do {
        let proof = try KeyProof.make(
          key, audience: offer.issuer.identifier.text, at: claim.now(), nonce: nonce, clientID: clientID)
        proofs.append(.string(proof))
      } catch {
        throw IssuanceError(.wallet, .credential, .cryptography)
      }
    }
    return proofs
  }

  /// A fresh nonce (OpenID4VCI 1.0, section 7); nil where the issuer has none to give.
  private func fetchNonce() throws(IssuanceError) -> String? {
    guard let endpoint = offer.issuer.nonceEndpoint else { return nil }
    let dialogue = claim.dialogue(.issuer, .nonce)
    let answer = try dialogue.answer(
      to: .post(endpoint, type: nil, body: []), size: IssuanceLimits.answerSize)
    guard answer.status == 200 else { throw dialogue.refusal(answer, secrets: secrets) }
    let members = try MemberReading(dialogue.object(in: answer), of: .issuer, at: .nonce)
    if let nonce = members["c_nonce"], nonce == .null { return nil }
    let nonce = try members.text("c_nonce")
    if let nonce { secrets.append(nonce) }
    return nonce
  }

  // MARK: Later

  /// Polls until the credentials are there (OpenID4VCI 1.0, section 9).
  private func awaitCredentials(
    _ answer: WebAnswer, _ protection: MessageProtection
  ) throws(IssuanceError) -> MemberReading {
    let dialogue = claim.dialogue(.issuer, .deferredCredential)
    guard let endpoint = offer.issuer.deferredCredentialEndpoint else {
      throw IssuanceError(.issuer, .issuerMetadata, .missing("deferred_credential_endpoint"))
    }
    var answer = answer
    var transaction: String?
    var seconds = IssuanceLimits.usualInterval
    for _ in 0..<IssuanceLimits.polls {
      let pending = try MemberReading(protection.object(in: answer, dialogue), of: .issuer, at: .deferredCredential)
      let named = try pending.opaque("transaction_id")
      guard let current = transaction ?? named else { throw pending.failure(.missing("transaction_id")) }
      guard named == nil || named == current else { throw pending.failure(.malformed("transaction_id")) }
      if transaction == nil { secrets.append(current) }
      transaction = current
      seconds = try interval(pending)
      try wait(seconds: seconds, dialogue)
      let body = JSONValue.object([
        "transaction_id": .string(current), "credential_response_encryption": protection.parameters,
      ])
      answer = try self.answer(
        to: protection.request(to: endpoint, body: body, dialogue), dialogue,
        size: IssuanceLimits.credentialAnswerSize, token: token)
      switch answer.status {
      case 200: return try MemberReading(protection.object(in: answer, dialogue), of: .issuer, at: .deferredCredential)
      case 202: continue
      default: throw dialogue.refusal(answer, secrets: secrets)
      }
    }
    throw dialogue.failure(.stillPending(seconds: seconds))
  }

  // MARK: The answer

  /// Checks and keeps what came, and tells the issuer.
  private func accept(
    _ response: MemberReading, of configuration: CredentialConfiguration, keys: [PrivateKey]
  ) -> [ClaimResult] {
    var results: [ClaimResult] = []
    do throws(IssuanceError) {
      if response["credentials"] == nil, response["credential"] != nil {
        throw response.failure(.issuerSpeaksDraft("credential"))
      }
      guard let list = response["credentials"] else { throw response.failure(.missing("credentials")) }
      guard case .array(let elements) = list, !elements.isEmpty else {
        throw response.failure(.malformed("credentials"))
      }
      var check = IssuedCredentialCheck(configuration: configuration, keys: keys)
      for element in elements.prefix(keys.count) {
        do throws(IssuanceError) {
          let claimed = try judge(element, &check)
          try keep(claimed)
          results.append(result(configuration, .success(claimed)))
        } catch {
          results.append(result(configuration, .failure(error)))
        }
      }
      if elements.count > keys.count { throw response.failure(.tooMany("credentials")) }
    } catch {
      results.append(result(configuration, .failure(error)))
    }
    notify(response, isAccepted: results.allSatisfy { $0.credential != nil })
    return results
  }

  private func keep(_ claimed: ClaimedCredential) throws(IssuanceError) {
    do { try claim.keep(claimed) } catch { throw IssuanceError(.wallet, .validation, .notKept) }
  }

  /// Tells the issuer what became of its credentials (OpenID4VCI 1.0, section 11); whatever it answers changes nothing.
  private func notify(_ response: MemberReading, isAccepted: Bool) {
    guard let endpoint = offer.issuer.notificationEndpoint, let id = try? response.opaque("notification_id") else {
      return
    }
    let body = JSONValue.object([
      "notification_id": .string(id), "event": .string(isAccepted ? "credential_accepted" : "credential_failure"),
    ])
    _ = try? answer(
      to: .post(endpoint, type: "application/json", body: Array(body.text.utf8)),
      claim.dialogue(.issuer, .notification), token: token)
  }
}
