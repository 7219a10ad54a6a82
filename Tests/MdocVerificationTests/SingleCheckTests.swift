import Bytes
import CBOR
import COSE
import CivilTime
import Crypto
import Issuer
import Mdoc
import StatusLists
import TestSupport
import Testing
import Trust

@testable import MdocVerification

/// What only one check stands for: without it, nothing else would refuse, or would say so. `Scripts/mutate` found that no test
/// missed them.
@Suite("Checks that stand alone")
struct SingleCheckTests {
  @Test("an MSO of another version is none that we know", arguments: ["2.0", "1.1", "1", ""])
  func version(version: String) throws {
    var visit = try TestVisit()
    let credential = try visit.issue { $0.editMSO = { $0["version"] = .text(version) } }
    #expect(try visit.verdict(on: credential).failures == ["msoVersionUnsupported"])
  }

  @Test("where lists are to be had is passed on for a document that is genuine, and of an issuer who is trusted")
  func lists() throws {
    var visit = try TestVisit()
    let credential = try visit.issue { terms in
      terms.status = .map(["status_list": .map(["idx": 1, "uri": "https://issuer.example/status/1"])])
    }
    let response = DeviceResponseDraft(documents: [try visit.presentation(credential).document()]).encode()
    let (verifier, circumstances) = try visit.verifier(asking: [(TestVisit.nameSpace, ["family_name"])])
    let named = try #require(verifier.verify(response[...], in: circumstances).documents.first?.lists)
    #expect(named.status == "https://issuer.example/status/1")
    let stranger = Verifier(anchors: [], policy: VerificationPolicy())
    #expect(stranger.verify(response[...], in: circumstances).documents.first?.lists == nil)
    let late = Verifier.Circumstances(
      transcript: circumstances.transcript, requested: circumstances.requested, readerKey: circumstances.readerKey,
      now: visit.now.adding(seconds: 60 * 86_400))
    let verdict = verifier.verify(response[...], in: late)
    #expect(verdict.failures.contains("expired") && verdict.documents.first?.lists == nil)
  }

  @Test("a signer's key that cannot be used is said to be so, beside the signature that it cannot verify")
  func signerKey() throws {
    let visit = try TestVisit()
    var random = SplitMix64(state: 3)
    let signer = try visit.authority.makeSigner(
      notBefore: visit.now.adding(seconds: -86_400), notAfter: visit.now.adding(seconds: 86_400), random: &random
    ) { draft in
      let key = visit.deviceKey.publicKey
      draft.publicKeyInfo = explicitP256KeyInfo(x: key.x, y: key.y)
    }
    let credential = try signer.issue(
      docType: MDLElements.docType, [NameSpaceContent(TestVisit.nameSpace, TestVisit.elements)],
      deviceKey: visit.deviceKey, terms: IssuanceTerms(now: visit.now), random: &random)
    let verdict = try visit.verdict(on: credential)
    #expect(verdict.texts.contains("information signerKey(explicitParameters)") && !verdict.isVerified)
  }

  @Test("the state that an mDL names is that of its signer; documents of other types may name what they like")
  func issuingPlace() throws {
    let now = UnixTime(seconds: 1_790_000_000)
    var random = SplitMix64(state: 4)
    let authority = try IssuerAuthority(
      country: "UT", state: "UT-N", notBefore: now.adding(seconds: -86_400 * 300), random: &random)
    let signer = try authority.makeSigner(
      notBefore: now.adding(seconds: -86_400 * 30), notAfter: now.adding(seconds: 86_400 * 300), random: &random)
    let anchor = TrustAnchor(try Certificate(authority.certificate), source: "test")
    var policy = VerificationPolicy()
    policy.signerRevocation = .ignore
    func failures(_ docType: String, country: String, state: String) throws -> Set<String> {
      let elements = [Element("issuing_country", .text(country)), Element("issuing_jurisdiction", .text(state))]
      let credential = try signer.issue(
        docType: docType, [NameSpaceContent(TestVisit.nameSpace, elements)], deviceKey: try .generate(.p256),
        terms: IssuanceTerms(now: now), random: &random)
      let transcript = CBORValue.array([.null, .null, .null]).encode()
      let presentation = DocumentPresentation(
        credential, selection: credential.everything, method: .signature, transcript: transcript, readerKey: nil)
      let request = ItemsRequest(
        docType: docType,
        nameSpaces: [
          .init(
            nameSpace: TestVisit.nameSpace,
            elements: elements.map { .init(identifier: $0.identifier, intentToRetain: false) })
        ])
      return Verifier(anchors: [anchor], policy: policy).verify(
        DeviceResponseDraft(documents: [try presentation.document()]).encode()[...],
        in: .init(transcript: transcript[...], requested: [request], readerKey: nil, now: now)
      ).failures
    }
    #expect(try failures(MDLElements.docType, country: "UT", state: "UT-N") == [])
    #expect(try failures(MDLElements.docType, country: "UT", state: "UT-S") == ["jurisdictionMismatch"])
    #expect(try failures(MDLElements.docType, country: "XX", state: "UT-N") == ["countryMismatch"])
    #expect(try failures("org.example.other", country: "XX", state: "UT-S") == [])
  }

