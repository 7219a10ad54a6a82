import Bytes
import CivilTime
import Crypto
import Issuer
import JSON
import Mdoc
import TestSupport
import Testing
import Trust
import Web

@testable import OpenID4VCI

@Suite("OpenID4VCI: claims of a wallet at an issuer in memory")
struct ClaimTests {
  @Test("an offer by reference is fetched, and discovery says what it is about without using anything up")
  func discovery() throws {
    let bench = try IssuanceBench(kinds: [.mdl, .pid])
    let made = bench.makeOffer(.preAuthorizedCode)
    let found = try bench.claim.discover(made.byReference)
    #expect(found.offer == made.offer)
    #expect(found.credentials.map(\.docType) == ["org.iso.18013.5.1.mDL", "eu.europa.ec.eudi.pid.1"])
    #expect(found.credentials.map(\.name) == ["Test driving licence", "Test person identification"])
    #expect(found.credentials[0].claims.contains { $0.element == "portrait" && $0.isMandatory })
    #expect(found.issuerName == "Test issuer")
    #expect(found.transactionCode == CredentialOffer.TransactionCode(length: 4))
    #expect(found.rootsAddress?.text == "https://issuer.example/tenant1/iacas")
    #expect(found.tokenEndpoint.text == "https://issuer.example/tenant1/token")
    #expect(found.hosts == ["issuer.example"])
    #expect(bench.requests.allSatisfy { $0.method == .get })
    #expect(try bench.claim.retrieve(found).allSatisfy { $0.credential != nil })
  }

