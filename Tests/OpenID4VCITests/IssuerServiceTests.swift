import Bytes
import CivilTime
import Crypto
import Issuer
import JOSE
import JSON
import TestSupport
import Testing
import Web

@testable import OpenID4VCI

/// The issuer by itself: what a wallet can do wrong, and what it is told then.
@Suite("OpenID4VCI: an issuer that is asked wrongly")
struct IssuerServiceTests {
  private let bench: IssuanceBench
  private var service: IssuerService { bench.service }

  init() throws {
    var settings = IssuerSettings()
    settings.batchSize = 2
    bench = try IssuanceBench(settings: settings)
  }

  private func post(_ endpoint: IssuerService.Endpoint, form: FormFields) -> WebAnswer {
    guard let call = WebCall(.post(address(service.address(endpoint)), form: form)) else { return WebAnswer(status: 0) }
    return service.handle(call, at: bench.now)
  }

  private func post(_ endpoint: IssuerService.Endpoint, _ body: JSONValue, headers: [WebHeader]) -> WebAnswer {
    let target = address(service.address(endpoint))
    var request = WebRequest.post(target, type: "application/json", body: Array(body.text.utf8))
    request.headers += headers
    guard let call = WebCall(request) else { return WebAnswer(status: 0) }
    return service.handle(call, at: bench.now)
  }

  private func refusal(_ answer: WebAnswer) -> IssuanceErrorCode? {
    #expect(answer.object?["error"]?.string == nil || answer.status >= 400)
    return answer.object?["error"]?.string.flatMap(IssuanceErrorCode.init(rawValue:))
  }

  /// A bearer's token for everything.
  private func token() throws -> String {
    let made = service.makeOffer(by: .preAuthorized(nil), at: bench.now)
    let answer = post(
      .token,
      form: [
        "grant_type": GrantType.preAuthorizedCode.rawValue,
        "pre-authorized_code": made.offer.preAuthorizedCode?.code,
      ])
    #expect(answer.object?["token_type"] == "Bearer")
    return try #require(answer.object?["access_token"]?.string)
  }

  private func nonce() throws -> String {
    try #require(post(.nonce, form: [:]).object?["c_nonce"]?.string)
  }

  private func ask(
    _ proofs: [String], token: String? = nil, id: String = "org.iso.18013.5.1.mDL", also: [JSONValue.Member] = []
  ) throws -> WebAnswer {
    let body = JSONValue.object(
      [
        .init("credential_configuration_id", .string(id)),
        .init("proofs", ["jwt": .array(proofs.map(JSONValue.string))]),
      ] + also)
    let token = try token ?? self.token()
    return post(.credential, body, headers: [WebHeader("Authorization", "Bearer \(token)")])
  }

  private func proof(
    _ key: PrivateKey, type: String = KeyProof.type, audience: String? = nil, issuedAt: Int? = nil,
    nonce: JSONValue? = nil, issuer: JSONValue? = nil, header: [JSONValue.Member]? = nil
  ) throws -> String {
    try CompactJWS.sign(
      .object([
        "aud": .string(audience ?? service.identifier.text),
        "iat": .integer(issuedAt ?? Int(bench.now.seconds)), "nonce": nonce ?? .string(try self.nonce()),
        "iss": issuer,
      ]),
      header: [.init("typ", .string(type))] + (header ?? [.init("jwk", JSONWebKey(key.publicKey).json)]), with: key)
  }

  @Test("a good proof gets a credential, in the clear and from nowhere else")
  func good() throws {
    let answer = try ask([proof(PrivateKey.generate(.p256))])
    #expect(answer.status == 200)
    #expect(answer[header: "Cache-Control"] == "no-store")
    #expect(answer.object?["credentials"] != nil)
  }

