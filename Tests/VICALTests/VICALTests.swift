import Bytes
import CBOR
import CivilTime
import Crypto
import Foundation
import Issuer
import TestSupport
import Testing
import Trust

@testable import VICAL

/// A provider of lists, with issuers of its own; one change makes one case.
struct TestProvider {
  static let mdl = "org.iso.18013.5.1.mDL"
  let now = UnixTime(seconds: 1_790_000_000)
  let authority: IssuerAuthority
  let root: Certificate
  let signer: DocumentSigner
  let issuers: [Certificate]
  var draft: VICALDraft

  init(
    provider: String = "Test provider", purposes: [OID] = [.vicalSigner], seed: UInt64 = 1,
    editSigner: (inout CertificateDraft) -> Void = { _ in }
  ) throws {
    var random = SplitMix64(state: seed)
    authority = try IssuerAuthority(
      commonName: "Provider root", notBefore: now.adding(seconds: -86_400), random: &random)
    root = try Certificate(authority.certificate)
    signer = try authority.makeSigner(
      commonName: "List signer", notBefore: now.adding(seconds: -86_400), notAfter: now.adding(seconds: 86_400),
      purposes: purposes, random: &random, edit: editSigner)
    var issuers: [Certificate] = []
    for name in ["First", "Second", "Third"] {
      issuers.append(
        try Certificate(
          IssuerAuthority(commonName: name, notBefore: now.adding(seconds: -86_400), random: &random).certificate))
    }
    self.issuers = issuers
    draft = VICALDraft(
      provider: provider, date: now.adding(seconds: -3600), nextUpdate: now.adding(seconds: 3600),
      entries: issuers.map { VICALDraft.Entry($0, docTypes: [TestProvider.mdl]) })
  }

  func list(
    under trustPoints: [Certificate]? = nil, at instant: UnixTime?? = nil, key: PrivateKey? = nil,
    isRevoked: (Certificate, Certificate) -> Bool = { _, _ in false }
  ) throws -> VICAL {
    try UnverifiedVICAL(draft.encoded(signedBy: signer, key: key)[...])
      .verified(under: trustPoints ?? [root], at: instant ?? now, isRevoked: isRevoked)
  }

  func fault(
    under trustPoints: [Certificate]? = nil, at instant: UnixTime?? = nil, key: PrivateKey? = nil,
    isRevoked: (Certificate, Certificate) -> Bool = { _, _ in false }
  ) -> VICALFault? {
    thrown(VICALFault.self) { _ = try list(under: trustPoints, at: instant, key: key, isRevoked: isRevoked) }
  }
}

@Suite("Lists of issuers (VICAL)")
struct VICALTests {
  @Test("a list that its provider vouches for gives its roots, each for its doc types only")
  func good() throws {
    var provider = try TestProvider()
    provider.draft.entries[1]["docType"] = .array(["a", "b"])
    let list = try provider.list()
    #expect(list.provider == "Test provider" && list.version == "1.0" && list.issueID == 1)
    #expect(list.skipped == [] && list.entries.map(\.certificate) == provider.issuers)
    let anchors = list.anchors(source: "here")
    #expect(anchors.map(\.docTypes) == [[TestProvider.mdl], ["a", "b"], [TestProvider.mdl]])
    #expect(anchors.allSatisfy { $0.source == "here" })
    #expect(!list.isStale(at: provider.now) && list.isStale(at: provider.now.adding(seconds: 3601)))
    #expect(list.age(at: provider.now.adding(seconds: 86_400)) == 1)
  }

  @Test("the signer of the list may be trusted itself, without its root")
  func pinned() throws {
    let provider = try TestProvider()
    #expect(try provider.list(under: [Certificate(provider.signer.certificate)]).entries.count == 3)
  }

