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

@Suite("OpenID4VCI: what a server can make a wallet do, and what errors say")
struct HostileServerTests {
  private func bench(_ change: @escaping (WebRequest, WebAnswer) -> WebAnswer) throws -> IssuanceBench {
    let bench = try IssuanceBench()
    bench.options.wantsEncryption = false
    bench.intercept = { change($0, $1()) }
    return bench
  }

  /// The answer of one endpoint with members changed; nil takes one out.
  private func bench(_ path: String, _ changes: [String: JSONValue?]) throws -> IssuanceBench {
    try bench { request, answer in
      guard request.address.path.hasSuffix(path), case .object(var members)? = answer.object else { return answer }
      for (key, value) in changes {
        members.removeAll { $0.key == key }
        if let value { members.append(.init(key, value)) }
      }
      var answer = answer
      answer.body = Array(JSONValue.object(members).text.utf8)
      return answer
    }
  }

  private func error(_ bench: IssuanceBench, _ grant: GrantType = .preAuthorizedCode) -> IssuanceError? {
    var results: [ClaimResult] = []
    let error = thrown(IssuanceError.self) { results = try bench.run(grant) }
    return error ?? results.first?.error
  }

  static let places: [(String, IssuanceError.Party, IssuanceError.Step)] = [
    ("/.well-known/openid-credential-issuer/tenant1", .issuer, .issuerMetadata),
    ("/.well-known/oauth-authorization-server/tenant1", .authorizationServer, .serverMetadata),
    ("/par", .authorizationServer, .pushedRequest), ("/token", .authorizationServer, .token),
    ("/nonce", .issuer, .nonce), ("/credential", .issuer, .credential), ("/deferred", .issuer, .deferredCredential),
  ]

  @Test(
    "at every place: no redirect is followed, no page is JSON, and a size or an outage is called that",
    arguments: HostileServerTests.places.indices)
  func everywhere(_ place: Int) throws {
    let (path, party, step) = HostileServerTests.places[place]
    let page = WebAnswer(status: 200, headers: [WebHeader("Content-Type", "text/html")], body: Array("{}".utf8))
    let untyped = WebAnswer(status: 200, body: Array("{}".utf8))
    let broken = WebAnswer(status: 200, headers: [WebHeader("Content-Type", "application/json")], body: Array("{".utf8))
    let list = WebAnswer(status: 200, headers: [WebHeader("Content-Type", "application/json")], body: Array("[]".utf8))
    let large = WebAnswer(
      status: 200, headers: [WebHeader("Content-Type", "application/json")],
      body: [UInt8](repeating: 0x20, count: IssuanceLimits.credentialAnswerSize + 1))
    let cases: [(WebAnswer, IssuanceError.Problem)] = [
      (.redirect(to: "https://issuer.example/"), .redirected), (WebAnswer(status: 307), .redirected),
      (page, .notJSON), (untyped, .notJSON), (broken, .notJSON), (list, .notJSON), (large, .noAnswer("tooLarge")),
      (WebAnswer(status: 503), .status(503)), (WebAnswer(status: 404), .status(404)),
    ]
    for (answer, problem) in cases {
      let bench = try bench { $0.address.path.hasSuffix(path) ? answer : $1 }
      if step == .deferredCredential { bench.service.settings.pollsUntilReady = 1 }
      #expect(error(bench, .authorizationCode) == IssuanceError(party, step, problem))
      #expect(bench.requests.allSatisfy { $0.address.host == "issuer.example" })
    }
  }