  @Test("a proof with a fault is refused, and the fault named")
  func proofs() throws {
    let key = try PrivateKey.generate(.p256)
    let other = try PrivateKey.generate(.p256)
    let now = Int(bench.now.seconds)
    let jwk = JSONWebKey(key.publicKey).json
    guard case .object(let members) = jwk else { return }
    let good = try proof(key)
    let forged =
      good.split(separator: ".").dropLast().joined(separator: ".") + "."
      + (try proof(other)).split(separator: ".")[2]
    let cases: [(String, KeyProof.Fault)] = [
      ("x", .notCompactJWT), (try proof(key, type: "JWT"), .type),
      (try proof(PrivateKey.generate(.p384), header: [.init("jwk", jwk)]), .algorithm),
      (try proof(key, header: []), .keyNaming), (try proof(key, header: [.init("kid", "did:x")]), .keyNaming),
      (try proof(key, header: [.init("jwk", jwk), .init("kid", "1")]), .keyNaming),
      (try proof(key, header: [.init("jwk", .object(members + [.init("d", "AAAA")]))]), .key),
      (try proof(key, header: [.init("jwk", JSONWebKey(PrivateKey.generate(.p384).publicKey).json)]), .key),
      (try proof(key, header: [.init("jwk", JSONWebKey(other.publicKey).json)]), .signature), (forged, .signature),
      (try proof(key, audience: "https://issuer.example"), .audience),
      (try proof(key, issuedAt: now - 301), .issuedAt), (try proof(key, issuedAt: now + 301), .issuedAt),
      (try proof(key, nonce: .null), .claims), (try proof(key, issuer: "somebody"), .clientID),
    ]
    for (text, fault) in cases {
      let answer = try ask([text])
      #expect(answer.status == 400)
      #expect(refusal(answer) == .invalidProof, "\(fault)")
      #expect(answer.object?["error_description"]?.string == fault.rawValue)
    }
  }

  @Test("a nonce is known, fresh and used once, and every proof of a request has the same")
  func nonces() throws {
    let key = try PrivateKey.generate(.p256)
    let other = try PrivateKey.generate(.p256)
    #expect(try refusal(ask([proof(key, nonce: "unknown")])) == .invalidNonce)
    let used = JSONValue.string(try nonce())
    #expect(try ask([proof(key, nonce: used)]).status == 200)
    #expect(try refusal(ask([proof(key, nonce: used)])) == .invalidNonce)
    let shared = JSONValue.string(try nonce())
    #expect(try refusal(ask([proof(key, nonce: shared), proof(other)])) == .invalidNonce)
    let old = JSONValue.string(try nonce())
    bench.now = bench.now.adding(seconds: 301)
    #expect(try refusal(ask([proof(key, nonce: old)])) == .invalidNonce)
    let without = try CompactJWS.sign(
      ["aud": .string(service.identifier.text), "iat": .integer(Int(bench.now.seconds))],
      header: [.init("typ", .string(KeyProof.type)), .init("jwk", JSONWebKey(key.publicKey).json)], with: key)
    #expect(try refusal(ask([without])) == .invalidProof)
  }

  @Test("the list of proofs has one kind, as many as the batch, and no key twice")
  func proofList() throws {
    let key = try PrivateKey.generate(.p256)
    let nonce = JSONValue.string(try nonce())
    #expect(try refusal(ask([proof(key, nonce: nonce), proof(key, nonce: nonce)])) == .invalidProof)
    #expect(try refusal(ask([])) == .invalidProof)
    #expect(try refusal(ask((0..<3).map { _ in try proof(PrivateKey.generate(.p256)) })) == .invalidProof)
    #expect(try refusal(ask([proof(key)], also: [.init("proof", [:])])) == .invalidProof)
    let authorization = [WebHeader("Authorization", "Bearer \(try token())")]
    for proofs: JSONValue in [[:], ["jwt": []], ["jwt": [1]], ["jwt": ["x"], "cwt": []], []] {
      let body: JSONValue = ["credential_configuration_id": "org.iso.18013.5.1.mDL", "proofs": proofs]
      #expect(refusal(post(.credential, body, headers: authorization)) == .invalidProof, "\(proofs)")
    }
  }

