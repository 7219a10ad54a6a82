import Bytes
import CivilTime
import Crypto
import JOSE
import JSON
import Web

/// A credential that is not ready yet.
struct Transaction {
  /// Whose it is.
  let token: String
  let configurationID: String
  let keys: [PublicKey]
  var pollsLeft: Int
}

extension IssuerService {
  /// The nonce endpoint.
  func giveNonce(at now: UnixTime) -> WebAnswer {
    guard settings.usesNonces, !deviations.contains(.draftNonce) else { return WebAnswer(status: 404) }
    givenNonces += 1
    if deviations.contains(.nullNonce), givenNonces == 1 { return .json(["c_nonce": .null]) }
    return .json(["c_nonce": .string(makeNonce(at: now))])
  }

  func makeNonce(at now: UnixTime) -> String {
    let nonce = unguessable()
    nonces.insert((), under: nonce, at: now)
    return nonce
  }

  /// The credential endpoint.
  func giveCredential(_ call: WebCall, at now: UnixTime) throws(ServiceRefusal) -> WebAnswer {
    if deviations.contains(.redirectElsewhere) { return .redirect(to: "https://elsewhere.example/credential") }
    let (value, token) = try token(of: call, at: now)
    try deviate(at: .credential)
    let message = try read(call)
    let configurationID = try selection(in: message.body, of: token)
    let keys = try checkProofs(in: message.body, clientID: token.clientID, at: now)
    if settings.pollsUntilReady > 0 || deviations.contains(.deferredForEver) || hasDeferredRefusal {
      let id = unguessable()
      transactions.insert(
        Transaction(
          token: value, configurationID: configurationID, keys: keys, pollsLeft: settings.pollsUntilReady),
        under: id, at: now)
      return try send(pending(id), status: 202, message)
    }
    return try send(makeCredentials(configurationID, keys: keys, at: now), message)
  }

  /// The deferred credential endpoint.
  func giveDeferredCredential(_ call: WebCall, at now: UnixTime) throws(ServiceRefusal) -> WebAnswer {
    let (value, _) = try token(of: call, at: now)
    let message = try read(call)
    try deviate(at: .deferredCredential)
    guard let id = message.body["transaction_id"]?.string, var transaction = transactions.value(under: id, at: now),
      transaction.token == value
    else { throw ServiceRefusal(.invalidTransactionID) }
    if transaction.pollsLeft > 1 || deviations.contains(.deferredForEver) {
      transaction.pollsLeft -= 1
      transactions.update(transaction, under: id)
      return try send(pending(id), status: 202, message)
    }
    transactions.remove(id)
    return try send(makeCredentials(transaction.configurationID, keys: transaction.keys, at: now), message)
  }

  /// The notification endpoint.
  func hear(_ call: WebCall, at now: UnixTime) throws(ServiceRefusal) -> WebAnswer {
    _ = try token(of: call, at: now)
    try deviate(at: .notification)
    guard let body = JSONValue(reading: call.body), let id = body["notification_id"]?.string,
      let event = body["event"]?.string,
      ["credential_accepted", "credential_failure", "credential_deleted"].contains(event)
    else { throw ServiceRefusal(.invalidNotificationRequest) }
    guard notifications[id] != nil else { throw ServiceRefusal(.invalidNotificationID) }
    notifications[id] = .some(event)
    return WebAnswer(status: 204)
  }

  private var hasDeferredRefusal: Bool {
    deviations.contains { if case .refuses(let code) = $0 { code.place == .deferredCredential } else { false } }
  }

  private func pending(_ id: String) -> JSONValue {
    ["transaction_id": .string(id), "interval": .integer(settings.pollInterval)]
  }

  // MARK: Messages

  /// A request and how its answer is encrypted.
  struct Message {
    let body: JSONValue
    let answerKey: JSONWebKey?
    let answerContent: ContentEncryption?
  }

  private func read(_ call: WebCall) throws(ServiceRefusal) -> Message {
    let body: JSONValue
    let isEncrypted = call.mediaType == encryptedMediaType
    if isEncrypted {
      guard let text = String(validating: call.body, as: UTF8.self), let message = try? CompactJWE(reading: text),
        message.keyID == requestKey.id, let plain = try? message.decrypted(with: encryptionKey),
        let value = JSONValue(reading: plain), case .object = value
      else { throw ServiceRefusal(.invalidEncryptionParameters, "the request cannot be decrypted") }
      body = value
    } else {
      guard !requiresEncryption else {
        throw ServiceRefusal(.invalidEncryptionParameters, "the request has to be encrypted")
      }
      guard call.mediaType == "application/json", let value = JSONValue(reading: call.body), case .object = value else {
        throw ServiceRefusal(.invalidCredentialRequest, "a JSON object is due")
      }
      body = value
    }
    guard let parameters = body["credential_response_encryption"] else {
      guard !requiresEncryption else {
        throw ServiceRefusal(.invalidEncryptionParameters, "credential_response_encryption is missing")
      }
      return Message(body: body, answerKey: nil, answerContent: nil)
    }
    // In the clear, anybody on the way could put a key of their own there.
    guard isEncrypted, let jwk = parameters["jwk"], let key = try? JSONWebKey(reading: jwk),
      key.algorithm == keyAgreement,
      let content = parameters["enc"]?.string.flatMap(ContentEncryption.init(rawValue:)),
      content == .a256GCM || content == .a128GCM
    else { throw ServiceRefusal(.invalidEncryptionParameters, "credential_response_encryption") }
    return Message(body: body, answerKey: key, answerContent: content)
  }

