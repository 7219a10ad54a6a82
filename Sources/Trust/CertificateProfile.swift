import CivilTime
import Crypto

/// What is wrong with a document signer against its profile (check D5). The raw value is the stable detail name.
package enum SignerProfileFault: String, CaseIterable, Sendable {
  case version
  case publicKey
  case signatureAlgorithm
  case keyUsage
  case extendedKeyUsage
  case certificateAuthority
  case forbiddenExtension
  case unknownCriticalExtension
  case duplicateExtension
  case keyUsageNotCritical
  case extendedKeyUsageNotCritical
  case basicConstraints
  case validityPeriod
  case serialNumber
  case authorityKeyIdentifier
  case subjectKeyIdentifier
  case issuerAltName
  case crlDistributionPoints
  case subject

  /// Whether it is a failure; the others are warnings unless the profile is taken strictly.
  package var isHard: Bool {
    switch self {
    case .version, .publicKey, .signatureAlgorithm, .keyUsage, .extendedKeyUsage, .certificateAuthority,
      .forbiddenExtension, .unknownCriticalExtension, .duplicateExtension:
      true
    case .keyUsageNotCritical, .extendedKeyUsageNotCritical, .basicConstraints, .validityPeriod, .serialNumber,
      .authorityKeyIdentifier, .subjectKeyIdentifier, .issuerAltName, .crlDistributionPoints, .subject:
      false
    }
  }
}

/// What is wrong with an issuer root against its profile (check D6). The raw value is the stable detail name.
package enum AnchorProfileFault: String, CaseIterable, Sendable {
  case version
  case publicKey
  case keyUsage
  case basicConstraints
  case validityPeriod
  case subjectKeyIdentifier
  case issuerAltName
  case crlDistributionPoints
  case unknownCriticalExtension

  /// Whether nothing the root signed is trusted. The others are warnings: that somebody configured the root decides.
  package var isHard: Bool { self == .unknownCriticalExtension }
}

/// Which edition of ISO/IEC 18013-5 certificates are measured against. The raw value is the name in the configuration.
package enum CertificateEdition: String, CaseIterable, Sendable {
  /// ISO/IEC 18013-5:2021.
  case first
  /// Roots need not name a revocation list any more; one that is named still has to be a plain address.
  case second
}

extension Certificate {
  /// Longest validity of a document signer: 457 days.
  package static let longestSignerValidity: Int64 = 457 * 86_400
  /// Longest validity of an issuer root: 20 years, five of them leap years.
  package static let longestRootValidity: Int64 = (20 * 365 + 5) * 86_400

  /// Whether it says that it is a certification authority.
  package var isAuthority: Bool { basicConstraints.value?.isAuthority == true }

  /// The faults of a document signer, without those of the extended key usage: they depend on the doc type.
  package var signerProfileFaults: [SignerProfileFault] {
    var faults: [SignerProfileFault] = []
    func note(_ fault: SignerProfileFault, when isWrong: Bool) {
      if isWrong { faults.append(fault) }
    }
    note(.version, when: version != 3)
    if case .failure = publicKey { faults.append(.publicKey) }
    note(.signatureAlgorithm, when: !algorithmsAgree || !profileAlgorithms.contains(signatureAlgorithm))
    note(.keyUsage, when: keyUsage.value != .digitalSignature)
    note(.keyUsageNotCritical, when: keyUsage.isPresent && !keyUsage.isCritical)
    switch basicConstraints {
    case .absent: break
    case .present(let constraints, _):
      faults.append(constraints.isAuthority ? .certificateAuthority : .basicConstraints)
    // What cannot be read cannot say that it is none.
    case .malformed: faults.append(.certificateAuthority)
    }
    note(.forbiddenExtension, when: extensions.contains { forbiddenExtensions.contains($0.oid) })
    note(.unknownCriticalExtension, when: extensions.contains { $0.isCritical && !knownExtensions.contains($0.oid) })
    note(.duplicateExtension, when: hasDuplicateExtension)
    note(.validityPeriod, when: lasts(longerThan: Certificate.longestSignerValidity))
    note(.serialNumber, when: serialNumber.isZero || serialNumber.isNegative || serialNumber.octetCount > 20)
    note(.authorityKeyIdentifier, when: authorityKeyIdentifier.value.flatMap { $0 } == nil)
    note(.subjectKeyIdentifier, when: subjectKeyIdentifier.value == nil)
    note(.issuerAltName, when: issuerAltName.value == nil)
    note(.crlDistributionPoints, when: crlDistributionPoints.value?.hasHTTPAddress != true)
    note(.subject, when: subject.commonNames.isEmpty)
    return faults
  }

  /// The faults of a document signer's extended key usage, where one is wanted.
  package func extendedKeyUsageFaults(wanted: OID?) -> [SignerProfileFault] {
    guard let wanted else { return [] }
    var faults: [SignerProfileFault] = []
    if extendedKeyUsage.value?.contains(wanted) != true { faults.append(.extendedKeyUsage) }
    if extendedKeyUsage.isPresent, !extendedKeyUsage.isCritical { faults.append(.extendedKeyUsageNotCritical) }
    return faults
  }

