import CivilTime
import Crypto

/// A result of part D of the verification: the chain from a document signer to its root.
package enum ChainReason: Hashable, Sendable {
  case noTrustAnchor
  case signerCertSignatureInvalid
  case signerCertExpired
  case signerCertNotYetValid
  case anchorExpired
  case anchorNotYetValid
  case validityNesting
  case signerProfile(SignerProfileFault)
  case anchorProfile(AnchorProfileFault)
  case countryMismatchChain
  case stateMismatchChain
  case signerRevoked
  case revocationUnknown
  case selfSignedSigner
}

/// One result of part D and what it costs.
package struct ChainFinding: Hashable, Sendable {
  package let reason: ChainReason
  /// Whether the signer is untrusted because of it; otherwise it is a warning.
  package let isHard: Bool

  package init(_ reason: ChainReason, isHard: Bool = true) {
    self.reason = reason
    self.isHard = isHard
  }
}

/// What part D comes to for one signer, doc type and time.
package struct ChainVerdict: Sendable {
  /// Everything that was found, in the order of the checks.
  package let findings: [ChainFinding]
  /// The root whose key signed the signer; nil when there is none and for a signer trusted as such.
  package let anchor: TrustAnchor?
  /// Whether the signer itself is configured as trusted for this doc type.
  package let isTrustedSigner: Bool
  /// What revocation lists say about the signer, asked for or not; nil without a root.
  package var revocation: RevocationAnswer?
}

/// What a missing answer about revocation costs, of a signer (D8) or of a document (B15).
package enum RevocationDemand: String, CaseIterable, Sendable {
  /// The check is not made.
  case ignore
  /// An unknown answer is a warning.
  case prefer
  /// An unknown answer is a failure.
  case require
}

/// What is asked of a signer beyond its own bytes.
package struct ChainRequirements: Sendable {
  /// Of the document that the signer signed.
  package var docType: String
  /// The extended key usage a signer of this doc type must have; nil asks for none.
  package var keyPurpose: OID?
  /// Whether the soft details of the signer profile are failures.
  package var isStrict = false
  /// What a missing answer about revocation costs.
  package var revocation = RevocationDemand.ignore
  /// Which edition the root is measured against.
  package var edition = CertificateEdition.first

  package init(
    docType: String, keyPurpose: OID? = nil, isStrict: Bool = false, revocation: RevocationDemand = .ignore,
    edition: CertificateEdition = .first
  ) {
    self.docType = docType
    self.keyPurpose = keyPurpose
    self.isStrict = isStrict
    self.revocation = revocation
    self.edition = edition
  }
}

