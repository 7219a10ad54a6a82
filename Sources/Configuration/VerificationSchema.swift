import Crypto
import MdocVerification

/// `[verification]`: the switches of a verification.
enum VerificationSchema {
  private enum NameComparisonName: String, CaseIterable {
    case normalized
    case bytes
  }

  static func read(_ section: inout Section) -> VerificationPolicy {
    var policy = VerificationPolicy()
    policy.clockSkewSeconds = Int64(
      section.integer("clock_skew_seconds", default: Int(policy.clockSkewSeconds), range: 0...3600))
    policy.strictAlgorithmPairing = section.bool("strict_algorithm_pairing", default: policy.strictAlgorithmPairing)
    policy.failsShortRandom = section.bool("fail_short_random", default: policy.failsShortRandom)
    policy.failsUnauthorizedDeviceElement = section.bool(
      "fail_unauthorized_device_element", default: policy.failsUnauthorizedDeviceElement)
    policy.acceptsAttachedDevicePayload = section.bool(
      "accept_attached_device_payload", default: policy.acceptsAttachedDevicePayload)
    policy.acceptsFractionalSeconds = section.bool(
      "accept_fractional_seconds", default: policy.acceptsFractionalSeconds)
    policy.acceptsUntaggedDates = section.bool("accept_untagged_dates", default: policy.acceptsUntaggedDates)
    policy.acceptsCompressedPoints = section.bool("accept_compressed_points", default: policy.acceptsCompressedPoints)
    switch section.choice("name_comparison", default: NameComparisonName.normalized) {
    case .normalized: policy.nameComparison = .normalized
    case .bytes: policy.nameComparison = .bytes
    }
    policy.strictCertificateProfile = section.bool(
      "strict_certificate_profile", default: policy.strictCertificateProfile)
    policy.certificateEdition = section.choice("certificate_edition", default: policy.certificateEdition)
    policy.signerRevocation = section.demand("signer_revocation", default: policy.signerRevocation)
    policy.documentStatus = section.demand("document_status", default: policy.documentStatus)
    readKeyUsages(&section, &policy)
    return policy
  }

  /// Doc types to object identifiers. Where the table is written, it replaces the default.
  private static func readKeyUsages(_ section: inout Section, _ policy: inout VerificationPolicy) {
    let usages = section.section("signer_key_usages")
    guard case .table(let members) = usages.table?.content else { return }
    policy.signerKeyUsages = [:]
    for (docType, value) in members {
      guard case .string(let text) = value.content else {
        usages.reportKind("\"\(docType)\"", value, wanted: "text", example: "\"1.0.18013.5.1.2\"")
        continue
      }
      guard let identifier = OID(text) else {
        usages.report(
          "\"\(docType)\"", line: value.line, "\"\(text.quotable)\" is no object identifier",
          "write numbers with dots, for example \"1.0.18013.5.1.2\"")
        continue
      }
      policy.signerKeyUsages[docType] = identifier
    }
  }
}
