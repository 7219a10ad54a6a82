import CivilTime
import Crypto

/// Why a certificate that somebody signed with is not one to believe.
package enum PathFault: Equatable, Sendable {
  /// No known root issued it, directly or through the certificates sent with it.
  case untrusted
  case expired
  case notYetValid
}

/// Whether a certificate hangs on a known root: names and signatures link it, every issuer between is an authority, and all are
/// valid at `now`. Profiles are another question, which the caller asks.
///
/// - Parameter others: the certificates that came with it, in any order; each is used once, so that a path ends.
/// - Returns: nil for a path that holds.
package func pathFault(
  of leaf: Certificate, through others: [Certificate], to roots: [Certificate], now: UnixTime
) -> PathFault? {
  var current = leaf
  var others = others
  while true {
    if now < current.notBefore { return .notYetValid }
    if now > current.notAfter { return .expired }
    if let root = roots.first(where: { hasIssued($0, current) }) {
      if now < root.notBefore { return .notYetValid }
      return now > root.notAfter ? .expired : nil
    }
    guard let place = others.firstIndex(where: { $0.isAuthority && hasIssued($0, current) }) else { return .untrusted }
    current = others.remove(at: place)
  }
}

private func hasIssued(_ issuer: Certificate, _ certificate: Certificate) -> Bool {
  guard certificate.issuer == issuer.subject, let key = try? issuer.publicKey.get() else { return false }
  return certificate.isSigned(by: key)
}
