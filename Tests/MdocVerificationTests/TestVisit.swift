import Bytes
import CBOR
import COSE
import CivilTime
import Crypto
import Issuer
import Mdoc
import MdocVerification
import TestSupport
import Trust

/// An issuer, a holder and a verifier of their own: what a test changes between them is the one thing that is new.
struct TestVisit {
  static let nameSpace = MDLElements.nameSpace

  let now = UnixTime(seconds: 1_790_000_000)
  let authority: IssuerAuthority
  let signer: DocumentSigner
  let deviceKey: PrivateKey
  let readerKey: PrivateKey
  let transcript = CBORValue.array([.null, .null, .null]).encode()
  private var random = SplitMix64(state: 7)

  /// - Parameter signerNotBefore: a month before `now` when nil.
  init(deviceKey: PrivateKey? = nil, signerCurve: Curve = .p256, signerNotBefore: UnixTime? = nil) throws {
    authority = try IssuerAuthority(notBefore: now.adding(seconds: -365 * 86_400), random: &random)
    signer = try authority.makeSigner(
      curve: signerCurve, notBefore: signerNotBefore ?? now.adding(seconds: -30 * 86_400),
      notAfter: now.adding(seconds: 300 * 86_400), random: &random)
    let key = try deviceKey ?? PrivateKey.generate(.p256)
    self.deviceKey = key
    readerKey = try PrivateKey.generate(key.publicKey.curve)
  }

  static let elements = [Element("family_name", "Spécimen"), Element("age_over_18", true)]

  /// An mDL of these elements.
  mutating func issue(
    _ elements: [Element] = TestVisit.elements, _ edit: (inout IssuanceTerms) -> Void = { _ in }
  ) throws -> Credential {
    var terms = IssuanceTerms(now: now)
    edit(&terms)
    return try signer.issue(
      docType: MDLElements.docType, [NameSpaceContent(TestVisit.nameSpace, elements)], deviceKey: deviceKey,
      terms: terms, random: &random)
  }

  /// An mDL of items that are encoded elsewhere; each has the place in the list as its digest id.
  mutating func issue(items: [Credential.Item]) throws -> Credential {
    let digests = items.enumerated().map { place, item in
      CBORValue.Pair(.unsigned(UInt64(place)), .bytes(digest(.sha256, item.encoded)))
    }
    let issued = try issue([]) { terms in
      terms.editMSO = { $0["valueDigests"] = .map([CBORValue.Pair(.text(TestVisit.nameSpace), .map(digests))]) }
    }
    return issued.with(items: items)
  }

  /// A document with everything that the credential has.
  func presentation(_ credential: Credential, _ method: DeviceAuthenticationMethod = .signature) -> DocumentPresentation
  {
    DocumentPresentation(
      credential, selection: credential.everything, method: method, transcript: transcript,
      readerKey: readerKey.publicKey)
  }

  /// The verdict on a response, with nothing said about lists that nobody fetches.
  func verdict(
    on response: [UInt8], asking elements: [String] = TestVisit.elements.map(\.identifier),
    in nameSpace: String = TestVisit.nameSpace, policy edit: (inout VerificationPolicy) -> Void = { _ in }
  ) throws -> Verdict {
    let (verifier, circumstances) = try verifier(asking: [(nameSpace, elements)], policy: edit)
    return verifier.verify(response[...], in: circumstances)
  }

  /// Who gives such verdicts, and what about: for tests that ask for many.
  func verifier(
    asking nameSpaces: [(name: String, elements: [String])], policy edit: (inout VerificationPolicy) -> Void = { _ in }
  ) throws -> (Verifier, Verifier.Circumstances) {
    var policy = VerificationPolicy()
    policy.signerRevocation = .ignore
    edit(&policy)
    let request = ItemsRequest(
      docType: MDLElements.docType,
      nameSpaces: nameSpaces.map { nameSpace in
        .init(
          nameSpace: nameSpace.name, elements: nameSpace.elements.map { .init(identifier: $0, intentToRetain: false) })
      })
    let anchor = TrustAnchor(try Certificate(authority.certificate), source: "test")
    return (
      Verifier(anchors: [anchor], policy: policy),
      Verifier.Circumstances(transcript: transcript[...], requested: [request], readerKey: readerKey, now: now)
    )
  }

  func verdict(
    on document: CBORValue, asking elements: [String] = TestVisit.elements.map(\.identifier),
    in nameSpace: String = TestVisit.nameSpace, policy edit: (inout VerificationPolicy) -> Void = { _ in }
  ) throws -> Verdict {
    try verdict(
      on: DeviceResponseDraft(documents: [document]).encode(), asking: elements, in: nameSpace, policy: edit)
  }

  /// The verdict on an honest presentation of a credential.
  func verdict(
    on credential: Credential, asking elements: [String] = TestVisit.elements.map(\.identifier),
    policy edit: (inout VerificationPolicy) -> Void = { _ in }
  ) throws -> Verdict {
    try verdict(on: presentation(credential).document(), asking: elements, policy: edit)
  }
}

extension Credential {
  /// The same signature beside other items of the one name space.
  func with(items: [Credential.Item]) -> Credential {
    Credential(
      docType: docType, nameSpaces: [.init(name: TestVisit.nameSpace, items: items)], issuerAuth: issuerAuth,
      deviceKey: deviceKey)
  }

  func with(issuerAuth: [UInt8]) -> Credential {
    Credential(docType: docType, nameSpaces: nameSpaces, issuerAuth: issuerAuth, deviceKey: deviceKey)
  }
}

extension CBORValue {
  /// The same map with one member changed, or taken away.
  func replacing(_ key: String, with value: CBORValue?) -> CBORValue {
    guard case .map(let members) = self else { return self }
    let rest = members.filter { $0.key != .text(key) }
    return .map(rest + (value.map { [Pair(.text(key), $0)] } ?? []))
  }

  subscript(key: String) -> CBORValue? {
    guard case .map(let members) = self else { return nil }
    return members.first { $0.key == .text(key) }?.value
  }
}

extension Verdict {
  /// Every finding as text.
  var texts: [String] { allFindings.map { "\($0.severity.rawValue) \($0.reason.text)" }.sorted() }

  /// The hard findings, each once; a test compares them whole, so that nothing else may be wrong.
  var failures: Set<String> { Set(allFindings.filter { $0.severity == .failure }.map(\.reason.text)) }
}

/// An encoded map, array or byte string of fewer than 24 members or bytes, its head longer than it need be.
func widened(_ encoded: [UInt8]) -> [UInt8] {
  [encoded[0] & 0xe0 | 25, 0, encoded[0] & 0x1f] + encoded.dropFirst()
}
