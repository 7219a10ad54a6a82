import CivilTime
import Crypto
import Synchronization

/// What revocation lists say about a signer. The raw value is for events.
package enum RevocationAnswer: String, Hashable, Sendable {
  /// A current list of the root does not name it.
  case good
  /// A list of the root names it, current or not.
  case revoked
  /// No list can tell.
  case unknown
}

/// Why a revocation list tells nothing about the signers of a root, or not that one is good. The raw value is a stable
/// name.
package enum RevocationListFault: String, CaseIterable, Sendable {
  case issuer
  case signature
  /// The root's key usage does not have cRLSign.
  case keyUsage
  /// An extension that has to be understood, of the list or of an entry; that of an indirect list among them.
  case criticalExtension
  case delta
  // With these it revokes and does not clear.
  /// It says nothing about a part of the certificates.
  case scope
  case numberMissing
  case notYet
  case outdated

  /// Whether the list is as if it were not there.
  package var isFatal: Bool {
    switch self {
    case .issuer, .signature, .keyUsage, .criticalExtension, .delta: true
    case .scope, .numberMissing, .notYet, .outdated: false
    }
  }
}

extension CertificateRevocationList {
  /// What is wrong with it as a list of this root, whatever the time.
  package func fault(under root: Certificate) -> RevocationListFault? {
    guard issuer == root.subject || issuer.normalized == root.subject.normalized else { return .issuer }
    if isDelta { return .delta }
    if hasCriticalExtension { return .criticalExtension }
    if root.keyUsage.isPresent, root.keyUsage.value?.contains(.crlSign) != true { return .keyUsage }
    guard (try? root.publicKey.get()).map(isSigned(by:)) == true else { return .signature }
    if hasScope { return .scope }
    if number == nil { return .numberMissing }
    return nil
  }

  /// What is wrong with its dates.
  package func dateFault(at now: UnixTime) -> RevocationListFault? {
    if now < thisUpdate { return .notYet }
    return isCurrent(at: now) ? nil : .outdated
  }

  /// Whether it may take the place of another list of the same root: no lower number, no earlier date.
  package func isNoOlder(than other: CertificateRevocationList) -> Bool {
    guard thisUpdate >= other.thisUpdate else { return false }
    guard let number, let previous = other.number else { return other.number == nil }
    return number.magnitude.count != previous.magnitude.count
      ? number.magnitude.count > previous.magnitude.count
      : !number.magnitude.lexicographicallyPrecedes(previous.magnitude)
  }
}

/// The revocation lists a reader has: a snapshot that never changes.
///
/// A list counts only when it is the root's own: issued in its name, signed with its key, allowed by its key usage,
/// complete, and without critical extensions. Whether a key signed a list is found out once. Lists are found by the name
/// of their issuer: ten thousand cost a look-up what one does.
package final class RevocationLists: Sendable {
  /// The lists that are a root's own, and whether each can say that a signer is good.
  private struct Known {
    // Kept beside the answer, so that its identity is not used again.
    let anchor: TrustAnchor
    let usable: [(index: Int, canClear: Bool)]
  }

  package let lists: [CertificateRevocationList]
  private let listsOfIssuer: [[UInt8]: [Int]]
  private let known = Mutex<[ObjectIdentifier: Known]>([:])

  package init(_ lists: [CertificateRevocationList]) {
    self.lists = lists
    var found: [[UInt8]: [Int]] = [:]
    for (index, list) in lists.enumerated() { found[list.issuer.normalized, default: []].append(index) }
    listsOfIssuer = found
  }

  /// What the authentic lists of a root say about one of its signers.
  package func answer(for signer: Certificate, under anchor: TrustAnchor, at now: UnixTime) -> RevocationAnswer {
    guard !lists.isEmpty else { return .unknown }
    var answer = RevocationAnswer.unknown
    for (index, canClear) in usable(under: anchor) {
      if lists[index].names(signer.serialNumber) { return .revoked }
      if canClear, lists[index].dateFault(at: now) == nil { answer = .good }
    }
    return answer
  }

  /// Whether an authentic list of the issuer names a certificate: for signers of lists and what is above them, whose
  /// issuers need not be anchors.
  package func isRevoked(_ certificate: Certificate, issuedBy issuer: Certificate) -> Bool {
    (listsOfIssuer[issuer.subject.normalized] ?? []).contains { index in
      lists[index].names(certificate.serialNumber) && lists[index].fault(under: issuer)?.isFatal != true
    }
  }

  private func usable(under anchor: TrustAnchor) -> [(index: Int, canClear: Bool)] {
    if let known = known.withLock({ $0[ObjectIdentifier(anchor)] }) { return known.usable }
    var usable: [(index: Int, canClear: Bool)] = []
    for index in listsOfIssuer[anchor.certificate.subject.normalized] ?? [] {
      let fault = lists[index].fault(under: anchor.certificate)
      if fault?.isFatal != true { usable.append((index, fault == nil)) }
    }
    let found = Known(anchor: anchor, usable: usable)
    known.withLock { $0[ObjectIdentifier(anchor)] = found }
    return usable
  }
}
