import Bytes
import CivilTime
import Crypto
import Issuer
import JSON
import TestSupport
import Trust
import Web

@testable import OpenID4VCI

/// A wallet and an issuer in one process, with a clock that only the wallet's waiting moves.
final class IssuanceBench {
  var now = UnixTime(seconds: 1_780_000_000)
  let authority: IssuerAuthority
  let service: IssuerService
  /// Everything that was sent, in order.
  private(set) var requests: [WebRequest] = []
  /// How long the wallet waited, poll by poll.
  private(set) var waits: [Duration] = []
  /// Changes answers on their way, or gives one for a request that never arrives.
  var intercept: (WebRequest, () -> WebAnswer) -> WebAnswer = { $1() }
  /// What the user types, given what was made for them.
  var typedCode: String?
  /// Where the user signs in; nil for a user who closes the page.
  var signIn: ((WebAddress) -> String?)?
  var makeKeys: (Int) throws -> [PrivateKey] = { count in
    try (0..<count).map { _ in try PrivateKey.generate(.p256) }
  }
  var options = ClaimOptions(clientID: "test-wallet", redirectAddress: "test-wallet://callback")

  struct Abandoned: Error {}

  init(
    _ identifier: String = "https://issuer.example/tenant1", kinds: [DocumentKind] = [.mdl],
    settings: IssuerSettings = IssuerSettings()
  ) throws {
    var random = SplitMix64(state: 4)
    authority = try IssuerAuthority(notBefore: now.adding(seconds: -365 * 86_400), random: &random)
    let person = TestPerson(age: 40, on: now.date())
    service = try IssuerService(
      authority, identifier: address(identifier), documents: kinds.map { DocumentContent(kind: $0, person: person) },
      settings: settings, random: SplitMix64(state: 5))
    options.anchors = [TrustAnchor(try Certificate(authority.certificate), source: "test")]
  }

  var claim: CredentialClaim {
    CredentialClaim(
      exchange: WebExchange { [self] request, limits throws(ExchangeFailure) in
        requests.append(request)
        guard request.address.origin == service.identifier.origin, let call = WebCall(request) else {
          throw ExchangeFailure("unreachable")
        }
        let answer = intercept(request) { service.handle(call, at: now) }
        guard answer.body.count <= limits.size else { throw ExchangeFailure("tooLarge") }
        return answer
      },
      now: { [self] in now },
      wait: { [self] duration in
        waits.append(duration)
        now = now.adding(seconds: duration.components.seconds)
      },
      authorize: { [self] address in
        guard let redirect = signIn == nil ? visit(address) : signIn?(address) else { throw Abandoned() }
        return redirect
      },
      transactionCode: { [self] _ in
        guard let typedCode else { throw Abandoned() }
        return typedCode
      },
      deviceKeys: { [self] count, _ in try makeKeys(count) }, options: options)
  }

  /// What a browser does: opens the address and comes back with where it was sent.
  func visit(_ address: WebAddress) -> String? {
    guard let call = WebCall(.get, address) else { return nil }
    return service.handle(call, at: now)[header: "Location"]
  }

  func makeOffer(_ grant: GrantType, _ configurationIDs: [String]? = nil) -> IssuerService.MadeOffer {
    switch grant {
    case .authorizationCode: return service.makeOffer(configurationIDs, by: .authorizationCode, at: now)
    case .preAuthorizedCode:
      let made = service.makeOffer(
        configurationIDs, by: .preAuthorized(CredentialOffer.TransactionCode(length: 4)), at: now)
      typedCode = made.transactionCode
      return made
    }
  }

  /// A whole claim of everything that is offered.
  func run(_ grant: GrantType = .preAuthorizedCode) throws(IssuanceError) -> [ClaimResult] {
    let claim = claim
    return try claim.retrieve(claim.discover(makeOffer(grant).byValue))
  }

  /// Sent to one of the service's endpoints.
  func requests(to endpoint: IssuerService.Endpoint) -> [WebRequest] {
    requests.filter { $0.address.text == service.address(endpoint) }
  }
}

extension WebCall {
  fileprivate init?(_ method: WebRequest.Method, _ address: WebAddress) { self.init(WebRequest(method, address)) }
}

/// For addresses that are written in tests.
func address(_ text: String) -> WebAddress {
  guard let address = WebAddress(text) else { preconditionFailure("no address: \(text)") }
  return address
}

extension WebAnswer {
  /// The body as JSON.
  var object: JSONValue? { JSONValue(reading: body) }
}
