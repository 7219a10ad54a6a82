import Bytes
import CBOR
import CivilTime
import Commands
import Crypto
import Foundation
import Issuer
import Mdoc
import MdocVerification
import TestSupport
import Testing
import TrustStore

@testable import ReaderCommands

@Suite("The verb verify")
struct VerifyTests {
  private let folder: InspectionFolder
  private let response: String
  private let transcript: String
  private let root: String
  private let key: String
  private let now = ["--now", "2021-01-01T00:00:00Z"]

  init() throws {
    folder = try InspectionFolder()
    response = try folder.file("response.cbor", AnnexD.deviceResponse)
    transcript = try folder.file("transcript.hex", text: AnnexD.sessionTranscript.hex)
    root = try folder.file("root.der", AnnexD.issuerRoot)
    key = try folder.file("reader.pem", text: try PrivateKey(curve: .p256, scalar: AnnexD.eReaderKeyScalar).pkcs8PEM())
  }

  private var usual: [String] { ["--transcript", transcript, "--anchor", root, "--reader-key", key] + now }

  @Test("verifies the response of Annex D")
  func annexD() {
    let expected = """
      verified
      document 1: org.iso.18013.5.1.mDL: verified
        issuing country: US
        warning D5 signerProfile(crlDistributionPoints)
          about the signer's certificate: it gives no http address of a revocation list
        warning D6 anchorProfile(crlDistributionPoints)
          about the issuer root: it gives no plain http address of a revocation list
        warning D8 revocationUnknown
          whether the signer's certificate was revoked could not be found out
        org.iso.18013.5.1:
          family_name (text)
          issue_date (date)
          expiry_date (date)
          document_number (text)
          portrait (1042 bytes)
          driving_privileges (list of 2)

      """
    let run = CommandRun(["verify", response] + usual)
    #expect(run.status == 0)
    #expect(run.out == expected)
    #expect(
      run.err == """
        note: response taken from binary
        note: no --request: everything that came counts as asked for

        """)
  }

  @Test("gives values only when asked for")
  func values() throws {
    let shown = CommandRun(["verify", response, "--show-values"] + usual)
    #expect(
      shown.status == 0 && shown.out.contains("    family_name (text): \"Doe\"\n    issue_date (date): 2019-10-20\n"))
    let json = try jsonMembers(CommandRun(["verify", response, "--json"] + usual).out)
    let claims = try claims(json)
    #expect(claims["family_name"] as? [String: String] == ["type": "string"])
    #expect(claims["portrait"] as? [String: String] == ["type": "data"])
    let withValues = try self.claims(
      jsonMembers(CommandRun(["verify", response, "--json", "--show-values"] + usual).out))
    #expect(withValues["family_name"] as? [String: String] == ["type": "string", "value": "Doe"])
    #expect(withValues["issue_date"] as? [String: String] == ["type": "date", "value": "2019-10-20"])
  }

  private func claims(_ json: [String: Any]) throws -> [String: Any] {
    let document = try #require((json["documents"] as? [[String: Any]])?.first)
    return try #require((document["claims"] as? [String: Any])?["org.iso.18013.5.1"] as? [String: Any])
  }

  @Test("gives JSON as the SDKs of the field do")
  func json() throws {
    let run = CommandRun(["verify", response, "--json", "--signer-revocation", "ignore"] + usual)
    #expect(run.status == 0 && run.err.isEmpty)
    #expect(
      run.out == """
        {"verified":true,"findings":[\
        {"check":"D5","code":"signerProfile","text":"signerProfile(crlDistributionPoints)",\
        "meaning":"about the signer's certificate: it gives no http address of a revocation list",\
        "severity":"warning","document":0},\
        {"check":"D6","code":"anchorProfile","text":"anchorProfile(crlDistributionPoints)",\
        "meaning":"about the issuer root: it gives no plain http address of a revocation list",\
        "severity":"warning","document":0}],\
        "documents":[{"docType":"org.iso.18013.5.1.mDL","verificationResult":{"verified":true,"reasons":[]},\
        "issuingCountry":"US","claims":{"org.iso.18013.5.1":{"family_name":{"type":"string"},\
        "issue_date":{"type":"date"},"expiry_date":{"type":"date"},"document_number":{"type":"string"},\
        "portrait":{"type":"data"},"driving_privileges":{"type":"array"}}},"claimErrors":{},"ages":{}}],\
        "notes":["response taken from binary","no --request: everything that came counts as asked for"]}

        """)
  }

  @Test("takes all inputs in other forms as well")
  func forms() throws {
    let response = AnnexD.deviceResponse
    let anchor = AnnexD.issuerRoot
    let files = [try folder.file("a", text: response.hex), try folder.file("b", text: Base64.url.encode(response))]
    let anchors = [
      try folder.file("c", text: Base64.standard.encode(anchor)),
      try folder.file("d", text: PEM.encode("CERTIFICATE", anchor)),
    ]
    for (file, anchor) in zip(files, anchors) {
      let run = CommandRun(
        ["verify", file, "--transcript", AnnexD.sessionTranscript.hex, "--anchor", anchor, "--reader-key", key] + now)
      #expect(run.status == 0, "\(run.out)")
    }
  }

  @Test(
    "is not verified, with the reason, when something is missing or changed",
    arguments: [
      ("key", "deviceMacInvalid"), ("anchor", "noTrustAnchor"), ("late", "expired"), ("transcript", "deviceMacInvalid"),
      ("strict", "signerProfile(crlDistributionPoints)"), ("revocation", "revocationUnknown"),
      ("value", "digestMismatch(org.iso.18013.5.1, family_name)"), ("cut", "responseMalformed"),
    ])
  func failures(what: String, reason: String) throws {
    var file = response
    var words = usual
    switch what {
    case "key": words = ["--transcript", transcript, "--anchor", root] + now
    case "anchor": words = ["--transcript", transcript, "--reader-key", key] + now
    case "late":
      words = ["--transcript", transcript, "--anchor", root, "--reader-key", key, "--now", "2022-01-01T00:00:00Z"]
    case "transcript":
      words = ["--transcript", "83f6f6f6", "--anchor", root, "--reader-key", key] + now
    case "strict": words.append("--strict-profile")
    case "revocation": words += ["--signer-revocation", "require"]
    case "value":
      file = try folder.file(
        "changed", text: AnnexD.deviceResponse.hex.replacingOccurrences(of: "63446f65", with: "63446f66"))
    default: file = try folder.file("cut", AnnexD.deviceResponse.dropLast())
    }
    let run = CommandRun(["verify", file, "--json"] + words)
    let json = try jsonMembers(run.out)
    let findings = try #require(json["findings"] as? [[String: Any]])
    #expect(run.status == 1 && json["verified"] as? Bool == false)
    #expect(
      findings.contains { $0["text"] as? String == reason && $0["severity"] as? String == "failure" }, "\(run.out)")
    let text = CommandRun(["verify", file] + words)
    #expect(text.status == 1 && text.out.hasPrefix("NOT verified\n") && text.out.contains(" \(reason)\n"))
    #expect(!text.out.contains("family_name (") && !text.out.contains("Doe"))
    #expect(text.err.contains("no --reader-key") == (what == "key"))
    #expect(text.err.contains("nobody is trusted") == (what == "anchor"))
  }

  @Test("matches a request: what is missing, and ages")
  func request() throws {
    var random = SplitMix64(state: 3)
    let now = try #require(DateTime("2026-06-01T12:00:00Z")).instant
    let issued = try TestIssue(.age, age: 20, now: now).issue(random: &random)
    let transcript = CBORValue.array([.null, .null, .null]).encode()
    let presentation = DocumentPresentation(
      issued.credential, selection: issued.credential.everything, method: .signature, transcript: transcript,
      readerKey: nil)
    let response = try folder.file(
      "age.cbor", DeviceResponseDraft(documents: [try presentation.document()]).encode())
    let asked = ItemsRequest(
      docType: "eu.europa.ec.av.1",
      nameSpaces: [
        .init(
          nameSpace: "eu.europa.ec.av.1",
          elements: ["age_over_18", "age_over_20", "nickname"].map { .init(identifier: $0, intentToRetain: false) })
      ])
    let words = [
      "verify", response, "--transcript", transcript.hex, "--anchor",
      try folder.file("r.pem", text: issued.trusted.pem),
      "--request", try folder.file("request", DeviceRequestDraft([asked]).encode()), "--now", "2026-06-01T12:00:00Z",
      "--signer-revocation", "ignore",
    ]
    let run = CommandRun(words)
    #expect(run.status == 0 && run.err == "note: response taken from binary\n")
    #expect(
      run.out.contains("  age: age_over_18: yes (eu.europa.ec.av.1)\n  age: age_over_20: unknown (eu.europa.ec.av.1)\n")
    )
    #expect(run.out.contains("    age_over_18 (yes or no)\n") && run.out.contains("    nickname: not returned\n"))
    let document = try #require(
      (jsonMembers(CommandRun(words + ["--json"]).out)["documents"] as? [[String: Any]])?.first)
    #expect(
      document["ages"] as? [String: [String: String]] == [
        "eu.europa.ec.av.1": ["age_over_18": "yes", "age_over_20": "unknown"]
      ])
    #expect(
      document["claimErrors"] as? [String: [String: String]]
        == ["eu.europa.ec.av.1": ["age_over_20": "notReturned", "nickname": "notReturned"]])
  }

  @Test("trusts a folder of roots, and a signer by itself")
  func trust() throws {
    let store = folder.path + "/trust"
    let time = try #require(DateTime("2021-01-01T00:00:00Z")).instant
    _ = try TrustStore(folder: store).add(AnnexD.issuerRoot, at: time)
    let words = ["verify", response, "--transcript", transcript, "--reader-key", key] + now
    #expect(CommandRun(words + ["--trust", store]).status == 0)

    let document = try DeviceResponse(AnnexD.deviceResponse[...]).documents[0]
    let chain = try IssuerSigned(document.issuerSigned).issuerAuth.structure.x5chain
    let signer = try folder.file("signer.der", try #require(chain.first))
    let run = CommandRun(words + ["--signer", signer])
    #expect(run.status == 0 && !run.out.contains("noTrustAnchor"))

    // A signer that is trusted for another doc type is nobody here.
    let narrow = folder.path + "/narrow"
    for (docType, status) in [("org.example.other", 1), (document.docType, 0)] as [(String, Int32)] {
      #expect(CommandRun(["trust", "add", signer, "--signer", "--doc-type", docType, "--trust", narrow]).status == 0)
      let run = CommandRun(words + ["--trust", narrow])
      #expect(run.status == status && run.out.contains("noTrustAnchor") == (status == 1))
    }

    _ = try folder.file("trust/broken.pem", text: "nothing")
    let warned = CommandRun(words + ["--trust", store])
    #expect(warned.status == 0)
    #expect(
      warned.err.contains("note: broken.pem: no certificate in it (neither PEM, nor DER, nor base64); it is not used\n")
    )
  }

  @Test("accepts what is not as it should be only when told to")
  func switches() throws {
    var random = SplitMix64(state: 5)
    let instant = try #require(DateTime("2026-06-01T12:00:00Z")).instant
    let issue = TestIssue(.age, age: 20, now: instant)
    let authority = try issue.makeAuthority(random: &random)
    let signer = try issue.issue(under: authority, random: &random).signer
    var terms = IssuanceTerms(now: instant)
    terms.editMSO = { object in
      let text = CBORValue.text("2026-05-31T12:00:00Z")
      object["validityInfo"] = .map(["signed": text, "validFrom": text, "validUntil": "2026-06-20T12:00:00Z"])
    }
    let credential = try signer.issue(
      docType: "eu.europa.ec.av.1", [NameSpaceContent("eu.europa.ec.av.1", [Element("age_over_18", true)])],
      deviceKey: try PrivateKey.generate(.p256), terms: terms, random: &random)
    let transcript = CBORValue.array([.null, .null, .null]).encode()
    let presentation = DocumentPresentation(
      credential, selection: credential.everything, method: .signature, transcript: transcript, readerKey: nil)
    let response = try folder.file(
      "untagged", DeviceResponseDraft(documents: [try presentation.document()]).encode())
    let words = [
      "verify", response, "--transcript", transcript.hex, "--anchor", try folder.file("r.pem", text: authority.pem),
      "--now",
      "2026-06-01T12:00:00Z",
    ]
    let refused = CommandRun(words)
    #expect(refused.status == 1 && refused.out.contains("  failure B6 msoMalformed\n"))
    #expect(CommandRun(words + ["--accept-untagged-dates"]).status == 0)
  }

  @Test("bears a proof that carries its payload when told to, and only the payload that was to be signed")
  func attachedPayload() throws {
    var random = SplitMix64(state: 6)
    let instant = try #require(DateTime("2026-06-01T12:00:00Z")).instant
    let outcome = try TestIssue(.age, age: 20, now: instant).issue(random: &random)
    let readerKey = try PrivateKey.generate(.p256)
    let transcript = CBORValue.array([.null, .null, .null]).encode()
    let anchor = try folder.file("attached.pem", text: outcome.trusted.pem)
    let key = try folder.file("attached-key.pem", text: readerKey.pkcs8PEM())
    for (method, reason) in [
      (.signature, "C3 deviceSignatureInvalid"), (.mac, "C4 deviceMacInvalid"),
    ] as [(DeviceAuthenticationMethod, String)] {
      let presentation = DocumentPresentation(
        outcome.credential, selection: outcome.credential.everything, method: method, transcript: transcript,
        readerKey: readerKey.publicKey)
      let proof = try presentation.deviceAuth(method)
      /// What the verb says to a proof that carries this payload.
      func run(_ payload: CBORValue, _ words: String...) throws -> CommandRun {
        guard case .array(var parts) = proof.value else { throw POSIXError(.EINVAL) }
        parts[2] = payload
        let document = presentation.document(deviceAuth: .map([CBORValue.Pair(proof.key, .array(parts))]))
        let response = try folder.file("attached", DeviceResponseDraft(documents: [document]).encode())
        return CommandRun(
          [
            "verify", response, "--transcript", transcript.hex, "--anchor", anchor, "--reader-key", key, "--now",
            "2026-06-01T12:00:00Z",
          ] + words)
      }
      #expect(try run(.null).status == 0 && run(.null, "--accept-attached-payload").status == 0)
      let refused = try run(.bytes(presentation.payload))
      #expect(refused.status == 1 && refused.out.hasPrefix("NOT verified\n"))
      #expect(refused.out.contains("  failure \(reason)\n"))
      let borne = try run(.bytes(presentation.payload), "--accept-attached-payload")
      #expect(borne.status == 0 && borne.out.hasPrefix("verified\n") && !borne.out.contains("failure"))
      // Its own idea of what it signs is still refused, one byte longer, shorter or other.
      let payload = presentation.payload
      let others: [[UInt8]] = [payload + [0], Array(payload.dropLast()), [payload[0] ^ 1] + payload.dropFirst(), []]
      for other in others {
        let wrong = try run(.bytes(other), "--accept-attached-payload")
        #expect(wrong.status == 1 && wrong.out.contains("  failure \(reason)\n"))
      }
    }
  }

  @Test("says what it was given instead of a response")
  func otherThings() throws {
    let good = DeviceResponseDraft().encode()
    let issuerSigned = CBORValue.map(["nameSpaces": .map([]), "issuerAuth": .array([])]).encode()
    let cases: [([UInt8], String)] = [
      (issuerSigned, "the member version is missing or of a wrong kind; taken for IssuerSigned"),
      (
        CBORValue.map(["docType": "a", "issuerSigned": .encoded(issuerSigned)]).encode(),
        "the member version is missing or of a wrong kind; taken for Document"
      ),
      ([], "not one well-formed CBOR item (truncated at byte 0); taken for nothing: it is empty"),
      (
        Array("hello, door".utf8),
        "not one well-formed CBOR item (trailingBytes at byte 9); taken for some other text"
      ),
      (CBORValue.embedded(.encoded(good)).encode(), "a response inside another item; taken for DeviceResponse"),
      (
        CBORValue.map(["version": "1.0", "status": 0, "documents": .null]).encode(),
        "the member documents is missing or of a wrong kind; taken for DeviceResponse"
      ),
    ]
    for (content, fault) in cases {
      let run = CommandRun(["verify", try folder.file("other", content)] + usual)
      #expect(run.status == 1 && run.out.contains("  failure A1 responseMalformed\n"))
      #expect(run.err.contains("note: no DeviceResponse: \(fault), of which inspect says more\n"), "\(run.err)")
    }
    // Base64, as such things are passed on, is no fault.
    let run = CommandRun(["verify", try folder.file("text", text: Base64.standard.encode(good))] + usual)
    #expect(run.out.contains("noDocuments") && !run.err.contains("no DeviceResponse"))
  }

  @Test("refuses wrong usage and unreadable inputs with status 2")
  func usage() throws {
    let text = try folder.file("text", text: "hello, door")
    let cases: [([String], String)] = [
      ([], "verify: the file is missing\nwrite verify FILE --transcript FILE\n"),
      (
        ["/nowhere/x", "--transcript", transcript],
        "'/nowhere/x': No such file or directory\ncheck the path and its permissions\n"
      ),
      (
        [response],
        "--transcript: missing\n"
          + "give the SessionTranscript, or --handover: without it nobody can tell a copy of a response\n"
      ),
      (
        [response, "--transcript", "zz"],
        "'zz': no such file, and neither hexadecimal nor base64\ngive a file, or the bytes as text\n"
      ),
      (
        [response, "--transcript", "8201"],
        "--transcript '8201': no SessionTranscript: truncated at byte 0\n"
          + "it is an array of three: engagement, reader key, handover\n"
      ),
      (
        [response, "--transcript", transcript, "--anchor", text],
        "--anchor \(quoted(text)): no certificate in it (neither PEM, nor DER, nor base64)\n"
          + "give a certificate as PEM, DER or base64\n"
      ),
      (
        [response, "--transcript", transcript, "--reader-key", text],
        "--reader-key \(quoted(text)): no private key in PEM form\ngive the key unencrypted, as PKCS #8 PEM\n"
      ),
      (
        [response, "--transcript", transcript, "--now", "tomorrow"],
        "--now 'tomorrow': no time\nwrite it like 2026-06-01T12:00:00Z\n"
      ),
      (
        [response, "--transcript", transcript, "--request", response],
        "--request \(quoted(response)): no DeviceRequest: docRequests: missing from the map at byte 0\n"
          + "inspect \(quoted(response)) tells what it is\n"
      ),
      (
        [response, "--transcript", transcript, "--trust", "/nowhere"],
        "--trust '/nowhere': no such folder\ntrust add FILE makes one\n"
      ),
      (
        [response, "--transcript", transcript, "--document-status", "maybe"],
        "--document-status 'maybe': no such value\none of ignore, prefer, require\n"
      ),
    ]
    for (words, message) in cases {
      let run = CommandRun(["verify"] + words)
      #expect(run.status == 2 && run.out.isEmpty)
      #expect(run.err == "mdoc-reader: " + message)
    }
  }

  @Test("explains every reason there is in one line")
  func meanings() {
    let reasons: [Reason] = [
      .responseMalformed, .chain(.signerProfile(.keyUsage)), .chain(.anchorProfile(.keyUsage)), .chain(.noTrustAnchor),
      .digestMismatch(nameSpace: "a", element: "b"), .statusUnavailable(detail: "x"),
    ]
    for reason in reasons { #expect(!reason.meaning.isEmpty && !reason.meaning.contains("\n")) }
    #expect(Reason.chain(.signerProfile(.keyUsage)).meaning.contains("digitalSignature"))
  }
}
