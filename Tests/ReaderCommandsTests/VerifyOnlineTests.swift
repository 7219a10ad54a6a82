import Bytes
import CBOR
import CivilTime
import Commands
import Crypto
import Foundation
import Issuer
import Mdoc
import TestSupport
import Testing

@testable import ReaderCommands

@Suite("The verb verify, for responses of online flows")
struct VerifyOnlineTests {
  private static let client = "x509_san_dns:example.com"
  private static let nonce = "exc7gBkxjx1rdc9udRrveKvSsJIq80avlXeLHhGwqtA"
  private static let address = "https://example.com/response"
  /// Of the key of OpenID4VP 1.0, appendix B.2.6.1
  private static let thumbprint = "QoPsknrg8gjaqi0CaoFPKyLcpSz4X_qPP4Ymxr1mkEc"
  private static let time = ["--now", "2026-06-01T12:00:00Z", "--signer-revocation", "ignore"]
  private static let parameters = [
    "--handover", "openid4vp", "--client-id", client, "--nonce", nonce, "--response-uri", address,
  ]

  private let folder: InspectionFolder
  private let credential: Credential
  private let trust: [String]

  init() throws {
    folder = try InspectionFolder()
    var random = SplitMix64(state: 9)
    let now = try #require(DateTime("2026-06-01T12:00:00Z")).instant
    let issued = try TestIssue(.age, age: 20, now: now).issue(random: &random)
    credential = issued.credential
    trust = ["--anchor", try folder.file("root.pem", text: issued.trusted.pem)] + VerifyOnlineTests.time
  }

  private func response(_ handover: Handover) throws -> String {
    let presentation = DocumentPresentation(
      credential, selection: credential.everything, method: .signature,
      transcript: SessionTranscript(online: handover).encoded, readerKey: nil)
    return Base64.url.encode(DeviceResponseDraft(documents: [try presentation.document()]).encode())
  }

  private func mdoc(encrypted: Bool = false) throws -> String {
    try response(
      .openID4VP(
        clientID: Self.client, nonce: Self.nonce,
        encryptionKeyThumbprint: encrypted ? Base64.url.decode(Self.thumbprint) : nil, responseURI: Self.address))
  }

  private func verify(_ text: String, _ words: [String]) throws -> CommandRun {
    CommandRun(["verify", try folder.file("posted", text: text)] + words + trust)
  }

  @Test("verifies an OpenID4VP response by the parameters of its request, whole, its vp_token alone, or bare")
  func openID4VP() throws {
    let mdoc = try self.mdoc()
    for text in [
      #"{"vp_token":{"mdl":["\#(mdoc)"]},"state":"s1"}"#, #"{"mdl":["\#(mdoc)"]}"#, #" {"vp_token":["\#(mdoc)"]}"#,
      #"{"vp_token":"\#(mdoc)"}"#, "\"\(mdoc)\"", mdoc,
    ] {
      let run = try verify(text, Self.parameters)
      #expect(run.status == 0 && run.out.hasPrefix("verified\n"), "\(text.prefix(20)): \(run.out)\(run.err)")
      #expect(run.err.contains("note: no --jwk-thumbprint: the response counts as one that was not encrypted\n"))
    }
    let named = try verify(#"{"vp_token":{"mdl":["\#(mdoc)"]}}"#, Self.parameters)
    #expect(
      named.out.hasPrefix(
        "verified\npresentation mdl[0]: verified\n  document 1: eu.europa.ec.av.1: verified\n"))
    #expect(named.err.hasPrefix("note: response taken from the vp_token of JSON text\n"))
  }

