import Bytes
import CivilTime
import Crypto
import Mdoc
import Trust

/// Whose lists may speak about a document: its own issuer's.
package enum StatusTrustPoint: Sendable {
  /// The root that issued the document signer.
  case issuer(Certificate)
  /// A document signer that is trusted itself and has no root: only its own lists.
  case signer(Certificate)
  /// Nobody vouches for the document.
  case none
}

/// The lists a reader has, by address: a snapshot that never changes, made off the path of visitors.
package struct StatusSource: Sendable {
  /// A copy of a list, and when it was fetched.
  package struct Copy: Sendable {
    package let token: Result<StatusToken, StatusFault>
    package let receivedAt: UnixTime

    package init(_ token: Result<StatusToken, StatusFault>, receivedAt: UnixTime) {
      self.token = token
      self.receivedAt = receivedAt
    }
  }

  /// How old a copy may become, in seconds, of a list that says neither when it ends (exp) nor how long copies may be
  /// used (ttl).
  package static let longestLifeWithoutTerm: Int64 = 7 * 86_400
  /// How old any copy may become, in seconds, whatever its list allows.
  package static let longestLife: Int64 = 31 * 86_400

  private let copies: [String: Copy]

  package init(_ copies: [String: Copy] = [:]) { self.copies = copies }

  package var count: Int { copies.count }

  /// What the list that a document names says about it, by its issuer's word.
  ///
  /// In this order: signature, signer, subject, dates, then the entry. "Revoked" is final, so that an authentic list
  /// says it whatever its age. Every other answer ends with the list or the copy: none is current for ever, and a copy
  /// that was fetched later than now has no age that could be known.
  ///
  /// - Parameters:
  ///   - skewSeconds: how far the signer's clock may be ahead.
  ///   - isRevoked: whether a certificate is known to be revoked; asked for the signer of the list.
  package func answer(
    to reference: StatusReference, from trustPoint: StatusTrustPoint, at now: UnixTime, skewSeconds: Int64 = 0,
    isRevoked: (Certificate) -> Bool = { _ in false }
  ) -> StatusAnswer {
    guard let copy = copies[reference.uri] else { return .unavailable(.fetchFailed) }
    do throws(StatusFault) {
      let token = try copy.token.get()
      try StatusSource.authenticate(token, reference, trustPoint, at: now, isRevoked: isRevoked)
      let claims = token.claims
      guard claims.subject.utf8.elementsEqual(reference.uri.utf8) else { throw .subjectMismatch }
      guard claims.issuedAt <= now.adding(seconds: skewSeconds), let content = claims.content else {
        throw .tokenMalformed
      }
      let answer = try StatusSource.answer(reference.place, in: content)
      guard answer != .revoked else { return answer }
      if let expiry = claims.expiry, now >= expiry { throw .expired }
      guard copy.receivedAt <= now.adding(seconds: skewSeconds),
        now <= copy.receivedAt.adding(seconds: claims.lifeOfCopies)
      else { throw .stale }
      return answer
    } catch {
      return .unavailable(error)
    }
  }

  private static func authenticate(
    _ token: StatusToken, _ reference: StatusReference, _ trustPoint: StatusTrustPoint, at now: UnixTime,
    isRevoked: (Certificate) -> Bool
  ) throws(StatusFault) {
    guard let path = token.path else { throw .signerUntrusted }
    guard token.isSignatureValid else { throw .signatureInvalid }
    let root: Certificate
    if let named = reference.certificate {
      guard let certificate = try? Certificate(named) else { throw .signerUntrusted }
      root = certificate
    } else {
      switch trustPoint {
      case .issuer(let issuer): root = issuer
      case .signer(let signer):
        guard path.signer == signer else { throw .signerUntrusted }
        root = signer
      case .none: throw .signerUntrusted
      }
    }
    guard token.pathFault(under: root) == nil, path.dateFault(under: root, at: now) == nil, !isRevoked(path.signer)
    else { throw .signerUntrusted }
  }

  private static func answer(_ place: StatusReference.Place, in content: StatusClaims.Content) throws(StatusFault)
    -> StatusAnswer
  {
    switch (place, content) {
    case (.index(let index), .statuses(let list)): return list.answer(at: index)
    case (.identifier(let identifier), .identifiers(let identifiers)):
      return identifiers.contains(identifier) ? .revoked : .valid
    // The other kind of list answers another question.
    case (.index, .identifiers), (.identifier, .statuses): throw .tokenMalformed
    }
  }
}

extension StatusClaims {
  /// How old a copy may become, in seconds.
  fileprivate var lifeOfCopies: Int64 {
    if let timeToLive { return min(timeToLive, StatusSource.longestLife) }
    return expiry == nil ? StatusSource.longestLifeWithoutTerm : StatusSource.longestLife
  }
}
