import CivilTime
import Crypto
import Synchronization

/// What revocation lists say about a signer.
package enum RevocationAnswer: Hashable, Sendable {
  /// A current list of the root does not name it.
  case good
  /// A list of the root names it, current or not.
  case revoked
  /// No list can tell.
  case unknown
}

/// The revocation lists a reader has.
///
/// A list counts only when it is the root's own: issued in its name, signed with its key, allowed by its key usage, and
/// without critical extensions. Whether a key signed a list is found out once.
package final class RevocationLists: Sendable {
  private struct Pair: Hashable {
    let list: Int
    let anchor: ObjectIdentifier
  }

  private let lists: [CertificateRevocationList]
  private let known = Mutex<[Pair: (anchor: TrustAnchor, isAuthentic: Bool)]>([:])

  package init(_ lists: [CertificateRevocationList]) { self.lists = lists }

  /// What the authentic lists of a root say about one of its signers.
  package func answer(for signer: Certificate, under anchor: TrustAnchor, at now: UnixTime) -> RevocationAnswer {
    var answer = RevocationAnswer.unknown
    for index in lists.indices where isAuthentic(index, for: anchor) {
      if lists[index].names(signer.serialNumber) { return .revoked }
      if lists[index].isCurrent(at: now) { answer = .good }
    }
    return answer
  }

  private func isAuthentic(_ index: Int, for anchor: TrustAnchor) -> Bool {
    // The anchor is kept beside the answer, so that its identity is not used again.
    let pair = Pair(list: index, anchor: ObjectIdentifier(anchor))
    if let known = known.withLock({ $0[pair] }) { return known.isAuthentic }
    let list = lists[index]
    let root = anchor.certificate
    let isAuthentic =
      (list.issuer == root.subject || list.issuer.normalized == root.subject.normalized)
      && !list.hasCriticalExtension
      && (!root.keyUsage.isPresent || root.keyUsage.value?.contains(.crlSign) == true)
      && (try? root.publicKey.get()).map(list.isSigned(by:)) == true
    known.withLock { $0[pair] = (anchor, isAuthentic) }
    return isAuthentic
  }
}
