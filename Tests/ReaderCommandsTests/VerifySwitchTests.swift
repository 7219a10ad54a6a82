import Bytes
import CBOR
import CivilTime
import Crypto
import Issuer
import Mdoc
import TestSupport
import Testing

@Suite("What an unknown status costs in verify")
struct VerifySwitchTests {
  @Test("a document with a status nobody can look up passes, warns or fails as told; one without never does")
  func documentStatus() throws {
    let folder = try InspectionFolder()
    var random = SplitMix64(state: 8)
    let instant = try #require(DateTime("2026-06-01T12:00:00Z")).instant
    let issue = TestIssue(.age, age: 20, now: instant)
    let authority = try issue.makeAuthority(random: &random)
    let signer = try issue.issue(under: authority, random: &random).signer
    let anchor = try folder.file("root.pem", text: authority.pem)
    let transcript = CBORValue.array([.null, .null, .null]).encode()
    let list = CBORValue.map(["status_list": .map(["idx": 7, "uri": "https://issuer.example/list"])])
    for status in [nil, list] {
      var terms = IssuanceTerms(now: instant)
      terms.status = status
      let credential = try signer.issue(
        docType: "eu.europa.ec.av.1", [NameSpaceContent("eu.europa.ec.av.1", [Element("age_over_18", true)])],
        deviceKey: try PrivateKey.generate(.p256), terms: terms, random: &random)
      let document = try DocumentPresentation(
        credential, selection: credential.everything, method: .signature, transcript: transcript, readerKey: nil
      ).document()
      let response = try folder.file("response", DeviceResponseDraft(documents: [document]).encode())
      for (demand, severity) in [("ignore", ""), ("prefer", "warning"), ("require", "failure")] {
        let run = CommandRun([
          "verify", response, "--transcript", transcript.hex, "--anchor", anchor, "--now", "2026-06-01T12:00:00Z",
          "--signer-revocation", "ignore", "--document-status", demand,
        ])
        let isToBeFound = status != nil && !severity.isEmpty
        #expect(run.out.contains("  \(severity) B15 statusUnavailable(statusFetchFailed)\n") == isToBeFound)
        #expect(run.out.contains("statusUnavailable") == isToBeFound)
        #expect(run.status == (isToBeFound && demand == "require" ? 1 : 0))
      }
    }
  }
}