  @Test("a claim gives documents that are whole and bound to the wallet's keys", arguments: GrantType.allCases)
  func documents(_ grant: GrantType) throws {
    let bench = try IssuanceBench(kinds: [.mdl, .pid, .age, .photoid])
    bench.options.copies = 2
    let results = try bench.run(grant)
    #expect(results.count == 8)
    #expect(Set(results.map(\.docType)) == Set(DocumentKind.allCases.map(\.docType)))
    let keys = try results.map { try #require($0.credential).credential.deviceKey.publicKey.x }
    #expect(Set(keys).count == 8)
    let claimed = try #require(results.first?.credential)
    #expect(claimed.trust == .givenRoot)
    #expect(claimed.credential.nameSpaces[0].items.contains { $0.identifier == "family_name" })
    #expect(claimed.validity.validUntil > bench.now)
    #expect(bench.service.notifications.values.allSatisfy { $0 == "credential_accepted" })
    #expect(bench.service.notifications.count == 4)
  }

  @Test("one kind out of several is asked for by name")
  func some() throws {
    let bench = try IssuanceBench(kinds: [.mdl, .pid])
    let claim = bench.claim
    let found = try claim.discover(bench.makeOffer(.authorizationCode).byValue)
    #expect(
      try claim.retrieve(found, configurationIDs: ["eu.europa.ec.eudi.pid.1"]).map(\.docType) == [
        DocumentKind.pid.docType
      ])
    #expect(try claim.retrieve(found, configurationIDs: []).isEmpty)
    #expect(
      thrown(IssuanceError.self) { _ = try claim.retrieve(found, configurationIDs: ["x"]) }
        == IssuanceError(.wallet, .offer, .unknownConfiguration("x")))
  }

  @Test("an issuer without a path, and one on this machine, are claimed from like others")
  func places() throws {
    for identifier in ["https://issuer.example", "http://127.0.0.1:8080/a/b", "https://issuer.example/t/"] {
      for grant in GrantType.allCases {
        #expect(try IssuanceBench(identifier).run(grant).allSatisfy { $0.credential != nil }, "\(identifier)")
      }
    }
  }

  static let settings: [WritableKeyPath<IssuerSettings, Bool> & Sendable] = [
    \.requiresDPoP, \.demandsDPoPNonce, \.requiresPushedRequests, \.requiresEncryption, \.namesCredentials,
  ]

  @Test("whatever an issuer may ask for is done", arguments: ClaimTests.settings, GrantType.allCases)
  func demands(_ setting: WritableKeyPath<IssuerSettings, Bool> & Sendable, _ grant: GrantType) throws {
    var settings = IssuerSettings()
    settings[keyPath: setting] = true
    let bench = try IssuanceBench(settings: settings)
    #expect(try bench.run(grant).allSatisfy { $0.credential != nil })
  }

  static let lacks: [WritableKeyPath<IssuerSettings, Bool> & Sendable] = [
    \.announcesDPoP, \.takesPushedRequests, \.offersEncryption, \.allowsAnonymous, \.usesNonces, \.announcesRoots,
  ]

  @Test("whatever an issuer may lack is done without", arguments: ClaimTests.lacks, GrantType.allCases)
  func lack(_ setting: WritableKeyPath<IssuerSettings, Bool> & Sendable, _ grant: GrantType) throws {
    var settings = IssuerSettings()
    settings[keyPath: setting] = false
    let bench = try IssuanceBench(settings: settings)
    #expect(try bench.run(grant).allSatisfy { $0.credential != nil })
  }

  @Test("a wallet says who it is, but not to a server that lets it in without")
  func anonymity() throws {
    for isAnonymous in [true, false] {
      var settings = IssuerSettings()
      settings.allowsAnonymous = isAnonymous
      let bench = try IssuanceBench(settings: settings)
      _ = try bench.run()
      let request = try #require(bench.requests(to: .token).first)
      let form = try #require(FormFields(reading: String(decoding: request.body, as: UTF8.self)))
      #expect((form["client_id"] == nil) == isAnonymous)
    }
  }

  @Test("a page of consent is answered by the user, yes or no")
  func consent() throws {
    for (answer, error) in [("yes", nil), ("no", IssuanceErrorCode.accessDenied)] {
      var settings = IssuerSettings()
      settings.asksConsent = true
      let bench = try IssuanceBench(settings: settings)
      bench.signIn = { [unowned bench] address in
        let page = WebCall(WebRequest(.get, address)).map { bench.service.handle($0, at: bench.now) }
        let text = String(decoding: page?.body ?? [], as: UTF8.self)
        guard page?.mediaType == "text/html", let start = text.firstRange(of: #"name="request" value=""#)?.upperBound
        else { return nil }
        let form: FormFields = ["request": String(text[start...].prefix { $0 != "\"" }), "answer": answer]
        let target = OpenID4VCITests.address(bench.service.address(.authorization))
        let call = WebCall(WebRequest.post(target, form: form))
        return call.flatMap { bench.service.handle($0, at: bench.now)[header: "Location"] }
      }
      guard let error else {
        #expect(try bench.run(.authorizationCode).allSatisfy { $0.credential != nil })
        continue
      }
      #expect(
        thrown(IssuanceError.self) { _ = try bench.run(.authorizationCode) }
          == IssuanceError(.authorizationServer, .authorization, .refused(error, "")))
    }
  }

  @Test("a user who gives up, or comes back from elsewhere, ends the claim before a token is asked for")
  func signIn() throws {
    let redirect = "test-wallet://callback"
    let cases: [(String?, IssuanceError)] = [
      (nil, IssuanceError(.wallet, .authorization, .givenUp)),
      ("", IssuanceError(.authorizationServer, .authorization, .malformed("redirect_uri"))),
      ("other-wallet://callback?code=x", IssuanceError(.authorizationServer, .authorization, .otherRedirect)),
      (redirect + "?code=x", IssuanceError(.authorizationServer, .authorization, .otherState)),
      (redirect + "?code=x&state=y", IssuanceError(.authorizationServer, .authorization, .otherState)),
      (
        redirect + "?code=x&state=y&state=z",
        IssuanceError(.authorizationServer, .authorization, .malformed("redirect_uri"))
      ),
    ]
    for (answer, error) in cases {
      let bench = try IssuanceBench()
      bench.signIn = { _ in answer }
      #expect(thrown(IssuanceError.self) { _ = try bench.run(.authorizationCode) } == error)
      #expect(bench.requests(to: .token).isEmpty)
    }
  }

  @Test("an answer without the server's name is refused where the server says it gives one")
  func missingIssuer() throws {
    let bench = try IssuanceBench()
    bench.signIn = { [unowned bench] address in
      bench.visit(address)?.split(separator: "&").filter { !$0.hasPrefix("iss=") }.joined(separator: "&")
    }
    #expect(
      thrown(IssuanceError.self) { _ = try bench.run(.authorizationCode) }
        == IssuanceError(.authorizationServer, .authorization, .otherAuthorizationServer))
  }

  @Test("a wrong transaction code is refused, and five of them end the offer")
  func transactionCode() throws {
    let bench = try IssuanceBench()
    let made = bench.makeOffer(.preAuthorizedCode)
    let right = bench.typedCode
    let claim = bench.claim
    let found = try claim.discover(made.byValue)
    bench.typedCode = nil
    #expect(
      thrown(IssuanceError.self) { _ = try claim.retrieve(found) } == IssuanceError(.wallet, .token, .givenUp))
    bench.typedCode = "none"
    let refused = IssuanceError(.authorizationServer, .token, .refused(.invalidGrant, "tx_code"))
    for _ in 0..<5 { #expect(thrown(IssuanceError.self) { _ = try claim.retrieve(found) } == refused) }
    bench.typedCode = right
    #expect(
      thrown(IssuanceError.self) { _ = try claim.retrieve(found) }
        == IssuanceError(.authorizationServer, .token, .refused(.invalidGrant, "pre-authorized_code")))
  }

  @Test("a credential that is ready later is waited for, by the issuer's interval")
  func deferred() throws {
    var settings = IssuerSettings()
    settings.pollsUntilReady = 3
    settings.pollInterval = 20
    let bench = try IssuanceBench(settings: settings)
    bench.options.copies = 2
    #expect(try bench.run().filter { $0.credential != nil }.count == 2)
    #expect(bench.waits == [.seconds(20), .seconds(20), .seconds(20)])
  }

  @Test("what comes later comes encrypted too, and to the same wallet")
  func deferredAndEncrypted() throws {
    var settings = IssuerSettings()
    settings.pollsUntilReady = 2
    settings.requiresEncryption = true
    settings.namesCredentials = true
    let bench = try IssuanceBench(kinds: [.mdl, .age], settings: settings)
    #expect(try bench.run(.authorizationCode).filter { $0.credential != nil }.count == 2)
    for endpoint in [IssuerService.Endpoint.credential, .deferredCredential] {
      for request in bench.requests(to: endpoint) {
        #expect(request.headers.contains(WebHeader("Content-Type", "application/jwt")))
        #expect(request.body.filter { $0 == UInt8(ascii: ".") }.count == 4)
      }
    }
  }

  @Test("no wait is longer than the caller's patience, all together")
  func patience() throws {
    var settings = IssuerSettings()
    settings.pollsUntilReady = 3
    settings.pollInterval = 20
    for (seconds, waits) in [(10, 0), (59, 2)] {
      let bench = try IssuanceBench(settings: settings)
      bench.options.patience = .seconds(seconds)
      let result = try #require(try bench.run().first)
      #expect(result.error == IssuanceError(.issuer, .deferredCredential, .stillPending(seconds: 20)))
      #expect(bench.waits.count == waits)
    }
  }

  @Test("a claim that fails half way gives the good ones and reports the others")
  func halfWay() throws {
    let bench = try IssuanceBench(kinds: [.mdl, .pid, .age])
    var count = 0
    bench.intercept = { request, send in
      guard request.address.path.hasSuffix("/credential") else { return send() }
      count += 1
      return count == 2 ? WebAnswer(status: 500) : send()
    }
    let results = try bench.run()
    #expect(results.map { $0.credential != nil } == [true, false, true])
    #expect(results[1].error == IssuanceError(.issuer, .credential, .status(500)))
    #expect(results[1].docType == DocumentKind.pid.docType)
  }

  @Test("credentials come in any order, each with the key it is bound to")
  func order() throws {
    let bench = try IssuanceBench()
    bench.options.copies = 3
    bench.options.wantsEncryption = false
    bench.intercept = { request, send in
      var answer = send()
      if request.address.path.hasSuffix("/credential"), case .array(let list)? = answer.object?["credentials"] {
        answer.body = Array(JSONValue.object(["credentials": .array(list.reversed())]).text.utf8)
      }
      return answer
    }
    let results = try bench.run()
    #expect(results.filter { $0.credential != nil }.count == 3)
  }

  @Test("what cannot be stored is reported to the issuer as a failure")
  func notKept() throws {
    let bench = try IssuanceBench()
    bench.options.copies = 2
    var claim = bench.claim
    var kept = 0
    claim.keep = { _ in
      kept += 1
      if kept == 2 { throw IssuanceBench.Abandoned() }
    }
    let results = try claim.retrieve(claim.discover(bench.makeOffer(.preAuthorizedCode).byValue))
    #expect(results.map(\.error) == [nil, IssuanceError(.wallet, .validation, .notKept)])
    #expect(Array(bench.service.notifications.values) == ["credential_failure"])
  }

  @Test("keys that are too few, the same, or on another curve are the wallet's own fault")
  func keys() throws {
    let twice = try PrivateKey.generate(.p256)
    let sources: [(Int) throws -> [PrivateKey]] = [
      { _ in [] }, { count in (0..<count).map { _ in twice } },
      { count in try (0..<count).map { _ in try PrivateKey.generate(.p384) } },
    ]
    for source in sources {
      let bench = try IssuanceBench()
      bench.options.copies = 2
      bench.makeKeys = source
      #expect(try bench.run().map(\.error) == [IssuanceError(.wallet, .credential, .keys)])
      #expect(bench.requests(to: .credential).isEmpty)
    }
  }
}
