import Bytes
import Crypto
import Issuer
import Mdoc
import MdocVerification
import TestSupport
import Testing
import Trust
import Wallet

/// What a verifier says about the answer of a wallet to a request for four elements of an mDL.
private func verdict(
  quirk: Quirk? = nil, flaw: Flaw? = nil, method: DeviceAuthenticationMethod = .signature, kind: DocumentKind = .mdl,
  key: Curve = .p256, issuerCurve: Curve = .p256, requested: ItemsRequest = mdlRequest
) throws -> Verdict {
  var random = SplitMix64(state: 11)
  var issue = TestIssue(kind, age: 30, now: testNow)
  issue.flaw = flaw
  issue.deviceCurve = key
  issue.issuerCurve = issuerCurve
  let outcome = try issue.issue(random: &random)
  var documents = [StoredCredential(credential: outcome.credential, method: method)]
  if quirk == .unrequestedDocument { documents.append(try storedDocument(.age)) }
  var quirks = Quirks()
  if let quirk { quirks.insert(quirk) }
  let readerKey = try PrivateKey.generate(key.kind == .edwards ? .p256 : key)
  let engagement = DeviceEngagementDraft(key: try PrivateKey.generate(readerKey.curve).publicKey).encode()
  let transcript = SessionTranscript(
    engagement: try DeviceEngagement(engagement), eReaderKey: readerKey.publicKey, handover: .qrCode)
  let response = try HolderAnswer(documents: documents, quirks: quirks).response(
    to: [requested], isGranted: [true],
    in: .init(transcript: transcript.encoded, readerKey: readerKey.publicKey))
  var policy = VerificationPolicy()
  policy.signerRevocation = .ignore
  policy.documentStatus = .ignore
  let root = try Certificate(outcome.trusted.certificate)
  return Verifier(anchors: [TrustAnchor(root, source: "test")], policy: policy).verify(
    response[...],
    in: .init(transcript: transcript.encoded[...], requested: [requested], readerKey: readerKey, now: testNow))
}

private func findings(_ verdict: Verdict, _ severities: Finding.Severity...) -> Set<String> {
  Set(verdict.allFindings.filter { severities.contains($0.severity) }.map(\.reason.text))
}

/// Quirks, and the failures each is met with.
///
/// Not among the test's arguments: a closure or an interpolation there crashes the 6.0.3 compiler.
private let failures: [(Quirk, [String])] = [
  (.responseStatus10, ["responseStatus(10)"]), (.responseStatus11, ["responseStatus(11)"]),
  (.responseStatus12, ["responseStatus(12)"]), (.documentsMissing, ["noDocuments"]),
  (.documentsEmpty, ["noDocuments"]), (.documentsNull, ["responseMalformed"]),
  (.trailingBytes, ["responseMalformed"]),
  (.truncated, ["responseMalformed"]), (.version2, ["responseVersionUnsupported"]),
  (.oversizedAnswer, ["responseTooLarge"]), (.digestMismatch, ["digestMismatch(org.iso.18013.5.1, family_name)"]),
  (.duplicateElement, ["duplicateElement(org.iso.18013.5.1, family_name)"]),
  (
    .wrongNameSpace,
    ["family_name", "given_name", "birth_date", "age_over_18"].map { "digestMissing(org.example.other, \($0))" }
  ),
  (.issuerSignature, ["issuerSignatureInvalid"]), (.noCertificate, ["signerCertificateMissing"]),
  (.noDeviceSigned, ["deviceAuthMissing"]), (.neitherDeviceAuth, ["deviceAuthMissing"]),
  (.bothDeviceAuths, ["deviceAuthMalformed"]), (.otherDeviceKey, ["deviceSignatureInvalid"]),
  (.otherTranscript, ["deviceSignatureInvalid"]), (.attachedPayload, ["deviceSignatureInvalid"]),
  (.flippedDeviceAuth, ["deviceSignatureInvalid"]),
]

@Suite("The verdict on this wallet's answer")
struct VerdictTests {
  @Test("has nothing to say about an honest one", arguments: DocumentKind.allCases, DeviceAuthenticationMethod.allCases)
  func honest(kind: DocumentKind, method: DeviceAuthenticationMethod) throws {
    let request = itemsRequest(kind.docType, kind.ageNameSpace, "age_over_18", "portrait", "issuing_country")
    let verdict = try verdict(method: method, kind: kind, requested: request)
    #expect(verdict.isVerified && verdict.allFindings.isEmpty)
  }

