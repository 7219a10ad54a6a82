import Bytes
import CBOR
import COSE
import CivilTime
import Crypto
import Issuer
import Mdoc
import TestSupport
import Testing

private let now = UnixTime(seconds: 1_790_000_000)

/// A document made with a seed, and its parsed parts.
private struct Sample {
  let outcome: TestIssue.Outcome
  let issuerAuth: COSESign1
  let mso: MobileSecurityObject
  let signer: Certificate
  let root: Certificate

  init(_ issue: TestIssue, seed: UInt64 = 1) throws {
    var random = SplitMix64(state: seed)
    outcome = try issue.issue(random: &random)
    issuerAuth = try COSESign1(decodeCBOR(outcome.credential.issuerAuth))
    mso = try MobileSecurityObject(
      payload: try #require(issuerAuth.structure.payload), dates: MobileSecurityObject.DateRules())
    signer = try Certificate(try #require(issuerAuth.structure.x5chain.first))
    root = try Certificate(outcome.trusted.certificate)
  }

  func value(_ element: String, in nameSpace: String) -> CBORItem? {
    outcome.credential.nameSpaces.first { $0.name == nameSpace }?.items.first { $0.identifier == element }?.value
  }
}

@Suite("An issued document")
struct IssueTests {
  @Test("is signed by a signer of the profile under a root of the profile", arguments: DocumentKind.allCases)
  func chain(kind: DocumentKind) throws {
    let sample = try Sample(TestIssue(kind, age: 30, now: now))
    let signerKey = try sample.signer.publicKey.get()
    #expect(sample.issuerAuth.isValid(for: try #require(sample.issuerAuth.structure.payload), key: signerKey))
    let rootKey = try sample.root.publicKey.get()
    #expect(sample.signer.isSigned(by: rootKey))
    #expect(sample.root.isSigned(by: rootKey))
    #expect(sample.signer.issuer == sample.root.subject)
    #expect(sample.signer.version == 3 && sample.root.version == 3)
    #expect(sample.signer.keyUsage.value == .digitalSignature && sample.signer.keyUsage.isCritical)
    #expect(sample.signer.extendedKeyUsage.value == [.documentSigner] && sample.signer.extendedKeyUsage.isCritical)
    #expect(!sample.signer.basicConstraints.isPresent)
    #expect(sample.signer.authorityKeyIdentifier.value == sample.root.subjectKeyIdentifier.value)
    #expect(sample.signer.subject.countries == ["UT"] && sample.root.subject.countries == ["UT"])
    #expect(sample.root.keyUsage.value == [.keyCertSign, .crlSign])
    #expect(
      sample.root.basicConstraints.value?.isAuthority == true && sample.root.basicConstraints.value?.pathLength == 0)
    #expect(
      sample.signer.notBefore <= sample.mso.validity.signed && sample.mso.validity.signed <= sample.signer.notAfter)
    #expect(sample.root.notBefore <= sample.signer.notBefore && sample.signer.notAfter <= sample.root.notAfter)
    #expect((sample.signer.notAfter.seconds - sample.signer.notBefore.seconds) / 86_400 <= 457)
  }