  @Test("binds an encrypted response to the key, and each to all its parameters")
  func binding() throws {
    let plain = try self.mdoc()
    let sealed = try mdoc(encrypted: true)
    #expect(try verify(sealed, Self.parameters + ["--jwk-thumbprint", Self.thumbprint]).status == 0)
    let digits = try Base64.url.decode(Self.thumbprint).hex
    #expect(try verify(sealed, Self.parameters + ["--jwk-thumbprint", digits]).status == 0)
    for (text, words) in [
      (sealed, Self.parameters), (plain, Self.parameters + ["--jwk-thumbprint", Self.thumbprint]),
      (plain, Self.parameters.map { $0 == Self.nonce ? "other" : $0 }),
      (plain, Self.parameters.map { $0 == Self.client ? "example.com" : $0 }),
      (plain, Self.parameters.map { $0 == Self.address ? Self.address + "/" : $0 }),
      (plain, ["--handover", "dc_api", "--origin", "https://example.com", "--nonce", Self.nonce]),
    ] {
      let run = try verify(text, words)
      #expect(run.status == 1 && run.out.contains("  failure C3 deviceSignatureInvalid\n"), "\(words)")
    }
  }

  @Test("verifies the responses of Annex B and of the browser")
  func otherForms() throws {
    let old = try response(
      .annexB(clientID: "example.com", responseURI: Self.address, nonce: "abc", mdocGeneratedNonce: "xyz"))
    let words = [
      "--handover", "annexB", "--client-id", "example.com", "--response-uri", Self.address, "--nonce", "abc",
    ]
    let submission = #"{"vp_token":"\#(old)","presentation_submission":{"id":"1"}}"#
    #expect(try verify(submission, words + ["--mdoc-nonce", "xyz"]).status == 0)
    #expect(try verify(submission, words + ["--mdoc-nonce="]).status == 1)
    let prefixed = try verify(
      submission, words.map { $0 == "example.com" ? Self.client : $0 } + ["--mdoc-nonce", "xyz"])
    #expect(prefixed.status == 1 && prefixed.err.contains("note: --client-id has a prefix, which that of Annex B"))
    let empty = try response(
      .annexB(clientID: "example.com", responseURI: Self.address, nonce: "abc", mdocGeneratedNonce: ""))
    #expect(try verify(empty, words + ["--mdoc-nonce", ""]).status == 0)
    let browser = try response(
      .openID4VPBrowser(origin: "https://example.com", nonce: "abc", encryptionKeyThumbprint: nil))
    #expect(
      try verify(browser, ["--handover", "dc_api", "--origin", "https://example.com", "--nonce", "abc"]).status == 0)
  }

  @Test("gives a verdict for each presentation, and names what is no mdoc")
  func several() throws {
    let mdoc = try self.mdoc()
    let other = try response(
      .openID4VP(clientID: Self.client, nonce: "other", encryptionKeyThumbprint: nil, responseURI: Self.address))
    let text = #"{"vp_token":{"age":["\#(mdoc)","\#(other)"],"pid":["eyJh.eyJi~"],"x":[{}]},"state":"s"}"#
    let run = try verify(text, Self.parameters)
    #expect(run.status == 1)
    let heads = run.out.split(separator: "\n").filter { $0.hasPrefix("presentation") || $0.contains("format") }
    #expect(
      heads == [
        "presentation age[0]: verified", "presentation age[1]: NOT verified", "presentation pid[0]: NOT verified",
        "  no base64url at character 5; it may be of another format than mso_mdoc", "presentation x[0]: NOT verified",
        "  no text, so no mdoc; it may be of another format",
      ])
    let json = try jsonMembers(verify(text, Self.parameters + ["--json"]).out)
    let entries = try #require(json["presentations"] as? [[String: Any]])
    #expect(json["verified"] as? Bool == false)
    #expect(entries.map { $0["verified"] as? Bool } == [true, false, false, false])
    #expect(entries.map { $0["id"] as? String } == ["age", "age", "pid", "x"])
    #expect(entries.map { $0["index"] as? Int } == [0, 1, 0, 0])
    #expect((entries[0]["documents"] as? [[String: Any]])?.first?["docType"] as? String == "eu.europa.ec.av.1")
  }

  @Test(
    "says what a file is that is no response",
    arguments: [
      (#"{"vp_token":{}}"#, "vp_token has no presentation"),
      (#"{"vp_token":7}"#, "vp_token is neither object nor text"),
      (#"{"vp_token":{"mdl":[]}}"#, "mdl in vp_token has no presentation"),
      (#"{"vp_token":{"mdl":"AAAA"}}"#, "no vp_token: mdl is no array of presentations"),
      (#"{"state":"s1"}"#, "no vp_token: state is no array of presentations"),
      (#"{"vp_token":{"mdl":["AAAA"]}"#, "JSON that cannot be read"),
      (#"{"a":1,"a":2}"#, "JSON that cannot be read"),
      (#"{"error":"access_denied"}"#, "the wallet answered with the error access_denied"),
      (
        #"{"error":"access_denied","error_description":"no\n"}"#,
        #"the wallet answered with the error access_denied: no\n"#
      ),
      ("eyJhbGciOiJFQ0RILUVTIn0..AAEC.ENPb.Wzb9", "an encrypted response (JWE)"),
      ("eyJhbGciOiJub25lIn0.e30.", "a JSON Web Token, and no response of a wallet"),
      ("vp_token=%7B%22mdl", "a form as it was posted"),
      (#"{"vp_token":"a+b"}"#, "vp_token: no base64url at character 2; it may be of another format than mso_mdoc"),
    ])
  func noResponse(text: String, fault: String) throws {
    let run = try verify(text, Self.parameters)
    #expect(run.status == 1 && run.out.isEmpty)
    #expect(run.err.contains("': \(fault)\n") && run.err.split(separator: "\n").count == 2, "\(run.err)")
  }

  /// Words, and what is said about them. A type of its own, since the oldest compiler gives up over tuples like these.
  struct Usage: Sendable {
    let words: [String]
    let message: String

    init(_ words: [String], _ message: String) {
      self.words = words
      self.message = message
    }
  }

  private static func and(_ words: String...) -> [String] { parameters + words }

  private static var usages: [Usage] {
    [
      Usage(
        ["--handover", "openid4vp", "--nonce", "n"],
        "--client-id: missing\n--handover openid4vp needs --client-id, --nonce, --response-uri\n"
      ),
      Usage(
        ["--handover", "annexB", "--nonce", "n", "--client-id", "c", "--response-uri", "u"],
        "--mdoc-nonce: missing\n--handover annexB needs --client-id, --nonce, --response-uri, --mdoc-nonce\n"
      ),
      Usage(
        ["--handover", "dc_api", "--origin", "https://a", "--nonce="],
        "--nonce: empty\ngive it as it was in the request\n"
      ),
      Usage(
        and("--mdoc-nonce", "x"),
        "--mdoc-nonce: not in the handover openid4vp\nleave it out: that form has --client-id, --nonce, --response-uri\n"
      ),
      Usage(
        ["--nonce", "n", "--transcript", "83f6f6f6"],
        "--nonce: given without --handover\nname the flow: --handover openid4vp|dc_api|annexB\n"
      ),
      Usage(
        and("--transcript", "83f6f6f6"),
        "--handover: given beside --transcript\nleave --transcript out: it is made of --client-id, --nonce, --response-uri\n"
      ),
      Usage(
        ["--handover", "annexb"], "--handover 'annexb': no such value\ndid you mean annexB?\n"
      ),
      Usage(
        ["--handover", "dc_api", "--nonce", "n", "--origin", "https://a/"],
        "--origin 'https://a/': no origin\nwrite it without origin: and without a slash at its end\n"
      ),
      Usage(
        and("--jwk-thumbprint", "QoPs"),
        "--jwk-thumbprint 'QoPs': no SHA-256 thumbprint\ngive its 32 bytes in base64url or in hexadecimal\n"
      ),
    ]
  }

  @Test("names the parameter that is missing, surplus or not right", arguments: usages)
  func usage(_ usage: Usage) throws {
    let run = try verify("o2d2", usage.words)
    #expect(run.status == 2 && run.out.isEmpty)
    #expect(run.err == "mdoc-reader: " + usage.message)
  }
}
