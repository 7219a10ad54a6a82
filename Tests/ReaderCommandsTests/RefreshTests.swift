import Appliance
import Bytes
import CivilTime
import Commands
import Crypto
import Foundation
import HTTPFetch
import Issuer
import JSON
import Kernel
import ListCache
import StatusLists
import Synchronization
import TestSupport
import Testing
import Trust
import TrustStore
import VICAL

@testable import ReaderCommands

/// An issuer and a provider whose lists are on a server, and a site that refreshes them; the time is the test's.
private final class RefreshScene {
  let folder = NSTemporaryDirectory() + "mdoc-refresh-\(UInt64.random(in: 0 ... .max))"
  let server: LoopbackServer
  let files: Files
  let issuer: IssuerAuthority
  let signer: DocumentSigner
  let statusSigner: DocumentSigner
  /// Whole seconds, as entries have them.
  let start = UnixTime(seconds: UnixTime.wallClock().seconds)
  var now: UnixTime
  var options = Refresher.Options()
  var learnt: [WantedList] = []

  /// What the server has, by path.
  final class Files: Sendable {
    let bodies = Mutex<[String: [UInt8]]>([:])

    subscript(path: String) -> [UInt8]? {
      get { bodies.withLock { $0[path] } }
      set { bodies.withLock { $0[path] = newValue } }
    }
  }

  /// - Parameter paths: where the issuer's root says that its list is, in this order.
  init(lists paths: [String] = ["/iaca.crl"]) throws {
    let files = Files()
    self.files = files
    server = try LoopbackServer { request in
      guard let body = files[request.path] else { return .init(status: 404) }
      let tag = "\"\(digest(.sha256, body).prefix(4).hex)\""
      if request.headers["if-none-match"] == tag { return .init(status: 304) }
      return .init(headers: ["ETag: \(tag)"], body: body)
    }
    now = start
    let addresses = paths.map { [server] in $0.hasPrefix("/") ? server.address + $0 : $0 }
    var random = SplitMix64(state: 9)
    issuer = try IssuerAuthority(notBefore: start.adding(seconds: -86_400), random: &random) {
      $0[.crlDistributionPoints] = .crlDistributionPoints(uris: addresses)
    }
    signer = try issuer.makeSigner(
      notBefore: start.adding(seconds: -3600), notAfter: start.adding(seconds: 86_400), random: &random)
    statusSigner = try issuer.makeSigner(
      notBefore: start.adding(seconds: -3600), notAfter: start.adding(seconds: 86_400), purposes: [.statusSigner],
      random: &random)
    _ = try store.add(issuer.certificate, to: .issuers, at: start)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  var store: TrustStore { TrustStore(folder: folder + "/trust") }
  var cache: ListCache { ListCache(folder: folder + "/cache") }
  var revocation: ListSource { ListSource(.revocation, server.address + "/iaca.crl") }
  var status: ListSource { ListSource(.status, server.address + "/status") }

  func list(number: Int, by key: PrivateKey? = nil, days: Int64 = 7) throws -> [UInt8] {
    try RevocationListDraft(
      issuer: issuer.name, issuerKey: issuer.key.publicKey, thisUpdate: start.adding(seconds: Int64(number) - 100),
      nextUpdate: start.adding(seconds: days * 86_400), number: number
    ).encoded(signedBy: key ?? issuer.key)
  }

  func token(issued: Int64, subject: String? = nil, by signer: DocumentSigner? = nil) throws -> [UInt8] {
    var draft = StatusTokenDraft(subject: subject ?? status.address, .statuses(bits: 1, [0, 1]), now: start)
    draft.issuedAt = start.adding(seconds: issued)
    return try draft.encoded(signedBy: signer ?? statusSigner)
  }

  func refresh() throws -> [Refresher.Outcome] {
    let client = try HTTPClient(agent: "test")
    let store = store
    let refresher = Refresher(
      cache: cache,
      loadTrust: { lists in
        var contents = store.load()
        contents.take(lists)
        return contents
      }, learnt: learnt, options: options,
      fetch: { request throws(FetchFailure) in
        try client.fetch(
          request.address, accept: "*/*", validators: request.validators, limits: FetchLimits(size: 1 << 20),
          mayFollow: { request.allowedHosts.contains($0) })
      }, clock: { self.now })
    var outcomes: [Refresher.Outcome] = []
    try refresher.run { outcomes.append($0) }
    return outcomes
  }

  /// What became of each source, in few words.
  func words() throws -> [String] {
    try refresh().map { outcome in
      "\(outcome.kind.rawValue) \(outcome.source.kind.rawValue)\(outcome.reason.isEmpty ? "" : " \(outcome.reason)")"
    }
  }

  var lists: CachedLists { CachedListReader(cache).load() }
}

@Suite("Refreshing lists")
struct RefreshTests {
  @Test("a list comes, is fresh, is asked for again when it is due, is replaced, and is forgotten with its root")
  func life() throws {
    let scene = try RefreshScene()
    scene.files["/iaca.crl"] = try scene.list(number: 1)
    scene.options.isDry = true
    #expect(try scene.words() == ["due revocation"])
    #expect(scene.server.requests.isEmpty)
    scene.options.isDry = false
    #expect(try scene.words() == ["new revocation"])
    #expect(try scene.words() == ["fresh revocation"])
    scene.now = scene.start.adding(seconds: 12 * 3600)
    #expect(try scene.words() == ["unchanged revocation"])
    #expect(scene.lists.entries.first?.copy?.fetched.seconds == scene.now.seconds)
    #expect(scene.server.requests.count == 2)
    scene.files["/iaca.crl"] = try scene.list(number: 2)
    scene.options.all = true
    #expect(try scene.words() == ["new revocation"])
    #expect(scene.lists.revocation.first?.number?.magnitude == [2])
    _ = try scene.store.remove(try Certificate(scene.issuer.certificate).fingerprint.hex, at: scene.now)
    _ = try scene.store.add(
      IssuerAuthority(notBefore: scene.start.adding(seconds: -10), random: &Self.random).certificate, at: scene.now)
    scene.options.all = false
    let outcomes = try scene.refresh()
    #expect(outcomes.contains { $0.kind == .removed && $0.source == scene.revocation })
    #expect(scene.lists.revocation.isEmpty)
  }