  @Test("is good on every curve of the device and of the signer", arguments: Curve.allCases)
  func curves(curve: Curve) throws {
    let method: DeviceAuthenticationMethod = curve.kind == .montgomery ? .mac : .signature
    #expect(try verdict(method: method, key: curve).isVerified)
    if curve.kind == .weierstrass { #expect(try verdict(method: .mac, key: curve).isVerified) }
    if curve.kind != .montgomery { #expect(try verdict(issuerCurve: curve).isVerified) }
  }

  @Test("is the declared one for a quirk", arguments: failures)
  func quirks(quirk: Quirk, failures: [String]) throws {
    let verdict = try verdict(quirk: quirk)
    #expect(findings(verdict, .failure) == Set(failures) && !verdict.isVerified)
    for failure in failures {
      #expect(quirk.expectation.contains(failure.split(separator: "(")[0]), "\(quirk.rawValue) does not announce it")
    }
  }

  @Test(
    "names the MAC where the device answers with one",
    arguments: [
      Quirk.otherDeviceKey, .otherTranscript, .attachedPayload, .flippedDeviceAuth,
    ])
  func macQuirks(quirk: Quirk) throws {
    #expect(findings(try verdict(quirk: quirk, method: .mac), .failure) == ["deviceMacInvalid"])
  }

  @Test(
    "drops what a quirk adds and keeps the rest",
    arguments: [
      (.unrequestedDocument, ["unrequestedDocument(eu.europa.ec.av.1)"]),
      (
        .deviceElement,
        ["deviceElementUnauthorized(org.example.device, note)", "unrequestedElement(org.example.device, note)"]
      ),
    ] as [(Quirk, Set<String>)])
  func dropped(quirk: Quirk, expected: Set<String>) throws {
    let verdict = try verdict(quirk: quirk)
    #expect(verdict.isVerified && findings(verdict, .dropped) == expected && findings(verdict, .failure).isEmpty)
  }

  @Test("drops every element nobody asked for, and a document of another type")
  func unrequested() throws {
    let elements = try verdict(quirk: .unrequestedElements)
    #expect(
      elements.isVerified && findings(elements, .dropped).contains("unrequestedElement(org.iso.18013.5.1, portrait)"))
    let other = try verdict(quirk: .docTypeMismatch)
    #expect(!other.isVerified && findings(other, .dropped) == ["unrequestedDocument(org.iso.18013.5.1.mDL.other)"])
    let refused = try verdict(quirk: .documentErrors)
    #expect(!refused.isVerified && findings(refused, .information) == ["documentNotReturned(org.iso.18013.5.1.mDL, 0)"])
    #expect(try verdict(quirk: .statusFirst).isVerified)
  }

  @Test(
    "is the declared one for a flaw",
    arguments: [
      (.expired, ["expired"]), (.notYetValid, ["notYetValid"]), (.inconsistentValidity, ["validityInfoInconsistent"]),
      (.signedBeforeSigner, ["signedOutsideSignerValidity"]), (.untrustedRoot, ["noTrustAnchor"]),
      (.forgedSigner, ["signerCertSignatureInvalid"]), (.foreignIssuerSignature, ["issuerSignatureInvalid"]),
      (.signerExpired, ["signerCertExpired"]), (.signerUsage, ["signerProfile(extendedKeyUsage)"]),
      (.signerIsCA, ["signerProfile(certificateAuthority)"]), (.signerKeyUsage, ["signerProfile(keyUsage)"]),
      (.signerCritical, ["signerProfile(unknownCriticalExtension)"]), (.signerCountry, ["countryMismatchChain"]),
      (.digestAlgorithm, ["digestAlgorithmUnsupported"]), (.msoMalformed, ["msoMalformed"]), (.shortRandom, []),
    ] as [(Flaw, Set<String>)])
  func flaws(flaw: Flaw, failures: Set<String>) throws {
    let verdict = try verdict(flaw: flaw)
    #expect(findings(verdict, .failure) == failures)
    #expect(verdict.isVerified == failures.isEmpty)
    if flaw == .shortRandom { #expect(findings(verdict, .warning).count == 4) }
  }
}
