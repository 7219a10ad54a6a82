import Bytes
import CBOR
import COSE
import CivilTime
import Crypto
import Foundation
import Mdoc
import StatusLists
import TestSupport
import Testing
import Trust

@testable import MdocVerification

/// The verdicts of the reference data: one file is one verification with the exact verdict it must reach.
@Suite("Verdicts")
struct VerdictVectorTests {
  @Test("every case of kind response reaches its exact verdict")
  func responses() throws {
    guard let root = shared("vectors/verdicts") else { return }
    let index = try JSONSerialization.jsonObject(with: Data(contentsOf: root.appendingPathComponent("index.json")))
    let cases = try #require((index as? [String: Any])?["cases"] as? [[String: Any]])
    var tally = VectorTally("verdicts")
    for entry in cases {
      let file = try #require(entry["file"] as? String)
      let data = try Data(contentsOf: root.appendingPathComponent(file))
      let vector = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
      guard vector["kind"] as? String == "response" else {
        tally.leaveOut("of kind session: SessionVerdictTests")
        continue
      }
      let difference = try compare(vector)
      tally.count("\(file): \(difference ?? "")", passes: difference == nil)
    }
    print(tally)
    #expect(tally.failures == [] && tally.cases == cases.count && tally.run > 430)
  }

  /// What differs from the expected verdict, or nil.
  private func compare(_ vector: [String: Any]) throws -> String? {
    let verdict = try verify(vector)
    let expected = try #require(vector["expected"] as? [String: Any])
    if verdict.isVerified != (expected["verified"] as? Bool) {
      return "verified is \(verdict.isVerified); found \(verdict.allFindings.map(\.reason.text))"
    }
    for (severity, key) in [
      (Finding.Severity.failure, "failures"), (.warning, "warnings"), (.dropped, "dropped"),
      (.information, "information"),
    ] {
      let wanted = Set(try #require(expected[key] as? [[String: Any]]).map(describe))
      let found = Set(
        verdict.allFindings.filter { finding in
          guard finding.severity == severity else { return false }
          if severity == .failure { return true }
          // Warnings and the rest are compared for documents that are verified, or that were dropped.
          guard let document = finding.document else { return true }
          if case .unrequestedDocument = finding.reason { return true }
          return verdict.documents[document].isVerified
        }.map(describe))
      if wanted != found { return "\(key): missing \(wanted.subtracting(found)), surplus \(found.subtracting(wanted))" }
    }
    let documents = try #require(expected["documents"] as? [[String: Any]])
    guard documents.count == verdict.documents.count else { return "\(verdict.documents.count) documents" }
    for (wanted, found) in zip(documents, verdict.documents) {
      if found.docType != wanted["docType"] as? String { return "docType \(found.docType)" }
      if found.isVerified != (wanted["verified"] as? Bool) { return "document verified \(found.isVerified)" }
      guard let document = found.verified else { continue }
      let elements = Dictionary(grouping: document.elements, by: \.name.nameSpace)
        .mapValues { $0.map(\.name.element).sorted() }
      let wantedElements = (wanted["elements"] as? [String: [String]] ?? [:]).mapValues { $0.sorted() }
      if elements != wantedElements { return "elements \(elements), wanted \(wantedElements)" }
      let ages = Dictionary(document.ages.map { ($0.limit.element, $0.answer.rawValue) }, uniquingKeysWith: { $1 })
      let wantedAges = wanted["ages"] as? [String: String] ?? [:]
      if ages != wantedAges { return "ages \(ages), wanted \(wantedAges)" }
    }
    return nil
  }

  private func describe(_ finding: Finding) -> String {
    "\(finding.reason.check) \(finding.reason.text) document \(finding.document.map(String.init) ?? "-")"
  }

  /// An expected finding in the text form of ours.
  private func describe(_ failure: [String: Any]) -> String {
    let name = failure["name"] as? String ?? ""
    var parameters: [String] = []
    for key in ["nameSpace", "element", "docType", "detail"] {
      if let value = failure[key] as? String { parameters.append(value) }
    }
    if let code = failure["code"] as? NSNumber { parameters.append(code.stringValue) }
    let text = parameters.isEmpty ? name : "\(name)(\(parameters.joined(separator: ", ")))"
    return
      "\(failure["check"] as? String ?? "") \(text) document \((failure["document"] as? Int).map(String.init) ?? "-")"
  }

  private func verify(_ vector: [String: Any]) throws -> Verdict {
    let now = try #require(DateTime(vector["validationTime"] as? String ?? "")).instant
    let requested = try #require(vector["requested"] as? [[String: Any]]).map(itemsRequest)
    let anchors = try (vector["trustAnchors"] as? [[String: Any]] ?? []).map { anchor in
      TrustAnchor(
        try Certificate(try der(anchor["pem"])), docTypes: (anchor["docTypes"] as? [String]).map(Set.init),
        source: "test")
    }
    let signers = try (vector["trustedSigners"] as? [String] ?? []).map { TrustedSigner(try Certificate(try der($0))) }
    let lists = (vector["crls"] as? [String] ?? []).compactMap { try? CertificateRevocationList(try der($0)) }
    let verifier = Verifier(
      anchors: anchors, trustedSigners: signers, policy: policy(vector["policy"] as? [String: Any] ?? [:]),
      revocation: RevocationLists(lists), statuses: try statuses(vector, now: now))
    let response = try #require(bytes(hex: vector["response"] as? String ?? ""))
    let transcript = try #require(bytes(hex: vector["sessionTranscript"] as? String ?? ""))
    return verifier.verify(
      response[...],
      in: Verifier.Circumstances(
        transcript: transcript[...], requested: requested, readerKey: try readerKey(vector["readerKey"]), now: now))
  }

  private func statuses(_ vector: [String: Any], now: UnixTime) throws -> StatusSource {
    var copies: [String: StatusSource.Copy] = [:]
    for (uri, hex) in vector["statusTokens"] as? [String: String] ?? [:] {
      let token = try #require(bytes(hex: hex))
      copies[uri] = StatusSource.Copy(
        Result { () throws(StatusFault) in try StatusToken(cwt: token[...]) }, receivedAt: now)
    }
    return StatusSource(copies)
  }

  private func itemsRequest(_ json: [String: Any]) -> ItemsRequest {
    let nameSpaces = (json["nameSpaces"] as? [String: [String: Bool]] ?? [:]).map { nameSpace, elements in
      ItemsRequest.NameSpaceRequest(
        nameSpace: nameSpace,
        elements: elements.map { ItemsRequest.ElementRequest(identifier: $0.key, intentToRetain: $0.value) })
    }
    return ItemsRequest(docType: json["docType"] as? String ?? "", nameSpaces: nameSpaces)
  }

  private func readerKey(_ json: Any?) throws -> PrivateKey? {
    guard let key = json as? [String: Any] else { return nil }
    let curve = try #require(Curve(rawValue: key["curve"] as? String ?? ""))
    return try PrivateKey(curve: curve, scalar: try #require(bytes(hex: key["d"] as? String ?? "")))
  }

  private func der(_ pem: Any?) throws -> [UInt8] {
    let lines = try #require(pem as? String).split(separator: "\n").filter { !$0.hasPrefix("-----") }
    return try Base64.standard.decode(lines.joined())
  }

  private func policy(_ switches: [String: Any]) -> VerificationPolicy {
    var policy = VerificationPolicy()
    policy.signerRevocation = .ignore  // the defaults of the reference data
    policy.documentStatus = .ignore
    for (name, value) in switches {
      switch name {
      case "clockSkewSeconds": policy.clockSkewSeconds = (value as? NSNumber)?.int64Value ?? 0
      case "maximumResponseSize": policy.maximumResponseSize = value as? Int ?? 0
      case "strictAlgorithmPairing": policy.strictAlgorithmPairing = value as? Bool ?? true
      case "shortRandom": policy.failsShortRandom = value as? String == "fail"
      case "unauthorizedDeviceElement": policy.failsUnauthorizedDeviceElement = value as? String == "fail"
      case "attachedDevicePayload": policy.acceptsAttachedDevicePayload = value as? String == "acceptIfEqual"
      case "fractionalSeconds": policy.acceptsFractionalSeconds = value as? String == "accept"
      case "untaggedDates": policy.acceptsUntaggedDates = value as? String == "accept"
      case "compressedPoints": policy.acceptsCompressedPoints = value as? String == "accept"
      case "nameComparison": policy.nameComparison = value as? String == "bytes" ? .bytes : .normalized
      case "strictCertificateProfile": policy.strictCertificateProfile = value as? Bool ?? false
      case "signerRevocation": policy.signerRevocation = .init(rawValue: value as? String ?? "") ?? .ignore
      case "documentStatus": policy.documentStatus = .init(rawValue: value as? String ?? "") ?? .ignore
      default: Issue.record("a policy switch of the data that this reader cannot be set to: \(name)")
      }
    }
    return policy
  }
}
