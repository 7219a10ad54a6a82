import Bytes
import CivilTime
import Crypto

/// Why a chain of certificates does not lead to a trust point.
package enum PathFault: String, Error, CaseIterable, Sendable {
  case empty
  case tooLong
  /// A certificate does not name the next one as its issuer, or another key signed it.
  case notIssued
  /// One in the middle is no certification authority, or may not sign so many below it.
  case notAuthority
  case keyUsage
  case unknownCriticalExtension
  case forbiddenExtension
  case version
  case signatureAlgorithm
  case expired
  case notYetValid
}

/// The signer of a list (VICAL, status token) and what leads from it to a trust point: RFC 5280 section 6, without
/// policies and name constraints, which are refused.
///
/// Document signers have rules of their own (`SignerAssessment`).
package struct CertificatePath: Sendable {
  /// Most certificates between a trust point and a signer, the signer included.
  package static let longest = 4

  /// The signer first.
  package let certificates: [Certificate]

  package init(_ certificates: [Certificate]) throws(PathFault) {
    guard !certificates.isEmpty else { throw .empty }
    guard certificates.count <= CertificatePath.longest else { throw .tooLong }
    self.certificates = certificates
  }

  package var signer: Certificate { certificates[0] }

  /// What stands between the chain and a trust point, whatever the time: names, signatures, authority.
  ///
  /// The trust point's key has to have signed the last certificate of the chain; a self-signed root at its end is that
  /// too. A trust point that is the signer itself, byte for byte, trusts it alone.
  package func fault(under trustPoint: Certificate, comparison: NameComparison = .normalized) -> PathFault? {
    if trustPoint == signer { return signer.listSignerFault }
    if let fault = signer.listSignerFault { return fault }
    for (place, certificate) in certificates.enumerated() {
      let issuer = place + 1 < certificates.count ? certificates[place + 1] : trustPoint
      guard certificate.isIssued(by: issuer, comparison: comparison) else { return .notIssued }
      if place > 0 {
        // The signer does not count; nor does a root at the end that is the trust point itself.
        if certificate == trustPoint { break }
        if let fault = certificate.intermediateFault(authoritiesBelow: place - 1) { return fault }
      }
    }
    return trustPoint.trustPointFault(
      authoritiesBelow: certificates.count - 1 - (certificates.last == trustPoint ? 1 : 0))
  }

  /// The first fault of a date, the trust point's included.
  package func dateFault(under trustPoint: Certificate, at now: UnixTime) -> PathFault? {
    for certificate in certificates + [trustPoint] {
      if now > certificate.notAfter { return .expired }
      if now < certificate.notBefore { return .notYetValid }
    }
    return nil
  }
}

extension Certificate {
  /// Whether this certificate names that one as its issuer and that one's key signed it.
  func isIssued(by issuer: Certificate, comparison: NameComparison) -> Bool {
    let isNamed: Bool
    switch comparison {
    case .bytes: isNamed = self.issuer == issuer.subject
    case .normalized:
      isNamed = self.issuer == issuer.subject || self.issuer.normalized == issuer.subject.normalized
    }
    guard isNamed, let key = try? issuer.publicKey.get() else { return false }
    if let wanted = authorityKeyIdentifier.value.flatMap({ $0 }), let found = issuer.subjectKeyIdentifier.value,
      !wanted.elementsEqual(found)
    {
      return false
    }
    return isSigned(by: key)
  }

  /// What no certificate of a path may have.
  private var commonFault: PathFault? {
    if version != 3 { return .version }
    if !algorithmsAgree { return .signatureAlgorithm }
    if hasDuplicateExtension { return .forbiddenExtension }
    if extensions.contains(where: { forbiddenExtensions.contains($0.oid) }) { return .forbiddenExtension }
    if extensions.contains(where: { $0.isCritical && !knownExtensions.contains($0.oid) }) {
      return .unknownCriticalExtension
    }
    return nil
  }

  /// The signer of a list is no authority, and may sign.
  fileprivate var listSignerFault: PathFault? {
    if let fault = commonFault { return fault }
    if isAuthority { return .notAuthority }
    if case .malformed = basicConstraints { return .notAuthority }
    // Field: VICAL signers have nonRepudiation alone.
    let usage = keyUsage.value
    if keyUsage.isPresent, usage?.isDisjoint(with: [.digitalSignature, .nonRepudiation]) != false { return .keyUsage }
    return nil
  }

  fileprivate func intermediateFault(authoritiesBelow count: Int) -> PathFault? {
    if let fault = commonFault { return fault }
    if keyUsage.value?.contains(.keyCertSign) != true { return .keyUsage }
    guard let constraints = basicConstraints.value, constraints.isAuthority else { return .notAuthority }
    return constraints.pathLength.map { $0 >= count } ?? true ? nil : .notAuthority
  }

  /// A configured certificate is trusted as it is; but what it says about itself holds.
  fileprivate func trustPointFault(authoritiesBelow count: Int) -> PathFault? {
    if keyUsage.isPresent, keyUsage.value?.contains(.keyCertSign) != true { return .keyUsage }
    guard let constraints = basicConstraints.value, constraints.isAuthority else { return .notAuthority }
    return constraints.pathLength.map { $0 >= count } ?? true ? nil : .notAuthority
  }
}
