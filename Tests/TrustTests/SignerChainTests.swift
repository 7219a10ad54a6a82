import CivilTime
import Crypto
import Testing

@testable import Trust

@Suite("The chain from signer to root (D1 to D9)")
struct SignerChainTests {
  @Test("a signer under its root is trusted, and the root is named")
  func good() throws {
    let pki = try TestPKI()
    let verdict = try pki.verdict()
    #expect(verdict.findings == [])
    #expect(verdict.isTrusted)
    #expect(verdict.anchor?.source == "test")
  }

  @Test("without an anchor of the issuer's name there is none; dates and profile of the signer are still checked")
  func noAnchor() throws {
    var pki = try TestPKI()
    #expect(try pki.verdict(anchors: []).findings == [hard(.noTrustAnchor)])
    #expect(try pki.verdict(anchors: [TestPKI().anchor()]).findings == [hard(.noTrustAnchor)])
    pki.signer[.keyUsage] = nil
    let late = pki.signer.notAfter.adding(seconds: 1)
    #expect(
      try pki.verdict(anchors: [], at: late).findings == [
        hard(.noTrustAnchor), hard(.signerCertExpired), hard(.signerProfile(.keyUsage)),
      ])
  }

  @Test("an anchor serves the doc types it is allowed for")
  func docTypes() throws {
    var pki = try TestPKI()
    #expect(try pki.verdict(anchors: [pki.anchor(docTypes: [TestPKI.mdl])]).findings == [])
    #expect(
      try pki.verdict(anchors: [pki.anchor(docTypes: ["eu.europa.ec.eudi.pid.1"])]).findings == [hard(.noTrustAnchor)])
    #expect(try pki.verdict(anchors: [pki.anchor(docTypes: [])]).findings == [hard(.noTrustAnchor)])
    pki.requirements.docType = "eu.europa.ec.eudi.pid.1"
    #expect(try pki.verdict(anchors: [pki.anchor(docTypes: [TestPKI.mdl])]).findings == [hard(.noTrustAnchor)])
  }

  @Test("an anchor with the right name and identifier but another key makes the signature invalid")
  func otherKey() throws {
    let pki = try TestPKI()
    var other = try TestPKI()
    other.root[.subjectKeyIdentifier] = .subjectKeyIdentifier(pki.rootKey.publicKey.keyIdentifier)
    let verdict = try pki.verdict(anchors: [other.anchor()])
    #expect(verdict.findings == [hard(.signerCertSignatureInvalid)])
    #expect(verdict.anchor == nil)
  }

  @Test("after an invalid signature the anchor's dates, profile and country are not looked at")
  func notDone() throws {
    var pki = try TestPKI()
    pki.setCountry(["XX"], root: false)
    var other = try TestPKI()
    other.root[.subjectKeyIdentifier] = nil
    other.root.notAfter = TestPKI.now.adding(seconds: -1)
    #expect(try pki.verdict(anchors: [other.anchor()]).findings == [hard(.signerCertSignatureInvalid)])
  }

  @Test("of two roots of one name the one whose key signed is taken, whatever the order", arguments: [false, true])
  func twoKeys(reversed: Bool) throws {
    var pki = try TestPKI()
    let other = try TestPKI()
    pki.signer[.authorityKeyIdentifier] = nil
    let anchors = try [TrustAnchor(other.rootCertificate(), source: "other"), pki.anchor()]
    let verdict = try pki.verdict(anchors: reversed ? anchors.reversed() : anchors)
    #expect(verdict.findings == [soft(.signerProfile(.authorityKeyIdentifier))])
    #expect(verdict.anchor?.source == "test")
  }

  @Test("of reissued certificates of one key one that is valid now is taken", arguments: [false, true])
  func reissued(reversed: Bool) throws {
    let pki = try TestPKI()
    var old = pki
    old.root.notAfter = TestPKI.now.adding(seconds: -1)
    let expired = TrustAnchor(try old.rootCertificate(), source: "old")
    let anchors = [expired, try pki.anchor()]
    #expect(try pki.verdict(anchors: reversed ? anchors.reversed() : anchors).anchor?.source == "test")
    let verdict = try pki.verdict(anchors: [expired])
    #expect(verdict.findings == [hard(.anchorExpired), soft(.validityNesting)])
  }

  @Test("dates count to the second, end points included")
  func dates() throws {
    let pki = try TestPKI()
    #expect(try pki.verdict(at: pki.signer.notAfter).findings == [])
    #expect(try pki.verdict(at: pki.signer.notBefore).findings == [])
    #expect(try pki.verdict(at: pki.signer.notAfter.adding(seconds: 1)).findings == [hard(.signerCertExpired)])
    #expect(try pki.verdict(at: pki.signer.notBefore.adding(seconds: -1)).findings == [hard(.signerCertNotYetValid)])
    var late = pki
    late.root.notBefore = TestPKI.now.adding(seconds: 1)
    #expect(try late.verdict().findings == [hard(.anchorNotYetValid), soft(.validityNesting)])
  }

  @Test("a signer that outlives its root is a warning")
  func nesting() throws {
    var pki = try TestPKI()
    pki.root.notAfter = pki.signer.notAfter.adding(seconds: -1)
    #expect(try pki.verdict().findings == [soft(.validityNesting)])
  }

  @Test(
    "countries must be one and the same",
    arguments: [
      (["UT"], ["UT"], true), (["UT"], ["XX"], false), (["UT"], ["ut"], false), ([], [], false), (["UT"], [], false),
      (["UT", "UT"], ["UT", "UT"], false), (["UT"], ["UT", "UT"], false), (["UT"], ["UT "], false),
    ])
  func countries(root: [String], signer: [String], isGood: Bool) throws {
    var pki = try TestPKI()
    pki.setCountry(root, root: true)
    pki.setCountry(signer, root: false)
    #expect(try pki.verdict().findings == (isGood ? [] : [hard(.countryMismatchChain)]))
  }

  @Test(
    "a state in either must be in both",
    arguments: [
      (["UT-A"], ["UT-A"], true), (["UT-A"], [], false), ([], ["UT-A"], false), (["UT-A"], ["UT-B"], false),
      (["UT-A", "UT-B"], ["UT-A", "UT-B"], false),
    ])
  func states(root: [String], signer: [String], isGood: Bool) throws {
    var pki = try TestPKI()
    pki.root.subject += root.map { NameAttribute(.stateOrProvinceName, $0) }
    pki.root.issuer = pki.root.subject
    pki.signer.issuer = pki.root.subject
    pki.signer.subject += signer.map { NameAttribute(.stateOrProvinceName, $0) }
    #expect(try pki.verdict().findings == (isGood ? [] : [hard(.stateMismatchChain)]))
  }

  @Test(
    "names that differ in string type, case and spaces are equal only when normalized",
    arguments: [
      NameAttribute(.commonName, "Test Root", stringTag: NameAttribute.printableString),
      NameAttribute(.commonName, "TEST root"), NameAttribute(.commonName, "  Test   Root "),
    ])
  func names(attribute: NameAttribute) throws {
    var pki = try TestPKI()
    pki.signer.issuer[1] = attribute
    #expect(try pki.verdict().findings == [])
    pki.comparison = .bytes
    #expect(try pki.verdict().findings == [hard(.noTrustAnchor)])
    pki.signer.issuer[1] = NameAttribute(.commonName, "TestRoot")
    pki.comparison = .normalized
    #expect(try pki.verdict().findings == [hard(.noTrustAnchor)])
  }

  @Test("a root that signs documents itself is refused")
  func rootAsSigner() throws {
    let pki = try TestPKI()
    let anchor = try pki.anchor()
    #expect(
      Set(try pki.verdict(anchors: [anchor], signer: anchor.certificate).findings.filter(\.isHard).map(\.reason)) == [
        .signerProfile(.keyUsage), .signerProfile(.certificateAuthority), .signerProfile(.extendedKeyUsage),
        .selfSignedSigner,
      ])
  }

  @Test("a self-signed signer is trusted only when it is in the list of trusted signers")
  func selfSigned() throws {
    var pki = try TestPKI()
    pki.signer.issuer = pki.signer.subject
    pki.signer[.authorityKeyIdentifier] = .authorityKeyIdentifier(pki.signerKey.publicKey.keyIdentifier)
    pki.rootKey = pki.signerKey
    let signer = try pki.signerCertificate()
    #expect(try pki.verdict(anchors: []).findings == [hard(.noTrustAnchor)])
    #expect(
      try pki.verdict(anchors: [TrustAnchor(signer, source: "test")], signer: signer).findings.filter(\.isHard)
        == [hard(.selfSignedSigner)])
    pki.trustedSigners = [TrustedSigner(signer)]
    let verdict = try pki.verdict(anchors: [], signer: signer)
    #expect(verdict.findings == [])
    #expect(verdict.isTrustedSigner)
    #expect(verdict.anchor == nil)
    // Its own dates still count.
    #expect(
      try pki.verdict(signer: signer, at: signer.notAfter.adding(seconds: 1)).findings == [hard(.signerCertExpired)])
    // One that differs in a byte, here of the signature, is another certificate.
    #expect(try pki.verdict(anchors: []).findings == [hard(.noTrustAnchor)])
  }

  @Test("a trusted signer is trusted for its doc types alone; a root may vouch for it in others")
  func trustedForDocTypes() throws {
    var pki = try TestPKI()
    let signer = try pki.signerCertificate()
    pki.trustedSigners = [TrustedSigner(signer, docTypes: [TestPKI.mdl])]
    let direct = try pki.verdict(anchors: [], signer: signer)
    #expect(direct.findings == [] && direct.isTrustedSigner && direct.anchor == nil)
    // Also with a root at hand its own trust comes first.
    #expect(try pki.verdict(signer: signer).isTrustedSigner)
    pki.requirements.docType = "org.example.other"
    let other = try pki.verdict(anchors: [], signer: signer)
    #expect(other.findings == [hard(.noTrustAnchor)] && !other.isTrustedSigner && !other.isTrusted)
    let rooted = try pki.verdict(signer: signer)
    #expect(rooted.findings == [] && !rooted.isTrustedSigner && rooted.anchor != nil)
    // A root of that doc type alone does not widen the other way.
    let narrow = [try pki.anchor(docTypes: [TestPKI.mdl])]
    #expect(try pki.verdict(anchors: narrow, signer: signer).findings == [hard(.noTrustAnchor)])
    // Of two entries both count.
    pki.trustedSigners.append(TrustedSigner(signer, docTypes: ["org.example.other"]))
    #expect(try pki.verdict(anchors: [], signer: signer).findings == [])
  }

  @Test("a root of the same name with a new key is another root, whatever the old key says about it (link certificate)")
  func rollover() throws {
    let pki = try TestPKI()
    let newKey = try PrivateKey.generate(.p256)
    // The new key's certificate, once signed by the old key and once by itself.
    var successor = pki.root
    successor.serialNumber = SerialNumber(magnitude: [3])
    successor.publicKeyInfo = CertificateDraft.publicKeyInfo(of: newKey.publicKey)
    successor[.subjectKeyIdentifier] = .subjectKeyIdentifier(newKey.publicKey.keyIdentifier)
    var link = successor
    link[.authorityKeyIdentifier] = .authorityKeyIdentifier(pki.rootKey.publicKey.keyIdentifier)
    var draft = pki.signer
    draft[.authorityKeyIdentifier] = .authorityKeyIdentifier(newKey.publicKey.keyIdentifier)
    let signer = try Certificate(try draft.encoded(signedBy: newKey))
    let old = try pki.anchor()
    #expect(try pki.verdict(anchors: [old], signer: signer).findings == [hard(.noTrustAnchor)])
    // Nor does one that leaves out whose key it is.
    draft[.authorityKeyIdentifier] = nil
    let silent = try Certificate(try draft.encoded(signedBy: newKey))
    #expect(try pki.verdict(anchors: [old], signer: silent).findings.contains(hard(.signerCertSignatureInvalid)))
    // Trusted is the new root once somebody has added it, in either form, and the old one stays what it was.
    for form in [try successor.encoded(signedBy: newKey), try link.encoded(signedBy: pki.rootKey)] {
      let anchors = [old, TrustAnchor(try Certificate(form), source: "test")]
      #expect(try pki.verdict(anchors: anchors, signer: signer).isTrusted)
      #expect(try pki.verdict(anchors: anchors).isTrusted)
    }
  }

  @Test("an assessment that was kept asks for the doc type each time")
  func keptForDocTypes() throws {
    let pki = try TestPKI()
    let signer = try pki.signerCertificate()
    let trust = SignerTrust(
      anchors: TrustAnchors([]), trustedSigners: [TrustedSigner(signer, docTypes: [TestPKI.mdl])])
    for docType in [TestPKI.mdl, "org.example.other", TestPKI.mdl] {
      let verdict = try trust.assess(signer.encoded[...]).verdict(
        for: ChainRequirements(docType: docType), at: TestPKI.now)
      #expect(verdict.isTrusted == (docType == TestPKI.mdl))
    }
    #expect(trust.cachedCount == 1)
  }

  @Test(
    "revocation costs what the policy says",
    arguments: [
      (RevocationDemand.ignore, RevocationAnswer.revoked, [ChainFinding]()), (.prefer, .good, []),
      (.require, .good, []),
      (.prefer, .revoked, [hard(.signerRevoked)]), (.require, .revoked, [hard(.signerRevoked)]),
      (.prefer, .unknown, [soft(.revocationUnknown)]), (.require, .unknown, [hard(.revocationUnknown)]),
    ])
  func revocation(demand: RevocationDemand, answer: RevocationAnswer, findings: [ChainFinding]) throws {
    var pki = try TestPKI()
    pki.requirements.revocation = demand
    #expect(try pki.verdict(revocation: answer).findings == findings)
  }
}

