import Issuer
import JSON
import TestSupport
import Testing
import Web

@testable import OpenID4VCI

@Suite("OpenID4VCI: whether the issuer of a credential is trusted")
struct TrustTests {
  private let untrusted = IssuanceError(.issuer, .validation, .credential(.untrustedIssuer))

  @Test("without a root the credential is refused, or handed out with that said where it is allowed")
  func none() throws {
    let bench = try IssuanceBench()
    bench.options.anchors = []
    #expect(try bench.run().map(\.error) == [untrusted])
    #expect(bench.requests(to: .roots).isEmpty)
    bench.options.allowsUntrustedIssuer = true
    #expect(try bench.run().map { $0.credential?.trust } == [IssuerTrust.none])
  }

  @Test("roots that the issuer publishes count where that is allowed, and are asked for once")
  func published() throws {
    let bench = try IssuanceBench(kinds: [.mdl, .pid])
    bench.options.anchors = []
    bench.options.trustsIssuerAutomatically = true
    #expect(try bench.run().map { $0.credential?.trust } == [.publishedRoot, .publishedRoot])
    #expect(bench.requests(to: .roots).count == 1)
  }

  @Test("a root that was given comes before those that are published")
  func given() throws {
    let bench = try IssuanceBench()
    bench.options.trustsIssuerAutomatically = true
    #expect(try bench.run().map { $0.credential?.trust } == [.givenRoot])
    #expect(bench.requests(to: .roots).isEmpty)
  }

  @Test("an issuer that publishes no root, or another, is not trusted")
  func others() throws {
    for deviation in [nil, IssuerDeviation.unknownRoot] {
      var settings = IssuerSettings()
      settings.announcesRoots = deviation != nil
      let bench = try IssuanceBench(settings: settings)
      bench.options.anchors = []
      bench.options.trustsIssuerAutomatically = true
      if let deviation { bench.service.deviations = [deviation] }
      #expect(try bench.run().map(\.error) == [untrusted])
    }
  }

  @Test("a root that has expired vouches for nobody, and that is said, wherever it came from")
  func expiredRoot() throws {
    for isGiven in [true, false] {
      let bench = try IssuanceBench()
      bench.now = bench.now.adding(seconds: 3_000 * 86_400)
      if !isGiven { bench.options.anchors = [] }
      bench.options.trustsIssuerAutomatically = !isGiven
      let expected = IssuedCredentialFault.notAuthentic(["anchorExpired"])
      #expect(try bench.run().map(\.error) == [IssuanceError(.issuer, .validation, .credential(expected))])
    }
  }

  @Test("that nobody vouches for the issuer excuses nothing else")
  func otherFaults() throws {
    let bench = try IssuanceBench()
    bench.options.anchors = []
    bench.options.allowsUntrustedIssuer = true
    for deviation in [IssuerDeviation.badDigest, .badIssuerSignature, .expiredDocument, .otherDocType] {
      bench.service.deviations = [deviation]
      guard case .failure(let expected) = deviation.expectation(copies: 1, grant: .preAuthorizedCode) else {
        Issue.record("\(deviation)")
        continue
      }
      #expect(try bench.run().map(\.error) == [expected])
    }
  }

  static let lists: [(JSONValue, IssuanceError.Problem)] = [
    ([:], .missing("iacas")), (["iacas": 1], .malformed("iacas")),
    (["iacas": [["certificate": "AAAA"]]], .malformed("certificate")), (["iacas": [[:]]], .missing("certificate")),
    (.object(["iacas": .array((0...IssuanceLimits.roots).map { _ in [:] })]), .tooMany("iacas")),
  ]

  @Test("a list of roots that cannot be read is the credential's error", arguments: TrustTests.lists.indices)
  func unreadable(_ place: Int) throws {
    let (list, problem) = TrustTests.lists[place]
    let bench = try IssuanceBench()
    bench.options.anchors = []
    bench.options.trustsIssuerAutomatically = true
    bench.intercept = { request, send in request.address.path.hasSuffix("/iacas") ? .json(list) : send() }
    #expect(try bench.run().map(\.error) == [IssuanceError(.issuer, .roots, problem)])
    bench.options.allowsUntrustedIssuer = true
    #expect(try bench.run().map { $0.credential?.trust } == [IssuerTrust.none])
  }
}
