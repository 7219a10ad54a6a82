import Bytes
import CBOR
import Issuer
import JSON
import Mdoc
import TestSupport
import Testing
import Web

@testable import OpenID4VCI

/// One test, or a few, for each row of the list of field cases about OpenID4VCI.
@Suite("OpenID4VCI: cases from the field")
struct FieldCaseTests {
  @Test("VI01: metadata of an issuer with a path is between host and path")
  func wellKnown() throws {
    let bench = try IssuanceBench()
    _ = try bench.run()
    #expect(
      bench.requests.first?.address.text == "https://issuer.example/.well-known/openid-credential-issuer/tenant1")
  }

  @Test("VI01: metadata behind the path is found second, and only when that is wanted")
  func oldWellKnown() throws {
    let bench = try IssuanceBench()
    bench.service.deviations = [.oldWellKnownPlace]
    #expect(thrown(IssuanceError.self) { _ = try bench.run() }?.problem == .status(404))
    bench.options.triesOldWellKnown = true
    #expect(try bench.run().count == 1)
    #expect(
      bench.requests.contains {
        $0.address.text == "https://issuer.example/tenant1/.well-known/openid-credential-issuer"
      })
  }

  @Test("VI01: what is at the right place is never passed over for the old one, whatever it is")
  func bothPlaces() throws {
    let bench = try IssuanceBench()
    bench.options.triesOldWellKnown = true
    bench.service.deviations = [.otherIdentifier]
    #expect(thrown(IssuanceError.self) { _ = try bench.run() }?.problem == .otherIdentifier)
    #expect(bench.requests.count == 1)
  }

  @Test("VI02: a nonce that is null or missing is left out of the proof, and another is asked for once")
  func nullNonce() throws {
    for answer: JSONValue in [["c_nonce": .null], [:]] {
      let bench = try IssuanceBench()
      var isFirst = true
      bench.intercept = { request, send in
        guard request.address.path.hasSuffix("/nonce"), isFirst else { return send() }
        isFirst = false
        return .json(answer)
      }
      bench.options.wantsEncryption = false
      #expect(try bench.run().allSatisfy { $0.credential != nil })
      let requests = bench.requests(to: .credential)
      #expect(requests.count == 2)
      let nonces = try requests.map { try claims(ofFirstProofIn: $0)["nonce"] }
      #expect(nonces[0] == nil)
      #expect(nonces[1]?.string != nil)
    }
  }

  @Test("VI02: an issuer that refuses the second nonce too is not asked a third time")
  func nonceTwice() throws {
    let bench = try IssuanceBench()
    bench.service.deviations = [.invalidNonceAlways]
    _ = try bench.run()
    #expect(bench.requests(to: .nonce).count == 2)
    #expect(bench.requests(to: .credential).count == 2)
  }

  @Test("VI03: the nonce comes from the endpoint when there is one, and there is none without")
  func nonceEndpoint() throws {
    let with = try IssuanceBench()
    with.options.wantsEncryption = false
    // A token answer with a nonce of a draft beside the endpoint: the endpoint counts.
    with.intercept = { request, send in
      var answer = send()
      if request.address.path.hasSuffix("/token"), case .object(let members)? = answer.object {
        answer.body = Array(JSONValue.object(members + [.init("c_nonce", "old")]).text.utf8)
      }
      return answer
    }
    #expect(try with.run().allSatisfy { $0.credential != nil })
    #expect(try claims(ofFirstProofIn: with.requests(to: .credential)[0])["nonce"] != "old")

    var settings = IssuerSettings()
    settings.usesNonces = false
    let without = try IssuanceBench(settings: settings)
    without.options.wantsEncryption = false
    #expect(try without.run().allSatisfy { $0.credential != nil })
    #expect(without.requests(to: .nonce).isEmpty)
    #expect(try claims(ofFirstProofIn: without.requests(to: .credential)[0])["nonce"] == nil)
  }

  static let forms: [(IssuerDeviation?, IssuedCredentialFault?)] = [
    (nil, nil), (.wrappedInDocument, .wrapped(.document)), (.wrappedInResponse, .wrapped(.deviceResponse)),
    (.wrappedInByteString, .wrapped(.byteString)), (.paddedCredential, .padded),
  ]

  @Test(
    "VI06: a credential is taken bare, and its wrapping is named otherwise", arguments: FieldCaseTests.forms.indices)
  func form(_ place: Int) throws {
    let (deviation, fault) = FieldCaseTests.forms[place]
    let bench = try IssuanceBench()
    if let deviation { bench.service.deviations = [deviation] }
    let result = try #require(try bench.run().first)
    #expect(result.error == fault.map { IssuanceError(.issuer, .validation, .credential($0)) })
  }

  @Test("VI06: padding is told from the wrong alphabet's absence and from noise")
  func padding() throws {
    let members = try MemberReading(["format": "mso_mdoc", "doctype": "d"], of: .issuer, at: .issuerMetadata)
    var check = IssuedCredentialCheck(configuration: try CredentialConfiguration(id: "x", members), keys: [])
    let expected: [(JSONValue, IssuedCredentialFault)] = [
      ("oA==", .padded), ("+/8", .padded), ("oA", .notIssuerSigned), ("oA!", .notBase64URL), ("", .notCBOR),
      ("_w", .notCBOR), (7, .notText), (.null, .notText),
    ]
    for (text, fault) in expected {
      #expect(thrown(IssuedCredentialFault.self) { _ = try check.read(["credential": text]) } == fault, "\(text)")
    }
  }

  @Test("VI07, VI09: an unknown name, also one in another case, is refused before anybody is asked for a token")
  func unknownConfiguration() throws {
    for name in ["nothing", "org.iso.18013.5.1.mdl", "org.iso.18013.5.1.mDL "] {
      let bench = try IssuanceBench()
      let offer = bench.makeOffer(.preAuthorizedCode, [name])
      let error = thrown(IssuanceError.self) { _ = try bench.claim.discover(offer.byValue) }
      #expect(error == IssuanceError(.issuer, .offer, .unknownConfiguration(name)))
      #expect(bench.requests.count == 1)
    }
  }

  @Test("VI07: an empty list and a name that comes twice are refused before anything is asked")
  func emptyOffer() throws {
    for names in [[], ["org.iso.18013.5.1.mDL", "org.iso.18013.5.1.mDL"]] {
      let bench = try IssuanceBench()
      let offer = bench.makeOffer(.preAuthorizedCode, names)
      let error = thrown(IssuanceError.self) { _ = try bench.claim.discover(offer.byValue) }
      #expect(error == IssuanceError(.issuer, .offer, .malformed("credential_configuration_ids")))
      #expect(bench.requests.isEmpty)
    }
  }

  private func claims(ofFirstProofIn request: WebRequest) throws -> JSONValue {
    guard case .array(let proofs)? = JSONValue(reading: request.body)?["proofs"]?["jwt"] else {
      throw CancellationError()
    }
    let parts = try #require(proofs.first?.string).split(separator: ".")
    return try #require(JSONValue(reading: Base64.url.decode(parts[1])))
  }
}