  static let members: [(String, [String: JSONValue?], IssuanceError)] = [
    ("/token", ["access_token": nil], IssuanceError(.authorizationServer, .token, .missing("access_token"))),
    ("/token", ["access_token": 7], IssuanceError(.authorizationServer, .token, .malformed("access_token"))),
    (
      "/token", ["access_token": "a\r\nX: y"],
      IssuanceError(.authorizationServer, .token, .malformed("access_token"))
    ),
    (
      "/token", ["access_token": .string(String(repeating: "a", count: IssuanceLimits.opaqueText + 1))],
      IssuanceError(.authorizationServer, .token, .malformed("access_token"))
    ),
    ("/token", ["token_type": nil], IssuanceError(.authorizationServer, .token, .missing("token_type"))),
    ("/token", ["token_type": "x"], IssuanceError(.authorizationServer, .token, .tokenType)),
    (
      "/token", ["authorization_details": "x"],
      IssuanceError(.authorizationServer, .token, .malformed("authorization_details"))
    ),
    (
      "/token", ["authorization_details": [["type": "openid_credential"]]],
      IssuanceError(.authorizationServer, .token, .missing("credential_configuration_id"))
    ),
    ("/nonce", ["c_nonce": 7], IssuanceError(.issuer, .nonce, .malformed("c_nonce"))),
    ("/nonce", ["c_nonce": ""], IssuanceError(.issuer, .nonce, .malformed("c_nonce"))),
    ("/par", ["request_uri": nil], IssuanceError(.authorizationServer, .pushedRequest, .missing("request_uri"))),
    ("/credential", ["credentials": nil], IssuanceError(.issuer, .credential, .missing("credentials"))),
    ("/credential", ["credentials": []], IssuanceError(.issuer, .credential, .malformed("credentials"))),
    ("/credential", ["credentials": ["x"]], IssuanceError(.issuer, .validation, .credential(.notText))),
  ]

  @Test("a member that is missing or wrong is named with its step", arguments: HostileServerTests.members.indices)
  func member(_ place: Int) throws {
    let (path, changes, expected) = HostileServerTests.members[place]
    #expect(try error(bench(path, changes), .authorizationCode) == expected)
  }

  @Test("a token that is bound to a key is not taken where no key was proved")
  func boundToNothing() throws {
    for type in ["DPoP", "dpop"] {
      let bench = try bench("/token", ["token_type": .string(type)])
      bench.service.settings.announcesDPoP = false
      #expect(error(bench) == IssuanceError(.authorizationServer, .token, .tokenType))
      #expect(bench.requests(to: .credential).isEmpty)
    }
  }

  @Test("an encrypted answer is encrypted as it was asked, to the key that was given")
  func otherEncryption() throws {
    for (content, problem) in [
      (ContentEncryption.a256GCM, IssuanceError.Problem.missing("credentials")), (.a128GCM, .notEncrypted),
    ] {
      let bench = try IssuanceBench()
      bench.intercept = { [unowned bench] request, send in
        guard request.address.path.hasSuffix("/credential"),
          let message = try? CompactJWE(reading: String(decoding: request.body, as: UTF8.self)),
          let plain = try? message.decrypted(with: bench.service.encryptionKey),
          let jwk = JSONValue(reading: plain)?["credential_response_encryption"]?["jwk"],
          let text = try? CompactJWE.encrypt(Array("{}".utf8), to: JSONWebKey(reading: jwk), encryption: content)
        else { return send() }
        return WebAnswer(
          status: 200, headers: [WebHeader("Content-Type", "application/jwt")], body: Array(text.utf8))
      }
      #expect(error(bench) == IssuanceError(.issuer, .credential, problem))
    }
  }

  @Test("a deferred credential has an identifier that stays, and an interval that is a number of seconds")
  func deferred() throws {
    func run(_ path: String, _ changes: [String: JSONValue?]) throws -> IssuanceError.Problem? {
      let bench = try bench(path, changes)
      bench.service.settings.pollsUntilReady = 3
      return error(bench)?.problem
    }
    #expect(try run("/credential", ["transaction_id": nil]) == .missing("transaction_id"))
    #expect(try run("/deferred", ["transaction_id": "another"]) == .malformed("transaction_id"))
    #expect(try run("/deferred", ["interval": 0]) == .malformed("interval"))
    #expect(try run("/deferred", ["interval": -1]) == .malformed("interval"))
    #expect(try run("/deferred", ["interval": "5"]) == .malformed("interval"))
    #expect(try run("/deferred", ["interval": .integer(.max)]) == .stillPending(seconds: 86_400 * 366))
    #expect(try run("/deferred", ["interval": .double(0.5)]) == nil)
    #expect(try run("/deferred", ["interval": nil]) == nil)
  }

