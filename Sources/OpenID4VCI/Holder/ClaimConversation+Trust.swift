import Bytes
import Crypto
import JSON
import MdocVerification
import Trust

extension ClaimConversation {
  /// The verdict on one element of `credentials`.
  func judge(
    _ element: JSONValue, _ check: inout IssuedCredentialCheck
  ) throws(IssuanceError) -> ClaimedCredential {
    let now = claim.now()
    let candidate: IssuedCredentialCheck.Candidate
    let failures: [Reason]
    do {
      candidate = try check.read(element)
      failures = try candidate.failures(under: claim.options.anchors, at: now)
    } catch {
      throw IssuanceError(.issuer, .validation, .credential(error))
    }
    func claimed(_ trust: IssuerTrust) -> ClaimedCredential {
      ClaimedCredential(
        credential: candidate.credential, trust: trust, signer: candidate.signer, validity: candidate.validity)
    }
    func refused(_ reasons: [Reason]) -> IssuanceError {
      IssuanceError(.issuer, .validation, .credential(.notAuthentic(reasons.map(\.text))))
    }
    guard !failures.isEmpty else { return claimed(.givenRoot) }
    // What is wrong whoever vouches for it comes first.
    let faults = failures.filter { !$0.isAboutAnchors }
    guard faults.isEmpty else { throw refused(faults) }
    if claim.options.trustsIssuerAutomatically {
      var published: [TrustAnchor] = []
      do { published = try rootsOfIssuer() } catch { if !claim.options.allowsUntrustedIssuer { throw error } }
      let rest = try? candidate.failures(under: published, at: now)
      if let rest, rest.isEmpty { return claimed(.publishedRoot) }
      // A root that is there and cannot vouch says more than that there is none.
      if let rest, rest != [.chain(.noTrustAnchor)], !claim.options.allowsUntrustedIssuer { throw refused(rest) }
    }
    // A signer that only claims to be of a trusted root is a forgery, not a stranger.
    guard failures == [.chain(.noTrustAnchor)] else { throw refused(failures) }
    guard claim.options.allowsUntrustedIssuer else {
      throw IssuanceError(.issuer, .validation, .credential(.untrustedIssuer))
    }
    return claimed(.none)
  }

  /// The roots at `mdoc_iacas_uri`, asked for once; none where the issuer names no address.
  private func rootsOfIssuer() throws(IssuanceError) -> [TrustAnchor] {
    if let publishedRoots { return try publishedRoots.get() }
    let result: Result<[TrustAnchor], IssuanceError>
    do { result = .success(try fetchRoots()) } catch { result = .failure(error) }
    publishedRoots = result
    return try result.get()
  }

  private func fetchRoots() throws(IssuanceError) -> [TrustAnchor] {
    guard let address = offer.issuer.rootsAddress else { return [] }
    let dialogue = claim.dialogue(.issuer, .roots)
    let document = try dialogue.document(at: address, size: IssuanceLimits.rootsSize)
    return try IssuerRoots.anchors(in: document, source: address.text)
  }
}

extension Reason {
  /// Whether it depends on which roots are trusted.
  fileprivate var isAboutAnchors: Bool {
    switch self {
    case .chain(.noTrustAnchor), .chain(.signerCertSignatureInvalid), .chain(.anchorExpired),
      .chain(.anchorNotYetValid), .chain(.anchorProfile), .chain(.countryMismatchChain), .chain(.stateMismatchChain):
      true
    default: false
    }
  }
}
