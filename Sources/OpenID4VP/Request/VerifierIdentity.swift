import CivilTime
import Crypto
import Trust

/// What is known about who asks online.
package enum VerifierIdentity: Equatable, Sendable {
  /// Nobody said who it is; the answer goes to this address.
  case anonymous(responseURI: String)
  /// The request is signed with the key of a certificate that names it, which a known root issued.
  case trusted(name: String, subject: String)
  /// The same, where no root of verifiers is known: that names a verifier, and proves nothing about whose it is.
  case signed(name: String, subject: String)
  /// Signed, by somebody that no known root vouches for.
  case untrusted(name: String, subject: String, Distrust)

  /// Why a certificate is not believed.
  package enum Distrust: String, Equatable, Sendable {
    case verifierUntrusted
    case verifierExpired
    case verifierNotYetValid
    /// Nobody signed.
    case verifierAnonymous
  }

  /// Why this is nobody to trust; nil for a verifier that a known root vouches for.
  package var distrust: Distrust? {
    switch self {
    case .anonymous: .verifierAnonymous
    case .trusted: nil
    case .signed: .verifierUntrusted
    case .untrusted(_, _, let reason): reason
    }
  }

  /// Of a signed request.
  ///
  /// - Parameters:
  ///   - chain: the signer first, and what came with it.
  ///   - roots: of verifiers; empty where none is known.
  init(name: String, chain: [Certificate], roots: [Certificate], now: UnixTime) {
    let subject = chain.first?.subject.description ?? ""
    guard let path = try? CertificatePath(chain) else {
      self = .untrusted(name: name, subject: subject, .verifierUntrusted)
      return
    }
    // Dates of whom nobody vouches for count as well: what is over is over.
    let faults = roots.filter { path.fault(under: $0) == nil }.map { path.dateFault(under: $0, at: now) }
    if faults.contains(nil) {
      self = .trusted(name: name, subject: subject)
      return
    }
    switch faults.first ?? path.dateFault(under: path.signer, at: now) {
    case .expired?: self = .untrusted(name: name, subject: subject, .verifierExpired)
    case .notYetValid?: self = .untrusted(name: name, subject: subject, .verifierNotYetValid)
    default:
      self =
        roots.isEmpty
        ? .signed(name: name, subject: subject) : .untrusted(name: name, subject: subject, .verifierUntrusted)
    }
  }
}