  @Test("an error that brings the next nonce along, from an issuer without an endpoint for it, is a draft's")
  func draftError() throws {
    for hasEndpoint in [true, false] {
      let bench = try bench { request, answer in
        guard request.address.path.hasSuffix("/credential") else { return answer }
        return .json(["error": "invalid_proof", "c_nonce": "x"], status: 400)
      }
      bench.service.settings.usesNonces = hasEndpoint
      let problem: IssuanceError.Problem =
        hasEndpoint ? .refused(.invalidProof, "") : .issuerSpeaksDraft("c_nonce in an error")
      #expect(error(bench) == IssuanceError(.issuer, .credential, problem))
    }
  }

  @Test("an issuer that defers for ever with short intervals is asked a bounded number of times")
  func polls() throws {
    let bench = try bench("/deferred", ["interval": 1])
    bench.service.deviations = [.deferredForEver]
    bench.service.settings.pollInterval = 1
    #expect(error(bench) == IssuanceError(.issuer, .deferredCredential, .stillPending(seconds: 1)))
    #expect(bench.requests(to: .deferredCredential).count == IssuanceLimits.polls)
  }

  @Test("a description that repeats a secret is not kept, and any other is made printable and cut")
  func secrets() throws {
    let bench = try IssuanceBench()
    bench.options.wantsEncryption = false
    bench.intercept = { request, send in
      guard request.address.path.hasSuffix("/credential") else { return send() }
      let token = request.headers.first { $0.name == "Authorization" }?.value.split(separator: " ").last ?? ""
      return .json(["error": "invalid_proof", "error_description": .string("your token is \(token)")], status: 400)
    }
    #expect(error(bench) == IssuanceError(.issuer, .credential, .refused(.invalidProof, "")))
    let long = String(repeating: "a", count: 500)
    bench.intercept = { request, send in
      guard request.address.path.hasSuffix("/credential") else { return send() }
      return .json(["error": "str\u{1b}ange", "error_description": .string("\n\u{202e}" + long)], status: 400)
    }
    let expected = "??" + long.prefix(IssuanceLimits.displayText - 2)
    #expect(error(bench) == IssuanceError(.issuer, .credential, .refusedOtherwise("str?ange", expected)))
  }

  @Test("no error text of any deviation has a token, code or nonce in it", arguments: GrantType.allCases)
  func noSecrets(_ grant: GrantType) throws {
    for deviation in IssuerDeviation.all where deviation.grants.contains(grant) {
      let bench = try IssuanceBench()
      bench.options.wantsEncryption = false
      bench.service.deviations = [deviation]
      var sent: [String] = []
      bench.intercept = { request, send in
        let answer = send()
        for text in [
          String(decoding: request.body, as: UTF8.self), String(decoding: answer.body.prefix(5000), as: UTF8.self),
        ] {
          sent += text.split { !$0.isLetter && !$0.isNumber && $0 != "-" && $0 != "_" }.filter { $0.count >= 40 }
            .map(String.init)
        }
        return answer
      }
      guard let text = error(bench, grant)?.description else { continue }
      #expect(!sent.contains { text.contains($0) }, "\(deviation)")
    }
  }

