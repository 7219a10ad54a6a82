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

/// Documents of other implementations, with the cryptographic facts their provenance declares.
@Suite("Documents of other implementations")
struct SampleVectorTests {
  @Test("each sample gives its declared facts", arguments: ["device-responses", "issuer-signed"])
  func samples(folder: String) throws {
    let names = try sharedCases(in: "vectors/\(folder)")
    var tally = VectorTally(folder)
    for name in names {
      guard let sample = try sharedJSON("vectors/\(folder)/\(name)") as? [String: Any] else { return }
      let differences = try differences(sample, name: name)
      tally.count("\(name): \(differences)", passes: differences.isEmpty)
    }
    #expect(tally.failures == [])
    if tally.run > 0 { print(tally) }
  }

  /// What of the declared facts was not found, or found otherwise.
  private func differences(_ sample: [String: Any], name: String) throws -> [String] {
    let content = try #require(bytes(hex: sample["cborHex"] as? String ?? ""))
    let expected = try #require(sample["expected"] as? [String: Any])
    let documents = try #require(expected["documents"] as? [[String: Any]])
    let response: [UInt8]
    switch sample["kind"] as? String {
    case "DeviceResponse": response = content
    case "Document":
      response = CBORValue.map(["version": "1.0", "documents": .array([.encoded(content)]), "status": 0]).encode()
    default:
      let docType = try #require(documents[0]["docType"] as? String)
      let document = CBORValue.map(["docType": .text(docType), "issuerSigned": .encoded(content)])
      response = CBORValue.map(["version": "1.0", "documents": .array([document]), "status": 0]).encode()
    }
    var policy = VerificationPolicy()
    policy.acceptsAttachedDevicePayload = true
    policy.acceptsUntaggedDates = true
    let anchors = try (sample["trustAnchorsDerHex"] as? [String] ?? []).map {
      TrustAnchor(try Certificate(bytes(hex: $0) ?? []), docTypes: nil, source: "sample")
    }
    let verifier = Verifier(anchors: anchors, policy: policy)
    let transcript = bytes(hex: sample["sessionTranscriptHex"] as? String ?? "f6") ?? []
    var differences: [String] = []
    for (place, wanted) in documents.enumerated() {
      let at = DateTime(wanted["verifyAt"] as? String ?? "")
      let verdict = verifier.verify(
        response[...],
        in: Verifier.Circumstances(
          transcript: transcript[...], requested: [try request(wanted)], readerKey: nil,
          now: at?.instant ?? UnixTime(seconds: 1_760_000_000)))
      try #require(verdict.documents.count == documents.count, "\(name): \(verdict.allFindings.map(\.reason.text))")
      let reasons = verdict.documents[place].findings.filter { $0.severity == .failure }.map(\.reason)
      differences += try self.differences(
        reasons, wanted, isDated: at != nil, kind: sample["kind"] as? String, name: name
      ).map { "\($0) of \(reasons.map(\.text))" }
    }
    return differences
  }

  private func differences(
    _ reasons: [Reason], _ wanted: [String: Any], isDated: Bool, kind: String?, name: String
  ) throws -> [String] {
    var differences: [String] = []
    func compare(_ fact: String, _ isAsDeclared: Bool) { if !isAsDeclared { differences.append(fact) } }
    let signature = try #require(wanted["issuerSignature"] as? String)
    compare("signature", reasons.contains(.issuerSignatureInvalid) == (signature == "invalid"))
    compare("certificate", reasons.contains(.signerCertificateMissing) == (signature == "no certificate"))
    if name == "animo-tampered.json" {
      // Its digest identifiers are 2^31 or more, so the items are malformed, and no digest is compared.
      compare("items", reasons.contains(.itemMalformed(nameSpace: "org.iso.18013.5.1.mDL")))
      return differences
    }
    let failures = Set(try #require(wanted["digestFailures"] as? [[String]]).map { [$0[0], $0[1]] })
    let found = Set(
      reasons.compactMap { reason -> [String]? in
        switch reason {
        case .digestMismatch(let nameSpace, let element), .digestMissing(let nameSpace, let element):
          [nameSpace, element]
        default: nil
        }
      })
    compare("digests", found == failures)
    let device = wanted["deviceAuth"] as? [String: Any]
    // A bare Document may have a device signature whose session is unknown: nothing is declared about it.
    if device == nil, kind == "Document" { return differences }
    compare("device authentication", reasons.contains(.deviceAuthMissing) == (device == nil))
    if let result = device?["result"] as? String {
      compare("device signature", reasons.contains(.deviceSignatureInvalid) == (result != "valid"))
    }
    let chain = wanted["issuerChain"] as? String
    if chain?.contains("verifies under") == true {
      compare(
        "chain", !reasons.contains(.chain(.noTrustAnchor)) && !reasons.contains(.chain(.signerCertSignatureInvalid)))
    } else if chain != nil {
      compare("chain", reasons.contains(.chain(.noTrustAnchor)))
    }
    // The instant lies within the dates of document and signer; when the document was signed is another matter.
    if isDated {
      for date in [Reason.expired, .notYetValid, .chain(.signerCertExpired), .chain(.signerCertNotYetValid)] {
        compare(date.text, !reasons.contains(date))
      }
    }
    return differences
  }

  private func request(_ document: [String: Any]) throws -> ItemsRequest {
    let elements = document["elements"] as? [String: [String]] ?? [:]
    return ItemsRequest(
      docType: try #require(document["docType"] as? String),
      nameSpaces: elements.map { nameSpace, names in
        .init(nameSpace: nameSpace, elements: names.map { .init(identifier: $0, intentToRetain: false) })
      })
  }
}
