import Bytes
import CivilTime
import JOSE
import JSON
import Web

/// What an access token stands for.
struct IssuedToken {
  /// Nil when the wallet did not say who it is.
  let clientID: String?
  let configurationIDs: [String]
  /// Names of single credentials that were given, by configuration; empty when none were.
  let identifiers: [String: String]
  /// Thumbprint of the key it is bound to; nil for a bearer's.
  let thumbprint: [UInt8]?
}

extension IssuerService {
  /// The token endpoint.
  func giveToken(_ call: WebCall, at now: UnixTime) throws(ServiceRefusal) -> WebAnswer {
    guard let form = call.form else { throw ServiceRefusal(.invalidRequest, "a form is due") }
    // Before anything is used up: a wallet that has to come again with a proof needs its code then.
    let thumbprint = try possession(of: call, token: nil, at: now)
    try deviate(at: .token)
    if deviations.contains(.pageInsteadOfToken) { return .html("<p>Please come back later.</p>") }
    let clientID: String?
    let names: [String]
    var hasDetails = settings.namesCredentials
    switch form["grant_type"].map(GrantType.init(rawValue:)) {
    case .authorizationCode:
      let request = try redeem(form, at: now)
      clientID = request.clientID
      names = request.configurationIDs
      hasDetails = hasDetails || request.hasDetails
    case .preAuthorizedCode:
      clientID = form["client_id"]
      guard clientID != nil || settings.allowsAnonymous else { throw ServiceRefusal(.invalidClient, "client_id") }
      names = try redeemPreAuthorized(form, at: now)
    case .some(nil): throw ServiceRefusal(.unsupportedGrantType)
    case nil: throw ServiceRefusal(.invalidRequest, "grant_type")
    }
    var identifiers: [String: String] = [:]
    if hasDetails { for name in names { identifiers[name] = unguessable() } }
    let token = unguessable()
    tokens.insert(
      IssuedToken(clientID: clientID, configurationIDs: names, identifiers: identifiers, thumbprint: thumbprint),
      under: token, at: now)
    let details = names.map { name in
      AuthorizationDetail(configurationID: name, identifiers: identifiers[name].map { [$0] } ?? []).json
    }
    var type = thumbprint == nil ? "Bearer" : "DPoP"
    if deviations.contains(.otherTokenType) { type = "mac" }
    return .json(
      .object([
        "access_token": .string(token), "token_type": .string(type), "expires_in": .integer(Int(tokens.lifetime)),
        "authorization_details": hasDetails ? .array(details) : nil,
        "c_nonce": deviations.contains(.draftNonce) ? .string(makeNonce(at: now)) : nil,
      ]))
  }

  private func redeem(_ form: FormFields, at now: UnixTime) throws(ServiceRefusal) -> AuthorizationRequest {
    guard let code = form["code"], let verifier = form["code_verifier"] else {
      throw ServiceRefusal(.invalidRequest, "code and code_verifier")
    }
    guard let request = codes.take(code, at: now) else { throw ServiceRefusal(.invalidGrant, "code") }
    guard request.clientID == form["client_id"] else { throw ServiceRefusal(.invalidClient, "client_id") }
    guard request.redirectAddress == form["redirect_uri"] else { throw ServiceRefusal(.invalidGrant, "redirect_uri") }
    guard (43...128).contains(verifier.utf8.count),
      isEqualInConstantTime(CodeChallenge.challenge(of: verifier).utf8, request.challenge.utf8)
    else { throw ServiceRefusal(.invalidGrant, "code_verifier") }
    return request
  }

  private func redeemPreAuthorized(_ form: FormFields, at now: UnixTime) throws(ServiceRefusal) -> [String] {
    guard let code = form["pre-authorized_code"] else { throw ServiceRefusal(.invalidRequest, "pre-authorized_code") }
    guard var granted = preAuthorizations.value(under: code, at: now) else {
      throw ServiceRefusal(.invalidGrant, "pre-authorized_code")
    }
    switch (granted.transactionCode, form["tx_code"]) {
    case (nil, nil): break
    case (nil, _?): throw ServiceRefusal(.invalidRequest, "no tx_code is expected")
    case (_?, nil): throw ServiceRefusal(.invalidRequest, "tx_code is missing")
    case (let expected?, let given?):
      guard isEqualInConstantTime(expected.utf8, given.utf8) else {
        granted.triesLeft -= 1
        if granted.triesLeft > 0 {
          preAuthorizations.update(granted, under: code)
        } else {
          preAuthorizations.remove(code)
        }
        throw ServiceRefusal(.invalidGrant, "tx_code")
      }
    }
    preAuthorizations.remove(code)
    return granted.configurationIDs.filter { name in documents.contains { $0.configurationID == name } }
  }

  // MARK: Proofs of possession and tokens

  /// The thumbprint of the key that a call proves possession of (RFC 9449); nil where there is no proof and none is due.
  func possession(of call: WebCall, token: String?, at now: UnixTime) throws(ServiceRefusal) -> [UInt8]? {
    guard let text = call[header: DPoPProof.headerName] else {
      guard token == nil, !(settings.requiresDPoP || deviations.contains(.possessionDemanded)) else {
        throw possessionRefusal(.invalidDPoPProof, token: token)
      }
      return nil
    }
    guard let proof = DPoPProof(reading: text),
      proof.fits(method: call.method, target: identifier.origin + call.path, token: token, at: now),
      possessionProofs.value(under: proof.identifier, at: now) == nil
    else { throw possessionRefusal(.invalidDPoPProof, token: token) }
    possessionProofs.insert((), under: proof.identifier, at: now)
    if settings.demandsDPoPNonce || deviations.contains(.possessionNonceDemanded) {
      guard let nonce = proof.nonce, possessionNonces.take(nonce, at: now) != nil else {
        let fresh = unguessable()
        possessionNonces.insert((), under: fresh, at: now)
        throw possessionRefusal(
          .useDPoPNonce, token: token, headers: [WebHeader(DPoPProof.nonceHeaderName, fresh)])
      }
    }
    return proof.key.thumbprint
  }

  private func possessionRefusal(_ code: IssuanceErrorCode, token: String?, headers: [WebHeader] = []) -> ServiceRefusal
  {
    token == nil ? ServiceRefusal(code, headers: headers) : .unauthorized(code, scheme: "DPoP", headers: headers)
  }

  /// The token of a call to the issuer.
  func token(of call: WebCall, at now: UnixTime) throws(ServiceRefusal) -> (value: String, token: IssuedToken) {
    let parts = (call[header: "Authorization"] ?? "").split(separator: " ", maxSplits: 1).map(String.init)
    guard parts.count == 2, let token = tokens.value(under: parts[1], at: now) else {
      throw .unauthorized(.invalidToken)
    }
    if let thumbprint = token.thumbprint {
      // A stolen token that is bound to a key is worth nothing as a bearer's.
      guard parts[0].lowercased() == "dpop", try possession(of: call, token: parts[1], at: now) == thumbprint else {
        throw .unauthorized(.invalidToken, scheme: "DPoP")
      }
    } else {
      guard parts[0].lowercased() == "bearer" else { throw .unauthorized(.invalidToken) }
    }
    return (parts[1], token)
  }
}
