import Bytes
import CivilTime
import Crypto
import Issuer
import Kernel
import OpenID4VCI
import Testing
import Trust
import Wallet
import Web

@testable import Appliance

/// Documents that were claimed from an issuer (OpenID4VCI), shown to the whole reader.
@Suite("Claimed documents at the door", .serialized)
struct ClaimedAtTheDoorTests {
  private let harness: ApplianceHarness
  private let service: IssuerService
  private let now = UnixTime.wallClock()

  init() throws {
    harness = try ApplianceHarness()
    var random = RandomSource()
    let adult = DocumentContent(kind: .mdl, person: TestPerson(age: 34, on: now.date()))
    let authority = try TestIssue(adult, now: now).makeAuthority(random: &random)
    let identifier = try #require(WebAddress("https://issuer.example/tenant/1"))
    service = try IssuerService(authority, identifier: identifier, documents: [adult])
    try AtomicFile.write(authority.pem.utf8, to: harness.anchor)
  }

  /// Claims the document into a folder of its own, by a grant, and gives its path.
  private func claim(_ grant: IssuerService.OfferedGrant, into name: String) throws -> String {
    let folder = harness.folder + "/" + name
    let service = service
    let now = now
    let exchange = WebExchange { request, _ throws(ExchangeFailure) in
      guard let call = WebCall(request) else { throw ExchangeFailure("query") }
      return service.handle(call, at: now)
    }
    var options = ClaimOptions(clientID: "wallet", redirectAddress: "http://127.0.0.1/callback")
    options.anchors = [TrustAnchor(try Certificate(service.authority.certificate), source: "test")]
    var claim = CredentialClaim(
      exchange: exchange, now: { now }, wait: { _ in },
      authorize: { address in try #require(try exchange(.get(address, accept: "text/html"))[header: "Location"]) },
      transactionCode: { _ in "" },
      deviceKeys: { count, _ in try (0..<count).map { _ in try PrivateKey.generate(.p256) } },
      options: options)
    claim.keep = { claimed in
      _ = try CredentialStore(folder: folder).add(StoredCredential(credential: claimed.credential, method: .signature))
    }
    let made = service.makeOffer(by: grant, at: now)
    let results = try claim.retrieve(try claim.discover(made.byReference))
    try #require(results.allSatisfy { $0.error == nil } && results.count == 1)
    return folder
  }

  private func visitor(_ title: String, _ folder: String) -> ApplianceHarness.Visitor {
    ApplianceHarness.Visitor(title: title, expectation: .granted) { harness in
      let wallet = PresentingWallet(["--air", harness.air, "--wallet", folder, "--yes", "--timeout", "10"])
      return try wallet.engagement()
    }
  }

  @Test("what was claimed in either flow opens the door")
  func opens() throws {
    try harness.serve([
      visitor("by a code in the offer", try claim(.preAuthorized(nil), into: "first")),
      visitor("by signing in", try claim(.authorizationCode, into: "second")),
    ])
    #expect(Array(service.notifications.values) == ["credential_accepted", "credential_accepted"])
  }
}
