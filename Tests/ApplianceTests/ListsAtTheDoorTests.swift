import CBOR
import CivilTime
import Commands
import Configuration
import Crypto
import Foundation
import Issuer
import Kernel
import ListCache
import Mdoc
import ReaderCore
import TestSupport
import Testing
import Wallet
import WalletCommands

@testable import Appliance

/// Lists that change while the whole reader serves visitors on the simulated board.
@Suite("Lists at the door", .serialized)
struct ListsAtTheDoorTests {
  private static let statusAddress = "https://issuer.example/status/1"

  /// An issuer, its signer, and a document with a place in a status list, in a wallet; and what the cache has of them.
  private struct Scene {
    let harness: ApplianceHarness
    let authority: IssuerAuthority
    let signer: DocumentSigner
    let now = UnixTime.wallClock()
    var cache: ListCache { ListCache(folder: harness.folder + "/cache") }
    var notes: String { harness.folder + "/notes" }

    init(policy: ReaderConfiguration.StalenessPolicy = .warn) throws {
      harness = try ApplianceHarness()
      try Files.makeFolder(harness.folder + "/cache")
      harness.listsPart.folder = harness.folder + "/cache"
      harness.listsPart.notesFile = harness.folder + "/notes"
      harness.listsPart.limits = [.revocation: .init(days: 1, policy: policy), .status: .init(days: 1, policy: policy)]
      var random = RandomSource()
      let content = DocumentContent(kind: .mdl, person: TestPerson(age: 30, on: now.date()))
      authority = try TestIssue(content, now: now).makeAuthority(random: &random)
      signer = try authority.makeSigner(
        notBefore: now.adding(seconds: -86_400), notAfter: now.adding(seconds: 86_400 * 90), random: &random)
      var terms = IssuanceTerms(now: now)
      terms.status = .map(["status_list": .map(["idx": 1, "uri": .text(ListsAtTheDoorTests.statusAddress)])])
      let credential = try signer.issue(
        docType: content.kind.docType, try content.nameSpaces(on: now.date()),
        deviceKey: try PrivateKey.generate(.p256),
        terms: terms, random: &random)
      _ = try CredentialStore(folder: harness.folder + "/wallet").add(
        StoredCredential(credential: credential, method: .signature))
      try AtomicFile.write(authority.pem.utf8, to: harness.anchor)
    }

    func write(_ source: ListSource, _ body: [UInt8], fetched: UnixTime? = nil) throws {
      let copy = CacheEntry.Copy(
        digest: digest(.sha256, body).hex, size: body.count, fetched: fetched ?? now, end: now.adding(seconds: 86_400))
      try cache.write(CacheEntry(source, copy: copy, due: now.adding(seconds: 3600)), body: body)
    }

    /// As `refresh` does it, and the time it takes a reader to notice.
    func revoke(_ isRevoked: Bool, number: Int, by key: PrivateKey? = nil, fetched: UnixTime? = nil) throws {
      let list = RevocationListDraft(
        issuer: authority.name, issuerKey: authority.key.publicKey, thisUpdate: now.adding(seconds: -60),
        nextUpdate: now.adding(seconds: 86_400), number: number,
        revoked: isRevoked ? [(try Certificate(signer.certificate).serialNumber, now)] : [])
      try write(
        ListSource(.revocation, IssuerAuthority.contact.crlAddress), try list.encoded(signedBy: key ?? authority.key),
        fetched: fetched)
    }

    func status(_ value: UInt8, issued: Int64) throws {
      var draft = StatusTokenDraft(
        subject: ListsAtTheDoorTests.statusAddress, .statuses(bits: 2, [0, value, 0, 0]),
        now: now.adding(seconds: issued))
      draft.timeToLive = 43_200
      var random = RandomSource()
      let lister = try authority.makeSigner(
        notBefore: now.adding(seconds: -3600), notAfter: now.adding(seconds: 86_400), purposes: [.statusSigner],
        random: &random)
      try write(ListSource(.status, ListsAtTheDoorTests.statusAddress), try draft.encoded(signedBy: lister))
    }

    func visitor(
      _ title: String, _ expectation: ApplianceHarness.Expectation, before: @escaping () throws -> Void = {}
    ) -> ApplianceHarness.Visitor {
      ApplianceHarness.Visitor(title: title, expectation: expectation) { harness in
        try before()
        let wallet = PresentingWallet(
          ["--air", harness.air, "--wallet", harness.folder + "/wallet", "--yes", "--timeout", "10"])
        return try wallet.engagement()
      }
    }

    var events: String { (try? String(contentsOfFile: harness.folder + "/events.jsonl", encoding: .utf8)) ?? "" }
  }

  @Test(
    "a signer revoked between two visitors, a forged list, a document suspended and let in again, without a restart")
  func changes() throws {
    let scene = try Scene()
    try scene.harness.serve(
      [
        scene.visitor("nothing is known", .granted(remark: "revocationUnknown")) {
          try scene.revoke(false, number: 1, by: try PrivateKey.generate(.p256))
        },
        scene.visitor("both lists came", .granted) {
          try scene.revoke(false, number: 1)
          try scene.status(0, issued: -120)
        },
        scene.visitor("suspended", .refused("suspended")) { try scene.status(2, issued: -90) },
        scene.visitor("let in again", .granted) { try scene.status(0, issued: -60) },
        scene.visitor("revoked", .refused("signerRevoked")) { try scene.revoke(true, number: 2) },
      ], noticing: .seconds(1))
    let reports = scene.harness.reports
    #expect(reports.map { $0.signerRevocation } == ["unknown", "good", "good", "good", "revoked"])
    #expect(reports.map { $0.documentStatus } == ["unknown", "valid", "suspended", "valid", "valid"])
    // Addresses that the document and its signer named are noted for the next refresh.
    #expect(
      Set(ReaderNotes(file: scene.notes).sources) == [
        ListSource(.status, Self.statusAddress), ListSource(.revocation, IssuerAuthority.contact.crlAddress),
      ])
  }

  @Test("a stale list: refused where the site wants that, and served again once it is fresh")
  func stale() throws {
    let scene = try Scene(policy: .deny)
    try scene.status(0, issued: -120)
    try scene.revoke(false, number: 1, fetched: scene.now.adding(seconds: -2 * 86_400))
    try scene.harness.serve(
      [
        scene.visitor("stale", .refused("listsStale(revocation)")),
        scene.visitor("fresh", .granted) { try scene.revoke(false, number: 2) },
      ], noticing: .seconds(1))
    #expect(scene.events.contains(#""event":"listsStale","kind":"revocation""#))
    #expect(scene.events.contains(#""event":"listsFresh","kind":"revocation""#))
  }
}
