import Bytes
import CBOR
import CivilTime
import Crypto
import Foundation
import Issuer
import Kernel
import TestSupport
import Testing
import Trust
import VICAL

@testable import TrustStore

/// A store that trusts one provider of lists.
private final class ListStore {
  let path = FileManager.default.temporaryDirectory.appendingPathComponent("lists-\(UUID().uuidString)").path
  let now = UnixTime(seconds: 1_790_000_000)
  let provider: IssuerAuthority
  let signer: DocumentSigner
  let issuers: [Certificate]
  var draft: VICALDraft
  var store: TrustStore { TrustStore(folder: path) }

  init() throws {
    var random = SplitMix64(state: 11)
    let start = now.adding(seconds: -86_400)
    provider = try IssuerAuthority(commonName: "Provider", notBefore: start, random: &random)
    signer = try provider.makeSigner(
      notBefore: start, notAfter: now.adding(seconds: 86_400), purposes: [.vicalSigner], random: &random)
    issuers = try [
      Certificate(IssuerAuthority(commonName: "One", notBefore: start, random: &random).certificate),
      Certificate(IssuerAuthority(commonName: "Two", notBefore: start, random: &random).certificate),
    ]
    draft = VICALDraft(
      provider: "AAMVA (test)", date: now.adding(seconds: -60), issueID: 7,
      entries: issuers.map { VICALDraft.Entry($0, docTypes: ["org.iso.18013.5.1.mDL"]) })
    _ = try store.add(provider.certificate, to: .listSigners, at: now)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// What tells providers of one name apart.
  var digits: String {
    digest(.sha256, Array("AAMVA (test)".utf8) + [0] + provider.certificate).prefix(4).hex
  }

  func encoded(key: PrivateKey? = nil) throws -> [UInt8] { try draft.encoded(signedBy: signer, key: key) }

  func write(_ bytes: [UInt8], to name: String) throws {
    try Files.makeFolder(path + "/lists")
    try Data(bytes).write(to: URL(fileURLWithPath: path + "/lists/" + name))
  }

  var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path + "/lists"))?.sorted() ?? [] }
}

@Suite("Lists of issuers in the store")
struct IssuerListTests {
  @Test("an imported list gives its roots with its doc types, beside those that were added here")
  func importing() throws {
    let folder = try ListStore()
    #expect(folder.store.load().trustsNobody)
    let result = try folder.store.importList(folder.encoded(), at: folder.now)
    #expect(result.outcome == .imported && result.previous == nil && result.remarks == [])
    #expect(folder.files == ["aamva-test-\(folder.digits).cbor"])
    let contents = folder.store.load()
    #expect(!contents.trustsNobody && contents.problems == [] && contents.lists.count == 1)
    #expect(contents.anchors.map(\.certificate) == folder.issuers && contents.localAnchors.isEmpty)
    #expect(contents.anchors.allSatisfy { $0.docTypes == ["org.iso.18013.5.1.mDL"] })
    #expect(contents.anchors.allSatisfy { $0.source == result.stored.file })
    // A provider's root vouches for no document.
    #expect(!contents.anchors.contains { $0.certificate.encoded == folder.provider.certificate })
    _ = try folder.store.add(folder.issuers[0].encoded, at: folder.now)
    #expect(folder.store.load().localAnchors.count == 1 && folder.store.load().anchors.count == 3)
  }

  @Test("a list that does not verify, an older one and a damaged one leave the last verified one in force")
  func refusals() throws {
    let folder = try ListStore()
    let good = try folder.encoded()
    _ = try folder.store.importList(good, at: folder.now)
    func refused(_ input: [UInt8], at now: UnixTime? = nil) -> TrustStoreError? {
      thrown(TrustStoreError.self) { _ = try folder.store.importList(input, at: now ?? folder.now) }
    }
    #expect(try refused(folder.encoded(key: PrivateKey.generate(.p256))) == .issuerList(.signatureInvalid))
    var changed = good
    changed[good.count / 2] ^= 1
    #expect(refused(changed) == .issuerList(.signatureInvalid))
    #expect(refused([1, 2, 3]) == .issuerList(.malformed))
    #expect(refused(good, at: folder.now.adding(seconds: 100_000)) == .issuerList(.signerExpired))
    folder.draft.date = folder.now.adding(seconds: -61)
    #expect(try refused(folder.encoded()) == .issuerList(.older))
    #expect(try Files.read(folder.path + "/lists/" + folder.files[0], limit: 1 << 20) == good)
    #expect(folder.store.load().anchors.count == 2)
    #expect(try folder.store.importList(good, at: folder.now).outcome == .alreadyThere)
  }

