import Bytes
import JSON
import TestSupport
import Testing
import Web

@testable import OpenID4VCI

@Suite("OpenID4VCI: credential offers")
struct CredentialOfferTests {
  private let plain =
    #"{"credential_issuer":"https://issuer.example","credential_configuration_ids":["a","b"],"grants":{"authorization_code":{"issuer_state":"s"}}}"#

  private func invocation(_ offer: String, scheme: String = "openid-credential-offer") -> String {
    let fields: FormFields = ["credential_offer": offer]
    return "\(scheme)://?\(fields.text)"
  }

  private func fault(_ text: String) -> IssuanceError? {
    thrown(IssuanceError.self) { _ = try CredentialOffer.Invocation(text) }
  }

  @Test("an offer by value comes by any of the schemes")
  func value() throws {
    let expected = CredentialOffer(
      issuer: address("https://issuer.example"), configurationIDs: ["a", "b"],
      authorizationCode: CredentialOffer.AuthorizationCodeGrant(issuerState: "s"))
    for scheme in ["openid-credential-offer", "haip-vci", "HAIP-VCI"] {
      #expect(try CredentialOffer.Invocation(invocation(plain, scheme: scheme)) == .offer(expected))
    }
    let fields: FormFields = ["credential_offer": plain]
    #expect(try CredentialOffer.Invocation("https://wallet.example/offer?\(fields.text)") == .offer(expected))
    #expect(try CredentialOffer.Invocation(expected.invocation()) == .offer(expected))
  }

