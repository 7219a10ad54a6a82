import Bytes
import CivilTime
import JSON
import Web

/// What a wallet asks leave for, after it was checked.
struct AuthorizationRequest {
  let clientID: String
  let redirectAddress: String
  let state: String?
  let challenge: String
  let configurationIDs: [String]
  /// Whether it asked by authorization details, so that the token answer names each credential.
  let hasDetails: Bool
}

extension IssuerService {
  /// Takes a pushed request (RFC 9126).
  func pushRequest(_ call: WebCall, at now: UnixTime) throws(ServiceRefusal) -> WebAnswer {
    guard let form = call.form else { throw ServiceRefusal(.invalidRequest, "a form is due") }
    guard form["request_uri"] == nil else { throw ServiceRefusal(.invalidRequest, "request_uri") }
    if call[header: DPoPProof.headerName] != nil { _ = try possession(of: call, token: nil, at: now) }
    let request = try readAuthorizationRequest(form, at: now)
    let reference = "urn:ietf:params:oauth:request_uri:" + unguessable()
    pushedRequests.insert(request, under: reference, at: now)
    return .json(
      ["request_uri": .string(reference), "expires_in": .integer(Int(pushedRequests.lifetime))], status: 201)
  }

  /// Lets the user in: at once, or after a page.
  func authorize(_ call: WebCall, at now: UnixTime) throws(ServiceRefusal) -> WebAnswer {
    let request: AuthorizationRequest
    if let reference = call.query["request_uri"] {
      guard let pushed = pushedRequests.take(reference, at: now), pushed.clientID == call.query["client_id"] else {
        throw ServiceRefusal(.invalidRequest, "request_uri")
      }
      request = pushed
    } else {
      guard !requiresPushedRequests else { throw ServiceRefusal(.invalidRequest, "requests have to be pushed") }
      request = try readAuthorizationRequest(call.query, at: now)
    }
    guard settings.asksConsent else { return approve(request, at: now) }
    let id = unguessable()
    consents.insert(request, under: id, at: now)
    let names = documents.filter { request.configurationIDs.contains($0.configurationID) }.map(\.scope)
    return .html(
      """
      <form method="post"><p>Issue test documents (\(names.joined(separator: ", "))) to this wallet?</p>\
      <input type="hidden" name="request" value="\(id)">\
      <button name="answer" value="yes">Yes</button> <button name="answer" value="no">No</button></form>
      """)
  }

  /// The user's answer to the page.
  func consent(_ call: WebCall, at now: UnixTime) throws(ServiceRefusal) -> WebAnswer {
    guard let form = call.form, let id = form["request"], let request = consents.take(id, at: now) else {
      throw ServiceRefusal(.invalidRequest, "request")
    }
    guard form["answer"] == "yes" else { return refuse(request, .accessDenied) }
    return approve(request, at: now)
  }

  private func approve(_ request: AuthorizationRequest, at now: UnixTime) -> WebAnswer {
    for case .refuses(let code) in deviations where code.place == .authorization { return refuse(request, code) }
    let code = unguessable()
    codes.insert(request, under: code, at: now)
    let state = deviations.contains(.otherState) ? unguessable() : request.state
    let issuer = deviations.contains(.otherIssuerInResponse) ? "https://elsewhere.example" : identifier.text
    return redirect(request, ["code": code, "state": state, "iss": issuer])
  }

  private func refuse(_ request: AuthorizationRequest, _ code: IssuanceErrorCode) -> WebAnswer {
    redirect(request, ["error": code.rawValue, "state": request.state, "iss": identifier.text])
  }

  private func redirect(_ request: AuthorizationRequest, _ fields: FormFields) -> WebAnswer {
    .redirect(to: request.redirectAddress + (request.redirectAddress.contains("?") ? "&" : "?") + fields.text)
  }

  private func readAuthorizationRequest(
    _ form: FormFields, at now: UnixTime
  ) throws(ServiceRefusal) -> AuthorizationRequest {
    guard let clientID = form["client_id"], !clientID.isEmpty else { throw ServiceRefusal(.invalidClient, "client_id") }
    guard let redirect = form["redirect_uri"], isNativeRedirect(redirect) else {
      throw ServiceRefusal(.invalidRequest, "redirect_uri is neither a private scheme nor on this machine")
    }
    guard form["response_type"] == "code" else { throw ServiceRefusal(.unsupportedResponseType) }
    guard let challenge = form["code_challenge"], form["code_challenge_method"] == CodeChallenge.method else {
      throw ServiceRefusal(.invalidRequest, "code_challenge by S256 is due")
    }
    var names: [String] = []
    if let text = form["authorization_details"] {
      guard let json = JSONValue(reading: Array(text.utf8)),
        let details = try? AuthorizationDetail.list(json, of: .wallet, at: .authorization), !details.isEmpty
      else { throw ServiceRefusal(.invalidAuthorizationDetails) }
      names = details.map(\.configurationID)
    } else {
      let scopes = (form["scope"] ?? "").split(separator: " ").map(String.init)
      names = documents.filter { scopes.contains($0.scope) }.map(\.configurationID)
      guard names.count == Set(scopes).count else { throw ServiceRefusal(.invalidScope) }
    }
    guard !names.isEmpty, names.allSatisfy({ name in documents.contains { $0.configurationID == name } }) else {
      throw ServiceRefusal(.invalidScope)
    }
    if let state = form["issuer_state"] {
      guard let offered = issuerStates.value(under: state, at: now), names.allSatisfy(offered.contains) else {
        throw ServiceRefusal(.invalidRequest, "issuer_state")
      }
    }
    return AuthorizationRequest(
      clientID: clientID, redirectAddress: redirect, state: form["state"], challenge: challenge,
      configurationIDs: names,
      hasDetails: form["authorization_details"] != nil)
  }

  /// Where codes may be sent to: a wallet's own scheme or this machine (RFC 8252, section 7), so that the service is no way to send
  /// people to strangers.
  private func isNativeRedirect(_ text: String) -> Bool {
    guard text.utf8.count <= WebAddress.longest, let uri = InvocationURI(text), !text.contains("#") else {
      return false
    }
    if uri.scheme == "https" || uri.scheme == "http" { return WebAddress(text)?.isLoopback ?? false }
    return !["javascript", "data", "file", "blob", "about"].contains(uri.scheme)
  }
}
