import Bytes
import CivilTime
import Crypto
import Foundation
import Issuer
import JSON
import Kernel
import StatusLists
import TestSupport
import Testing
import Trust

@testable import ListCache

/// A cache in a folder of its own, and an issuer whose lists are in it.
private final class CacheFolder {
  let path = NSTemporaryDirectory() + "mdoc-cache-\(UInt64.random(in: 0 ... .max))"
  let now = UnixTime(seconds: 1_790_000_000)
  let issuer: IssuerAuthority
  var cache: ListCache { ListCache(folder: path) }
  let source = ListSource(.revocation, "http://issuer.example/iaca.crl")

  init() throws {
    try Files.makeFolder(path)
    var random = SplitMix64(state: 3)
    issuer = try IssuerAuthority(notBefore: now.adding(seconds: -86_400), random: &random)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func list(number: Int) throws -> [UInt8] {
    try RevocationListDraft(
      issuer: issuer.name, issuerKey: issuer.key.publicKey, thisUpdate: now, nextUpdate: now.adding(seconds: 86_400),
      number: number
    ).encoded(signedBy: issuer.key)
  }

  func entry(_ body: [UInt8], _ source: ListSource? = nil) -> CacheEntry {
    CacheEntry(
      source ?? self.source,
      copy: .init(
        digest: digest(.sha256, body).hex, size: body.count, fetched: now, end: now.adding(seconds: 86_400),
        entityTag: "\"1\"", lastModified: "Mon"), due: now.adding(seconds: 3600))
  }

  var files: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
}

@Suite("The cache of lists")
struct ListCacheTests {
  @Test("an entry and its body come back; a new body takes the place of the one before; a source is forgotten")
  func roundTrip() throws {
    let folder = try CacheFolder()
    #expect(folder.cache.list().entries.isEmpty && ListCache(folder: "/nowhere").list().problems.isEmpty)
    let first = try folder.list(number: 1)
    try folder.cache.write(folder.entry(first), body: first)
    var failed = folder.entry(first)
    failed.failure = .init(reason: "timeout", at: folder.now, count: 3)
    try folder.cache.write(failed)
    #expect(folder.cache.list().entries == [failed])
    #expect(folder.files.count == 2 && folder.files.allSatisfy { $0.hasPrefix(folder.source.fileName + ".") })
    let second = try folder.list(number: 2)
    try folder.cache.write(folder.entry(second), body: second)
    #expect(folder.files.count == 2)
    let copy = try #require(folder.cache.list().entries.first?.copy)
    #expect(try folder.cache.body(of: folder.source, copy, limit: 1 << 20) == second)
    try folder.cache.remove(folder.source)
    #expect(folder.files.isEmpty)
  }

  @Test("whatever stops the writer, the old copy or the new one is found")
  func powerCut() throws {
    let folder = try CacheFolder()
    let first = try folder.list(number: 1)
    try folder.cache.write(folder.entry(first), body: first)
    let second = try folder.list(number: 2)
    // The body is there, the entry is not: nobody looks at the body, and the next refresh clears it away.
    let body = folder.path + "/\(folder.source.fileName).\(digest(.sha256, second).hex.prefix(16))"
    try AtomicFile.write(second, to: body)
    try AtomicFile.write([1], to: folder.path + "/.\(folder.source.fileName).json.0badcafe")
    #expect(folder.cache.list().entries == [folder.entry(first)])
    folder.cache.removeLeftovers(at: .init(seconds: Int64(Date().timeIntervalSince1970) + 60))
    #expect(folder.files.count == 4)
    folder.cache.removeLeftovers(at: .init(seconds: Int64(Date().timeIntervalSince1970) + 3600))
    #expect(folder.files.count == 2)
    #expect(CachedListReader(folder.cache).load().revocation.count == 1)
  }

  @Test("a file that is no entry, one under another name, and a body with other bytes are named and not used")
  func damage() throws {
    let folder = try CacheFolder()
    let list = try folder.list(number: 1)
    try folder.cache.write(folder.entry(list), body: list)
    try AtomicFile.write(Array("{}".utf8), to: folder.path + "/revocation-x.json")
    let entry = try Files.read(folder.path + "/\(folder.source.fileName).json", limit: 1 << 16)
    try AtomicFile.write(entry, to: folder.path + "/status-x.json")
    var listing = folder.cache.list()
    #expect(listing.entries.count == 1 && listing.problems.count == 2)
    let copy = try #require(listing.entries.first?.copy)
    try AtomicFile.write(list + [0], to: folder.path + "/\(folder.source.fileName).\(copy.digest.prefix(16))")
    listing = folder.cache.list()
    let lists = CachedListReader(folder.cache).load()
    #expect(lists.revocation.isEmpty && lists.entries.count == 1 && lists.problems.count == 3)
  }