  nonisolated(unsafe) private static var random = SplitMix64(state: 77)

  @Test("what fails is tried again later and later, and the copy that is here stays")
  func failures() throws {
    let scene = try RefreshScene()
    scene.files["/iaca.crl"] = try scene.list(number: 5)
    #expect(try scene.words() == ["new revocation"])
    scene.now = scene.start.adding(seconds: 13 * 3600)
    let stranger = try PrivateKey.generate(.p256)
    let bad: [(body: [UInt8]?, reason: String)] = [
      (nil, "httpStatus(404)"), (Array("<html>".utf8), "malformed"),
      (try scene.list(number: 6, by: stranger), "signature"), (try scene.list(number: 4), "older"),
      ([UInt8](repeating: 0, count: (1 << 20) + 1), "tooLarge"),
    ]
    for (place, (body, reason)) in bad.enumerated() {
      scene.files["/iaca.crl"] = body
      #expect(try scene.words() == ["failed revocation \(reason)"])
      #expect(try scene.words() == ["waiting revocation \(reason)"])
      let entry = try #require(scene.lists.entries.first)
      #expect(entry.failure?.count == place + 1)
      #expect(entry.due == scene.now.adding(seconds: 300 << Int64(place)))
      #expect(scene.lists.revocation.first?.number?.magnitude == [5])
      scene.now = entry.due
    }
    scene.files["/iaca.crl"] = try scene.list(number: 7)
    #expect(try scene.words() == ["new revocation"])
    #expect(scene.lists.entries.first?.failure == nil)
  }

  @Test("an address that a document named is asked only where its host is allowed")
  func learnt() throws {
    let scene = try RefreshScene()
    scene.files["/iaca.crl"] = try scene.list(number: 1)
    scene.files["/status"] = try scene.token(issued: -60)
    scene.learnt = [
      scene.status, ListSource(.status, "http://192.0.2.1/status"), ListSource(.status, "file:///etc/passwd"),
    ].map { WantedList($0) }
    // The root's own list is on this host, so that it is allowed.
    #expect(
      try scene.words().sorted() == ["new revocation", "new status", "notAllowed status", "notAllowed status"])
    #expect(scene.lists.statuses.count == 1)
    scene.learnt = []
    #expect(try scene.words() == ["fresh revocation", "removed status"])
  }