  /// The faults of an issuer root.
  package var anchorProfileFaults: [AnchorProfileFault] {
    var faults: [AnchorProfileFault] = []
    func note(_ fault: AnchorProfileFault, when isWrong: Bool) {
      if isWrong { faults.append(fault) }
    }
    note(.version, when: version != 3)
    note(.publicKey, when: (try? publicKey.get())?.curve.kind != .weierstrass)
    note(.keyUsage, when: keyUsage.value != [.keyCertSign, .crlSign] || !keyUsage.isCritical)
    let constraints = basicConstraints.value
    note(
      .basicConstraints,
      when: constraints?.isAuthority != true || constraints?.pathLength != 0 || !basicConstraints.isCritical)
    note(.validityPeriod, when: lasts(longerThan: Certificate.longestRootValidity))
    note(.subjectKeyIdentifier, when: subjectKeyIdentifier.value == nil)
    let contact = issuerAltName.value
    note(.issuerAltName, when: contact == nil || contact?.emails == [] && contact?.uris == [])
    let points = crlDistributionPoints.value
    note(
      .crlDistributionPoints, when: points?.hasHTTPAddress != true || points?.hasReasonsOrIssuer == true)
    note(.unknownCriticalExtension, when: extensions.contains { $0.isCritical && !knownExtensions.contains($0.oid) })
    return faults
  }

  /// The faults of an issuer root by an edition.
  package func anchorProfileFaults(_ edition: CertificateEdition) -> [AnchorProfileFault] {
    anchorProfileFaults.filter { !isAllowed($0, by: edition) }
  }

  func isAllowed(_ fault: AnchorProfileFault, by edition: CertificateEdition) -> Bool {
    edition == .second && fault == .crlDistributionPoints && !crlDistributionPoints.isPresent
  }

  private func lasts(longerThan seconds: Int64) -> Bool { notAfter > notBefore.adding(seconds: seconds) }
}

private let profileAlgorithms: Set<OID> = [.ecdsaWithSHA256, .ecdsaWithSHA384, .ecdsaWithSHA512]
let forbiddenExtensions: Set<OID> = [
  .policyMappings, .nameConstraints, .policyConstraints, .inhibitAnyPolicy, .freshestCRL,
]
let knownExtensions: Set<OID> = [
  .keyUsage, .extendedKeyUsage, .basicConstraints, .authorityKeyIdentifier, .subjectKeyIdentifier, .issuerAltName,
  .subjectAltName, .crlDistributionPoints,
]

extension SignerProfileFault {
  /// One line for a technician: what is wrong, and what should be there.
  package var explanation: String {
    switch self {
    case .version: "it is not an X.509 version 3 certificate"
    case .publicKey: "its public key is not an EC key on a named curve of the standard, Ed25519 or Ed448"
    case .signatureAlgorithm:
      "it is not signed with ECDSA and SHA-256, SHA-384 or SHA-512, or says so in one place only"
    case .keyUsage: "its key usage is not digitalSignature alone"
    case .extendedKeyUsage: "its extended key usage does not name the signing of this kind of document"
    case .certificateAuthority: "it is a certification authority; a document signer is not"
    case .forbiddenExtension: "it has an extension that the standard forbids (policies, name constraints, freshest CRL)"
    case .unknownCriticalExtension: "it has a critical extension that this reader does not know"
    case .duplicateExtension: "it has the same extension twice"
    case .keyUsageNotCritical: "its key usage is not marked critical"
    case .extendedKeyUsageNotCritical: "its extended key usage is not marked critical"
    case .basicConstraints: "it has basic constraints, which a document signer leaves out"
    case .validityPeriod: "it is valid for more than 457 days"
    case .serialNumber: "its serial number is zero, negative or longer than 20 octets"
    case .authorityKeyIdentifier: "it does not name the key of its issuer (authority key identifier)"
    case .subjectKeyIdentifier: "it does not name its own key (subject key identifier)"
    case .issuerAltName: "it gives no contact address of its issuer (issuer alternative name)"
    case .crlDistributionPoints: "it gives no http address of a revocation list"
    case .subject: "its subject has no common name"
    }
  }
}

extension AnchorProfileFault {
  /// One line for a technician: what is wrong, and what should be there.
  package var explanation: String {
    switch self {
    case .version: "it is not an X.509 version 3 certificate"
    case .publicKey:
      "its public key is not an EC key on a named curve of the standard: no signature can be checked with it"
    case .keyUsage: "its key usage is not exactly keyCertSign and cRLSign, marked critical"
    case .basicConstraints: "its basic constraints are not a critical CA with path length 0"
    case .validityPeriod: "it is valid for more than 20 years"
    case .subjectKeyIdentifier: "it does not name its own key (subject key identifier)"
    case .issuerAltName: "it gives no e-mail address or URI of the issuer (issuer alternative name)"
    case .crlDistributionPoints: "it gives no plain http address of a revocation list"
    case .unknownCriticalExtension:
      "it has a critical extension that this reader does not know, so nothing that it signed is trusted"
    }
  }
}

extension CertificateKeyFault {
  /// One line for a technician: what is wrong with the public key.
  package var explanation: String {
    switch self {
    case .rsa: "its public key is an RSA key; mdoc certificates have EC or Edwards keys"
    case .unsupportedAlgorithm: "its public key is of a kind this reader does not know"
    case .unsupportedCurve: "its public key is on a curve that the standard does not have"
    case .explicitParameters:
      "its public key has the parameters of the curve written out instead of the curve's name; ask for a certificate with "
        + "a named curve"
    case .compressedPoint: "its public key is a compressed point; certificates carry both coordinates"
    case .invalidPoint: "its public key is not a point of its curve"
    }
  }
}