  @Test(
    "an entry with a figure or a name that nobody wrote is none, and stops nothing",
    arguments: [
      (#""count":3"#, #""count":-9223372036854775808"#), (#""count":3"#, #""count":9223372036854775807"#),
      (#""count":3"#, #""count":0"#), (#""bytes":4"#, #""bytes":-1"#), (#""sha256":"ab"#, #""sha256":"/b"#),
      (#""sha256":"ab"#, #""sha256":"AB"#), (#""sha256":"ab"#, #""sha256":"a"#),
    ])
  func unlikely(was: String, becomes: String) throws {
    let folder = try CacheFolder()
    var entry = folder.entry([1, 2, 3, 4])
    entry.copy?.digest = String(repeating: "ab", count: 32)
    entry.failure = CacheEntry.Failure(reason: "unreachable", at: entry.due, count: 3)
    let text = entry.document.text
    #expect(JSONValue(reading: Array(text.utf8)).flatMap(CacheEntry.init) == entry)
    let start = try #require(text.range(of: was))
    let damaged = text.replacingCharacters(in: start, with: becomes)
    #expect(JSONValue(reading: Array(damaged.utf8)).flatMap(CacheEntry.init) == nil)
    try AtomicFile.write(Array(damaged.utf8), to: folder.path + "/\(folder.source.fileName).json")
    #expect(folder.cache.list().entries.isEmpty && folder.cache.list().problems.count == 1)
  }

  @Test("what has not changed is not read again")
  func reading() throws {
    let folder = try CacheFolder()
    let list = try folder.list(number: 1)
    try folder.cache.write(folder.entry(list), body: list)
    let status = ListSource(.status, "http://issuer.example/status")
    var random = SplitMix64(state: 5)
    let signer = try folder.issuer.makeSigner(
      notBefore: folder.now, notAfter: folder.now.adding(seconds: 3600), purposes: [.statusSigner], random: &random)
    let token = try StatusTokenDraft(subject: status.address, .statuses(bits: 1, [0, 1]), now: folder.now)
      .encoded(signedBy: signer)
    try folder.cache.write(folder.entry(token, status), body: token)
    let reader = CachedListReader(folder.cache)
    let first = reader.load()
    #expect(first.problems.isEmpty && first.statuses.count == 1)
    // Were they read again, this would be noticed.
    for name in folder.files where !name.hasSuffix(".json") { try AtomicFile.write([0], to: folder.path + "/" + name) }
    let second = reader.load()
    #expect(second.problems.isEmpty && second.revocation.first === first.revocation.first)
    #expect(CachedListReader(folder.cache).load().problems.count == 2)
  }

  @Test("a list of revoked signers comes as DER or PEM, a token as CWT; other things are none")
  func contents() throws {
    let folder = try CacheFolder()
    let list = try folder.list(number: 1)
    for bytes in [list, Array(PEM.encode("X509 CRL", list).utf8)] {
      guard case .revocation = try ListContent(.revocation, bytes) else { throw CancellationError() }
    }
    for kind in ListKind.allCases {
      for bytes: [UInt8] in [[], [0x30], Array("<html>not here</html>".utf8), [UInt8](repeating: 0xD2, count: 100)] {
        #expect(throws: ListContent.Fault.malformed) { try ListContent(kind, bytes) }
      }
    }
  }
}

@Suite("When to look again")
struct RefreshScheduleTests {
  private let now = UnixTime(seconds: 1_790_000_000)

  @Test(
    "after a success: the interval, or half of what the list has left, five minutes at least",
    arguments: [(nil, 43_200), (86_400 * 30, 43_200), (36_000, 18_000), (100, 300), (-50, 43_200)] as [(Int64?, Int64)])
  func success(left: Int64?, wait: Int64) {
    let end = left.map { now.adding(seconds: $0) }
    #expect(RefreshSchedule.due(after: now, end: end, interval: 43_200) == now.adding(seconds: wait))
  }

  @Test(
    "after failures: twice as long each time, six hours or the interval at most",
    arguments: [
      (1, 300), (2, 600), (3, 1200), (7, 19_200), (8, 21_600), (1000, 21_600),
    ] as [(Int, Int64)])
  func failures(count: Int, wait: Int64) {
    #expect(RefreshSchedule.due(afterFailures: count, at: now, interval: 86_400) == now.adding(seconds: wait))
    #expect(RefreshSchedule.due(afterFailures: count, at: now, interval: 300) == now.adding(seconds: 300))
  }

  @Test("what was fetched in the future is due: the clock was wrong then or is now")
  func future() {
    var entry = CacheEntry(ListSource(.revocation, "http://a/"), due: now.adding(seconds: 9_000_000))
    entry.failure = .init(reason: "timeout", at: now, count: 1)
    #expect(!entry.isDue(at: now))
    entry.failure?.at = now.adding(seconds: 8_000_000)
    #expect(entry.isDue(at: now))
    entry.failure = nil
    entry.due = now
    #expect(entry.isDue(at: now))
  }

  @Test("a copy is stale when it is too old, when it says so itself, and when there is none")
  func stale() {
    var entry = CacheEntry(ListSource(.revocation, "http://a/"), due: now)
    #expect(entry.isStale(at: now, maximumAge: 86_400))
    entry.copy = .init(digest: "", size: 0, fetched: now, end: nil)
    #expect(!entry.isStale(at: now.adding(seconds: 86_400), maximumAge: 86_400))
    #expect(entry.isStale(at: now.adding(seconds: 86_401), maximumAge: 86_400))
    entry.copy?.end = now.adding(seconds: 60)
    #expect(!entry.isStale(at: now.adding(seconds: 60), maximumAge: 86_400))
    #expect(entry.isStale(at: now.adding(seconds: 61), maximumAge: 86_400))
  }
}

@Suite("A list and its addresses")
struct WantedListTests {
  @Test("it goes by the first address that can be fetched; of the others four at most are asked, each once")
  func revocation() throws {
    let uris = ["ldap://a/b", "http://a/1", "https://b/2", "http://a/1", "http://c/3", "http://d/4", "http://e/5"]
    let list = try #require(WantedList(revocation: uris))
    #expect(list.source == ListSource(.revocation, "http://a/1"))
    #expect(list.addresses == ["http://a/1", "https://b/2", "http://c/3", "http://d/4"])
    #expect(WantedList(revocation: ["ldap://a/b", "x"]) == nil && WantedList(revocation: []) == nil)
    #expect(WantedList(ListSource(.status, "https://a/s")).addresses == ["https://a/s"])
  }

  @Test("where a copy came from is kept with it")
  func origin() throws {
    let folder = try CacheFolder()
    let source = ListSource(.revocation, "http://a/1")
    let copy = CacheEntry.Copy(
      digest: digest(.sha256, [1]).hex, size: 1, fetched: UnixTime(seconds: 1_780_000_000), end: nil,
      origin: "http://b/2")
    try ListCache(folder: folder.path).write(CacheEntry(source, copy: copy, due: copy.fetched), body: [1])
    #expect(ListCache(folder: folder.path).list().entries.map(\.copy) == [copy])
  }
}

@Suite("What a reader notes")
struct ReaderNotesTests {
  @Test("the other addresses of a list are noted with it, and news when they change")
  func otherAddresses() throws {
    let folder = try CacheFolder()
    var notes = ReaderNotes()
    let uris = ["http://a/1", "http://b/2"]
    let list = try #require(WantedList(revocation: uris))
    let isFirst = notes.note(list)
    let isAgain = notes.note(list)
    #expect(isFirst && !isAgain && notes.lists == [list])
    let file = folder.path + "/notes"
    try notes.write(to: file)
    #expect(ReaderNotes(file: file) == notes && ReaderNotes(file: file).lists == [list])
    let isChanged = notes.note(ListSource(.revocation, "http://a/1"))
    #expect(isChanged && notes.lists.map(\.addresses) == [["http://a/1"]])
  }

  @Test("addresses are kept once each, the ones met last, in a file that comes back")
  func notes() throws {
    let folder = try CacheFolder()
    var notes = ReaderNotes()
    let added = (0..<300).filter { notes.note(ListSource(.status, "https://a.example/\($0)")) }
    #expect(added.count == 300)
    #expect(notes.sources.count == ReaderNotes.mostSources)
    let isNew = notes.note(ListSource(.status, "https://a.example/100"))
    #expect(!isNew)
    #expect(notes.sources.last?.address == "https://a.example/100")
    for text in ["file:///etc/passwd", "https://a b/", "x", "https://a/" + String(repeating: "b", count: 3000)] {
      let isTaken = notes.note(ListSource(.revocation, text))
      #expect(!isTaken)
    }
    notes.announced["ab"] = 30
    let file = folder.path + "/notes"
    try notes.write(to: file)
    #expect(ReaderNotes(file: file) == notes)
    try AtomicFile.write(Array("nonsense".utf8), to: file)
    #expect(ReaderNotes(file: file) == ReaderNotes() && ReaderNotes(file: "/nowhere") == ReaderNotes())
  }
}
