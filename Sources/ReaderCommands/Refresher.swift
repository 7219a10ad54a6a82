import Bytes
import CivilTime
import Crypto
import HTTPFetch
import Kernel
import ListCache
import StatusLists
import Trust
import TrustStore
import VICAL

/// Fetches what is due and keeps what is better than the copy that is here. Whoever fetches is an argument, and so is time.
struct Refresher {
  /// Asks a server; throws why nothing came.
  typealias Fetch = (_ request: Request) throws(FetchFailure) -> FetchAnswer

  /// What is asked.
  struct Request {
    let address: WebAddress
    let kind: ListKind
    let validators: Validators
    let allowedHosts: Set<String>
  }

  /// What became of a source.
  struct Outcome: Equatable {
    enum Kind: String {
      /// A copy that was not here before.
      case new
      /// The copy that was here is still the latest.
      case unchanged
      /// Not due.
      case fresh
      /// Not due, since it failed lately.
      case waiting
      /// It would be fetched (`--dry-run`).
      case due
      /// Nothing came, or nothing that can be used. The copy that was here stays.
      case failed
      /// A document named it, and its host is not allowed.
      case notAllowed
      /// Nobody names it any more.
      case removed
    }

    let source: ListSource
    let kind: Kind
    /// A stable code; empty where nothing failed.
    var reason = ""
    var detail = ""
    /// When it is looked at next.
    var due: UnixTime?
  }

  /// What is looked at.
  struct Options {
    /// Also what is not due.
    var all = false
    /// Nothing is fetched or written.
    var isDry = false
    var interval: Int64 = 12 * 3600
    var allowedHosts: Set<String> = []
    var issuerLists: [String] = []
  }

  let cache: ListCache
  /// The trust store as it is, with the lists of issuers that are in the cache.
  let loadTrust: (CachedLists) -> StoreContents
  /// Addresses that documents and their signers named.
  let learnt: [ListSource]
  let options: Options
  let fetch: Fetch
  let clock: () -> UnixTime

  /// Looks at every source once; lists of issuers first, since they bring roots with lists of their own.
  func run(_ report: (Outcome) -> Void) throws(SystemError) {
    let reader = CachedListReader(cache)
    if !options.isDry {
      try Files.makeFolder(cache.folder)
      cache.removeLeftovers(at: clock())
    }
    let issuers = options.issuerLists.map { ListSource(.issuers, $0) }
    var lists = reader.load()
    var contents = loadTrust(lists)
    try look(at: issuers, lists, contents, report)
    if !issuers.isEmpty {
      lists = reader.load()
      contents = loadTrust(lists)
    }
    let own = contents.revocationSources
    var sources = own
    let allowed = allowedHosts(own)
    for source in learnt where !sources.contains(source) {
      guard let address = WebAddress(source.address), allowed.contains(address.host) else {
        report(Outcome(source: source, kind: .notAllowed))
        continue
      }
      sources.append(source)
    }
    try look(at: sources, lists, contents, report)
    // A store that cannot be read names nothing; that is no reason to forget.
    guard contents.state == .loaded else { return }
    let wanted = Set(issuers + sources)
    for entry in lists.entries where !wanted.contains(entry.source) {
      if !options.isDry { try cache.remove(entry.source) }
      report(Outcome(source: entry.source, kind: .removed))
    }
  }

  private func allowedHosts(_ own: [ListSource]) -> Set<String> {
    options.allowedHosts.union(own.compactMap { WebAddress($0.address)?.host })
  }

  private func look(
    at sources: [ListSource], _ lists: CachedLists, _ contents: StoreContents, _ report: (Outcome) -> Void
  ) throws(SystemError) {
    let allowed = allowedHosts(contents.revocationSources)
    for source in sources {
      let now = clock()
      let entry = lists.entries.first { $0.source == source }
      if let entry, !options.all, !entry.isDue(at: now) {
        report(
          Outcome(
            source: source, kind: entry.failure == nil ? .fresh : .waiting, reason: entry.failure?.reason ?? "",
            due: entry.due))
      } else if options.isDry {
        report(Outcome(source: source, kind: .due))
      } else {
        report(try refresh(source, entry, contents, lists, allowed, now))
      }
    }
  }

  // MARK: One source

  private func refresh(
    _ source: ListSource, _ entry: CacheEntry?, _ contents: StoreContents, _ lists: CachedLists,
    _ allowed: Set<String>, _ now: UnixTime
  ) throws(SystemError) -> Outcome {
    var entry = entry ?? CacheEntry(source, due: now)
    // A body that is damaged is fetched again, whatever the server thinks of it.
    let before = entry.copy.flatMap { try? cache.body(of: source, $0, limit: source.kind.maximumSize) }
    let answer: FetchAnswer
    do throws(FetchFailure) {
      guard let address = WebAddress(source.address) else { throw .redirectScheme }
      answer = try fetch(
        Request(
          address: address, kind: source.kind,
          validators: before == nil
            ? Validators()
            : Validators(entityTag: entry.copy?.entityTag, lastModified: entry.copy?.lastModified),
          allowedHosts: allowed))
    } catch {
      return try fail(&entry, error.code, error.detail, now)
    }
    switch answer {
    case .unchanged(let validators):
      guard let bytes = before, var copy = entry.copy else { return try fail(&entry, "httpStatus(304)", "", now) }
      copy.fetched = now
      if let tag = validators.entityTag { copy.entityTag = tag }
      if let date = validators.lastModified { copy.lastModified = date }
      if source.kind != .issuers { copy.end = (try? ListContent(source.kind, bytes))?.end(fetched: now) }
      entry.copy = copy
      return try keep(&entry, nil, .unchanged, "", now)
    case .content(let bytes, let validators):
      let accepted: Accepted
      do throws(Refusal) {
        accepted = try judge(bytes, source, before, contents, lists, now)
      } catch {
        return try fail(&entry, error.code, error.detail, now)
      }
      let isSame = before == bytes
      entry.copy = CacheEntry.Copy(
        digest: digest(.sha256, bytes).hex, size: bytes.count, fetched: now, end: accepted.end,
        entityTag: validators.entityTag, lastModified: validators.lastModified)
      return try keep(&entry, isSame ? nil : bytes, isSame ? .unchanged : .new, accepted.detail, now)
    }
  }