  @Test("exactly one of identifier and configuration is asked for, and one that there is")
  func selection() throws {
    let key = try PrivateKey.generate(.p256)
    #expect(try refusal(ask([proof(key)], id: "nothing")) == .unknownCredentialConfiguration)
    #expect(
      try refusal(ask([proof(key)], also: [.init("credential_identifier", "x")])) == .invalidCredentialRequest)
    let authorization = [WebHeader("Authorization", "Bearer \(try token())")]
    #expect(refusal(post(.credential, [:], headers: authorization)) == .invalidCredentialRequest)
    #expect(
      refusal(post(.credential, ["credential_identifier": "x"], headers: authorization)) == .unknownCredentialIdentifier
    )
    #expect(refusal(post(.credential, [1], headers: authorization)) == .invalidCredentialRequest)
  }

  @Test("without a token, with another or with an old one there is nothing")
  func tokens() throws {
    let key = try PrivateKey.generate(.p256)
    let good = try token()
    for headers in [
      [], [WebHeader("Authorization", "Bearer x")], [WebHeader("Authorization", good)],
      [WebHeader("Authorization", "DPoP \(good)")],
    ] {
      let answer = post(.credential, [:], headers: headers)
      #expect(answer.status == 401)
      #expect(answer[header: "WWW-Authenticate"] == #"Bearer error="invalid_token""#)
    }
    bench.now = bench.now.adding(seconds: 3601)
    #expect(try ask([proof(key)], token: good).status == 401)
  }

  @Test("answers are encrypted only to a key that came encrypted itself")
  func encryption() throws {
    let key = try PrivateKey.generate(.p256)
    let jwk = JSONWebKey(key.publicKey, use: "enc", algorithm: "ECDH-ES").json
    let parameters: JSONValue = ["jwk": jwk, "enc": "A256GCM"]
    #expect(
      try refusal(ask([proof(key)], also: [.init("credential_response_encryption", parameters)]))
        == .invalidEncryptionParameters)
    service.settings.requiresEncryption = true
    #expect(try refusal(ask([proof(key)])) == .invalidEncryptionParameters)
    var noise = WebRequest.post(
      address(service.address(.credential)), type: "application/jwt", body: Array("a.b.c.d.e".utf8))
    noise.headers.append(WebHeader("Authorization", "Bearer \(try token())"))
    #expect(refusal(service.handle(try #require(WebCall(noise)), at: bench.now)) == .invalidEncryptionParameters)
  }

  @Test("a code is redeemed once, by who asked for it, and with the verifier")
  func codes() throws {
    let challenge = CodeChallenge(random: [UInt8](repeating: 7, count: 32))
    let redirect = "test-wallet://callback"
    func code(_ changes: FormFields = [:]) throws -> (code: String?, error: IssuanceErrorCode?) {
      var fields: FormFields = [:]
      let usual: FormFields = [
        "response_type": "code", "client_id": "w", "redirect_uri": redirect, "state": "s",
        "code_challenge": challenge.challenge, "code_challenge_method": "S256", "scope": "mdl",
      ]
      for field in usual.fields { fields.append(field.name, changes[field.name] ?? field.value) }
      for field in changes.fields where usual[field.name] == nil { fields.append(field.name, field.value) }
      let target = try #require(address(service.address(.authorization)).adding(fields))
      let answer = service.handle(try #require(WebCall(.get(target, accept: "*/*"))), at: bench.now)
      return (InvocationURI(answer[header: "Location"] ?? "")?.fields["code"], refusal(answer))
    }
    func redeem(_ code: String?, client: String = "w", verifier: String? = nil, to redirect: String)
      -> IssuanceErrorCode?
    {
      refusal(
        post(
          .token,
          form: [
            "grant_type": "authorization_code", "code": code, "client_id": client, "redirect_uri": redirect,
            "code_verifier": verifier ?? challenge.verifier,
          ]))
    }
    let first = try code().code
    #expect(redeem(first, to: redirect) == nil)
    #expect(redeem(first, to: redirect) == .invalidGrant)
    #expect(try redeem(code().code, client: "other", to: redirect) == .invalidClient)
    #expect(try redeem(code().code, to: redirect + "/x") == .invalidGrant)
    #expect(try redeem(code().code, verifier: String(repeating: "a", count: 43), to: redirect) == .invalidGrant)
    let late = try code().code
    bench.now = bench.now.adding(seconds: 61)
    #expect(redeem(late, to: redirect) == .invalidGrant)
    let faults: [(FormFields, IssuanceErrorCode)] = [
      (["client_id": ""], .invalidClient), (["redirect_uri": "https://elsewhere.example/"], .invalidRequest),
      (["redirect_uri": "javascript:x"], .invalidRequest), (["response_type": "token"], .unsupportedResponseType),
      (["code_challenge_method": "plain"], .invalidRequest), (["scope": "nothing"], .invalidScope),
      (["scope": ""], .invalidScope), (["authorization_details": "x"], .invalidAuthorizationDetails),
      (["issuer_state": "x"], .invalidRequest), (["request_uri": "urn:x"], .invalidRequest),
    ]
    for (changes, error) in faults { #expect(try code(changes).error == error, "\(changes.text)") }
  }

  @Test("the token endpoint says what is wrong with a request")
  func tokenRequests() {
    func ask(_ form: FormFields) -> IssuanceErrorCode? { refusal(post(.token, form: form)) }
    #expect(ask([:]) == .invalidRequest)
    #expect(ask(["grant_type": "password"]) == .unsupportedGrantType)
    #expect(ask(["grant_type": GrantType.preAuthorizedCode.rawValue]) == .invalidRequest)
    #expect(ask(["grant_type": GrantType.preAuthorizedCode.rawValue, "pre-authorized_code": "x"]) == .invalidGrant)
    func offer(_ code: CredentialOffer.TransactionCode?) -> String? {
      service.makeOffer(by: .preAuthorized(code), at: bench.now).offer.preAuthorizedCode?.code
    }
    let grant = GrantType.preAuthorizedCode.rawValue
    #expect(
      ask(["grant_type": grant, "pre-authorized_code": offer(nil), "tx_code": "1"]) == .invalidRequest)
    #expect(
      ask(["grant_type": grant, "pre-authorized_code": offer(CredentialOffer.TransactionCode())]) == .invalidRequest)
    service.settings.allowsAnonymous = false
    #expect(ask(["grant_type": grant, "pre-authorized_code": offer(nil)]) == .invalidClient)
  }

  @Test("paths and methods that there are not are 404 and 405, and offers are had by those who know where")
  func routes() throws {
    func get(_ text: String) throws -> WebAnswer {
      service.handle(try #require(WebCall(.get(address(text), accept: "*/*"))), at: bench.now)
    }
    #expect(try get("https://issuer.example/tenant1/token").status == 405)
    #expect(try get("https://issuer.example/token").status == 404)
    #expect(try get("https://issuer.example/tenant1/offers/x").status == 404)
    #expect(try get("https://issuer.example/.well-known/openid-credential-issuer").status == 404)
    #expect(try get("https://issuer.example/.well-known/openid-credential-issuer/tenant1").status == 200)
    #expect(post(.roots, form: [:]).status == 405)
  }

  @Test("a notification is taken for what was issued, again and again, and for nothing else")
  func notification() throws {
    let value = try token()
    let authorization = [WebHeader("Authorization", "Bearer \(value)")]
    let answer = try ask([proof(PrivateKey.generate(.p256))], token: value)
    let id = try #require(answer.object?["notification_id"])
    let body: JSONValue = ["notification_id": id, "event": "credential_accepted"]
    for _ in 0..<2 { #expect(post(.notification, body, headers: authorization).status == 204) }
    let unknown: JSONValue = ["notification_id": "x", "event": "credential_accepted"]
    #expect(refusal(post(.notification, unknown, headers: authorization)) == .invalidNotificationID)
    let event: JSONValue = ["notification_id": id, "event": "credential_eaten"]
    #expect(refusal(post(.notification, event, headers: authorization)) == .invalidNotificationRequest)
    #expect(post(.notification, body, headers: []).status == 401)
  }
}
