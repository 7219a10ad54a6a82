import Bytes
import CivilTime
import Crypto
import Mdoc
import OpenID4VP
import Web

/// Presents documents to one verifier online: request, the holder's choice, answer or refusal (OpenID4VP 1.0; ISO/IEC 18013-7
/// Annex B). A request is answered once.
package struct OnlinePresentationSession {
  /// The verifier's request: who asks, for what, and where the answer goes.
  package let request: AuthorizationRequest
  /// What the wallet has for each credential that is asked for.
  package let match: QueryMatch
  private let documents: [StoredCredential]
  private let exchange: PresentationExchange
  private let misbehaviour: Misbehaviour

  /// How an answer goes wrong on purpose.
  package struct Misbehaviour: Sendable {
    /// In the DeviceResponse; those of the session and the transport have no place online.
    package var quirks: Quirks
    /// Around it.
    package var deviation: AnswerDeviation?

    package init(quirks: Quirks = Quirks(), deviation: AnswerDeviation? = nil) {
      self.quirks = quirks
      self.deviation = deviation
    }
  }

  /// Gets the request.
  ///
  /// - Parameters:
  ///   - requestURI: what the verifier shows: `openid4vp://…`, `mdoc-openid4vp://…`, or a link.
  ///   - roots: of verifiers, by which the wallet knows who asks.
  ///   - requiresTrustedVerifier: refuses the requests of all others.
  /// - Throws: why there is no request to answer.
  package init(
    requestURI: String, exchange: WebExchange, documents: [StoredCredential], roots: [Certificate] = [],
    requiresTrustedVerifier: Bool = false, misbehaviour: Misbehaviour = Misbehaviour(), now: UnixTime
  ) throws(RequestFault) {
    self.exchange = PresentationExchange(
      exchange: exchange, roots: roots, demandsTrust: requiresTrustedVerifier, now: now)
    request = try self.exchange.request(requestURI)
    match = request.query.match(documents.map(\.credential))
    self.documents = documents
    self.misbehaviour = misbehaviour
  }

  /// Which credentials are given for one that was asked for.
  package struct Choice: Equatable, Sendable {
    /// The id of the credential query.
    package let id: String
    /// Places among its candidates.
    package let candidates: [Int]

    package init(id: String, candidates: [Int]) {
      self.id = id
      self.candidates = candidates
    }
  }

  /// The first of the candidates for each credential that is needed; nil when the wallet has not what is needed.
  ///
  /// - Parameter includesOptional: whether what the verifier only would like is given as well.
  package func standardChoice(includesOptional: Bool) -> [Choice]? {
    match.chosen(includesOptional: includesOptional)?.map { Choice(id: $0, candidates: [0]) }
  }

  /// Why an answer could not be made or sent.
  package enum Failure: Error, Equatable, Sendable {
    /// The key of a document cannot sign, and a MAC needs a key of the reader's that there is none of online.
    case deviceKey(docType: String)
    case request(RequestFault)
  }

  /// Signs and sends what the holder chose.
  ///
  /// - Throws: `request(.notSatisfied)` for a choice of what is not there.
  package func sendResponse(_ choices: [Choice]) throws(Failure) -> PresentationExchange.Completion {
    let nonce = Base64.url.encode(randomBytes(16))
    let transcript = request.transcript(mdocGeneratedNonce: nonce, deviation: misbehaviour.deviation).encoded
    var parts: [(id: String, document: StoredCredential, items: ItemsRequest)] = []
    for choice in choices {
      guard let entry = match.entries.first(where: { $0.query.id == choice.id }), !choice.candidates.isEmpty else {
        throw .request(.notSatisfied)
      }
      for place in choice.candidates {
        guard entry.candidates.indices.contains(place) else { throw .request(.notSatisfied) }
        let candidate = entry.candidates[place]
        let document = try signing(documents[candidate.credential])
        parts.append((choice.id, document, entry.query.itemsRequest(candidate.claims)))
      }
    }
    var presentations: [Presentation] = []
    switch request.form {
    case .final:
      for part in parts {
        presentations.append(
          Presentation(id: part.id, deviceResponse: try response([part.document], [part.items], transcript)))
      }
    case .annexB:
      guard let first = parts.first else { throw .request(.notSatisfied) }
      presentations = [
        Presentation(
          id: first.id, deviceResponse: try response(parts.map(\.document), parts.map(\.items), transcript))
      ]
    }
    do throws(RequestFault) {
      return try exchange.answer(
        request, with: presentations, mdocGeneratedNonce: nonce, deviation: misbehaviour.deviation)
    } catch {
      throw .request(error)
    }
  }

  /// Tells the verifier that nothing is given.
  @discardableResult
  package func terminate() throws(RequestFault) -> PresentationExchange.Completion {
    try exchange.refuse(request, error: "access_denied")
  }

  private func response(
    _ documents: [StoredCredential], _ items: [ItemsRequest], _ transcript: [UInt8]
  ) throws(Failure) -> [UInt8] {
    do throws(PresentationError) {
      // A document that was not asked for needs the others of the wallet.
      let others = misbehaviour.quirks.contains(.unrequestedDocument) ? self.documents : []
      return try HolderAnswer(documents: documents + others, quirks: misbehaviour.quirks).response(
        to: items, isGranted: items.map { _ in true }, in: .init(transcript: transcript, readerKey: nil))
    } catch {
      throw .deviceKey(docType: documents.first?.credential.docType ?? "")
    }
  }

  /// The document with a device that proves its key by a signature, whatever it does at the door.
  private func signing(_ stored: StoredCredential) throws(Failure) -> StoredCredential {
    guard stored.credential.deviceKey.curve.kind != .montgomery else {
      throw .deviceKey(docType: stored.credential.docType)
    }
    return StoredCredential(credential: stored.credential, method: .signature)
  }
}