  @Test("codes are read from the body, from a challenge, and not from anything else")
  func refusals() {
    func refusal(_ challenge: String) -> Refusal? {
      Refusal(WebAnswer(status: 401, headers: [WebHeader("www-authenticate", challenge)]))
    }
    #expect(
      refusal(#"Bearer realm="x", error="invalid_token", error_description="it expired""#)
        == Refusal(code: "invalid_token", description: "it expired"))
    #expect(refusal(#"DPoP error="use_dpop_nonce""#)?.code == "use_dpop_nonce")
    #expect(refusal(#"Bearer xerror="a""#) == nil)
    #expect(refusal("Bearer") == nil)
    #expect(refusal("") == nil)
    #expect(Refusal(WebAnswer.json(["error": 7], status: 400)) == nil)
    #expect(Refusal(WebAnswer.html("{\"error\":\"x\"}", status: 400)) == nil)
    #expect(
      Refusal(code: "issuance_pending", description: "").problem(secrets: []) == .issuerSpeaksDraft("issuance_pending"))
    for code in IssuanceErrorCode.allCases {
      #expect(Refusal(code: code.rawValue, description: "x").problem(secrets: []) == .refused(code, "x"))
    }
  }

  @Test("an issuer that wants what this wallet has not is told so before it is asked")
  func unsupported() throws {
    func run(_ change: @escaping (JSONValue) -> JSONValue) throws -> IssuanceError? {
      try error(
        bench { request, answer in
          guard request.address.path.contains("openid-credential-issuer"), let object = answer.object else {
            return answer
          }
          return .json(change(object))
        })
    }
    func replacing(_ object: JSONValue, _ key: String, _ value: JSONValue) -> JSONValue {
      guard case .object(let members) = object else { return object }
      return .object(members.filter { $0.key != key } + [.init(key, value)])
    }
    func configuration(_ proofs: JSONValue) -> JSONValue {
      [
        "org.iso.18013.5.1.mDL": [
          "format": "mso_mdoc", "doctype": "org.iso.18013.5.1.mDL", "proof_types_supported": proofs,
        ]
      ]
    }
    func unsupported(_ member: String) -> IssuanceError {
      IssuanceError(.issuer, .issuerMetadata, .unsupported(member))
    }
    let key = "credential_configurations_supported"
    #expect(
      try run { replacing($0, key, configuration(["jwt": ["proof_signing_alg_values_supported": ["EdDSA"]]])) }
        == unsupported("proof_types_supported"))
    #expect(
      try run { replacing($0, key, configuration(["jwt": ["key_attestations_required": [:]]])) }
        == unsupported("key_attestations_required"))
    #expect(
      try run {
        replacing(
          $0, "credential_response_encryption",
          ["alg_values_supported": ["RSA-OAEP"], "enc_values_supported": ["A256GCM"], "encryption_required": true])
      } == unsupported("credential_response_encryption"))
    #expect(
      try run {
        replacing(
          $0, "credential_request_encryption",
          ["jwks": ["keys": []], "enc_values_supported": ["A256GCM"], "encryption_required": true])
      } == unsupported("credential_request_encryption"))
    #expect(
      try run { replacing($0, key, ["org.iso.18013.5.1.mDL": ["format": "dc+sd-jwt"]]) }
        == IssuanceError(.issuer, .offer, .noMdocOffered))
  }

  @Test("an authorization server is one of the issuer's, and the first that takes the grant")
  func servers() throws {
    func run(
      _ servers: JSONValue?, named: String? = nil, grants: JSONValue = ["authorization_code"]
    ) throws -> (IssuanceError.Problem?, [String]) {
      let bench = try IssuanceBench()
      bench.options.wantsEncryption = false
      bench.intercept = { request, send in
        guard request.address.path.contains("openid-credential-issuer"), case .object(let members)? = send().object
        else {
          if request.address.path.hasSuffix("/oauth-authorization-server/other") {
            return .json([
              "issuer": "https://issuer.example/other", "token_endpoint": "https://issuer.example/other/token",
              "authorization_endpoint": "https://issuer.example/other/authorize", "grant_types_supported": grants,
            ])
          }
          return send()
        }
        return .json(.object(members + (servers.map { [.init("authorization_servers", $0)] } ?? [])))
      }
      var offer = bench.makeOffer(.preAuthorizedCode).offer
      if let named, var grant = offer.preAuthorizedCode {
        grant.authorizationServer = named
        offer = CredentialOffer(
          issuer: offer.issuer, configurationIDs: offer.configurationIDs, preAuthorizedCode: grant)
      }
      let error = thrown(IssuanceError.self) { _ = try bench.claim.discover(offer) }
      return (error?.problem, bench.requests.filter { $0.address.path.contains("oauth") }.map(\.address.path))
    }
    let own = "https://issuer.example/tenant1"
    let other = "https://issuer.example/other"
    let ownPath = "/.well-known/oauth-authorization-server/tenant1"
    let otherPath = "/.well-known/oauth-authorization-server/other"
    #expect(try run(nil) == (nil, [ownPath]))
    #expect(try run([.string(other), .string(own)]) == (nil, [otherPath, ownPath]))
    #expect(try run([.string(other)]) == (.noUsableGrant, [otherPath]))
    #expect(try run([.string(other), .string(own)], named: own) == (nil, [ownPath]))
    #expect(try run([.string(own)], named: other) == (.unknownAuthorizationServer, []))
    #expect(try run(nil, named: own + "/") == (.unknownAuthorizationServer, []))
  }
}
