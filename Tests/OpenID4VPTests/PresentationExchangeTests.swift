import Bytes
import Crypto
import Issuer
import Mdoc
import MdocVerification
import TestSupport
import Testing
import Web

@testable import OpenID4VP

/// One way to ask.
private struct Way: CustomTestStringConvertible, Sendable {
  var testDescription: String
  var change: @Sendable (inout VerifierOrder) -> Void

  init(_ name: String, _ change: @escaping @Sendable (inout VerifierOrder) -> Void) {
    testDescription = name
    self.change = change
  }
}

private let ways: [Way] = [
  Way("encrypted with A128GCM") { _ in },
  Way("encrypted with A256GCM") { $0.encryptions = [.a256GCM] },
  Way("in the clear") { $0.responseMode = .directPost },
  Way("by the certificate's hash") { $0.client = .x509Hash },
  Way("unsigned, known by where the answer goes") { $0.client = .redirectURI },
  Way("unsigned and in the clear") {
    $0.client = .redirectURI
    $0.responseMode = .directPost
  },
  Way("fetched by POST with the wallet's nonce") { $0.fetchesByPost = true },
  Way("with a page to go on to") { $0.redirects = true },
  Way("Annex B") {
    $0.form = .annexB
    $0.encryptions = [.a256GCM]
  },
]

