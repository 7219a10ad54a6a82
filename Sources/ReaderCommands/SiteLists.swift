import Appliance
import Bytes
import CivilTime
import Configuration
import Crypto
import Kernel
import ListCache
import MdocVerification
import Synchronization
import Trust
import TrustStore

/// Lists of a site: where copies are, and what should be among them.
extension Site {
  private var configurationFolder: String { Files.folder(of: path) }

  var cacheFolder: String { configuration.refresh.folder.resolved(in: configurationFolder) }
  var notesFile: String { configuration.refresh.notesFile.resolved(in: configurationFolder) }

  /// How old the copies may become, by kind.
  var listLimits: [ListKind: ReaderConfiguration.StalenessLimit] {
    let health = configuration.health
    return [.revocation: health.revocationLists, .status: health.statusLists, .issuers: health.issuerLists]
  }

  var listsPart: Appliance.ListsPart {
    var part = Appliance.ListsPart()
    part.folder = cacheFolder
    part.notesFile = notesFile
    part.limits = listLimits
    return part
  }

  /// For a reader that runs: reads everything anew each time it is called, and of lists only what has changed.
  func trustLoading() -> @Sendable () -> Appliance.TrustMaterial {
    let store = TrustStore(folder: trustFolder)
    let lists = CachedListReader(ListCache(folder: cacheFolder))
    let configured = configuration.refresh.issuerLists.map { ListSource(.issuers, $0) }
    let own = ownCertificate
    return {
      let copies = ListsBeside(lists)
      return Appliance.TrustMaterial(store: store, lists: copies.take, configured: configured, own: own)
    }
  }

  private var ownCertificate: DatedCertificate? {
    guard let authentication = configuration.readerAuthentication,
      let credential = try? readCredential(authentication)
    else { return nil }
    return DatedCertificate(credential.certificate, title: "reader certificate")
  }

  /// The trust store with the lists of issuers that were fetched.
  func trustContents(with lists: CachedLists) -> StoreContents {
    let revocation = RevocationLists(lists.revocation)
    var contents = TrustStore(folder: trustFolder).load(isRevoked: revocation.isRevoked)
    contents.take(lists, revocation)
    return contents
  }
}

extension StoreContents {
  mutating func take(_ lists: CachedLists, _ known: RevocationLists? = nil) {
    let revocation = known ?? RevocationLists(lists.revocation)
    for list in lists.issuerLists {
      take(issuerList: list.bytes, from: list.address, isRevoked: revocation.isRevoked)
    }
  }

  /// The own lists of revoked signers, of issuer roots and of roots of providers of lists.
  var revocationLists: [WantedList] {
    var seen: Set<ListSource> = []
    return (anchors.map(\.certificate) + listSigners.filter(\.isAuthority)).compactMap { root in
      guard let list = root.revocationList, seen.insert(list.source).inserted else { return nil }
      return list
    }
  }

  /// What those lists go by.
  var revocationSources: [ListSource] { revocationLists.map(\.source) }

  /// The lists of issuers that were imported by hand and are in force, as entries of the cache. Nobody fetches them, so that
  /// they are as old as they say themselves.
  var importedLists: [CacheEntry] {
    lists.filter { !$0.isFetched }.map { stored in
      let copy = CacheEntry.Copy(
        digest: digest(.sha256, stored.list.encoded).hex, size: stored.list.encoded.count, fetched: stored.list.date,
        end: stored.list.nextUpdate)
      return CacheEntry(ListSource(.issuers, stored.file), copy: copy, due: stored.list.date)
    }
  }
}

extension Certificate {
  /// The list of revoked certificates that its distribution points name.
  var revocationList: WantedList? { WantedList(revocation: crlDistributionPoints.value?.uris ?? []) }
}

extension Appliance.TrustMaterial {
  /// What a trust folder and a cache hold now.
  ///
  /// - Parameter take: gives the copies of lists, when they are needed: after the certificates, as a rule.
  init(store: TrustStore, lists take: () -> CachedLists, configured: [ListSource], own: DatedCertificate?) {
    var taken: (lists: CachedLists, revocation: RevocationLists)?
    func taking() -> (lists: CachedLists, revocation: RevocationLists) {
      if let taken { return taken }
      let lists = take()
      let both = (lists, RevocationLists(lists.revocation))
      taken = both
      return both
    }
    var contents = store.load { taking().revocation.isRevoked($0, issuedBy: $1) }
    let (lists, revocation) = taking()
    contents.take(lists, revocation)
    var problems = contents.problems.map { "\($0)" }
    switch contents.state {
    case .missing: problems.append("\(store.folder): there is no such folder")
    case .unreadable(let error): problems.append("\(store.folder): \(error.reason)")
    case .empty, .loaded: break
    }
    problems += lists.problems
    self.init(
      anchors: contents.anchors, signers: contents.trustedSigners, problems: problems,
      revocation: revocation, statuses: lists.statuses)
    self.lists = lists.entries(and: configured + contents.revocationSources) + contents.importedLists
    certificates = contents.certificates.map { DatedCertificate($0.certificate, title: $0.list.title.lowercased()) }
    if let own { certificates.append(own) }
  }
}

/// Copies of lists that are read in a thread beside the one that reads certificates: either takes its time where there are
/// many.
private final class ListsBeside {
  private final class Result: Sendable {
    let lists = Mutex<CachedLists?>(nil)
  }

  private let reader: CachedListReader
  private let result = Result()
  /// Nil where no thread can be had: then they are read when they are asked for.
  private let thread: JoinedThread?

  init(_ reader: CachedListReader) {
    self.reader = reader
    thread = try? JoinedThread("lists") { [result] in
      let lists = reader.load()
      result.lists.withLock { $0 = lists }
    }
  }

  /// Waits for the end of the reading.
  func take() -> CachedLists {
    thread?.join()
    return result.lists.withLock { $0 } ?? reader.load()
  }
}