@Suite("Signers seen before")
struct SignerTrustTests {
  @Test("a signer that chains is kept and given again; dates are checked each time")
  func kept() throws {
    let pki = try TestPKI()
    let trust = SignerTrust(anchors: TrustAnchors([try pki.anchor()]))
    let response = [0xAA] + (try pki.signerCertificate().encoded) + [0xBB]
    let first = try trust.assess(response[1..<response.count - 1])
    let second = try trust.assess(Array(response.dropFirst().dropLast())[...])
    #expect(first.certificate === second.certificate)
    #expect(trust.cachedCount == 1)
    #expect(second.verdict(for: pki.requirements, at: TestPKI.now).findings == [])
    let late = pki.signer.notAfter.adding(seconds: 1)
    #expect(second.verdict(for: pki.requirements, at: late).findings == [hard(.signerCertExpired)])
    let other = ChainRequirements(docType: "other", keyPurpose: .readerAuthentication)
    #expect(second.verdict(for: other, at: TestPKI.now).findings == [hard(.signerProfile(.extendedKeyUsage))])
  }

  @Test("strangers are not kept, and what is no certificate is refused")
  func strangers() throws {
    let trust = SignerTrust(anchors: TrustAnchors([try TestPKI().anchor()]))
    _ = try trust.assess(try TestPKI().signerCertificate().encoded[...])
    #expect(trust.cachedCount == 0)
    #expect(throws: CertificateError.malformed) { try trust.assess([0x30, 0]) }
  }