@Suite("Presenting online: both sides")
struct PresentationExchangeTests {
  @Test("every way to ask is answered, and the answer verified", arguments: ways)
  fileprivate func answered(_ way: Way) throws {
    let table = try OnlineTable()
    var order = VerifierOrder(OnlineTable.ageQuery)
    way.change(&order)
    let invitation = try table.service.begin(order, now: OnlineTable.now)
    let (request, completion) = try table.present(invitation)
    #expect(request.form == order.form)
    #expect(request.responseMode == order.responseMode)
    #expect((completion.redirect != nil) == order.redirects)
    if order.client == .redirectURI {
      guard case .anonymous = request.verifier else { return #expect(Bool(false), "\(request.verifier)") }
    } else {
      #expect(request.verifier == .trusted(name: request.clientID, subject: "CN=Bar am Eck"))
    }
    guard case .answered(let answer)? = table.service.outcome(of: invitation.id) else {
      return #expect(Bool(false), "not answered")
    }
    #expect(answer.isVerified)
    let document = try #require(answer.parts[0].verdict.documents[0].verified)
    #expect(document.value(of: "age_over_18", in: MDLElements.nameSpace) == .bool(true))
    #expect(document.elements.count == 2)
  }

  @Test("what a verifier does wrong is found, each with its own code", arguments: VerifierDeviation.allCases)
  func deviations(_ deviation: VerifierDeviation) throws {
    let table = try OnlineTable(name: deviation == .otherName ? "other.example" : OnlineTable.host)
    var order = VerifierOrder(OnlineTable.ageQuery)
    order.deviation = deviation
    if deviation == .otherHash { order.client = .x509Hash }
    let invitation = try table.service.begin(order, now: OnlineTable.now)
    let fault = thrown(RequestFault.self) { try table.present(invitation) }
    #expect(fault?.code == deviation.expectation, "\(String(describing: fault))")
    #expect(fault?.description.isEmpty == false)
  }

  @Test("a client_id that is the hash of another certificate is refused")
  func otherHash() throws {
    let table = try OnlineTable()
    var order = VerifierOrder(OnlineTable.ageQuery)
    order.client = .x509Hash
    order.deviation = .otherHash
    let invitation = try table.service.begin(order, now: OnlineTable.now)
    #expect(thrown(RequestFault.self) { try table.present(invitation) } == .clientHashMismatch)
  }

  @Test("who asks is trusted, known by its own word, expired, or a stranger")
  func identities() throws {
    let table = try OnlineTable()
    let invitation = try table.service.begin(VerifierOrder(OnlineTable.ageQuery), now: OnlineTable.now)
    let name = "x509_san_dns:" + OnlineTable.host
    let subject = "CN=Bar am Eck"
    #expect(try table.wallet().request(invitation.address).verifier == .trusted(name: name, subject: subject))
    #expect(
      try table.wallet(roots: []).request(invitation.address).verifier == .signed(name: name, subject: subject))
    let stranger = try OnlineTable().credential.chain[0]
    #expect(
      try table.wallet(roots: [stranger]).request(invitation.address).verifier
        == .untrusted(name: name, subject: subject, .verifierUntrusted))
    #expect(
      thrown(RequestFault.self) {
        _ = try table.wallet(roots: [stranger], demandsTrust: true).request(invitation.address)
      } == .clientUntrusted(.verifierUntrusted))
    #expect(
      thrown(RequestFault.self) { _ = try table.wallet(roots: [], demandsTrust: true).request(invitation.address) }
        == .clientUntrusted(.verifierUntrusted))
    let expired = try OnlineTable(notAfter: OnlineTable.now.adding(seconds: -1))
    let other = try expired.service.begin(VerifierOrder(OnlineTable.ageQuery), now: OnlineTable.now)
    #expect(
      try expired.wallet().request(other.address).verifier
        == .untrusted(name: name, subject: subject, .verifierExpired))
    var anonymous = VerifierOrder(OnlineTable.ageQuery)
    anonymous.client = .redirectURI
    let unsigned = try table.service.begin(anonymous, now: OnlineTable.now)
    #expect(
      thrown(RequestFault.self) { _ = try table.wallet(demandsTrust: true).request(unsigned.address) }
        == .clientUntrusted(.verifierAnonymous))
  }

  @Test("the holder's refusal reaches the verifier, and ends the transaction")
  func refusal() throws {
    let table = try OnlineTable()
    let invitation = try table.service.begin(VerifierOrder(OnlineTable.ageQuery), now: OnlineTable.now)
    let request = try table.wallet().request(invitation.address)
    _ = try table.wallet().refuse(request, error: "access_denied")
    guard case .refused("access_denied")? = table.service.outcome(of: invitation.id) else {
      return #expect(Bool(false), "not refused")
    }
    #expect(
      thrown(RequestFault.self) { _ = try table.wallet().refuse(request, error: "access_denied") }
        == .refused(.refusal, status: 400, error: "invalid_request: transactionUsed"))
  }

  @Test("addresses that are no request are refused, each with its own code")
  func invocations() throws {
    let table = try OnlineTable()
    let wallet = table.wallet()
    func fault(_ text: String) -> RequestFault? { thrown(RequestFault.self) { _ = try wallet.request(text) } }
    #expect(fault("what") == .invocation)
    #expect(fault("openid-credential-offer://?x=y") == .scheme("openid-credential-offer"))
    #expect(fault("openid4vp://?request=a&request_uri=b") == .ambiguousRequest)
    #expect(fault("openid4vp://?request_uri=ftp%3A%2F%2Fx") == .parameter("request_uri", .malformed))
    #expect(fault("openid4vp://?request_uri=http%3A%2F%2Fverifier.example%2F") == .parameter("request_uri", .insecure))
    #expect(
      fault("openid4vp://?request_uri=https%3A%2F%2Fverifier.example%2F&request_uri_method=put")
        == .parameter("request_uri_method", .unsupported("put")))
    #expect(fault("openid4vp://?client_id=x") == .parameter("response_type", .missing))
    #expect(fault("openid4vp://?dcql_query=%7B") == .parameter("dcql_query", .malformed))
    let invitation = try table.service.begin(VerifierOrder(OnlineTable.ageQuery), now: OnlineTable.now)
    let withoutClient = "openid4vp://?" + invitation.address.split(separator: "&")[1]
    #expect(fault(withoutClient) == .parameter("client_id", .missing))
  }

  @Test("the older form is taken under its own scheme only")
  func noWayBack() throws {
    let table = try OnlineTable()
    var order = VerifierOrder(OnlineTable.ageQuery)
    order.form = .annexB
    let invitation = try table.service.begin(order, now: OnlineTable.now)
    let renamed = invitation.address.replacing("mdoc-openid4vp://", with: "openid4vp://")
    #expect(
      thrown(RequestFault.self) { _ = try table.wallet().request(renamed) }
        == .parameter(
          "client_id_scheme", .unsupported("in OpenID4VP 1.0, where client_id has a prefix")))
    #expect(try table.wallet().request(invitation.address).form == .annexB)
  }

  @Test("under the scheme of the high assurance profile its rules hold, whatever a request says")
  func assurance() throws {
    let table = try OnlineTable()
    func fault(_ change: (inout VerifierOrder) -> Void) throws -> RequestFault? {
      var order = VerifierOrder(OnlineTable.ageQuery)
      change(&order)
      let address = try table.service.begin(order, now: OnlineTable.now).address
      let renamed = address.replacing("openid4vp://", with: "haip-vp://")
      return thrown(RequestFault.self) { _ = try table.wallet().request(renamed) }
    }
    #expect(try fault { $0.client = .x509Hash } == nil)
    let hash = "other than x509_hash in the high assurance profile"
    #expect(try fault { _ in } == .clientUnsupported(hash))
    #expect(try fault { $0.client = .redirectURI } == .clientUnsupported(hash))
    #expect(
      try fault {
        $0.client = .x509Hash
        $0.responseMode = .directPost
      } == .parameter("response_mode", .unsupported("direct_post in the high assurance profile")))
  }

  @Test("a verifier's own set-up is looked at before anybody comes")
  func setUp() throws {
    let good = try OnlineTable().credential
    let now = OnlineTable.now
    #expect(good.faults(dnsName: OnlineTable.host, responseHost: OnlineTable.host, now: now).isEmpty)
    #expect(
      good.faults(dnsName: "a.example", responseHost: "b.example", now: now) == [.nameNotInCertificate, .otherHost])
    #expect(good.faults(dnsName: nil, responseHost: "b.example", now: now.adding(seconds: 86_401)) == [.expired])
    #expect(good.faults(dnsName: nil, responseHost: "", now: now.adding(seconds: -86_401)) == [.notYetValid])
    let other = VerifierCredential(key: try PrivateKey.generate(.p256), chain: good.chain)
    #expect(other.faults(dnsName: nil, responseHost: "", now: now) == [.otherKey])
    #expect(
      VerifierCredential(key: good.key, chain: []).faults(dnsName: nil, responseHost: "", now: now) == [.noCertificate])
  }
}
