import Bytes
import CivilTime
import Crypto
import Foundation
import JSON
import TestSupport
import Testing
import Web

@testable import OpenID4VCI

@Suite("OpenID4VCI: the example files of the specification")
struct VectorTests {
  private static let folder = "vectors/openid/openid4vci-1.0"

  /// What a file has to come to; a file that nobody knows is a failure.
  private static let outcomes: [String: @Sendable (VectorTests, [UInt8]) throws -> Void] = [
    "authorization_details_mso_doc.json": { try $0.details($1) },
    "authorization_details_with_as.json": { try $0.detailsWithServer($1) },
    "credential_metadata_mso_mdoc.json": { try $0.metadata($1) },
    "credential_offer_authz_code.txt": { try $0.offerWithAuthorizationCode($1) },
    "credential_offer_by_reference.json": { try $0.offerWithEmptyTransactionCode($1) },
    "credential_offer_multiple_credentials.json": { try $0.offerOfTwo($1) },
    "credential_offer_pre-authz_code.json": { try $0.offerWithCode($1) },
    "credential_request_iso_mdl.json": { try $0.request($1) },
    "credential_response_mso_mdoc.txt": { try $0.response($1) },
    "proof-jwt.json": { try $0.proof($1) },
  ]

  @Test("every file of the folder is read with the outcome it must have")
  func all() throws {
    guard let folder = shared(VectorTests.folder) else { return }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(names == VectorTests.outcomes.keys.sorted())
    for name in names {
      guard let outcome = VectorTests.outcomes[name] else {
        Issue.record("\(name) has no outcome")
        continue
      }
      try outcome(self, [UInt8](Data(contentsOf: folder.appendingPathComponent(name))))
    }
    print("OpenID4VCI examples: run \(names.count)")
  }

  private func json(_ bytes: [UInt8]) throws -> JSONValue { try #require(JSONValue(reading: bytes)) }

  /// What comes after the headers of an answer that is written out.
  private func body(_ bytes: [UInt8]) throws -> JSONValue {
    let text = String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "\r\n", with: "\n")
    let start = try #require(text.range(of: "\n\n")).upperBound
    return try json(Array(text[start...].utf8))
  }

  private func details(_ bytes: [UInt8]) throws {
    let details = try AuthorizationDetail.list(json(bytes), of: .wallet, at: .authorization)
    let nameSpace = "org.iso.18013.5.1"
    let expected = AuthorizationDetail(
      configurationID: "org.iso.18013.5.1.mDL",
      claims: [
        .init(nameSpace, "given_name"), .init(nameSpace, "family_name"), .init(nameSpace, "birth_date"),
        .init("org.iso.18013.5.1.aamva", "organ_donor"),
      ])
    #expect(details == [expected])
    #expect(try AuthorizationDetail.list([expected.json], of: .wallet, at: .authorization) == details)
  }