  private func send(_ body: JSONValue, status: Int = 200, _ message: Message) throws(ServiceRefusal) -> WebAnswer {
    guard let key = message.answerKey, let content = message.answerContent,
      !deviations.contains(.unencryptedAnswer)
    else { return .json(body, status: status) }
    do {
      let text = try CompactJWE.encrypt(Array(body.text.utf8), to: key, encryption: content)
      return WebAnswer(
        status: status,
        headers: [WebHeader("Content-Type", encryptedMediaType), WebHeader("Cache-Control", "no-store")],
        body: Array(text.utf8))
    } catch {
      throw ServiceRefusal(.invalidEncryptionParameters, "the key cannot be encrypted to")
    }
  }

  // MARK: What is asked for, and whose keys

  /// The configuration that is meant: exactly one of the two members, and the identifier where the token answer gave one.
  private func selection(in body: JSONValue, of token: IssuedToken) throws(ServiceRefusal) -> String {
    switch (body["credential_identifier"], body["credential_configuration_id"]) {
    case (let value?, nil):
      guard let name = token.identifiers.first(where: { $0.value == value.string })?.key else {
        throw ServiceRefusal(.unknownCredentialIdentifier)
      }
      return name
    case (nil, let value?):
      guard token.identifiers.isEmpty else {
        throw ServiceRefusal(.invalidCredentialRequest, "credential_identifier is due")
      }
      guard let name = value.string, documents.contains(where: { $0.configurationID == name }) else {
        throw ServiceRefusal(.unknownCredentialConfiguration)
      }
      guard token.configurationIDs.contains(name) else { throw .unauthorized(.insufficientScope) }
      return name
    default:
      throw ServiceRefusal(
        .invalidCredentialRequest, "exactly one of credential_identifier and credential_configuration_id is due")
    }
  }

  /// The keys that the proofs of a request prove: each once.
  private func checkProofs(
    in body: JSONValue, clientID: String?, at now: UnixTime
  ) throws(ServiceRefusal) -> [PublicKey] {
    guard body["proof"] == nil else { throw ServiceRefusal(.invalidProof, "proof is of a draft; proofs is due") }
    guard case .object(let types)? = body["proofs"], types.count == 1, case .array(let list)? = body["proofs"]?["jwt"],
      !list.isEmpty
    else { throw ServiceRefusal(.invalidProof, "proofs with exactly the member jwt are due") }
    guard list.count <= settings.batchSize else { throw ServiceRefusal(.invalidProof, "too many proofs") }
    var proofs: [KeyProof] = []
    for element in list {
      guard let text = element.string else {
        throw ServiceRefusal(.invalidProof, KeyProof.Fault.notCompactJWT.rawValue)
      }
      do {
        let proof = try KeyProof(reading: text)
        if let fault = proof.fault(audience: identifier.text, clientID: clientID, at: now) { throw fault }
        proofs.append(proof)
      } catch {
        throw ServiceRefusal(.invalidProof, (error as? KeyProof.Fault)?.rawValue ?? "")
      }
    }
    for (place, proof) in proofs.enumerated() where proofs[..<place].contains(where: { $0.key == proof.key }) {
      throw ServiceRefusal(.invalidProof, "a key comes twice")
    }
    try checkNonce(of: proofs, at: now)
    return proofs.map(\.key)
  }

  /// One nonce for all proofs of a request: known, fresh, and used up with it.
  private func checkNonce(of proofs: [KeyProof], at now: UnixTime) throws(ServiceRefusal) {
    guard settings.usesNonces else { return }
    guard let nonce = proofs[0].nonce else { throw ServiceRefusal(.invalidProof, "nonce is missing") }
    guard proofs.allSatisfy({ $0.nonce == nonce }), nonces.take(nonce, at: now) != nil else {
      throw ServiceRefusal(.invalidNonce)
    }
    let isRefusing =
      deviations.contains(.invalidNonceAlways) || (deviations.contains(.invalidNonceOnce) && refusedNonces == 0)
    guard !isRefusing else {
      refusedNonces += 1
      throw ServiceRefusal(.invalidNonce)
    }
  }
}
