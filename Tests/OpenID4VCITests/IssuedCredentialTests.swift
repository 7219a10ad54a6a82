import Bytes
import CBOR
import Crypto
import Issuer
import JSON
import Mdoc
import TestSupport
import Testing
import Trust

@testable import OpenID4VCI

@Suite("OpenID4VCI: a credential is judged like a reader judges it")
struct IssuedCredentialTests {
  /// The verdict of a wallet on a document that its issuer made so.
  private func judge(
    _ flaw: Flaw?, allowsUntrusted: Bool = false, edit: (inout TestIssue) -> Void = { _ in }
  ) throws -> Result<ClaimedCredential, IssuanceError> {
    let bench = try IssuanceBench()
    var random = SplitMix64(state: 9)
    var order = TestIssue(.mdl, age: 30, now: bench.now)
    order.flaw = flaw
    edit(&order)
    let outcome = try order.issue(random: &random)
    bench.options.anchors = [TrustAnchor(try Certificate(outcome.trusted.certificate), source: "test")]
    bench.options.allowsUntrustedIssuer = allowsUntrusted
    let found = try bench.claim.discover(bench.makeOffer(.preAuthorizedCode).byValue)
    var check = IssuedCredentialCheck(configuration: found.credentials[0], keys: [outcome.credential.deviceKey])
    let text = Base64.url.encode(outcome.credential.issuerSigned)
    do throws(IssuanceError) {
      return .success(try ClaimConversation(bench.claim, found).judge(["credential": .string(text)], &check))
    } catch {
      return .failure(error)
    }
  }

  @Test("a document without a flaw is taken, as it was issued")
  func flawless() throws {
    let claimed = try judge(nil).get()
    #expect(claimed.trust == .givenRoot)
    #expect(claimed.credential.docType == MDLElements.docType)
  }

  @Test("each flaw of the test issuer is found", arguments: Flaw.allCases)
  func flaws(_ flaw: Flaw) throws {
    for allowsUntrusted in [false, true] {
      let result = try judge(flaw, allowsUntrusted: allowsUntrusted)
      switch (flaw, result) {
      case (.shortRandom, .success): break
      case (.untrustedRoot, .success(let claimed)): #expect(allowsUntrusted && claimed.trust == .none)
      case (.untrustedRoot, .failure(let error)):
        #expect(!allowsUntrusted)
        #expect(error == IssuanceError(.issuer, .validation, .credential(.untrustedIssuer)))
      case (.msoMalformed, .failure(let error)):
        #expect(error == IssuanceError(.issuer, .validation, .credential(.objectMalformed("docType"))))
      case (_, .failure(let error)):
        guard case .credential(.notAuthentic(let reasons)) = error.problem, let first = reasons.first else {
          Issue.record("\(error)")
          return
        }
        #expect(flaw.expectation.contains(first), "\(reasons)")
      case (_, .success): Issue.record("\(flaw) was not found")
      }
    }
  }

  @Test("other curves and digests are taken as a reader takes them")
  func algorithms() throws {
    for curve in [Curve.p384, .p521, .brainpoolP256r1] {
      #expect(try judge(nil) { $0.issuerCurve = curve }.get().trust == .givenRoot)
    }
    #expect(try judge(nil) { $0.digest = .sha512 }.get().trust == .givenRoot)
  }

  @Test("a mandatory element that is missing is named")
  func missing() throws {
    let result = try judge(nil) { $0.content.ageLimits = [] }
    guard case .failure(let error) = result,
      case .credential(.missingElement(let nameSpace, let element)) = error.problem
    else {
      Issue.record("\(result)")
      return
    }
    #expect(nameSpace == MDLElements.nameSpace && element == "age_over_16")
  }
}