  @Test("the cache is bounded and forgets the one unused for longest")
  func bounded() throws {
    var pki = try TestPKI()
    let trust = SignerTrust(anchors: TrustAnchors([try pki.anchor()]), cacheCapacity: 2)
    var encoded: [[UInt8]] = []
    for serial in 1...3 {
      pki.signer.serialNumber = SerialNumber(magnitude: [UInt8(serial)])
      encoded.append(try pki.signerCertificate().encoded)
    }
    let first = try trust.assess(encoded[0][...])
    let second = try trust.assess(encoded[1][...])
    #expect(try trust.assess(encoded[0][...]).certificate === first.certificate)
    _ = try trust.assess(encoded[2][...])
    #expect(trust.cachedCount == 2)
    #expect(try trust.assess(encoded[0][...]).certificate === first.certificate)
    #expect(try trust.assess(encoded[1][...]).certificate !== second.certificate)
  }
}

@Suite("Revocation lists (D8)")
struct RevocationTests {
  struct Lists {
    var pki: TestPKI
    var draft: RevocationListDraft
    var key: PrivateKey

    init() throws {
      pki = try TestPKI()
      key = pki.rootKey
      draft = RevocationListDraft(
        issuer: pki.root.subject, issuerKey: pki.rootKey.publicKey,
        thisUpdate: TestPKI.now.adding(seconds: -TestPKI.day), nextUpdate: TestPKI.now.adding(seconds: TestPKI.day))
    }