  @Test("an offer by reference is at https, or on this machine")
  func reference() throws {
    func text(_ address: String) -> String {
      let fields: FormFields = ["credential_offer_uri": address]
      return "openid-credential-offer://?\(fields.text)"
    }
    #expect(
      try CredentialOffer.Invocation(text("https://issuer.example/o/1"))
        == .reference(address("https://issuer.example/o/1")))
    #expect(
      try CredentialOffer.Invocation(text("http://127.0.0.1:8080/o")) == .reference(address("http://127.0.0.1:8080/o")))
    #expect(
      fault(text("http://issuer.example/o"))
        == IssuanceError(.issuer, .offer, .notConfidential("credential_offer_uri")))
    #expect(fault(text("ftp://issuer.example/o")) == IssuanceError(.issuer, .offer, .malformed("credential_offer_uri")))
  }

  @Test("what is no invocation is refused: another scheme, neither member, both")
  func noInvocation() {
    let both: FormFields = ["credential_offer": plain, "credential_offer_uri": "https://issuer.example/o"]
    for text in [
      "", "mdoc:x", "openid4vp://?credential_offer=x", "http://a.example?credential_offer=x",
      "openid-credential-offer://",
      "openid-credential-offer://?x=y", "openid-credential-offer://?\(both.text)",
      "openid-credential-offer://?credential_offer=a&credential_offer=b",
    ] {
      #expect(fault(text) == IssuanceError(.issuer, .offer, .notAnOffer), "\(text)")
    }
    let long = String(repeating: "a", count: InvocationURI.longest)
    #expect(fault(invocation(plain) + "&x=" + long) == IssuanceError(.issuer, .offer, .notAnOffer))
  }

  static let malformed: [(String, IssuanceError.Problem)] = [
    ("[]", .notJSON), ("{", .notJSON), (#"{"a":1,"a":2}"#, .notJSON),
    (#"{"credential_configuration_ids":["a"]}"#, .missing("credential_issuer")),
    (
      #"{"credential_issuer":"http://issuer.example","credential_configuration_ids":["a"]}"#,
      .notConfidential("credential_issuer")
    ),
    (
      #"{"credential_issuer":"https://issuer.example?x=y","credential_configuration_ids":["a"]}"#,
      .malformed("credential_issuer")
    ),
    (#"{"credential_issuer":7,"credential_configuration_ids":["a"]}"#, .malformed("credential_issuer")),
    (#"{"credential_issuer":"https://issuer.example"}"#, .missing("credential_configuration_ids")),
    (
      #"{"credential_issuer":"https://issuer.example","credential_configuration_ids":[]}"#,
      .malformed("credential_configuration_ids")
    ),
    (
      #"{"credential_issuer":"https://issuer.example","credential_configuration_ids":["a","a"]}"#,
      .malformed("credential_configuration_ids")
    ),
    (
      #"{"credential_issuer":"https://issuer.example","credential_configuration_ids":["a",1]}"#,
      .malformed("credential_configuration_ids")
    ),
    (
      #"{"credential_issuer":"https://issuer.example","credential_configuration_ids":["a"],"grants":[]}"#,
      .malformed("grants")
    ),
    (
      #"{"credential_issuer":"https://issuer.example","credentials":["a"]}"#, .issuerSpeaksDraft("credentials")
    ),
    (
      #"{"credential_issuer":"https://issuer.example","credential_configuration_ids":["a"],"grants":{"urn:ietf:params:oauth:grant-type:pre-authorized_code":{}}}"#,
      .missing("pre-authorized_code")
    ),
    (
      #"{"credential_issuer":"https://issuer.example","credential_configuration_ids":["a"],"grants":{"urn:ietf:params:oauth:grant-type:pre-authorized_code":{"pre-authorized_code":"x","user_pin_required":true}}}"#,
      .issuerSpeaksDraft("user_pin_required")
    ),
    (
      #"{"credential_issuer":"https://issuer.example","credential_configuration_ids":["a"],"grants":{"urn:ietf:params:oauth:grant-type:pre-authorized_code":{"pre-authorized_code":"x","tx_code":true}}}"#,
      .malformed("tx_code")
    ),
    (
      #"{"credential_issuer":"https://issuer.example","credential_configuration_ids":["a"],"grants":{"urn:ietf:params:oauth:grant-type:pre-authorized_code":{"pre-authorized_code":"x","tx_code":{"input_mode":"voice"}}}}"#,
      .malformed("input_mode")
    ),
    (
      #"{"credential_issuer":"https://issuer.example","credential_configuration_ids":["a"],"grants":{"urn:ietf:params:oauth:grant-type:pre-authorized_code":{"pre-authorized_code":"x","tx_code":{"length":0}}}}"#,
      .malformed("length")
    ),
  ]

  @Test("a malformed offer is refused for what is wrong with it", arguments: CredentialOfferTests.malformed.indices)
  func malformedOffer(_ place: Int) {
    let (text, problem) = CredentialOfferTests.malformed[place]
    #expect(fault(invocation(text)) == IssuanceError(.issuer, .offer, problem), "\(text)")
  }

  @Test("more configurations than the limit are refused")
  func many() throws {
    func offer(_ count: Int) -> JSONValue {
      [
        "credential_issuer": "https://issuer.example",
        "credential_configuration_ids": .array((0..<count).map { .string("c\($0)") }),
      ]
    }
    let most = IssuanceLimits.offeredConfigurations
    #expect(try CredentialOffer(reading: offer(most)).configurationIDs.count == most)
    #expect(
      thrown(IssuanceError.self) { _ = try CredentialOffer(reading: offer(most + 1)) }
        == IssuanceError(.issuer, .offer, .tooMany("credential_configuration_ids")))
  }

  @Test("an empty description of a transaction code asks for one all the same, and offers come back as they were")
  func roundTrip() throws {
    let codes: [CredentialOffer.TransactionCode?] = [
      nil, CredentialOffer.TransactionCode(),
      CredentialOffer.TransactionCode(inputMode: .text, length: 8, description: "mail"),
    ]
    for code in codes {
      let offer = CredentialOffer(
        issuer: address("https://issuer.example/a"), configurationIDs: ["x"],
        authorizationCode: CredentialOffer.AuthorizationCodeGrant(authorizationServer: "https://as.example"),
        preAuthorizedCode: CredentialOffer.PreAuthorizedCodeGrant(code: "c", transactionCode: code))
      #expect(try CredentialOffer(reading: offer.json) == offer)
    }
    let empty = JSONValue(reading: Array(#"{"pre-authorized_code":"c","tx_code":{}}"#.utf8))
    let grant = try MemberReading(empty, of: .issuer, at: .offer)
    #expect(try CredentialOffer.PreAuthorizedCodeGrant(grant).transactionCode == CredentialOffer.TransactionCode())
  }

  @Test("what the user types can be looked at before a try is spent")
  func plausible() {
    let numeric = CredentialOffer.TransactionCode(length: 4)
    #expect(numeric.isPlausible("0042"))
    for text in ["", "42", "00042", "abcd", "١٢٣٤"] { #expect(!numeric.isPlausible(text), "\(text)") }
    #expect(CredentialOffer.TransactionCode(inputMode: .text).isPlausible("Wort"))
  }
}