  @Test("a status list that is forged, of another address, or older does not drive out the one that is here")
  func statusLists() throws {
    let scene = try RefreshScene()
    scene.files["/iaca.crl"] = try scene.list(number: 1)
    scene.learnt = [WantedList(scene.status)]
    scene.options.all = true
    scene.files["/status"] = try scene.token(issued: -60)
    _ = try scene.refresh()
    let stranger = try IssuerAuthority(notBefore: scene.start.adding(seconds: -3600), random: &Self.random).makeSigner(
      notBefore: scene.start.adding(seconds: -3600), notAfter: scene.start.adding(seconds: 3600),
      purposes: [.statusSigner], random: &Self.random)
    var broken = try scene.token(issued: -50)
    broken[broken.count - 1] ^= 1
    for (body, reason) in [
      (try scene.token(issued: -50, by: stranger), "statusSignerUntrusted"), (broken, "statusSignatureInvalid"),
      (try scene.token(issued: -50, subject: "https://other.example/"), "statusSubjectMismatch"),
      (try scene.token(issued: -70), "older"),
    ] {
      scene.files["/status"] = body
      #expect(try scene.words().last == "failed status \(reason)")
    }
    scene.files["/status"] = try scene.token(issued: -40)
    #expect(try scene.words().last == "new status")
  }

  @Test(
    "a list of issuers brings roots, whose own lists come in the same run; one that does not verify changes nothing")
  func issuerLists() throws {
    let scene = try RefreshScene()
    _ = try scene.store.remove(try Certificate(scene.issuer.certificate).fingerprint.hex, at: scene.now)
    let provider = try IssuerAuthority(
      commonName: "Provider", notBefore: scene.start.adding(seconds: -3600),
      contact: IssuerContact(email: "p@provider.example", crlAddress: scene.server.address + "/provider.crl"),
      random: &Self.random)
    func providerList(_ number: Int, revoked: [SerialNumber] = []) throws -> [UInt8] {
      try RevocationListDraft(
        issuer: provider.name, issuerKey: provider.key.publicKey, thisUpdate: scene.start.adding(seconds: -60),
        nextUpdate: scene.start.adding(seconds: 86_400), number: number,
        revoked: revoked.map { ($0, scene.start) }
      ).encoded(signedBy: provider.key)
    }
    scene.files["/provider.crl"] = try providerList(1)
    let lister = try provider.makeSigner(
      notBefore: scene.start.adding(seconds: -3600), notAfter: scene.start.adding(seconds: 86_400),
      purposes: [.vicalSigner], random: &Self.random)
    _ = try scene.store.add(provider.certificate, to: .listSigners, at: scene.now)
    var draft = VICALDraft(
      provider: "Provider", date: scene.start.adding(seconds: -60), issueID: 1,
      entries: [.init(try Certificate(scene.issuer.certificate), docTypes: ["org.iso.18013.5.1.mDL"])])
    scene.files["/vical"] = try draft.encoded(signedBy: lister)
    scene.files["/iaca.crl"] = try scene.list(number: 1)
    scene.options.issuerLists = [scene.server.address + "/vical"]
    #expect(try Set(scene.words()) == ["new issuers", "new revocation"])
    #expect(scene.lists.revocation.count == 2)
    let material = { [store = scene.store, cache = scene.cache] in
      var contents = store.load()
      contents.take(CachedListReader(cache).load())
      return contents.anchors.count
    }
    #expect(material() == 1)
    scene.options.all = true
    draft.entries = []
    scene.files["/vical"] = try draft.encoded(signedBy: lister, key: try PrivateKey.generate(.p256))
    #expect(try Set(scene.words()) == ["failed issuers vicalSignatureInvalid", "unchanged revocation"])
    draft.date = scene.start.adding(seconds: -120)
    scene.files["/vical"] = try draft.encoded(signedBy: lister)
    #expect(try Set(scene.words()) == ["failed issuers vicalOlder", "unchanged revocation"])
    #expect(material() == 1)
    // The provider takes its signer back: what it signed is not believed any more, new or old.
    scene.files["/provider.crl"] = try providerList(2, revoked: [Certificate(lister.certificate).serialNumber])
    _ = try scene.words()
    draft.date = scene.start.adding(seconds: -30)
    scene.files["/vical"] = try draft.encoded(signedBy: lister)
    #expect(try scene.words().contains("failed issuers vicalSignerRevoked"))
    #expect(material() == 0)
  }