    mutating func revoke() {
      draft.revoked = [
        (SerialNumber(magnitude: [9]), TestPKI.now), (pki.signer.serialNumber, TestPKI.now),
        (SerialNumber(magnitude: [1, 1]), TestPKI.now),
      ]
    }

    func answer(_ more: [CertificateRevocationList] = []) throws -> RevocationAnswer {
      let list = try CertificateRevocationList(try draft.encoded(signedBy: key))
      return RevocationLists([list] + more).answer(
        for: try pki.signerCertificate(), under: try pki.anchor(), at: TestPKI.now)
    }
  }

  @Test("a current list answers, and an outdated one can only revoke")
  func current() throws {
    var lists = try Lists()
    #expect(try lists.answer() == .good)
    lists.draft.nextUpdate = TestPKI.now
    #expect(try lists.answer() == .good)
    lists.draft.nextUpdate = TestPKI.now.adding(seconds: -1)
    #expect(try lists.answer() == .unknown)
    lists.draft.nextUpdate = nil
    #expect(try lists.answer() == .unknown)
    lists.draft.thisUpdate = TestPKI.now.adding(seconds: 1)
    lists.draft.nextUpdate = TestPKI.now.adding(seconds: 2)
    #expect(try lists.answer() == .unknown)
    lists.revoke()
    #expect(try lists.answer() == .revoked)
    lists = try Lists()
    lists.revoke()
    #expect(try lists.answer() == .revoked)
  }

