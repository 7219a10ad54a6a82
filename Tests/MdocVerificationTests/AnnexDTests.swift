import Bytes
import CBOR
import CivilTime
import Crypto
import Foundation
import Mdoc
import TestSupport
import Testing
import Trust

@testable import MdocVerification

/// The example of the standard's Annex D, whole: it stands in the tests, so that a plain clone proves it.
@Suite("ISO/IEC 18013-5 Annex D")
struct AnnexDTests {
  private let now = DateTime("2021-01-01T00:00:00Z")!.instant
  private let requested = [
    ItemsRequest(
      docType: "org.iso.18013.5.1.mDL",
      nameSpaces: [
        .init(
          nameSpace: "org.iso.18013.5.1",
          elements: ["family_name", "document_number", "driving_privileges", "issue_date", "expiry_date", "portrait"]
            .map { .init(identifier: $0, intentToRetain: $0 != "portrait") })
      ])
  ]

  private func verify(
    _ response: [UInt8], now: UnixTime? = nil, roots: [[UInt8]] = [AnnexD.issuerRoot], withReaderKey: Bool = true,
    transcript: [UInt8] = AnnexD.sessionTranscript
  ) throws -> Verdict {
    let anchors = try roots.map { TrustAnchor(try Certificate($0), docTypes: nil, source: "Annex D") }
    let key = try PrivateKey(curve: .p256, scalar: AnnexD.eReaderKeyScalar)
    return Verifier(anchors: anchors, policy: VerificationPolicy()).verify(
      response[...],
      in: .init(
        transcript: transcript[...], requested: requested, readerKey: withReaderKey ? key : nil,
        now: now ?? self.now))
  }

  private let response = AnnexD.deviceResponse

  @Test("the response is verified with its MAC, and its elements are given")
  func verified() throws {
    let verdict = try verify(response)
    #expect(verdict.isVerified)
    let document = try #require(verdict.documents.first?.verified)
    #expect(document.docType == "org.iso.18013.5.1.mDL" && document.issuingCountry == "US" && document.missing.isEmpty)
    #expect(document.value(of: "family_name", in: "org.iso.18013.5.1") == .string("Doe"))
    #expect(
      document.value(of: "issue_date", in: "org.iso.18013.5.1") == .date(CalendarDate(year: 2019, month: 10, day: 20)!))
    #expect(document.value(of: "family_name", in: "org.iso.18013.5.1.US") == nil)
    // The one known deviation of its certificates: a distribution point without a scheme.
    #expect(
      Set(verdict.allFindings.map(\.reason.text)).isSubset(of: [
        "signerProfile(crlDistributionPoints)", "anchorProfile(crlDistributionPoints)", "revocationUnknown",
      ]))
  }

  private func failures(_ verdict: Verdict) -> Set<String> {
    Set(verdict.allFindings.filter { $0.severity == .failure }.map(\.reason.text))
  }

  @Test("today it is expired, signer and root with it")
  func expired() throws {
    let verdict = try verify(response, now: DateTime("2026-11-30T00:00:00Z")!.instant)
    #expect(failures(verdict).isSuperset(of: ["expired", "signerCertExpired"]))
  }

  @Test("nobody is trusted without an anchor")
  func noAnchor() throws {
    #expect(try failures(verify(response, roots: [])) == ["noTrustAnchor"])
  }

  @Test("without the reader's key the MAC cannot be checked, and that is a failure")
  func noReaderKey() throws {
    #expect(try failures(verify(response, withReaderKey: false)) == ["deviceMacInvalid"])
  }

  @Test("in another session the MAC does not hold")
  func otherSession() throws {
    #expect(try failures(verify(response, transcript: [0x83, 0xf6, 0xf6, 0xf6])) == ["deviceMacInvalid"])
  }

  @Test("an element nobody asked for is dropped, and one under another name space does not count")
  func unrequested() throws {
    let anchors = [TrustAnchor(try Certificate(AnnexD.issuerRoot), docTypes: nil, source: "Annex D")]
    let asked = ItemsRequest(
      docType: "org.iso.18013.5.1.mDL",
      nameSpaces: [
        .init(nameSpace: "org.iso.18013.5.1.US", elements: [.init(identifier: "family_name", intentToRetain: false)])
      ])
    let verdict = Verifier(anchors: anchors, policy: VerificationPolicy()).verify(
      response[...],
      in: .init(
        transcript: AnnexD.sessionTranscript[...], requested: [asked],
        readerKey: try PrivateKey(curve: .p256, scalar: AnnexD.eReaderKeyScalar), now: now))
    let document = try #require(verdict.documents.first?.verified)
    #expect(document.elements.isEmpty)
    #expect(document.missing == [ElementName(nameSpace: "org.iso.18013.5.1.US", element: "family_name")])
    #expect(verdict.allFindings.filter { $0.severity == .dropped }.count == 6)
  }

  @Test("a flipped bit anywhere in the response never verifies what it changed")
  func flippedBits() throws {
    let original = response
    let verifier = Verifier(
      anchors: [TrustAnchor(try Certificate(AnnexD.issuerRoot), docTypes: nil, source: "Annex D")],
      policy: VerificationPolicy())
    let circumstances = Verifier.Circumstances(
      transcript: AnnexD.sessionTranscript[...], requested: requested,
      readerKey: try PrivateKey(curve: .p256, scalar: AnnexD.eReaderKeyScalar), now: now)
    let genuine = try #require(verifier.verify(original[...], in: circumstances).documents[0].verified)
    for position in stride(from: 0, to: original.count, by: 3) {
      var changed = original
      changed[position] ^= 1
      guard let document = verifier.verify(changed[...], in: circumstances).documents.first?.verified else { continue }
      // Either nothing of what is shown changed (the minor version, say), or nameSpaces was misspelt: then nothing
      // is disclosed, and what remains is authentic.
      let isUnchanged =
        document.elements.map(\.name) == genuine.elements.map(\.name)
        && document.elements.map(\.value) == genuine.elements.map(\.value)
      #expect(isUnchanged || document.elements.isEmpty, "byte \(position)")
    }
  }

  @Test("five one-change variants give their declared facts")
  func negatives() throws {
    guard let file = try sharedJSON("vectors/annex-d/negative-device-responses.json") as? [String: Any] else { return }
    var tally = VectorTally("Annex D, changed")
    for entry in try #require(file["cases"] as? [[String: Any]]) {
      let name = entry["name"] as? String ?? ""
      let expected = try #require(entry["expect"] as? [String: Any])
      let reasons = try failures(verify(bytes(hex: entry["cborHex"] as? String ?? "") ?? []))
      // Another docType than the one asked for is dropped before anything is checked.
      let isDropped = name.contains("docType")
      let digests = expected["digestFailures"] as? [[String]] ?? []
      tally.count(
        name,
        [
          "signature": reasons.contains("issuerSignatureInvalid")
            == (expected["issuerSignature"] as? String == "invalid"),
          "mac": reasons.contains("deviceMacInvalid") == (expected["deviceMac"] as? String == "invalid") || isDropped,
          "digests": digests.allSatisfy { reasons.contains("digestMismatch(\($0[0]), \($0[1]))") },
          "verdict": !reasons.isEmpty || isDropped,
        ])
    }
    #expect(tally.failures == [] && tally.run == 5)
    print(tally)
  }
}