/// Everything about a signer that depends neither on the time nor on the doc type: made once, kept by a cache.
package struct SignerAssessment: Sendable {
  struct Candidate: Sendable {
    let anchor: TrustAnchor
    /// Whether its key signed the signer.
    let isIssuer: Bool
    /// Whether country and state in the two subjects are the same (D7).
    let sharesCountry: Bool
    let sharesState: Bool

    init(_ anchor: TrustAnchor, of certificate: Certificate, isIssuer: Bool) {
      let (root, signer) = (anchor.certificate.subject, certificate.subject)
      self.anchor = anchor
      self.isIssuer = isIssuer
      sharesCountry = hasOneAndTheSame(root.countries, signer.countries)
      let states = (root.states, signer.states)
      sharesState = states == ([], []) || hasOneAndTheSame(states.0, states.1)
    }
  }

  /// The signer.
  package let certificate: Certificate
  /// What the certificate, byte for byte, is trusted for in the list of trusted signers; nil when it is not there.
  let trustedFor: SignerScope?
  let profileFaults: [SignerProfileFault]
  /// Anchors by name and key identifier, for whatever doc type.
  let candidates: [Candidate]
  let isAnchor: Bool

  /// Whether a configured certificate vouches for this one, whatever the time and the doc type.
  var isVouchedFor: Bool { trustedFor != nil || candidates.contains { $0.isIssuer } }

  /// Parts D1 and D2 are the costly ones: at most one signature check for each key of the issuer's name.
  init(
    _ certificate: Certificate, anchors: TrustAnchors, trustedFor: SignerScope? = nil,
    comparison: NameComparison = .normalized
  ) {
    self.certificate = certificate
    self.trustedFor = trustedFor
    profileFaults = certificate.signerProfileFaults
    // One that is trusted for some doc types may have a root that vouches for it in others.
    if case .all? = trustedFor {
      candidates = []
      isAnchor = false
      return
    }
    isAnchor = anchors.contains(certificate)
    let authority = certificate.authorityKeyIdentifier.value.flatMap { $0 }
    // Without an identifier on either side the name alone selects; the signature decides in any case.
    let named = anchors.named(certificate.issuer, comparison: comparison).filter { anchor in
      guard let authority, let subject = anchor.certificate.subjectKeyIdentifier.value else { return true }
      return authority == subject
    }
    var issuerKey: PublicKey?
    var refused: [PublicKey] = []
    candidates = named.map { anchor in
      guard let key = try? anchor.certificate.publicKey.get() else {
        return Candidate(anchor, of: certificate, isIssuer: false)
      }
      if let issuerKey { return Candidate(anchor, of: certificate, isIssuer: key == issuerKey) }
      guard !refused.contains(key), certificate.isSigned(by: key) else {
        refused.append(key)
        return Candidate(anchor, of: certificate, isIssuer: false)
      }
      issuerKey = key
      return Candidate(anchor, of: certificate, isIssuer: true)
    }
  }

  /// Checks D1 to D9 at an instant. `revocation` is asked for a signer under its root, also where the answer is ignored.
  package func verdict(
    for requirements: ChainRequirements, at now: UnixTime,
    revocation: (Certificate, TrustAnchor) -> RevocationAnswer = { _, _ in .unknown }
  ) -> ChainVerdict {
    var findings: [ChainFinding] = []
    func note(_ reason: ChainReason, when isTrue: Bool = true, isHard: Bool = true) {
      if isTrue { findings.append(ChainFinding(reason, isHard: isHard)) }
    }
    var issuer: Candidate?
    let isTrustedSigner = trustedFor?.allows(requirements.docType) ?? false
    if !isTrustedSigner {
      let allowed = candidates.filter { $0.anchor.isAllowed(for: requirements.docType) }
      // Reissued certificates of one key: one that is valid now serves.
      issuer =
        allowed.first { $0.isIssuer && $0.anchor.certificate.isValid(at: now) } ?? allowed.first(where: \.isIssuer)
      note(.noTrustAnchor, when: allowed.isEmpty)
      note(.signerCertSignatureInvalid, when: !allowed.isEmpty && issuer == nil)
    }
    note(.signerCertExpired, when: now > certificate.notAfter)
    note(.signerCertNotYetValid, when: now < certificate.notBefore)
    if let root = issuer?.anchor.certificate {
      note(.anchorExpired, when: now > root.notAfter)
      note(.anchorNotYetValid, when: now < root.notBefore)
      note(
        .validityNesting, when: certificate.notBefore < root.notBefore || certificate.notAfter > root.notAfter,
        isHard: false)
    }
    for fault in profileFaults + certificate.extendedKeyUsageFaults(wanted: requirements.keyPurpose) {
      note(.signerProfile(fault), isHard: fault.isHard || requirements.isStrict)
    }
    guard let issuer else {
      return ChainVerdict(findings: findings, anchor: nil, isTrustedSigner: isTrustedSigner)
    }
    let anchor = issuer.anchor
    for fault in anchor.profileFaults where !anchor.certificate.isAllowed(fault, by: requirements.edition) {
      note(.anchorProfile(fault), isHard: fault.isHard)
    }
    note(.countryMismatchChain, when: !issuer.sharesCountry)
    note(.stateMismatchChain, when: !issuer.sharesState)
    let answer = revocation(certificate, anchor)
    switch (answer, requirements.revocation) {
    case (.good, _), (_, .ignore): break
    case (.revoked, _): note(.signerRevoked)
    case (.unknown, let demand): note(.revocationUnknown, isHard: demand == .require)
    }
    note(.selfSignedSigner, when: isAnchor)
    return ChainVerdict(findings: findings, anchor: anchor, isTrustedSigner: false, revocation: answer)
  }
}

extension Certificate {
  /// Whether an instant is within its dates, both included.
  package func isValid(at now: UnixTime) -> Bool { notBefore <= now && now <= notAfter }
}

/// Two texts are the same when their bytes are: no case folding, no trimming, no Unicode equivalence.
private func hasOneAndTheSame(_ left: [String], _ right: [String]) -> Bool {
  guard left.count == 1, right.count == 1 else { return false }
  return left[0].utf8.elementsEqual(right[0].utf8)
}
