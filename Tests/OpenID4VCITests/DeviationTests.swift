import Issuer
import TestSupport
import Testing

@testable import OpenID4VCI

@Suite("OpenID4VCI: what a good wallet makes of an issuer that does wrong")
struct DeviationTests {
  private static let copies = 3

  private func bench(_ deviation: IssuerDeviation?, announcesDPoP: Bool) throws -> IssuanceBench {
    var settings = IssuerSettings()
    settings.announcesDPoP = announcesDPoP
    let bench = try IssuanceBench(settings: settings)
    bench.options.copies = DeviationTests.copies
    if let deviation { bench.service.deviations = [deviation] }
    return bench
  }

  private func check(_ deviation: IssuerDeviation, _ grant: GrantType, announcesDPoP: Bool) throws {
    let bench = try bench(deviation, announcesDPoP: announcesDPoP)
    let expectation = deviation.expectation(copies: DeviationTests.copies, grant: grant)
    var results: [ClaimResult] = []
    let error = thrown(IssuanceError.self) { results = try bench.run(grant) }
    let good = results.compactMap(\.credential).count
    let errors = results.compactMap(\.error)
    switch expectation {
    case .success:
      #expect(error == nil)
      #expect(good == DeviationTests.copies && errors.isEmpty, "\(errors)")
    case .fewer(let count):
      #expect(error == nil)
      #expect(good == DeviationTests.copies - count && errors.isEmpty, "\(errors)")
    case .refusal(let expected): #expect(error == expected)
    case .failure(let expected):
      #expect(error == nil)
      #expect(!errors.isEmpty && errors.allSatisfy { $0 == expected }, "\(errors)")
      #expect(good == 0)
    case .failures(let count, let expected):
      #expect(error == nil)
      #expect(errors.count == count && errors.allSatisfy { $0 == expected }, "\(errors)")
      #expect(good > 0)
    }
    // No request went to a host that nobody named.
    #expect(bench.requests.allSatisfy { $0.address.host == "issuer.example" })
    #expect(bench.requests.count < 2 * IssuanceLimits.polls)
  }

  @Test("each deviation has the outcome that is declared", arguments: IssuerDeviation.all, GrantType.allCases)
  func outcome(_ deviation: IssuerDeviation, _ grant: GrantType) throws {
    guard deviation.grants.contains(grant) else { return }
    try check(deviation, grant, announcesDPoP: false)
  }

  /// The refusals are the same whatever the token is, but for those that are about proofs of possession.
  static let withPossession = IssuerDeviation.all.filter { deviation in
    guard case .refuses(let code) = deviation else { return true }
    return code == .invalidDPoPProof || code == .useDPoPNonce || code == .invalidToken
  }

  @Test("and the same where tokens are bound to a key", arguments: DeviationTests.withPossession, GrantType.allCases)
  func outcomeWithPossession(_ deviation: IssuerDeviation, _ grant: GrantType) throws {
    guard deviation.grants.contains(grant) else { return }
    try check(deviation, grant, announcesDPoP: true)
  }

  @Test("without a deviation every grant gives every copy", arguments: GrantType.allCases)
  func none(_ grant: GrantType) throws {
    for announcesDPoP in [false, true] {
      let results = try bench(nil, announcesDPoP: announcesDPoP).run(grant)
      #expect(results.count == DeviationTests.copies)
      #expect(results.allSatisfy { $0.credential != nil })
    }
  }

  @Test("deviations have names, each its own, and are found by them")
  func names() {
    #expect(Set(IssuerDeviation.all.map(\.name)).count == IssuerDeviation.all.count)
    for deviation in IssuerDeviation.all { #expect(IssuerDeviation(name: deviation.name) == deviation) }
    #expect(IssuerDeviation.invalidNonceOnce.name == "invalid-nonce-once")
    #expect(IssuerDeviation.refuses(.invalidGrant).name == "refuses-invalid_grant")
    #expect(IssuerDeviation(name: "nothing") == nil)
  }

  @Test("what each deviation does is seen: no success where a plain service would not have differed")
  func effect() throws {
    // Those that a wallet survives have to show in what was sent.
    let nonces = try bench(.invalidNonceOnce, announcesDPoP: false)
    _ = try nonces.run()
    #expect(nonces.requests(to: .nonce).count == 2)
    #expect(nonces.requests(to: .credential).count == 2)
    let possession = try bench(.possessionDemanded, announcesDPoP: false)
    _ = try possession.run()
    #expect(possession.requests(to: .token).count == 2)
    let possessionNonce = try bench(.possessionNonceDemanded, announcesDPoP: true)
    _ = try possessionNonce.run()
    #expect(possessionNonce.requests(to: .token).count == 2)
    #expect(possessionNonce.requests(to: .credential).count == 2)
    let encryption = try bench(.encryptionRequired, announcesDPoP: false)
    encryption.options.wantsEncryption = false
    #expect(try encryption.run().allSatisfy { $0.credential != nil })
    let push = try bench(.pushedRequestRequired, announcesDPoP: false)
    push.service.settings.takesPushedRequests = false
    _ = try push.run(.authorizationCode)
    #expect(push.requests(to: .pushedRequest).count == 1)
  }
}