  @Test("of several addresses the next is asked when one fails or has no good list, and the list keeps its one name")
  func otherAddresses() throws {
    let scene = try RefreshScene(lists: ["ldap://ldap.example/crl", "/iaca.crl", "/second.crl", "/third.crl"])
    scene.options.all = true
    // The first is down, the second has another's list, the third the right one.
    scene.files["/second.crl"] = try scene.list(number: 9, by: try PrivateKey.generate(.p256))
    scene.files["/third.crl"] = try scene.list(number: 1)
    var outcome = try #require(try scene.refresh().first)
    #expect(outcome.kind == .new && outcome.source == scene.revocation && outcome.reason.isEmpty)
    let address = scene.server.address
    #expect(
      outcome.detail.hasSuffix(
        "; from \(address)/third.crl, since \(address)/iaca.crl: httpStatus(404), \(address)/second.crl: signature"))
    #expect(scene.server.requests.map(\.path) == ["/iaca.crl", "/second.crl", "/third.crl"])
    var entry = try #require(scene.lists.entries.first)
    #expect(scene.lists.entries.count == 1 && entry.source == scene.revocation && entry.failure == nil)
    #expect(entry.copy?.origin == address + "/third.crl" && entry.copy?.fetched == scene.now)
    #expect(entry.due == scene.now.adding(seconds: 12 * 3600))

    // Later the same copy is confirmed by where it came from, and only that server hears of its validators.
    scene.now = scene.start.adding(seconds: 3600)
    outcome = try #require(try scene.refresh().first)
    #expect(outcome.kind == .unchanged)
    #expect(scene.server.requests.suffix(3).map { $0.headers["if-none-match"] != nil } == [false, false, true])
    entry = try #require(scene.lists.entries.first)
    #expect(entry.copy?.fetched == scene.now && !entry.isStale(at: scene.now, maximumAge: 60))

    // An older list elsewhere does not take its place, and when nobody has a good one, the first reason counts.
    scene.files["/third.crl"] = try scene.list(number: 0)
    scene.now = scene.start.adding(seconds: 7200)
    outcome = try #require(try scene.refresh().first)
    #expect(outcome.kind == .failed && outcome.reason == "httpStatus(404)")
    #expect(outcome.detail == "\(address)/second.crl: signature, \(address)/third.crl: older")
    entry = try #require(scene.lists.entries.first)
    #expect(entry.failure?.count == 1 && entry.failure?.reason == "httpStatus(404)")
    #expect(entry.copy?.fetched == scene.start.adding(seconds: 3600) && entry.isStale(at: scene.now, maximumAge: 60))
    #expect(scene.lists.revocation.first?.number?.magnitude == [1])