  @Test("a serial number of the other sign is another one")
  func sign() throws {
    var lists = try Lists()
    lists.draft.revoked = [(SerialNumber(magnitude: [2], isNegative: true), TestPKI.now)]
    #expect(try lists.answer() == .good)
    lists.pki.signer.serialNumber = SerialNumber(magnitude: [2], isNegative: true)
    #expect(try lists.answer() == .revoked)
    lists.pki.signer.serialNumber = SerialNumber(magnitude: [])
    #expect(try lists.answer() == .good)
    lists.draft.revoked = [(SerialNumber(magnitude: []), TestPKI.now)]
    #expect(try lists.answer() == .revoked)
  }

  @Test(
    "a list that is not the root's own is as if not there",
    arguments: [RevocationListFault.signature, .issuer, .keyUsage, .criticalExtension, .delta])
  func notOwn(fault: RevocationListFault) throws {
    var lists = try Lists()
    lists.revoke()
    switch fault {
    case .signature: lists.key = lists.pki.signerKey
    case .issuer: lists.draft.issuer = lists.pki.signer.subject
    case .keyUsage: lists.pki.root[.keyUsage] = .keyUsage(.keyCertSign)
    case .criticalExtension:
      // An issuing distribution point, which would make the list a partial one.
      lists.draft.extensions.append(ExtensionDraft(.issuingDistributionPoint, isCritical: true, value: [0x30, 0]))
    default: lists.draft.extensions.append(ExtensionDraft(.deltaCRLIndicator, value: [2, 1, 1]))
    }
    #expect(fault.isFatal)
    #expect(try lists.answer() == .unknown)
    let list = try CertificateRevocationList(try lists.draft.encoded(signedBy: lists.key))
    #expect(list.fault(under: try lists.pki.rootCertificate()) == fault)
  }

