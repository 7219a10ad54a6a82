import Bytes
import JSON
import TestSupport
import Testing

@testable import OpenID4VCI

@Suite("OpenID4VCI: metadata of issuers and authorization servers")
struct MetadataTests {
  private let issuer = address("https://issuer.example/tenant1")

  private func document(_ changes: [String: JSONValue?] = [:]) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init("credential_issuer", "https://issuer.example/tenant1"),
      .init("credential_endpoint", "https://issuer.example/tenant1/credential"),
      .init("nonce_endpoint", "https://issuer.example:8443/nonce"),
      .init("authorization_servers", ["https://login.example"]),
      .init("batch_credential_issuance", ["batch_size": 7]),
      .init("mdoc_iacas_uri", "https://issuer.example/iacas"),
      .init(
        "credential_configurations_supported",
        ["mdl": ["format": "mso_mdoc", "doctype": "org.iso.18013.5.1.mDL"], "vc": ["format": "jwt_vc_json"]]),
    ]
    for (key, value) in changes {
      members.removeAll { $0.key == key }
      if let value { members.append(.init(key, value)) }
    }
    return .object(members)
  }

  private func problem(_ key: String, _ value: JSONValue?, of identifier: WebAddress? = nil) -> IssuanceError.Problem? {
    let error = thrown(IssuanceError.self) {
      _ = try IssuerMetadata(reading: document([key: value]), of: identifier ?? issuer)
    }
    #expect(error == nil || (error?.party == .issuer && error?.step == .issuerMetadata))
    return error?.problem
  }

  @Test("a whole document is read")
  func whole() throws {
    let metadata = try IssuerMetadata(reading: document(), of: issuer)
    #expect(metadata.nonceEndpoint?.text == "https://issuer.example:8443/nonce")
    #expect(metadata.batchSize == 7)
    #expect(metadata.deferredCredentialEndpoint == nil)
    #expect(metadata.rootsAddress?.text == "https://issuer.example/iacas")
    let configuration = try metadata.configuration("mdl")
    #expect(configuration.isMdoc && configuration.acceptsES256Proofs && !configuration.requiresKeyAttestation)
    #expect(try !metadata.configuration("vc").isMdoc)
  }

  @Test("the identifier is the same to the character")
  func identifier() {
    for text in [
      "https://issuer.example/tenant1/", "https://ISSUER.example/tenant1", "https://issuer.example:443/tenant1",
      "https://issuer.example/tenant2", "https://issuer.example",
    ] {
      #expect(problem("credential_issuer", .string(text)) == .otherIdentifier, "\(text)")
    }
    #expect(problem("credential_issuer", nil) == .missing("credential_issuer"))
  }

  @Test("addresses are confidential, on a host that somebody named, and not on this machine unless the issuer is")
  func addresses() throws {
    for key in ["credential_endpoint", "nonce_endpoint", "deferred_credential_endpoint", "notification_endpoint"] {
      #expect(problem(key, "http://issuer.example/x") == .notConfidential(key))
      #expect(problem(key, "https://elsewhere.example/x") == .otherHost(key))
      #expect(problem(key, "http://localhost/x") == .otherHost(key))
      #expect(problem(key, "gopher://issuer.example/x") == .malformed(key))
      #expect(problem(key, 1) == .malformed(key))
      #expect(problem(key, "https://login.example/x") == nil)
    }
    #expect(problem("credential_endpoint", nil) == .missing("credential_endpoint"))
    #expect(problem("authorization_servers", ["http://localhost"]) == .notConfidential("authorization_servers"))
    #expect(problem("authorization_servers", []) == .malformed("authorization_servers"))
    let elsewhere = document(["nonce_endpoint": "https://api.example/nonce"])
    #expect(
      try IssuerMetadata(reading: elsewhere, of: issuer, furtherHosts: ["api.example"]).nonceEndpoint?.hostName
        == "api.example")
    let local = address("http://127.0.0.1:8080")
    let document: JSONValue = [
      "credential_issuer": "http://127.0.0.1:8080", "credential_endpoint": "http://127.0.0.1:8081/credential",
      "credential_configurations_supported": [:],
    ]
    #expect(try IssuerMetadata(reading: document, of: local).credentialEndpoint.host == "127.0.0.1:8081")
  }

  @Test("a draft is called that, and members of a wrong kind are named")
  func malformed() {
    #expect(problem("credentials_supported", [:]) == .issuerSpeaksDraft("credentials_supported"))
    #expect(problem("credential_configurations_supported", nil) == .missing("credential_configurations_supported"))
    #expect(problem("credential_configurations_supported", []) == .malformed("credential_configurations_supported"))
    #expect(problem("batch_credential_issuance", ["batch_size": 0]) == .malformed("batch_size"))
    #expect(problem("credential_response_encryption", "x") == .malformed("credential_response_encryption"))
    #expect(problem("display", ["x"]) == .malformed("display"))
    let many = (0...IssuanceLimits.configurations).map { JSONValue.Member("c\($0)", ["format": "x"]) }
    #expect(
      problem("credential_configurations_supported", .object(many)) == .tooMany("credential_configurations_supported"))
  }

  @Test("a broken configuration stands in nobody's way but its own")
  func broken() throws {
    let configurations: JSONValue = [
      "good": ["format": "mso_mdoc", "doctype": "d"], "bad": ["format": "mso_mdoc"], "worse": 1,
    ]
    let metadata = try IssuerMetadata(
      reading: document(["credential_configurations_supported": configurations]), of: issuer)
    #expect(try metadata.configuration("good").docType == "d")
    #expect(
      thrown(IssuanceError.self) { _ = try metadata.configuration("bad") }
        == IssuanceError(.issuer, .issuerMetadata, .missing("doctype")))
    #expect(
      thrown(IssuanceError.self) { _ = try metadata.configuration("worse") }
        == IssuanceError(.issuer, .issuerMetadata, .notJSON))
  }

  static let proofs: [(JSONValue, Bool)] = [
    (["jwt": ["proof_signing_alg_values_supported": ["ES384", "ES256"]]], true),
    (["jwt": ["proof_signing_alg_values_supported": [-7]]], true),
    (["jwt": ["proof_signing_alg_values_supported": ["-9"]]], true),
    (["jwt": ["proof_signing_alg_values_supported": ["ES384"]]], false), (["jwt": [:]], true),
    (["attestation": ["proof_signing_alg_values_supported": ["ES256"]]], false),
  ]

  @Test("whether a proof is possible is read from names and numbers", arguments: MetadataTests.proofs.indices)
  func proofTypes(_ place: Int) throws {
    let (types, isPossible) = MetadataTests.proofs[place]
    let members = try MemberReading(
      ["format": "mso_mdoc", "doctype": "d", "proof_types_supported": types], of: .issuer, at: .issuerMetadata)
    #expect(try CredentialConfiguration(id: "x", members).acceptsES256Proofs == isPossible)
  }

  @Test("names are shown without what could make them look like others, and cut")
  func shownNames() throws {
    let long = String(repeating: "a", count: 1000)
    let configurations: JSONValue = [
      "x": [
        "format": "mso_mdoc", "doctype": "d",
        "credential_metadata": [
          "display": [["name": "モバイル\u{202E}運転\u{0}免許証", "locale": "ja"], ["name": .string(long)]]
        ],
      ]
    ]
    let metadata = try IssuerMetadata(
      reading: document(["credential_configurations_supported": configurations]), of: issuer)
    let display = try metadata.configuration("x").display
    #expect(display[0].name == "モバイル運転免許証")
    #expect(display[1].name.count == IssuanceLimits.displayText)
  }

  @Test("an authorization server is read, and held to its identifier and host")
  func server() throws {
    let server = address("https://login.example")
    func problem(_ changes: [String: JSONValue]) -> IssuanceError.Problem? {
      var members: [String: JSONValue] = [
        "issuer": "https://login.example", "token_endpoint": "https://login.example/token",
        "authorization_endpoint": "https://login.example/authorize",
      ]
      members.merge(changes) { $1 }
      let document = JSONValue.object(members.map { JSONValue.Member($0.key, $0.value) })
      return thrown(IssuanceError.self) {
        _ = try AuthorizationServerMetadata(reading: document, of: server, hosts: ["issuer.example"])
      }?.problem
    }
    #expect(problem([:]) == nil)
    #expect(problem(["issuer": "https://login.example/"]) == .otherIdentifier)
    #expect(problem(["token_endpoint": "https://issuer.example/token"]) == nil)
    #expect(problem(["token_endpoint": "https://elsewhere.example/token"]) == .otherHost("token_endpoint"))
    #expect(problem(["token_endpoint": "http://login.example/token"]) == .notConfidential("token_endpoint"))
    #expect(
      problem(["authorization_endpoint": "https://elsewhere.example/"]) == .otherHost("authorization_endpoint"))
    #expect(
      problem(["require_pushed_authorization_requests": "yes"]) == .malformed("require_pushed_authorization_requests"))
    let none: JSONValue = ["issuer": "https://login.example"]
    #expect(
      thrown(IssuanceError.self) { _ = try AuthorizationServerMetadata(reading: none, of: server) }
        == IssuanceError(.authorizationServer, .serverMetadata, .missing("token_endpoint")))
    let tokenOnly: JSONValue = ["issuer": "https://login.example", "token_endpoint": "https://login.example/t"]
    let metadata = try AuthorizationServerMetadata(reading: tokenOnly, of: server)
    #expect(!metadata.takes(.authorizationCode) && metadata.takes(.preAuthorizedCode))
  }
}