    // The first is there again: nobody else is asked.
    scene.files["/iaca.crl"] = try scene.list(number: 2)
    let before = scene.server.requests.count
    outcome = try #require(try scene.refresh().first)
    #expect(outcome.kind == .new && !outcome.detail.contains("from"))
    #expect(scene.server.requests.dropFirst(before).map(\.path) == ["/iaca.crl"])
    #expect(scene.lists.entries.first?.copy?.origin == nil && scene.lists.entries.first?.failure == nil)
  }

  @Test("no more than four addresses are asked for one list")
  func mostAddresses() throws {
    let scene = try RefreshScene(lists: (1...9).map { "/\($0).crl" })
    scene.files["/5.crl"] = try scene.list(number: 1)
    #expect(try scene.words() == ["failed revocation httpStatus(404)"])
    #expect(scene.server.requests.map(\.path) == ["/1.crl", "/2.crl", "/3.crl", "/4.crl"])
  }

  @Test("of the addresses of a signer that was met only those on allowed hosts are asked")
  func otherAddressesLearnt() throws {
    let scene = try RefreshScene()
    scene.files["/iaca.crl"] = try scene.list(number: 1)
    scene.files["/other.crl"] = try scene.list(number: 2)
    let list = try #require(
      WantedList(revocation: ["http://192.0.2.1/signers.crl", scene.server.address + "/other.crl"]))
    scene.learnt = [list, try #require(WantedList(revocation: ["http://192.0.2.1/a", "http://192.0.2.2/a"]))]
    #expect(try scene.words() == ["notAllowed revocation", "new revocation", "new revocation"])
    #expect(scene.server.requests.map(\.path) == ["/iaca.crl", "/other.crl"])
    #expect(scene.lists.entries.contains { $0.source == list.source && $0.copy != nil })
    #expect(try scene.words() == ["notAllowed revocation", "fresh revocation", "fresh revocation"])
  }

  @Test("a list of issuers that was imported by hand is as old as the date in it, for the reader and for check")
  func importedLists() throws {
    let scene = try RefreshScene()
    let provider = try IssuerAuthority(
      commonName: "Provider", notBefore: scene.start.adding(seconds: -40 * 86_400), random: &Self.random)
    let lister = try provider.makeSigner(
      notBefore: scene.start.adding(seconds: -30 * 86_400), notAfter: scene.start.adding(seconds: 86_400),
      purposes: [.vicalSigner], random: &Self.random)
    _ = try scene.store.add(provider.certificate, to: .listSigners, at: scene.now)
    var draft = VICALDraft(
      provider: "Provider", date: scene.start.adding(seconds: -20 * 86_400), issueID: 1,
      entries: [.init(try Certificate(scene.issuer.certificate), docTypes: ["org.iso.18013.5.1.mDL"])])
    _ = try scene.store.importList(try draft.encoded(signedBy: lister), at: scene.now)
    func stale(days: Int) -> [String] {
      let material = Appliance.TrustMaterial(
        store: scene.store, lists: { CachedListReader(scene.cache).load() }, configured: [], own: nil)
      var health = HealthWatch(limits: [.issuers: .init(days: days, policy: .deny)])
      _ = health.look(at: material.lists, now: scene.now)
      #expect(health.stale(.deny) == (health.lists[.issuers]?.stale.isEmpty == false ? [.issuers] : []))
      return health.lists[.issuers]?.stale ?? []
    }
    let file = try #require(scene.store.load().lists.first?.file)
    #expect(stale(days: 21) == [] && stale(days: 19) == [file])
    // A newer one by the same provider takes its place, also one that was fetched.
    draft.date = scene.start.adding(seconds: -86_400)
    draft.issueID = 2
    scene.files["/vical"] = try draft.encoded(signedBy: lister)
    scene.options.issuerLists = [scene.server.address + "/vical"]
    _ = try scene.refresh()
    #expect(stale(days: 19) == [])
    #expect(CachedListReader(scene.cache).load().issuerLists.count == 1)
  }

  @Test("a copy that was damaged on the disk is fetched again, whatever the server thinks of it")
  func damage() throws {
    let scene = try RefreshScene()
    scene.files["/iaca.crl"] = try scene.list(number: 1)
    _ = try scene.refresh()
    for name in try FileManager.default.contentsOfDirectory(atPath: scene.cache.folder) where !name.hasSuffix(".json") {
      try AtomicFile.write([0x30], to: scene.cache.folder + "/" + name)
    }
    scene.options.all = true
    #expect(try scene.words() == ["new revocation"])
    #expect(scene.lists.problems.isEmpty && scene.lists.revocation.count == 1)
  }

  @Test("the verb says what changed, as lines and as JSON, and its status whether all is well")
  func verb() throws {
    let scene = try RefreshScene()
    for folder in ["board/simulated", "pictures", "air"] { try Files.makeFolder(scene.folder + "/" + folder) }
    try AtomicFile.write(
      "name = \"simulated\"\n[camera]\nkind = \"pictures\"\n[radio]\nkind = \"air\"\n[panel]\nkind = \"terminal\"\n"
        .utf8,
      to: scene.folder + "/board/simulated/board.toml")
    let configuration = scene.folder + "/reader.toml"
    try AtomicFile.write(
      """
      board = "simulated"
      [[request.document]]
      doc_type = "org.iso.18013.5.1.mDL"
      [request.document.name_spaces]
      "org.iso.18013.5.1" = ["age_over_18"]
      [trust]
      folder = "trust"
      [refresh]
      folder = "cache"
      notes_file = "notes"
      """.utf8, to: configuration)
    func run(_ words: String...) -> (status: Int32, text: String) {
      let out = Mutex("")
      let console = Console(program: "mdoc-reader", input: -1) { text, isData in
        if isData { out.withLock { $0 += text } }
      }
      let status = ReaderCommands.run(["refresh", "--config", configuration] + words, console: console)
      return (status, out.withLock { $0 })
    }
    let missing = run()
    #expect(missing.status == 1 && missing.text.contains("failed") && missing.text.contains("httpStatus(404)"))
    scene.files["/iaca.crl"] = try scene.list(number: 1)
    let first = run("--all", "--json")
    let outcome = try #require(JSONValue(reading: Array(first.text.utf8)))
    guard case .array(let outcomes) = outcome else { throw CancellationError() }
    #expect(first.status == 0 && outcomes.count == 1 && outcomes[0]["outcome"]?.string == "new")
    #expect(outcomes[0]["address"]?.string == scene.revocation.address)
    #expect(run().text.hasPrefix("fresh"))
    #expect(run("--dry-run", "--all").text.hasPrefix("due"))
  }
}
