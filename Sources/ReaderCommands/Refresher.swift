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
  let learnt: [WantedList]
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
    let issuers = options.issuerLists.map { WantedList(ListSource(.issuers, $0)) }
    var lists = reader.load()
    var contents = loadTrust(lists)
    try look(at: issuers, lists, contents, report)
    if !issuers.isEmpty {
      lists = reader.load()
      contents = loadTrust(lists)
    }
    var sources = contents.revocationLists
    var known = Set(sources.map(\.source))
    let allowed = allowedHosts(sources)
    for list in learnt where known.insert(list.source).inserted {
      let addresses = list.addresses.filter { WebAddress($0).map { allowed.contains($0.host) } ?? false }
      guard !addresses.isEmpty else {
        known.remove(list.source)
        report(Outcome(source: list.source, kind: .notAllowed))
        continue
      }
      sources.append(WantedList(list.source, addresses: addresses))
    }
    try look(at: sources, lists, contents, report)
    // A store that cannot be read names nothing; that is no reason to forget.
    guard contents.state == .loaded else { return }
    let wanted = known.union(issuers.map(\.source))
    for entry in lists.entries where !wanted.contains(entry.source) {
      if !options.isDry { try cache.remove(entry.source) }
      report(Outcome(source: entry.source, kind: .removed))
    }
  }

  private func allowedHosts(_ own: [WantedList]) -> Set<String> {
    options.allowedHosts.union(own.flatMap { $0.addresses.compactMap { WebAddress($0)?.host } })
  }

  private func look(
    at wanted: [WantedList], _ lists: CachedLists, _ contents: StoreContents, _ report: (Outcome) -> Void
  ) throws(SystemError) {
    let allowed = allowedHosts(contents.revocationLists)
    for list in wanted {
      let now = clock()
      let source = list.source
      let entry = lists.entries.first { $0.source == source }
      if let entry, !options.all, !entry.isDue(at: now) {
        report(
          Outcome(
            source: source, kind: entry.failure == nil ? .fresh : .waiting, reason: entry.failure?.reason ?? "",
            due: entry.due))
      } else if options.isDry {
        report(Outcome(source: source, kind: .due))
      } else {
        report(try refresh(list, entry, contents, lists, allowed, now))
      }
    }
  }

  // MARK: One source

  /// Asks the addresses of a list one after the other, until one has a list that may be kept.
  private func refresh(
    _ list: WantedList, _ entry: CacheEntry?, _ contents: StoreContents, _ lists: CachedLists,
    _ allowed: Set<String>, _ now: UnixTime
  ) throws(SystemError) -> Outcome {
    var entry = entry ?? CacheEntry(list.source, due: now)
    // A body that is damaged is fetched again, whatever the server thinks of it.
    let before = entry.copy.flatMap { try? cache.body(of: list.source, $0, limit: list.source.kind.maximumSize) }
    var refusals: [(address: String, refusal: Refusal)] = []
    for address in list.addresses {
      let taken: Taken
      do throws(Refusal) {
        let answer = try ask(address, entry, isKnown: before != nil, allowed)
        taken = try take(answer, from: address, entry, before, contents, lists, now)
      } catch {
        refusals.append((address, error))
        continue
      }
      let passed = refusals.map { "\($0.address): \($0.refusal.code)" }.joined(separator: ", ")
      return try keep(
        &entry, taken,
        passed.isEmpty
          ? taken.detail : (taken.detail.isEmpty ? "" : taken.detail + "; ") + "from \(address), since \(passed)", now)
    }
    return try fail(&entry, refusals, now)
  }

  /// What is to be kept of an answer.
  private struct Taken {
    let copy: CacheEntry.Copy
    /// Nil where the body that is here is the one.
    let body: [UInt8]?
    let detail: String
  }

  private func ask(
    _ address: String, _ entry: CacheEntry, isKnown: Bool, _ allowed: Set<String>
  ) throws(Refusal) -> FetchAnswer {
    guard let web = WebAddress(address) else { throw Refusal(code: FetchFailure.redirectScheme.code) }
    var validators = Validators()
    // Those of another server say nothing to this one.
    if isKnown, let copy = entry.copy, copy.origin ?? entry.source.address == address {
      validators = Validators(entityTag: copy.entityTag, lastModified: copy.lastModified)
    }
    do throws(FetchFailure) {
      return try fetch(
        Request(address: web, kind: entry.source.kind, validators: validators, allowedHosts: allowed))
    } catch {
      throw Refusal(code: error.code, detail: error.detail)
    }
  }

  private func take(
    _ answer: FetchAnswer, from address: String, _ entry: CacheEntry, _ before: [UInt8]?, _ contents: StoreContents,
    _ lists: CachedLists, _ now: UnixTime
  ) throws(Refusal) -> Taken {
    let source = entry.source
    switch answer {
    case .unchanged(let validators):
      guard let bytes = before, var copy = entry.copy, copy.origin ?? source.address == address else {
        throw Refusal(code: "httpStatus(304)")
      }
      copy.fetched = now
      if let tag = validators.entityTag { copy.entityTag = tag }
      if let date = validators.lastModified { copy.lastModified = date }
      if source.kind != .issuers { copy.end = (try? ListContent(source.kind, bytes))?.end(fetched: now) }
      return Taken(copy: copy, body: nil, detail: "")
    case .content(let bytes, let validators):
      let accepted = try judge(bytes, source, before, contents, lists, now)
      let copy = CacheEntry.Copy(
        digest: digest(.sha256, bytes).hex, size: bytes.count, fetched: now, end: accepted.end,
        entityTag: validators.entityTag, lastModified: validators.lastModified,
        origin: address == source.address ? nil : address)
      return Taken(copy: copy, body: before == bytes ? nil : bytes, detail: accepted.detail)
    }
  }

  private func keep(
    _ entry: inout CacheEntry, _ taken: Taken, _ detail: String, _ now: UnixTime
  ) throws(SystemError) -> Outcome {
    entry.copy = taken.copy
    entry.failure = nil
    entry.due = RefreshSchedule.due(after: now, end: taken.copy.end, interval: options.interval)
    try cache.write(entry, body: taken.body)
    return Outcome(source: entry.source, kind: taken.body == nil ? .unchanged : .new, detail: detail, due: entry.due)
  }

  /// The reason of the address that was asked first is the one that counts.
  private func fail(
    _ entry: inout CacheEntry, _ refusals: [(address: String, refusal: Refusal)], _ now: UnixTime
  ) throws(SystemError) -> Outcome {
    let first = refusals.first?.refusal ?? Refusal(code: FetchFailure.redirectScheme.code)
    let others = refusals.dropFirst().map { "\($0.address): \($0.refusal.code)" }
    let detail = ([first.detail] + others).filter { !$0.isEmpty }.joined(separator: ", ")
    let count = (entry.failure?.count ?? 0) + 1
    entry.failure = CacheEntry.Failure(reason: first.code, at: now, count: count)
    entry.due = RefreshSchedule.due(afterFailures: count, at: now, interval: options.interval)
    try cache.write(entry)
    return Outcome(source: entry.source, kind: .failed, reason: first.code, detail: detail, due: entry.due)
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