  @Test("a later list takes the place of the one before, though its number is lower")
  func succession() throws {
    let folder = try ListStore()
    _ = try folder.store.importList(folder.encoded(), at: folder.now)
    folder.draft.date = folder.now
    folder.draft.issueID = 3
    folder.draft.entries.removeLast()
    let result = try folder.store.importList(folder.encoded(), at: folder.now)
    #expect(result.outcome == .imported && result.previous?.entries.count == 2)
    #expect(result.remarks == [.lowerIssueID(3, before: 7)])
    #expect(folder.files.count == 1 && folder.store.load().anchors.count == 1)
  }

  @Test("an entry that cannot be used is named, and the rest of the list is used")
  func skipped() throws {
    let folder = try ListStore()
    folder.draft.entries[0]["certificate"] = .bytes([0x30, 0x03, 1, 1, 1])
    let result = try folder.store.importList(folder.encoded(), at: folder.now)
    #expect(result.stored.list.skipped.map(\.fault) == [.certificate])
    let contents = folder.store.load()
    #expect(contents.anchors.map(\.certificate) == [folder.issuers[1]])
    #expect(contents.problems.map(\.isMinor) == [true])
    #expect(
      contents.problems.map { "\($0)" } == [
        "\(result.stored.file): entry 1 (UT): its certificate cannot be read; the rest of the list is used"
      ])
  }

  @Test("a list whose provider is not trusted any more is named, and its roots are gone")
  func providerRemoved() throws {
    let folder = try ListStore()
    let stored = try folder.store.importList(folder.encoded(), at: folder.now).stored
    _ = try folder.store.remove(digest(.sha256, folder.provider.certificate).hex, at: folder.now)
    let contents = folder.store.load()
    #expect(contents.anchors.isEmpty && contents.trustsNobody)
    #expect(contents.problems == [StoreProblem(file: stored.file, reason: .issuerList(.signerUntrusted))])
    #expect(contents.problems.map(\.isMinor) == [false])
  }

  @Test("what was verified when it came stays in force when its signer expires")
  func expiredSigner() throws {
    let folder = try ListStore()
    _ = try folder.store.importList(folder.encoded(), at: folder.now)
    // `load` has no time: it judges by the date of the list.
    #expect(folder.store.load().anchors.count == 2)
  }

  @Test("a list is removed by its name or its provider's, and a root of it not alone")
  func removal() throws {
    let folder = try ListStore()
    let stored = try folder.store.importList(folder.encoded(), at: folder.now).stored
    let digits = folder.issuers[0].fingerprint.hex
    #expect(
      thrown(TrustStoreError.self) { _ = try folder.store.remove(digits, at: folder.now) }
        == .listed(digits, list: stored.name))
    #expect(try folder.store.removeLists("nothing") == [])
    #expect(try folder.store.removeLists("../../etc/passwd") == [])
    #expect(try folder.store.removeLists("AAMVA (test)") == [stored.name])
    #expect(folder.files == [] && folder.store.load().anchors.isEmpty)
    _ = try folder.store.importList(folder.encoded(), at: folder.now)
    #expect(try folder.store.removeLists(stored.name) == [stored.name])
  }

  @Test("a certificate that signs neither documents nor lists as an authority is no list signer")
  func listSigners() throws {
    let folder = try ListStore()
    _ = try folder.store.add(folder.signer.certificate, to: .listSigners, at: folder.now)
    var random = SplitMix64(state: 3)
    let document = try folder.provider.makeSigner(
      notBefore: folder.now, notAfter: folder.now.adding(seconds: 60), random: &random)
    let subject = try Certificate(document.certificate).subject
    let refusal = thrown(TrustStoreError.self) {
      _ = try folder.store.add(document.certificate, to: .listSigners, at: folder.now)
    }
    #expect(refusal == .noAuthority(subject))
  }

  @Test("of two stored lists of a provider the one issued last is in force, whatever the files are called")
  func twoFiles() throws {
    let folder = try ListStore()
    let older = try folder.encoded()
    folder.draft.date = folder.now
    folder.draft.entries.removeLast()
    let newer = try folder.encoded()
    for (first, second, loser) in [(older, newer, "a"), (newer, older, "b")] {
      try folder.write(first, to: "a.cbor")
      try folder.write(second, to: "b.cbor")
      let contents = folder.store.load()
      #expect(contents.lists.map(\.list.date) == [folder.now] && contents.anchors.count == 1)
      let winner = loser == "a" ? "b" : "a"
      #expect(
        contents.problems == [
          StoreProblem(file: "lists/\(loser).cbor", reason: .issuerListSuperseded(by: "lists/\(winner).cbor"))
        ])
      #expect(contents.problems.map(\.isMinor) == [true])
    }
    // A successor takes the place of the one in force, and older ones are refused as ever.
    #expect(
      thrown(TrustStoreError.self) { _ = try folder.store.importList(older, at: folder.now) } == .issuerList(.older))
    #expect(try folder.store.importList(newer, at: folder.now).stored.name == "a")
    // By its provider's name everything goes.
    #expect(try folder.store.removeLists("AAMVA (test)") == ["a", "b"])
    #expect(folder.files == [] && folder.store.load().anchors.isEmpty)
  }

  @Test("a name of a provider is nobody's: another signer's list stands beside, and neither succeeds nor refuses")
  func namesakes() throws {
    let folder = try ListStore()
    let first = try folder.store.importList(folder.encoded(), at: folder.now).stored
    var random = SplitMix64(state: 12)
    let start = folder.now.adding(seconds: -86_400)
    let stranger = try IssuerAuthority(commonName: "Stranger", notBefore: start, random: &random)
    let signer = try stranger.makeSigner(
      notBefore: start, notAfter: folder.now.adding(seconds: 86_400), purposes: [.vicalSigner], random: &random)
    _ = try folder.store.add(stranger.certificate, to: .listSigners, at: folder.now)
    folder.draft.entries.removeLast()
    for age in [10, 120] as [Int64] {
      folder.draft.date = folder.now.adding(seconds: -age)
      let encoded = try folder.draft.encoded(signedBy: signer)
      let result = try folder.store.importList(encoded, at: folder.now)
      #expect(result.outcome == .imported && result.previous == nil && result.namesakes == [first.name])
      #expect(folder.files.count == 2)
      let contents = folder.store.load()
      #expect(contents.lists.count == 2 && contents.anchors.count == 3)
      #expect(contents.problems.map(\.isMinor) == [true])
      #expect(
        contents.problems.allSatisfy { problem in
          if case .issuerListNamesake = problem.reason { true } else { false }
        })
      #expect(try folder.store.removeLists(result.stored.name) == [result.stored.name])
    }
  }

  @Test("a renewed root of the provider vouches for the successor")
  func renewedRoot() throws {
    let folder = try ListStore()
    _ = try folder.store.importList(folder.encoded(), at: folder.now)
    let old = try Certificate(folder.provider.certificate)
    let renewed = CertificateDraft.issuerRoot(
      serialNumber: SerialNumber(magnitude: [99]), name: folder.provider.name, notBefore: old.notBefore,
      notAfter: old.notAfter.adding(seconds: 86_400), publicKey: folder.provider.key.publicKey,
      contact: IssuerAuthority.contact)
    _ = try folder.store.add(renewed.encoded(signedBy: folder.provider.key), to: .listSigners, at: folder.now)
    _ = try folder.store.remove(digest(.sha256, folder.provider.certificate).hex, at: folder.now)
    folder.draft.date = folder.now
    let result = try folder.store.importList(folder.encoded(), at: folder.now)
    #expect(result.previous != nil && folder.files.count == 1 && folder.store.load().problems == [])
  }

  @Test("a newer stored list that does not verify at the moment is not passed by")
  func inDoubt() throws {
    let folder = try ListStore()
    let older = try folder.encoded()
    folder.draft.date = folder.now
    var newer = try folder.encoded()
    let stored = try folder.store.importList(newer, at: folder.now).stored
    newer[newer.count - 1] ^= 1
    try folder.write(newer, to: stored.name + ".cbor")
    #expect(
      thrown(TrustStoreError.self) { _ = try folder.store.importList(older, at: folder.now) }
        == .issuerListInDoubt(stored: stored.name, .signatureInvalid))
    // One that is no older repairs it.
    let repaired = try folder.store.importList(folder.encoded(), at: folder.now)
    #expect(repaired.outcome == .imported && !repaired.replacesUnreadable && folder.store.load().problems == [])
    // What is no list at all has no date.
    try folder.write([1, 2, 3], to: stored.name + ".cbor")
    #expect(try folder.store.importList(older, at: folder.now).replacesUnreadable)
    #expect(folder.store.load().problems == [])
  }

  @Test("a root that a list has too stays trusted when it is removed, and that is said")
  func removedButListed() throws {
    let folder = try ListStore()
    let list = try folder.store.importList(folder.encoded(), at: folder.now).stored
    _ = try folder.store.add(folder.issuers[0].encoded, at: folder.now)
    #expect(try folder.store.remove(folder.issuers[0].fingerprint.hex, at: folder.now).listedIn == [list.name])
    #expect(folder.store.load().anchors.count == 2)
  }

  @Test("a list whose signer was revoked is neither taken nor kept in force")
  func revokedSigner() throws {
    let folder = try ListStore()
    let signer = try Certificate(folder.signer.certificate)
    func lists(of key: PrivateKey) throws -> RevocationLists {
      let draft = RevocationListDraft(
        issuer: folder.provider.name, issuerKey: key.publicKey, thisUpdate: folder.now, nextUpdate: nil,
        revoked: [(signer.serialNumber, folder.now)])
      return RevocationLists([try CertificateRevocationList(draft.encoded(signedBy: key))])
    }
    let revocation = try lists(of: folder.provider.key)
    let encoded = try folder.encoded()
    #expect(
      thrown(TrustStoreError.self) {
        _ = try folder.store.importList(encoded, at: folder.now, isRevoked: revocation.isRevoked)
      } == .issuerList(.signerRevoked))
    let stored = try folder.store.importList(encoded, at: folder.now).stored
    let contents = folder.store.load(isRevoked: revocation.isRevoked)
    #expect(contents.anchors.isEmpty)
    #expect(contents.problems == [StoreProblem(file: stored.file, reason: .issuerList(.signerRevoked))])
    // Somebody else's word does not count.
    let forged = try lists(of: PrivateKey.generate(.p256))
    #expect(folder.store.load(isRevoked: forged.isRevoked).anchors.count == 2)
  }

  @Test("leftovers of a write that was cut are not read")
  func leftovers() throws {
    let folder = try ListStore()
    let stored = try folder.store.importList(folder.encoded(), at: folder.now).stored
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: "\(folder.path)/lists/.\(stored.name).cbor.0123"))
    #expect(folder.store.load().problems == [] && folder.store.load().anchors.count == 2)
  }

  @Test("the largest real list is imported in under a second")
  func largest() throws {
    guard let input = try sharedBytes("vectors/vical/rdw-test-2025-02-25.cbor") else { return }
    let folder = try ListStore()
    let header = try decodeCBOR(input).element(1)?[label: 33]?.bytes
    _ = try folder.store.add(Array(try #require(header)), to: .listSigners, at: folder.now)
    let date = UnixTime(seconds: 1_741_000_000)
    let clock = ContinuousClock()
    let time = try clock.measure { _ = try folder.store.importList(input, at: date) }
    print("import of the largest real list: \(time)")
    #expect(folder.store.load().anchors.count > 40)
  }
}