  @Test("the status list of a signer that is trusted itself is its own")
  func statusOfTrustedSigner() throws {
    let visit = try TestVisit()
    var random = SplitMix64(state: 6)
    let signer = try visit.authority.makeSigner(
      notBefore: visit.now.adding(seconds: -86_400 * 30), notAfter: visit.now.adding(seconds: 86_400 * 30),
      purposes: [.documentSigner, .statusSigner], random: &random)
    let uri = "https://issuer.example/status/1"
    var terms = IssuanceTerms(now: visit.now)
    terms.status = .map(["status_list": .map(["idx": 1, "uri": .text(uri)])])
    let credential = try signer.issue(
      docType: MDLElements.docType, [NameSpaceContent(TestVisit.nameSpace, TestVisit.elements)],
      deviceKey: visit.deviceKey, terms: terms, random: &random)
    let token = try StatusTokenDraft(
      subject: uri, .statuses(bits: 2, [0, 0, 0, 0]), now: visit.now.adding(seconds: -60)
    ).encoded(signedBy: signer)
    let copy = StatusSource.Copy(
      Result { () throws(StatusFault) in try StatusToken(cwt: token[...]) }, receivedAt: visit.now)
    let (_, circumstances) = try visit.verifier(asking: [(TestVisit.nameSpace, ["family_name"])])
    let response = DeviceResponseDraft(documents: [try visit.presentation(credential).document()]).encode()
    let trusted = TrustedSigner(try Certificate(signer.certificate))
    for (signers, isKnown) in [([trusted], true), ([], false)] {
      let verifier = Verifier(
        anchors: [], trustedSigners: signers, policy: VerificationPolicy(), statuses: StatusSource([uri: copy]))
      let status = verifier.verify(response[...], in: circumstances).documents.first?.status
      #expect((status == .valid) == isKnown, "\(String(describing: status))")
    }
  }

  @Test("a MAC over a payload that is attached, or with a critical header that we do not know, is no proof")
  func mac() throws {
    var visit = try TestVisit()
    let presentation = visit.presentation(try visit.issue(), .mac)
    let proof = try presentation.deviceAuth(.mac)
    guard case .array(var parts) = proof.value else { throw CancellationError() }
    func failures(acceptsAttached: Bool = false) throws -> Set<String> {
      let auth = CBORValue.map([CBORValue.Pair(proof.key, .array(parts))])
      return try visit.verdict(on: presentation.document(deviceAuth: auth)) {
        $0.acceptsAttachedDevicePayload = acceptsAttached
      }.failures
    }
    #expect(try failures() == [])
    parts[2] = .bytes(presentation.payload)
    #expect(try failures() == ["deviceMacInvalid"])
    #expect(try failures(acceptsAttached: true) == [])
    parts[2] = .bytes(presentation.payload + [0])
    #expect(try failures(acceptsAttached: true) == ["deviceMacInvalid"])
    // Made as it should be, over a header with something critical in it.
    let protected = CBORValue.map(labels: [1: 5, 2: .array([-70_000]), -70_000: 1]).encode()
    let input = CBORValue.array(["MAC0", .bytes(protected), .bytes([]), .bytes(presentation.payload)]).encode()
    let key = try DeviceAuthentication.macKey(
      own: visit.readerKey, peer: visit.deviceKey.publicKey, transcript: visit.transcript[...])
    parts = [.bytes(protected), .map([]), .null, .bytes(hmacSHA256(key: key, message: input[...]))]
    #expect(try failures() == ["deviceMacInvalid"])
  }

  @Test("two elements of one digest id are one too many, among few and among many", arguments: [2, 40])
  func digestIDs(count: Int) throws {
    var visit = try TestVisit()
    // The last one has the digest id of the first.
    let items = (0..<count).map { place in
      let item = CBORValue.map([
        "digestID": .unsigned(UInt64(place == count - 1 ? 0 : place)),
        "random": .bytes([UInt8](repeating: 7, count: 32)),
        "elementIdentifier": .text("element_\(place)"), "elementValue": true,
      ])
      return Credential.Item(identifier: "element_\(place)", encoded: CBORValue.embedded(item).encode())
    }
    let failures = try visit.verdict(on: visit.issue(items: items)).failures
    #expect(failures.contains("duplicateElement(org.iso.18013.5.1, element_\(count - 1))"), "\(failures)")
  }
}