  private func detailsWithServer(_ bytes: [UInt8]) throws {
    let details = try AuthorizationDetail.list(json(bytes), of: .wallet, at: .authorization)
    #expect(
      details == [
        AuthorizationDetail(
          configurationID: "UniversityDegreeCredential", locations: ["https://credential-issuer.example.com"])
      ])
  }

  private func metadata(_ bytes: [UInt8]) throws {
    // The example shows one member of the document.
    guard case .object(let members) = try json(bytes) else { throw CancellationError() }
    let identifier = "https://credential-issuer.example.com"
    let whole = JSONValue.object(
      members + [
        .init("credential_issuer", .string(identifier)), .init("credential_endpoint", .string(identifier + "/c")),
      ])
    let metadata = try IssuerMetadata(reading: whole, of: address(identifier))
    #expect(metadata.configurations.count == 1)
    let configuration = try metadata.configuration("org.iso.18013.5.1.mDL")
    #expect(configuration.docType == "org.iso.18013.5.1.mDL")
    #expect(configuration.name == "Mobile Driving License")
    #expect(configuration.display.map(\.locale) == ["en-US", "ja-JP"])
    #expect(configuration.bindingMethods == ["cose_key"])
    #expect(configuration.signingAlgorithms == ["-7", "-9"])
    #expect(configuration.claims.map(\.element) == ["given_name", "family_name", "birth_date", "organ_donor"])
    #expect(configuration.claims.map(\.isMandatory) == [false, false, true, false])
    #expect(configuration.claims.last?.nameSpace == "org.iso.18013.5.1.aamva")
    #expect(configuration.claims.first?.display.last?.name == "名前")
  }

  private func offerWithAuthorizationCode(_ bytes: [UInt8]) throws {
    let offer = try CredentialOffer(reading: body(bytes))
    #expect(offer.configurationIDs == ["UniversityDegreeCredential"])
    #expect(offer.authorizationCode?.issuerState == "eyJhbGciOiJSU0Et...FYUaBy")
    #expect(offer.preAuthorizedCode == nil)
  }

  private func offerWithEmptyTransactionCode(_ bytes: [UInt8]) throws {
    let offer = try CredentialOffer(reading: json(bytes))
    #expect(offer.preAuthorizedCode?.code == "adhjhdjajkdkhjhdj")
    #expect(offer.preAuthorizedCode?.transactionCode == CredentialOffer.TransactionCode())
  }

  private func offerOfTwo(_ bytes: [UInt8]) throws {
    let offer = try CredentialOffer(reading: json(bytes))
    #expect(offer.configurationIDs == ["UniversityDegreeCredential", "org.iso.18013.5.1.mDL"])
    let code = try #require(offer.preAuthorizedCode?.transactionCode)
    #expect(code.length == 4 && code.inputMode == .numeric)
    #expect(code.description == "Please provide the one-time code that was sent via e-mail")
  }

  private func offerWithCode(_ bytes: [UInt8]) throws {
    let offer = try CredentialOffer(reading: json(bytes))
    let code = try #require(offer.preAuthorizedCode?.transactionCode)
    #expect(code.length == nil && code.inputMode == .numeric && code.description?.hasSuffix("via SMS") == true)
  }

  /// A request of a draft, with `format` and `doctype`: the issuer asks for one of the two members of the final text.
  private func request(_ bytes: [UInt8]) throws {
    var settings = IssuerSettings()
    settings.announcesDPoP = false
    let bench = try IssuanceBench(settings: settings)
    _ = try bench.run()
    var request = try #require(bench.requests(to: .credential).first)
    request.headers = request.headers.filter { $0.name == "Authorization" }
    request.headers.append(WebHeader("Content-Type", "application/json"))
    request.body = bytes
    let answer = bench.service.handle(try #require(WebCall(request)), at: bench.now)
    #expect(answer.status == 400)
    #expect(answer.object?["error"] == "invalid_credential_request")
  }

  /// The credential in it is cut by an ellipsis.
  private func response(_ bytes: [UInt8]) throws {
    guard case .array(let credentials)? = try body(bytes)["credentials"] else { throw CancellationError() }
    #expect(credentials.count == 1)
    let members = try MemberReading(["format": "mso_mdoc", "doctype": "d"], of: .issuer, at: .issuerMetadata)
    var check = IssuedCredentialCheck(configuration: try CredentialConfiguration(id: "x", members), keys: [])
    #expect(thrown(IssuedCredentialFault.self) { _ = try check.read(credentials[0]) } == .notBase64URL)
  }

  private func proof(_ bytes: [UInt8]) throws {
    let text = try #require(json(bytes)["jwt"]?.string)
    let proof = try KeyProof(reading: text)
    let issuer = "https://credential-issuer.example.com"
    let then = UnixTime(seconds: 1_701_960_444)
    #expect(proof.nonce == "LarRGSbmUPYtRYO6BQ4yn8")
    #expect(proof.clientID == nil && proof.issuedAt == then && proof.audience == issuer)
    #expect(proof.fault(audience: issuer, clientID: nil, at: then) == nil)
    #expect(proof.fault(audience: issuer + "/", clientID: nil, at: then) == .audience)
    #expect(proof.fault(audience: issuer, clientID: nil, at: then.adding(seconds: 301)) == .issuedAt)
    #expect(proof.fault(audience: issuer, clientID: nil, at: then.adding(seconds: -301)) == .issuedAt)
    let parts = text.split(separator: ".")
    let other = "A" + parts[2].dropFirst()
    #expect(
      thrown(KeyProof.Fault.self) { _ = try KeyProof(reading: "\(parts[0]).\(parts[1]).\(other)") } == .signature)
  }
}
