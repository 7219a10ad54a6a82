import CivilTime
import Crypto

/// What is wrong with a reader authentication certificate against its profile (ISO/IEC 18013-5 table B.7). The raw
/// value is the stable detail name.
package enum ReaderProfileFault: String, CaseIterable, Sendable {
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
  case validityPeriod
  case serialNumber
  case authorityKeyIdentifier
  case subjectKeyIdentifier
  case crlDistributionPoints
  case subject

  /// Whether wallets are known to refuse the reader for it; the others are details that some wallets mind.
  package var isHard: Bool {
    switch self {
    case .version, .publicKey, .signatureAlgorithm, .keyUsage, .extendedKeyUsage, .certificateAuthority,
      .unknownCriticalExtension, .duplicateExtension, .authorityKeyIdentifier:
      true
    case .forbiddenExtension, .keyUsageNotCritical, .extendedKeyUsageNotCritical, .validityPeriod, .serialNumber,
      .subjectKeyIdentifier, .crlDistributionPoints, .subject:
      false
    }
  }

  /// One line for a technician: what is wrong, and what should be there.
  package var explanation: String {
    switch self {
    case .version: "it is not an X.509 version 3 certificate"
    case .publicKey: "its public key is not an EC key on a named curve of the standard, Ed25519 or Ed448"
    case .signatureAlgorithm:
      "it is not signed with ECDSA and SHA-256, SHA-384 or SHA-512, or says so in one place only"
    case .keyUsage: "its key usage is not digitalSignature alone"
    case .extendedKeyUsage: "its extended key usage does not name reader authentication (1.0.18013.5.1.6)"
    case .certificateAuthority: "it is a certification authority; a reader is not"
    case .forbiddenExtension: "it has an extension that the standard forbids (policies, name constraints, freshest CRL)"
    case .unknownCriticalExtension: "it has a critical extension that wallets do not know"
    case .duplicateExtension: "it has the same extension twice"
    case .keyUsageNotCritical: "its key usage is not marked critical"
    case .extendedKeyUsageNotCritical: "its extended key usage is not marked critical"
    case .validityPeriod: "it is valid for more than 1187 days"
    case .serialNumber: "its serial number is zero, negative or longer than 20 octets"
    case .authorityKeyIdentifier: "it does not name the key of its issuer (authority key identifier)"
    case .subjectKeyIdentifier: "it does not name its own key by the SHA-1 of its bits (subject key identifier)"
    case .crlDistributionPoints: "it gives neither an http address of a revocation list nor of an OCSP service"
    case .subject: "its subject has no common name"
    }
  }
}

extension Certificate {
  /// Longest validity of a reader authentication certificate: 1187 days.
  package static let longestReaderValidity: Int64 = 1187 * 86_400

  /// The faults of a reader authentication certificate.
  package var readerProfileFaults: [ReaderProfileFault] {
    // What it shares with a document signer, under the same names.
    var faults = signerProfileFaults.compactMap { fault -> ReaderProfileFault? in
      switch fault {
      // Longer for a reader; and what a reader need not have, or may have beyond a signer.
      case .validityPeriod, .issuerAltName, .basicConstraints: nil
      // Either of the two will do.
      case .crlDistributionPoints where extensions.contains { $0.oid == .authorityInfoAccess }: nil
      default: ReaderProfileFault(rawValue: fault.rawValue)
      }
    }
    func note(_ fault: ReaderProfileFault, when isWrong: Bool) {
      if isWrong { faults.append(fault) }
    }
    note(.extendedKeyUsage, when: extendedKeyUsage.value?.contains(.readerAuthentication) != true)
    note(.extendedKeyUsageNotCritical, when: extendedKeyUsage.isPresent && !extendedKeyUsage.isCritical)
    note(.validityPeriod, when: notAfter > notBefore.adding(seconds: Certificate.longestReaderValidity))
    if let named = subjectKeyIdentifier.value, let key = try? publicKey.get(), named.elementsEqual(key.keyIdentifier) {
      return faults
    }
    note(.subjectKeyIdentifier, when: !faults.contains(.subjectKeyIdentifier))
    return faults
  }
}
