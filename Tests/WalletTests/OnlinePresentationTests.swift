import CivilTime
import Crypto
import Issuer
import Mdoc
import MdocVerification
import OpenID4VP
import TestSupport
import Testing
import Trust
import Wallet
import Web

/// Quirks that can be done online, and that a good verifier does not accept.
private let quirks = Quirk.allCases.filter(\.isOfResponse)

@Suite("Presenting online: sessions")
struct OnlinePresentationTests {
  private let now = testNow
  private let service: VerifierService
  private let outcome: TestIssue.Outcome

  init() throws {
    var random = SplitMix64(state: 5)
    outcome = try TestIssue(.mdl, age: 30, now: testNow).issue(random: &random)
    let anchor = TrustAnchor(try Certificate(outcome.trusted.certificate), source: "test")
    var policy = VerificationPolicy()
    policy.signerRevocation = .ignore
    service = VerifierService(
      origin: "https://v.example", credential: nil, verifier: Verifier(anchors: [anchor], policy: policy))
  }

  private func session(
    _ query: DCQLQuery, _ documents: [StoredCredential], quirks: Quirks = Quirks(), requiresTrusted: Bool = false
  ) throws -> (id: String, OnlinePresentationSession) {
    var order = VerifierOrder(query)
    order.client = .redirectURI
    let invitation = try service.begin(order, now: now)
    let service = service
    let now = now
    let exchange = WebExchange { request, _ throws(ExchangeFailure) in
      guard let call = WebCall(request) else { throw ExchangeFailure("query") }
      return service.handle(call, at: now)
    }
    let session = try OnlinePresentationSession(
      requestURI: invitation.address, exchange: exchange, documents: documents,
      requiresTrustedVerifier: requiresTrusted, misbehaviour: .init(quirks: quirks), now: now)
    return (invitation.id, session)
  }

  private let query = DCQLQuery(credentials: [
    .init(
      id: "m", subject: .mdoc(docType: "org.iso.18013.5.1.mDL"),
      claims: [
        .init(nameSpace: "org.iso.18013.5.1", element: "family_name"),
        .init(nameSpace: "org.iso.18013.5.1", element: "age_over_18"),
      ])
  ])

  private var stored: StoredCredential { StoredCredential(credential: outcome.credential, method: .mac) }

  @Test("a document that proves itself by a MAC at the door signs online")
  func signs() throws {
    let (id, session) = try session(query, [stored])
    let choice = try #require(session.standardChoice(includesOptional: true))
    #expect(choice == [.init(id: "m", candidates: [0])])
    _ = try session.sendResponse(choice)
    guard case .answered(let answer)? = service.outcome(of: id) else { return #expect(Bool(false), "no answer") }
    #expect(answer.isVerified)
  }

  @Test("a device key that cannot sign is named, and nothing is sent")
  func cannotSign() throws {
    let agreeing = try storedDocument(key: .x25519, method: .mac)
    let (id, session) = try session(query, [agreeing])
    #expect(
      thrown(OnlinePresentationSession.Failure.self) {
        _ = try session.sendResponse([.init(id: "m", candidates: [0])])
      } == .deviceKey(docType: "org.iso.18013.5.1.mDL"))
    #expect(service.outcome(of: id)?.isPending == true)
  }

  @Test("a choice of what is not there sends nothing")
  func choices() throws {
    let (id, session) = try session(query, [stored])
    for choice in [
      [OnlinePresentationSession.Choice(id: "x", candidates: [0])], [.init(id: "m", candidates: [1])],
      [.init(id: "m", candidates: [])],
    ] {
      #expect(
        thrown(OnlinePresentationSession.Failure.self) { _ = try session.sendResponse(choice) }
          == .request(.notSatisfied))
    }
    #expect(service.outcome(of: id)?.isPending == true)
    try session.terminate()
    guard case .refused("access_denied")? = service.outcome(of: id) else { return #expect(Bool(false), "not refused") }
  }

  @Test("each quirk of documents is found online as at the door, by the code it announces", arguments: quirks)
  func misbehaves(_ quirk: Quirk) throws {
    let other = try storedDocument(.pid)
    let documents = [StoredCredential(credential: outcome.credential, method: .signature), other]
    let (id, session) = try session(query, documents, quirks: Quirks(quirk))
    let failure = thrown(OnlinePresentationSession.Failure.self) {
      _ = try session.sendResponse([.init(id: "m", candidates: [0])])
    }
    if let failure {
      // Not even the frame of an answer: the verifier says so to the wallet.
      #expect(failure == .request(.refused(.response, status: 400, error: "invalid_request: vpTokenFormat")))
      #expect([.trailingBytes, .truncated, .oversizedAnswer].contains(quirk))
      return
    }
    guard case .answered(let answer)? = service.outcome(of: id) else { return #expect(Bool(false), "no answer") }
    let codes = answer.parts.flatMap { $0.verdict.allFindings.map(\.reason.code) }
    let accepted: Set<Quirk> = [.statusFirst, .unrequestedElements, .unrequestedDocument, .deviceElement]
    #expect(answer.isVerified == accepted.contains(quirk), "\(codes)")
    guard quirk != .statusFirst else { return }
    let announced = codes.contains { quirk.expectation.contains($0) }
    #expect(announced, "\(codes), announced: \(quirk.expectation)")
  }
}