  @Test("a list without a number, or of a part of the certificates, revokes and does not clear")
  func notInProfile() throws {
    for fault in [RevocationListFault.numberMissing, .scope] {
      var lists = try Lists()
      if fault == .scope {
        lists.draft.extensions.append(ExtensionDraft(.issuingDistributionPoint, value: [0x30, 0]))
      } else {
        lists.draft.extensions.removeAll { $0.oid == .crlNumber }
      }
      #expect(try lists.answer() == .unknown)
      let list = try CertificateRevocationList(try lists.draft.encoded(signedBy: lists.key))
      #expect(list.fault(under: try lists.pki.rootCertificate()) == fault)
      lists.revoke()
      #expect(try lists.answer() == .revoked)
    }
  }

  @Test("a list of a later date with a lower number does not take the place of another")
  func succession() throws {
    let lists = try Lists()
    func list(_ number: Int, after seconds: Int64) throws -> CertificateRevocationList {
      let draft = RevocationListDraft(
        issuer: lists.pki.root.subject, issuerKey: lists.pki.rootKey.publicKey,
        thisUpdate: TestPKI.now.adding(seconds: seconds), nextUpdate: nil, number: number)
      return try CertificateRevocationList(try draft.encoded(signedBy: lists.key))
    }
    let first = try list(300, after: 0)
    #expect(try list(300, after: 0).isNoOlder(than: first))
    #expect(try list(301, after: 0).isNoOlder(than: first))
    #expect(try list(70_000, after: 1).isNoOlder(than: first))
    #expect(try !list(299, after: 1).isNoOlder(than: first))
    #expect(try !list(2, after: 1).isNoOlder(than: first))
    #expect(try !list(301, after: -1).isNoOlder(than: first))
  }

  @Test("only the lists of the root's name are asked, among many")
  func manyIssuers() throws {
    var lists = try Lists()
    lists.revoke()
    var others: [CertificateRevocationList] = []
    for number in 0..<50 {
      let other = RevocationListDraft(
        issuer: [NameAttribute(.commonName, "Root \(number)")], issuerKey: lists.pki.rootKey.publicKey,
        thisUpdate: TestPKI.now, nextUpdate: TestPKI.now.adding(seconds: 60))
      others.append(try CertificateRevocationList(try other.encoded(signedBy: lists.key)))
    }
    #expect(try lists.answer(others) == .revoked)
    lists.draft.revoked = []
    #expect(try lists.answer(others) == .good)
  }

  @Test("a root without key usage may sign lists, and of two lists the current one answers")
  func more() throws {
    var lists = try Lists()
    lists.pki.root[.keyUsage] = nil
    #expect(try lists.answer() == .good)
    let current = try CertificateRevocationList(try lists.draft.encoded(signedBy: lists.key))
    lists.draft.nextUpdate = TestPKI.now.adding(seconds: -1)
    #expect(try lists.answer([current]) == .good)
    #expect(current.revokedCount == 0)
  }

  @Test("a cut list and one with a byte after it are malformed")
  func exactLength() throws {
    var lists = try Lists()
    lists.revoke()
    let der = try lists.draft.encoded(signedBy: lists.key)
    #expect(try CertificateRevocationList(der).revokedCount == 3)
    for count in 0..<der.count {
      #expect(throws: CertificateError.malformed) { try CertificateRevocationList(der.prefix(count)) }
    }
    #expect(throws: CertificateError.malformed) { try CertificateRevocationList(der + [0]) }
  }
}
