import Bytes
import CBOR
import CivilTime
import Crypto
import Issuer
import Mdoc
import MdocVerification
import TestSupport
import Trust
import Web

@testable import OpenID4VP

/// A verifier and a wallet at one table: what one sends, the other gets, and time stands still.
struct OnlineTable {
  static let now = UnixTime(seconds: 1_780_000_000)
  static let host = "verifier.example"

  let mdl: Credential
  let photoID: Credential
  let root: Certificate
  let credential: VerifierCredential
  let service: VerifierService

  init(name: String = host, origin: String = "https://" + host, notAfter: UnixTime = now.adding(seconds: 86_400)) throws
  {
    var random = SplitMix64(state: 5)
    let first = try TestIssue(.mdl, age: 34, now: OnlineTable.now).issue(random: &random)
    let second = try TestIssue(.photoid, age: 34, now: OnlineTable.now).issue(under: first.trusted, random: &random)
    mdl = first.credential
    photoID = second.credential
    let rootKey = try PrivateKey.make(.p256, random: &random)
    root = try Certificate(
      try CertificateDraft.issuerRoot(
        serialNumber: SerialNumber(magnitude: [1]), name: [NameAttribute(.commonName, "Verifier CA")],
        notBefore: OnlineTable.now.adding(seconds: -86_400), notAfter: OnlineTable.now.adding(seconds: 864_000),
        publicKey: rootKey.publicKey, contact: IssuerAuthority.contact
      ).encoded(signedBy: rootKey))
    let key = try PrivateKey.make(.p256, random: &random)
    var leaf = CertificateDraft.readerAuthentication(
      serialNumber: SerialNumber(magnitude: [2]), issuer: [NameAttribute(.commonName, "Verifier CA")],
      issuerKey: rootKey.publicKey, subject: [NameAttribute(.commonName, "Bar am Eck")],
      notBefore: OnlineTable.now.adding(seconds: -86_400), notAfter: notAfter, publicKey: key.publicKey,
      contact: IssuerAuthority.contact)
    leaf[.subjectAltName] = .subjectAltName(dnsName: name)
    credential = VerifierCredential(key: key, chain: [try Certificate(try leaf.encoded(signedBy: rootKey))])
    let anchor = TrustAnchor(try Certificate(first.trusted.certificate), source: "test")
    service = VerifierService(
      origin: origin, credential: credential, verifier: Verifier(anchors: [anchor], policy: VerificationPolicy()))
  }

  /// The verifier's server by a wire that breaks nothing but the limits.
  var exchange: WebExchange {
    WebExchange { request, limits throws(ExchangeFailure) in
      guard let address = WebAddress(service.origin), request.address.host == address.host else {
        // A server that nobody set up: it answers, as any would, that it has no such thing.
        return WebAnswer(status: 404)
      }
      guard let call = WebCall(request) else { throw ExchangeFailure("query") }
      let answer = service.handle(call, at: OnlineTable.now)
      guard answer.body.count <= limits.size else { throw ExchangeFailure("tooLarge") }
      return answer
    }
  }

  func wallet(roots: [Certificate]? = nil, demandsTrust: Bool = false) -> PresentationExchange {
    PresentationExchange(
      exchange: exchange, roots: roots ?? [root], demandsTrust: demandsTrust, now: OnlineTable.now)
  }

  /// What a good wallet does from the address on: fetch, match, sign, send.
  @discardableResult
  func present(
    _ invitation: VerifierService.Invitation, documents: [Credential]? = nil,
    edit: (inout [Presentation], AuthorizationRequest) throws -> Void = { _, _ in }
  ) throws -> (AuthorizationRequest, PresentationExchange.Completion) {
    let wallet = wallet()
    let request = try wallet.request(invitation.address)
    let nonce = "mdoc-nonce-of-the-wallet"
    var presentations = try presentations(for: request, documents ?? [mdl, photoID], nonce)
    try edit(&presentations, request)
    return (request, try wallet.answer(request, with: presentations, mdocGeneratedNonce: nonce))
  }

  func presentations(
    for request: AuthorizationRequest, _ documents: [Credential], _ nonce: String, deviation: AnswerDeviation? = nil
  ) throws -> [Presentation] {
    let match = request.query.match(documents)
    guard let ids = match.chosen(includesOptional: true) else { throw RequestFault.notSatisfied }
    var draft: [(String, CBORValue)] = []
    for entry in match.entries where ids.contains(entry.query.id) {
      let candidate = entry.candidates[0]
      let document = documents[candidate.credential]
      draft.append(
        (
          entry.query.id,
          try DocumentPresentation(
            document, selection: document.selection(for: entry.query.itemsRequest(candidate.claims)),
            method: .signature, transcript: request.transcript(mdocGeneratedNonce: nonce, deviation: deviation).encoded,
            readerKey: nil
          ).document()
        ))
    }
    func response(_ documents: [CBORValue]) -> [UInt8] {
      var response = DeviceResponseDraft()
      response.documents = documents
      return response.encode()
    }
    return request.form == .annexB
      ? [Presentation(id: draft[0].0, deviceResponse: response(draft.map(\.1)))]
      : draft.map { Presentation(id: $0.0, deviceResponse: response([$0.1])) }
  }

  static let ageQuery = DCQLQuery(credentials: [
    .init(
      id: "mdl", subject: .mdoc(docType: MDLElements.docType),
      claims: [
        .init(nameSpace: MDLElements.nameSpace, element: "age_over_18"),
        .init(nameSpace: MDLElements.nameSpace, element: "family_name", intentToRetain: true),
      ])
  ])
}