  private func keep(
    _ entry: inout CacheEntry, _ body: [UInt8]?, _ kind: Outcome.Kind, _ detail: String, _ now: UnixTime
  ) throws(SystemError) -> Outcome {
    entry.failure = nil
    entry.due = RefreshSchedule.due(after: now, end: entry.copy?.end, interval: options.interval)
    try cache.write(entry, body: body)
    return Outcome(source: entry.source, kind: kind, detail: detail, due: entry.due)
  }

  private func fail(
    _ entry: inout CacheEntry, _ reason: String, _ detail: String, _ now: UnixTime
  ) throws(SystemError) -> Outcome {
    let count = (entry.failure?.count ?? 0) + 1
    entry.failure = CacheEntry.Failure(reason: reason, at: now, count: count)
    entry.due = RefreshSchedule.due(afterFailures: count, at: now, interval: options.interval)
    try cache.write(entry)
    return Outcome(source: entry.source, kind: .failed, reason: reason, detail: detail, due: entry.due)
  }

  // MARK: Whether a list may take the place of the one that is here

  private struct Accepted {
    var end: UnixTime?
    var detail: String
  }

  private struct Refusal: Error {
    let code: String
    var detail = ""
  }

  /// The reader verifies for itself; this keeps a forged or an older list from driving out a good one.
  private func judge(
    _ bytes: [UInt8], _ source: ListSource, _ before: [UInt8]?, _ contents: StoreContents, _ lists: CachedLists,
    _ now: UnixTime
  ) throws(Refusal) -> Accepted {
    guard let content = try? ListContent(source.kind, bytes) else { throw Refusal(code: "malformed") }
    let previous = before.flatMap { try? ListContent(source.kind, $0) }
    switch content {
    case .revocation(let list):
      try judge(list, previous, contents)
      return Accepted(end: content.end(fetched: now), detail: "\(list.revokedCount) revoked, of \(list.thisUpdate)")
    case .status(let token):
      try judge(token, source, previous, contents, now)
      return Accepted(end: content.end(fetched: now), detail: "of \(token.claims.issuedAt)")
    case .issuers:
      let revocation = RevocationLists(lists.revocation)
      do throws(VICALFault) {
        let list = try contents.verify(fetched: bytes, at: now) { certificate, issuer in
          revocation.answer(for: certificate, under: TrustAnchor(issuer, source: ""), at: now) == .revoked
        }
        return Accepted(end: list.nextUpdate, detail: "\(list.entries.count) roots, of \(list.date)")
      } catch {
        throw Refusal(code: error.rawValue)
      }
    }
  }

  private func judge(
    _ list: CertificateRevocationList, _ previous: ListContent?, _ contents: StoreContents
  ) throws(Refusal) {
    var fault = RevocationListFault.issuer
    for root in contents.anchors.map(\.certificate) + contents.listSigners {
      guard let found = list.fault(under: root), found.isFatal else {
        if case .revocation(let other)? = previous, !list.isNoOlder(than: other) { throw Refusal(code: "older") }
        return
      }
      if found != .issuer { fault = found }
    }
    throw Refusal(code: fault.rawValue)
  }

  private func judge(
    _ token: StatusToken, _ source: ListSource, _ previous: ListContent?, _ contents: StoreContents, _ now: UnixTime
  ) throws(Refusal) {
    guard token.isSignatureValid else { throw Refusal(code: StatusFault.signatureInvalid.rawValue) }
    guard token.claims.subject == source.address else { throw Refusal(code: StatusFault.subjectMismatch.rawValue) }
    guard token.claims.content != nil else { throw Refusal(code: StatusFault.tokenMalformed.rawValue) }
    if let expiry = token.claims.expiry, expiry <= now { throw Refusal(code: StatusFault.expired.rawValue) }
    guard case .status(let other)? = previous else { return }
    guard token.claims.issuedAt >= other.claims.issuedAt else { throw Refusal(code: "older") }
    // A document may name a root of its own for its list, which is not known here: only what is known is not given up.
    let points = contents.anchors.map(\.certificate) + contents.trustedSigners.map(\.certificate)
    if points.contains(where: other.isSigned(under:)), !points.contains(where: token.isSigned(under:)) {
      throw Refusal(code: StatusFault.signerUntrusted.rawValue)
    }
  }
}