  @Test("a chain with an authority between is followed to the root")
  func intermediate() throws {
    var random = SplitMix64(state: 4)
    var provider = try TestProvider()
    let key = try PrivateKey.generate(.p256)
    var draft = CertificateDraft.issuerRoot(
      serialNumber: SerialNumber(magnitude: [7]), name: [NameAttribute(.commonName, "Between")],
      notBefore: provider.now.adding(seconds: -60), notAfter: provider.now.adding(seconds: 60),
      publicKey: key.publicKey, contact: IssuerAuthority.contact)
    draft.issuer = provider.authority.name
    let top = try IssuerAuthority(
      commonName: "Provider root", notBefore: provider.now.adding(seconds: -86_400), random: &random,
      edit: { $0[.basicConstraints] = .basicConstraints(isAuthority: true, pathLength: 1) })
    let between = try Certificate(draft.encoded(signedBy: top.key))
    let signer = try IssuerAuthority(key: key, certificate: between).makeSigner(
      notBefore: provider.now.adding(seconds: -60), notAfter: provider.now.adding(seconds: 60),
      purposes: [.vicalSigner], random: &random)
    let root = try Certificate(top.certificate)
    func fault(_ chain: [[UInt8]], _ trustPoint: Certificate) throws -> VICALFault? {
      provider.draft.chain = chain
      let encoded = try provider.draft.encoded(signedBy: signer)
      return thrown(VICALFault.self) {
        _ = try UnverifiedVICAL(encoded[...]).verified(under: [trustPoint], at: provider.now)
      }
    }
    #expect(try fault([signer.certificate, between.encoded], root) == nil)
    #expect(try fault([signer.certificate, between.encoded, root.encoded], root) == nil)
    #expect(try fault([signer.certificate], between) == nil)
    #expect(try fault([signer.certificate], root) == .signerUntrusted)
    // The same root with path length 0 may have no authority below it.
    let narrow = CertificateDraft.issuerRoot(
      serialNumber: SerialNumber(magnitude: [9]), name: top.name, notBefore: provider.now.adding(seconds: -60),
      notAfter: provider.now.adding(seconds: 60), publicKey: top.key.publicKey, contact: IssuerAuthority.contact)
    let narrowRoot = try Certificate(narrow.encoded(signedBy: top.key))
    #expect(try fault([signer.certificate, between.encoded], narrowRoot) == .signerUntrusted)
    #expect(try fault([signer.certificate, between.encoded], provider.root) == .signerUntrusted)
  }

  @Test("whoever nobody vouches for, or is no signer of lists, is not believed")
  func signers() throws {
    let provider = try TestProvider()
    #expect(provider.fault(under: []) == .signerUntrusted)
    #expect(provider.fault(under: [try TestProvider(seed: 2).root]) == .signerUntrusted)
    #expect(try TestProvider(purposes: []).fault() == .signerProfile)
    #expect(try TestProvider(purposes: [.documentSigner]).fault() == .signerProfile)
    #expect(try TestProvider(editSigner: { $0[.keyUsage] = .keyUsage(.nonRepudiation) }).fault() == nil)
    #expect(try TestProvider(editSigner: { $0[.keyUsage] = .keyUsage(.keyAgreement) }).fault() == .signerUntrusted)
    #expect(provider.fault(at: provider.now.adding(seconds: 86_401)) == .signerExpired)
    #expect(provider.fault(isRevoked: { _, _ in true }) == .signerRevoked)
  }

