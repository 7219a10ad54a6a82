import Bytes
import CivilTime
import Crypto
import Foundation
import TestSupport
import Testing

@testable import Trust

/// Part D of the reference verdicts: the signer is taken from the response, nothing else of it is looked at.
@Suite("Reference verdicts, part D")
struct VerdictVectorTests {
  @Test(
    "failures and warnings of part D are exactly those declared", arguments: ["chain", "signer-profile", "revocation"])
  func verdicts(family: String) throws {
    var tally = VectorTally("verdicts, part D of \(family)")
    for name in try sharedCases(in: "vectors/verdicts/\(family)") {
      let json = try #require(try sharedJSON("vectors/verdicts/\(family)/\(name)") as? [String: Any])
      let policy = json["policy"] as? [String: Any] ?? [:]
      let now = try #require((json["validationTime"] as? String).flatMap { DateTime($0) }).instant
      let response = try #require((json["response"] as? String).flatMap { bytes(hex: $0) })
      let anchors = try (json["trustAnchors"] as? [[String: Any]] ?? []).map {
        try TrustAnchor(
          certificate(pem: $0["pem"] as? String ?? ""), docTypes: ($0["docTypes"] as? [String]).map(Set.init),
          source: name)
      }
      let trust = SignerTrust(
        anchors: TrustAnchors(anchors),
        trustedSigners: try (json["trustedSigners"] as? [String] ?? []).map { TrustedSigner(try certificate(pem: $0)) },
        nameComparison: policy["nameComparison"] as? String == "bytes" ? .bytes : .normalized)
      let lists = (json["crls"] as? [String] ?? []).compactMap { text in
        try? PEM.blocks(in: text).first.map { try CertificateRevocationList($0.bytes) }
      }
      let documents = try #require((json["expected"] as? [String: Any])?["documents"] as? [[String: Any]])
      let docType = try #require(documents.first?["docType"] as? String)
      var requirements = ChainRequirements(docType: docType)
      if docType == TestPKI.mdl { requirements.keyPurpose = .documentSigner }
      requirements.isStrict = policy["strictCertificateProfile"] as? Bool ?? false
      requirements.revocation =
        ["prefer": .prefer, "require": .require][policy["signerRevocation"] as? String] ?? .ignore
      let assessment = try trust.assess(signer(in: response) ?? [])
      let verdict = assessment.verdict(for: requirements, at: now) {
        RevocationLists(lists).answer(for: $0, under: $1, at: now)
      }
      let (failures, warnings) = (verdict.findings.filter(\.isHard), verdict.findings.filter { !$0.isHard })
      let isVerified = documents.first?["verified"] as? Bool == true
      tally.count(
        name,
        [
          "failures": Set(failures.map(text)) == expected(json, "failures"),
          "warnings": !isVerified || Set(warnings.map(text)) == expected(json, "warnings"),
        ])
    }
    #expect(tally.failures == [])
    if tally.run > 0 { print(tally) }
  }

  private func expected(_ json: [String: Any], _ list: String) -> Set<String> {
    let findings = (json["expected"] as? [String: Any])?[list] as? [[String: Any]] ?? []
    return Set(
      findings.filter { ($0["check"] as? String)?.hasPrefix("D") == true }.map {
        [$0["name"], $0["detail"]].compactMap { $0 as? String }.joined(separator: " ")
      })
  }

  private func text(_ finding: ChainFinding) -> String {
    switch finding.reason {
    case .signerProfile(let fault): "signerProfile \(fault.rawValue)"
    case .anchorProfile(let fault): "anchorProfile \(fault.rawValue)"
    case let other: "\(other)"
    }
  }

  private func certificate(pem: String) throws -> Certificate {
    try Certificate(PEM.blocks(in: pem).first?.bytes ?? [])
  }

  /// The byte string under label 33 that begins like a certificate.
  private func signer(in response: [UInt8]) -> ByteView? {
    for index in response.indices where response[index...].starts(with: [0x18, 0x21, 0x59]) {
      guard index + 5 < response.count, response[index + 5] == 0x30 else { continue }
      let start = index + 5
      let end = start + Int(response[index + 3]) << 8 + Int(response[index + 4])
      return end <= response.count ? response[start..<end] : nil
    }
    return nil
  }
}
