import Bytes
import CivilTime
import Crypto
import JOSE
import Mdoc
import MdocVerification

/// One question of a verifier to one wallet, and what came of it.
package struct VerifierTransaction: Sendable {
  package let id: String
  package let order: VerifierOrder
  /// As it goes into the transcript.
  let clientID: String
  let responseURI: String
  let nonce: String
  let state: String
  /// Nil where the answer comes in the clear.
  let encryptionKey: PrivateKey?
  let ends: UnixTime
  package internal(set) var outcome: Outcome

  /// What came of it.
  package enum Outcome: Sendable {
    case pending
    /// The wallet said no, with this error code.
    case refused(String)
    case invalid(ResponseFault)
    case answered(VerifiedAnswer)

    package var isPending: Bool {
      if case .pending = self { true } else { false }
    }
  }

  /// The transcript that a good answer was made with.
  ///
  /// - Parameter mdocGeneratedNonce: Annex B alone has one.
  func transcript(mdocGeneratedNonce: String) -> SessionTranscript {
    switch order.form {
    case .final:
      SessionTranscript(
        online: .openID4VP(
          clientID: clientID, nonce: nonce, encryptionKeyThumbprint: encryptionKey?.publicKey.jwkThumbprint,
          responseURI: responseURI))
    case .annexB:
      SessionTranscript(
        online: .annexB(
          clientID: clientID, responseURI: responseURI, nonce: nonce, mdocGeneratedNonce: mdocGeneratedNonce))
    }
  }
}

/// An answer with the verdict on each of its parts.
package struct VerifiedAnswer: Sendable {
  /// One presentation and what is to be said of it.
  package struct Part: Sendable {
    /// The credential query that it is for; nil in Annex B, where one response is for all.
    package let id: String?
    package let verdict: Verdict
  }

  package let parts: [Part]
  /// Whether what was verified is what was asked for, in full.
  package let isSatisfied: Bool

  /// Whether all is genuine and nothing is missing.
  package var isVerified: Bool { isSatisfied && !parts.isEmpty && parts.allSatisfy { $0.verdict.isVerified } }
}

extension DCQLQuery {
  /// Whether verified documents are a full answer (section 8.6, last steps): each of the wanted type, with the wanted claims and
  /// values, and in a wanted combination.
  package func isSatisfied(by documents: [(id: String, document: VerifiedDocument)]) -> Bool {
    let answered = Set(
      documents.filter { id, document in
        guard let query = self[id], query.docType == document.docType else { return false }
        return query.isAnswered { claim in
          document.value(of: claim.element, in: claim.nameSpace).map(claim.accepts) ?? false
        }
      }.map(\.id))
    guard documents.allSatisfy({ answered.contains($0.id) }) else { return false }
    guard !sets.isEmpty else { return credentials.allSatisfy { answered.contains($0.id) } }
    return sets.allSatisfy { set in
      !set.isRequired || set.options.contains { $0.allSatisfy(answered.contains) }
    }
  }
}