  @Test("a stored list is judged at the time it was issued")
  func stored() throws {
    let provider = try TestProvider()
    #expect(provider.fault(at: .some(nil)) == nil)
    #expect(
      try TestProvider(editSigner: { $0.notAfter = provider.now.adding(seconds: -7200) }).fault(at: .some(nil))
        == .signerExpired)
  }

  @Test("another key's signature and each changed byte are found")
  func signature() throws {
    let provider = try TestProvider()
    #expect(provider.fault(key: try PrivateKey.generate(.p256)) == .signatureInvalid)
    let encoded = try provider.draft.encoded(signedBy: provider.signer)
    for place in stride(from: 0, to: encoded.count, by: 11) {
      var damaged = encoded
      damaged[place] ^= 1
      #expect(throws: VICALFault.self, "byte \(place)") {
        try UnverifiedVICAL(damaged[...]).verified(under: [provider.root], at: provider.now)
      }
    }
    for count in stride(from: 0, to: encoded.count, by: 5) {
      #expect(throws: VICALFault.malformed) { try UnverifiedVICAL(encoded[..<count]) }
    }
    #expect(throws: VICALFault.malformed) { try UnverifiedVICAL((encoded + [0])[...]) }
  }

  @Test("members that are missing or of a wrong kind make the list malformed")
  func members() throws {
    for key in ["version", "vicalProvider", "date", "certificateInfos"] {
      var provider = try TestProvider()
      provider.draft.edit = { pairs in pairs.removeAll { $0.key == .text(key) } }
      #expect(provider.fault() == .malformed, "\(key)")
    }
    for key in ["version", "vicalProvider", "date", "certificateInfos", "nextUpdate", "vicalIssueID"] {
      var provider = try TestProvider()
      provider.draft.edit = { pairs in
        pairs.removeAll { $0.key == .text(key) }
        pairs.append(CBORValue.Pair(.text(key), .bool(true)))
      }
      #expect(provider.fault() == .malformed, "\(key)")
    }
    var provider = try TestProvider()
    for version in ["2.0", "1", "1.", "1.x", ""] {
      provider.draft.version = version
      #expect(provider.fault() == .versionUnsupported, "\(version)")
    }
    provider.draft.version = "1.12"
    #expect(provider.fault() == nil)
    provider.draft.edit = { $0.append(CBORValue.Pair("vicalURL", "https://example.com")) }
    #expect(provider.fault() == nil)
  }

  @Test("a list from the future is not taken; minutes are borne")
  func future() throws {
    var provider = try TestProvider()
    provider.draft.date = provider.now.adding(seconds: 301)
    #expect(provider.fault() == .notYetValid)
    provider.draft.date = provider.now.adding(seconds: 300)
    #expect(provider.fault() == nil)
  }

  @Test("one entry that cannot be used is skipped and named, and the rest stays")
  func entries() throws {
    let wrapped: (inout VICALDraft.Entry, Certificate) -> Void = { entry, certificate in
      entry["ski"] = .bytes([4, 22, 4, 20] + Array(certificate.subjectKeyIdentifier.value ?? []))
    }
    let wrappedOnce: (inout VICALDraft.Entry, Certificate) -> Void = { entry, certificate in
      entry["ski"] = .bytes([4, 20] + Array(certificate.subjectKeyIdentifier.value ?? []))
    }
    var random = SplitMix64(state: 8)
    let now = try TestProvider().now
    let noAuthority = try Certificate(
      IssuerAuthority(notBefore: now, random: &random, edit: { $0[.basicConstraints] = nil }).certificate)
    let cases: [(VICALEntryFault?, (inout VICALDraft.Entry, Certificate) -> Void)] = [
      (nil, wrapped), (nil, wrappedOnce),
      (nil, { entry, _ in entry["Extensions"] = .map([]) }),
      (.malformed, { entry, _ in entry["certificate"] = nil }),
      (.malformed, { entry, _ in entry["serialNumber"] = nil }),
      (.malformed, { entry, _ in entry["serialNumber"] = "7" }),
      (.malformed, { entry, _ in entry["ski"] = nil }),
      (.certificate, { entry, _ in entry["certificate"] = .bytes([0x30, 0]) }),
      (.serialNumberMismatch, { entry, _ in entry["serialNumber"] = 7 }),
      (.subjectKeyIdentifierMismatch, { entry, _ in entry["ski"] = .bytes([1]) }),
      (.docTypes, { entry, _ in entry["docType"] = nil }),
      (.docTypes, { entry, _ in entry["docType"] = .array([]) }),
      (.docTypes, { entry, _ in entry["docType"] = .array([7]) }),
      (.notAuthority, { entry, _ in entry = VICALDraft.Entry(noAuthority, docTypes: ["a"]) }),
    ]
    for (place, (fault, edit)) in cases.enumerated() {
      var provider = try TestProvider()
      edit(&provider.draft.entries[1], provider.issuers[1])
      let list = try provider.list()
      #expect(list.entries.count == (fault == nil ? 3 : 2), "case \(place)")
      #expect(list.skipped.map(\.number) == (fault == nil ? [] : [2]), "case \(place)")
      #expect(list.skipped.first?.fault == fault, "case \(place)")
      if fault != nil { #expect(list.skipped.first?.name == "UT") }
    }
  }

  @Test("a list of an earlier date does not take the place of a later one; numbers are labels")
  func succession() throws {
    var provider = try TestProvider()
    let first = try provider.list()
    #expect(try first.succeed(first) == [])
    provider.draft.issueID = 0
    #expect(try provider.list().succeed(first) == [.lowerIssueID(0, before: 1), .sameDate])
    provider.draft.date = first.date.adding(seconds: 1)
    #expect(try provider.list().succeed(first) == [.lowerIssueID(0, before: 1)])
    provider.draft.issueID = nil
    #expect(try provider.list().succeed(first) == [])
    let second = try provider.list()
    #expect(throws: VICALFault.older) { try first.succeed(second) }
    #expect(try TestProvider(provider: "Other").list().succeed(second) == [])
  }

  @Test("the published lists verify, with the declared entries, when their signers are trusted")
  func vectors() throws {
    guard let json = try sharedJSON("vectors/vical/expected.json") as? [[String: Any]] else { return }
    #expect(json.count == 4)
    for vector in json {
      let name = try #require(vector["file"] as? String)
      let encoded = try #require(try sharedBytes("vectors/vical/\(name)"))
      let clock = ContinuousClock()
      let start = clock.now
      let unverified = try UnverifiedVICAL(encoded[...])
      // Whoever vouches for these is not in the data, so that the signer (or the root that is in the list) is trusted.
      let chain = try certificates(of: encoded)
      let trustPoint = try Certificate(try #require(chain.last))
      let list = try unverified.verified(under: [trustPoint], at: nil)
      let time = clock.now - start
      #expect(list.provider == vector["vicalProvider"] as? String, "\(name)")
      #expect("\(list.date)" == vector["date"] as? String, "\(name)")
      #expect(list.nextUpdate?.description == vector["nextUpdate"] as? String, "\(name)")
      #expect(list.issueID == (vector["vicalIssueID"] as? Int).map(UInt64.init), "\(name)")
      let wanted = try #require(vector["entries"] as? [[String: Any]])
      #expect(list.entries.count + list.skipped.count == wanted.count, "\(name)")
      let skipped = Set(list.skipped.map(\.number))
      let usable = wanted.enumerated().filter { !skipped.contains($0.offset + 1) }.map(\.element)
      for (entry, wanted) in zip(list.entries, usable) {
        #expect(entry.docTypes == Set(wanted["docTypes"] as? [String] ?? []), "\(name)")
        let digits = wanted["serialNumberHex"] as? String ?? ""
        let serial = try #require(bytes(hex: digits.count.isMultiple(of: 2) ? digits : "0" + digits))
        #expect(entry.certificate.serialNumber == SerialNumber(magnitude: serial), "\(name)")
      }
      for entry in list.skipped {
        print("\(name): skipped entry \(entry.number): \(entry.fault.rawValue) (\(entry.name))")
      }
      print("\(name): \(list.entries.count) roots of \(wanted.count) in \(time)")
      // Damaged anywhere in the payload or the signature it is refused.
      for place in [encoded.count / 2, encoded.count - 1] {
        var damaged = encoded
        damaged[place] ^= 1
        #expect(throws: VICALFault.self, "\(name)") {
          try UnverifiedVICAL(damaged[...]).verified(under: [trustPoint], at: nil)
        }
      }
      #expect(throws: VICALFault.signerUntrusted, "\(name)") {
        try unverified.verified(under: [try TestProvider().root], at: nil)
      }
    }
  }

  /// The certificates of a list's signer.
  private func certificates(of encoded: [UInt8]) throws -> [ByteView] {
    let item = try decodeCBOR(encoded).element(1)?[label: 33]
    if let single = item?.bytes { return [single] }
    return item?.elements.map { $0.compactMap(\.bytes) } ?? []
  }
}
