import Bytes
import JSON
import Web

extension ClaimConversation {
  /// What comes out of the user's sign-in: a code, and what redeems it.
  struct Authorization {
    let code: String
    let verifier: String
  }

  /// Lets the user sign in (RFC 6749 section 4.1, with RFC 7636, RFC 9126 and RFC 9207).
  func authorize(
    for configurations: [CredentialConfiguration]
  ) throws(IssuanceError) -> Authorization {
    let server = offer.server
    guard let endpoint = server.authorizationEndpoint else {
      throw IssuanceError(.authorizationServer, .serverMetadata, .missing("authorization_endpoint"))
    }
    if let methods = server.codeChallengeMethods, !methods.contains(CodeChallenge.method) {
      throw IssuanceError(.authorizationServer, .serverMetadata, .unsupported("code_challenge_methods_supported"))
    }
    let challenge = CodeChallenge(random: claim.random(32))
    let state = unguessable()
    secrets += [challenge.verifier, state]
    let request = authorizationRequest(for: configurations, challenge: challenge, state: state)
    let address: WebAddress?
    if let pushed = server.pushedRequestEndpoint {
      address = endpoint.adding(try push(request, to: pushed))
    } else if server.requiresPushedRequests {
      throw IssuanceError(
        .authorizationServer, .serverMetadata, .missing("pushed_authorization_request_endpoint"))
    } else {
      address = endpoint.adding(request)
    }
    guard let address else { throw IssuanceError(.wallet, .authorization, .tooMany("characters")) }
    let redirect: String
    do { redirect = try claim.authorize(address) } catch { throw IssuanceError(.wallet, .authorization, .givenUp) }
    return Authorization(code: try code(in: redirect, state: state), verifier: challenge.verifier)
  }

  private func authorizationRequest(
    for configurations: [CredentialConfiguration], challenge: CodeChallenge, state: String
  ) -> FormFields {
    let scopes = configurations.compactMap(\.scope)
    // By scope where every configuration has one; two may share one, which is asked for once.
    let usesScope = scopes.count == configurations.count
    let locations = offer.issuer.authorizationServers.isEmpty ? [] : [offer.issuer.identifier.text]
    let details = configurations.map { AuthorizationDetail(configurationID: $0.id, locations: locations).json }
    var distinct: [String] = []
    for scope in scopes where !distinct.contains(scope) { distinct.append(scope) }
    return [
      "response_type": "code", "client_id": claim.options.clientID, "redirect_uri": claim.options.redirectAddress,
      "state": state, "code_challenge": challenge.challenge, "code_challenge_method": CodeChallenge.method,
      "scope": usesScope ? distinct.joined(separator: " ") : nil,
      "authorization_details": usesScope ? nil : JSONValue.array(details).text,
      "resource": locations.first, "issuer_state": offer.offer.authorizationCode?.issuerState,
    ]
  }

  /// Pushes the request (RFC 9126, section 2).
  private func push(_ request: FormFields, to endpoint: WebAddress) throws(IssuanceError) -> FormFields {
    let dialogue = claim.dialogue(.authorizationServer, .pushedRequest)
    let answer = try answer(to: .post(endpoint, form: request), dialogue)
    guard answer.status == 201 || answer.status == 200 else { throw dialogue.refusal(answer, secrets: secrets) }
    let members = try MemberReading(dialogue.object(in: answer), of: .authorizationServer, at: .pushedRequest)
    guard let reference = try members.opaque("request_uri") else { throw members.failure(.missing("request_uri")) }
    return ["client_id": claim.options.clientID, "request_uri": reference]
  }

  /// The code in the address that the server sent the user to. First whether it is an answer to this request at all.
  private func code(in redirect: String, state: String) throws(IssuanceError) -> String {
    let dialogue = claim.dialogue(.authorizationServer, .authorization)
    guard let uri = InvocationURI(redirect) else { throw dialogue.failure(.malformed("redirect_uri")) }
    guard let own = InvocationURI(claim.options.redirectAddress), own.scheme == uri.scheme, own.place == uri.place
    else { throw dialogue.failure(.otherRedirect) }
    guard let answered = uri.fields["state"], isEqualInConstantTime(answered.utf8, state.utf8) else {
      throw dialogue.failure(.otherState)
    }
    switch uri.fields["iss"] {
    case let issuer? where !issuer.utf8.elementsEqual(offer.server.issuer.text.utf8):
      throw dialogue.failure(.otherAuthorizationServer)
    case nil where offer.server.namesItselfInResponses: throw dialogue.failure(.otherAuthorizationServer)
    default: break
    }
    if let code = uri.fields["error"] {
      let refusal = Refusal(code: code, description: uri.fields["error_description"] ?? "")
      throw dialogue.failure(refusal.problem(secrets: secrets))
    }
    guard let code = uri.fields["code"], !code.isEmpty else { throw dialogue.failure(.missing("code")) }
    guard code.utf8.count <= IssuanceLimits.opaqueText else { throw dialogue.failure(.malformed("code")) }
    secrets.append(code)
    return code
  }
}