  @Test(
    "lists the digest of every item under a different id, with decoys beside them", arguments: DocumentKind.allCases)
  func digests(kind: DocumentKind) throws {
    var issue = TestIssue(kind, age: 30, now: now)
    issue.decoys = 5
    let sample = try Sample(issue)
    #expect(sample.mso.docType == kind.docType && sample.outcome.credential.docType == kind.docType)
    let payload = try decodeCBOR(try #require(sample.issuerAuth.structure.payload)).embedded()
    for space in sample.outcome.credential.nameSpaces {
      var ids: [UInt64] = []
      for item in space.items {
        let read = try #require(IssuerSignedItem(try decodeCBOR(item.encoded)))
        #expect(sample.mso.digest(read.digestID, in: space.name).map(Array.init) == digest(.sha256, item.encoded))
        #expect(read.randomSize == 32)
        ids.append(read.digestID)
      }
      #expect(Set(ids).count == ids.count)
      #expect(payload[key: "valueDigests"]?.value(under: space.name)?.count == space.items.count + 5)
    }
  }

  @Test("gives its digest ids in no order that tells the elements")
  func shuffled() throws {
    let sample = try Sample(TestIssue(.mdl, age: 30, now: now))
    let ids = sample.outcome.credential.nameSpaces[0].items.compactMap {
      (try? decodeCBOR($0.encoded)).flatMap(IssuerSignedItem.init)?.digestID
    }
    #expect(ids != ids.sorted())
  }

  @Test("is the same again for the same seed, and another for another")
  func deterministic() throws {
    let issue = TestIssue(.mdl, age: 30, now: now)
    let first = try Sample(issue).outcome
    #expect(try Sample(issue).outcome.credential.nameSpaces == first.credential.nameSpaces)
    #expect(try Sample(issue).outcome.credential.deviceKey.publicKey == first.credential.deviceKey.publicKey)
    #expect(try Sample(issue, seed: 2).outcome.credential.nameSpaces != first.credential.nameSpaces)
  }

  @Test(
    "uses each digest algorithm by its name",
    arguments: [
      (HashAlgorithm.sha256, "SHA-256"), (.sha384, "SHA-384"), (.sha512, "SHA-512"),
    ])
  func digestAlgorithms(algorithm: HashAlgorithm, name: String) throws {
    var issue = TestIssue(.age, age: 30, now: now)
    issue.digest = algorithm
    let sample = try Sample(issue)
    #expect(sample.mso.digestAlgorithm == name)
    let item = try #require(sample.outcome.credential.nameSpaces[0].items.first)
    let read = try #require(IssuerSignedItem(try decodeCBOR(item.encoded)))
    let listed = sample.mso.digest(read.digestID, in: "eu.europa.ec.av.1").map(Array.init)
    #expect(listed == digest(algorithm, item.encoded))
  }

  @Test("can be signed with a key on every curve that signs", arguments: Curve.allCases)
  func issuerCurves(curve: Curve) throws {
    var issue = TestIssue(.age, age: 30, now: now)
    issue.issuerCurve = curve
    if curve.kind == .montgomery {
      #expect(throws: IssuerError.curve(curve.rawValue)) { try Sample(issue) }
      return
    }
    let sample = try Sample(issue)
    let key = try sample.signer.publicKey.get()
    #expect(key.curve == curve)
    #expect(sample.issuerAuth.isValid(for: try #require(sample.issuerAuth.structure.payload), key: key))
    #expect(sample.signer.isSigned(by: try sample.root.publicKey.get()))
  }

  @Test("is bound to a device key on any curve", arguments: Curve.allCases)
  func deviceCurves(curve: Curve) throws {
    var issue = TestIssue(.age, age: 30, now: now)
    issue.deviceCurve = curve
    let sample = try Sample(issue)
    let key = try PublicKey(coseKey: sample.mso.deviceKey)
    #expect(key == sample.outcome.credential.deviceKey.publicKey && key.curve == curve)
  }

  @Test(
    "states ages that agree with the birth date",
    arguments: [
      (17, [true, false, false, false]), (18, [true, true, false, false]), (20, [true, true, false, false]),
      (21, [true, true, true, false]), (64, [true, true, true, false]), (65, [true, true, true, true]),
      (0, [false, false, false, false]),
    ])
  func ages(age: Int, expected: [Bool]) throws {
    let issue = TestIssue(.mdl, age: age, now: now)
    #expect(issue.content.person.birthDate.completedYears(on: now.date()) == age)
    let sample = try Sample(issue)
    let found = ["age_over_16", "age_over_18", "age_over_21", "age_over_65"].map {
      sample.value($0, in: "org.iso.18013.5.1")?.bool
    }
    #expect(found == expected)
    #expect(sample.value("age_in_years", in: "org.iso.18013.5.1")?.uint == UInt64(age))
  }

  @Test("carries every mandatory element of an mDL in its own kind")
  func mandatory() throws {
    var issue = TestIssue(.mdl, age: 40, now: now)
    issue.content.portraitSize = 4321
    let sample = try Sample(issue)
    let space = "org.iso.18013.5.1"
    for element in [
      "family_name", "given_name", "issuing_country", "issuing_authority", "document_number", "un_distinguishing_sign",
    ] { #expect(sample.value(element, in: space)?.text?.isEmpty == false, "\(element)") }
    for element in ["birth_date", "issue_date", "expiry_date"] {
      let text = sample.value(element, in: space)?.untagged(1004).text
      #expect(text.flatMap { CalendarDate($0) } != nil && sample.value(element, in: space)?.tagNumber == 1004)
    }
    #expect(sample.value("portrait", in: space)?.bytes?.count == 4321)
    #expect(sample.value("driving_privileges", in: space)?.count == 2)
  }

  @Test(
    "has the name spaces of its kind",
    arguments: [
      (DocumentKind.mdl, ["org.iso.18013.5.1"]), (.pid, ["eu.europa.ec.eudi.pid.1"]), (.age, ["eu.europa.ec.av.1"]),
      (.photoid, ["org.iso.23220.1", "org.iso.23220.photoid.1"]),
    ])
  func nameSpaces(kind: DocumentKind, expected: [String]) throws {
    let sample = try Sample(TestIssue(kind, age: 30, now: now))
    #expect(sample.outcome.credential.nameSpaces.map(\.name) == expected)
    #expect(sample.value("age_over_18", in: kind.ageNameSpace)?.bool == true)
  }

  @Test("refuses a portrait of an impossible size")
  func portraitSize() {
    var issue = TestIssue(.mdl, age: 30, now: now)
    issue.content.portraitSize = 10
    #expect(throws: IssuerError.portraitSize(10)) { try Sample(issue) }
  }

  @Test("carries the state of its root in the signer, and as its jurisdiction")
  func jurisdiction() throws {
    var issue = TestIssue(.mdl, age: 30, now: now)
    issue.content.jurisdiction = "UT-01"
    let sample = try Sample(issue)
    #expect(sample.root.subject.states == ["UT-01"] && sample.signer.subject.states == ["UT-01"])
    #expect(sample.value("issuing_jurisdiction", in: "org.iso.18013.5.1")?.text == "UT-01")
  }
}

@Suite("A flaw")
struct FlawTests {
  private func facts(_ flaw: Flaw?) throws -> [String: Bool] {
    var random = SplitMix64(state: 3)
    var issue = TestIssue(.mdl, age: 30, now: now)
    issue.flaw = flaw
    let outcome = try issue.issue(random: &random)
    let auth = try COSESign1(decodeCBOR(outcome.credential.issuerAuth))
    let payload = try #require(auth.structure.payload)
    let signer = try Certificate(try #require(auth.structure.x5chain.first))
    let root = try Certificate(outcome.trusted.certificate)
    let mso = try? MobileSecurityObject(payload: payload, dates: MobileSecurityObject.DateRules())
    let items = outcome.credential.nameSpaces[0].items.compactMap {
      (try? decodeCBOR($0.encoded)).flatMap(IssuerSignedItem.init)
    }
    let validity = mso?.validity
    return [
      "issuer signature": auth.isValid(for: payload, key: try signer.publicKey.get()),
      "signer signature": signer.isSigned(by: try root.publicKey.get()),
      "issuer name": signer.issuer == root.subject,
      "signer dates": signer.notBefore <= now && now <= signer.notAfter,
      "usage": signer.extendedKeyUsage.value == [.documentSigner],
      "no authority": !signer.basicConstraints.isPresent,
      "key usage": signer.keyUsage.value == .digitalSignature,
      "critical": signer.extensions.filter(\.isCritical).count == 2,
      "country": signer.subject.countries == root.subject.countries,
      "mso": mso != nil,
      "digest algorithm": mso.map { $0.digestAlgorithm == "SHA-256" } ?? true,
      "not expired": validity.map { now <= $0.validUntil } ?? true,
      "started": validity.map { $0.validFrom <= now } ?? true,
      "consistent": validity.map { $0.signed <= $0.validFrom && $0.validFrom < $0.validUntil } ?? true,
      "signed in time": validity.map { signer.notBefore <= $0.signed && $0.signed <= signer.notAfter } ?? true,
      "random": items.allSatisfy { $0.randomSize >= 16 },
      "digests": mso.map { mso in
        items.allSatisfy {
          mso.digest($0.digestID, in: "org.iso.18013.5.1").map(Array.init) == digest(.sha256, Array($0.encoded))
        }
      } ?? true,
    ]
  }

  @Test(
    "changes one thing and nothing else",
    arguments: [
      (nil, []), (.expired, ["not expired"]), (.notYetValid, ["started"]), (.inconsistentValidity, ["consistent"]),
      (.signedBeforeSigner, ["signed in time"]), (.untrustedRoot, ["signer signature", "issuer name"]),
      (.forgedSigner, ["signer signature"]), (.foreignIssuerSignature, ["issuer signature"]),
      (.signerExpired, ["signer dates"]), (.signerUsage, ["usage"]), (.signerIsCA, ["no authority", "critical"]),
      (.signerKeyUsage, ["key usage"]), (.signerCritical, ["critical"]), (.signerCountry, ["country"]),
      (.digestAlgorithm, ["digest algorithm"]), (.msoMalformed, ["mso"]), (.shortRandom, ["random"]),
    ] as [(Flaw?, Set<String>)])
  func one(flaw: Flaw?, broken: Set<String>) throws {
    #expect(Set(try facts(flaw).filter { !$0.value }.keys) == broken)
  }

  @Test("has the name and the expectation of the reference peer")
  func names() throws {
    guard let text = try sharedBytes("peer/holder_socket.py").map({ String(decoding: $0, as: UTF8.self) }) else {
      return
    }
    for flaw in Flaw.allCases {
      #expect(text.contains("\n    \"\(flaw.rawValue)\": ("), "\(flaw.rawValue)")
    }
  }
}
