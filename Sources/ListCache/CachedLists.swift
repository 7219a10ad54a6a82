import CivilTime
import Crypto
import Kernel
import StatusLists
import Synchronization

/// The lists of the cache as they are now: a snapshot.
package struct CachedLists: Sendable {
  /// Of each source, whether or not there is a copy.
  package var entries: [CacheEntry] = []
  package var revocation: [CertificateRevocationList] = []
  package var statuses = StatusSource()
  /// Lists of issuers as received; nothing in them has been verified.
  package var issuerLists: [(address: String, bytes: [UInt8])] = []
  /// A line for each file that could not be used.
  package var problems: [String] = []

  /// No list at all.
  package init() {}

  init(entries: [CacheEntry], problems: [String]) {
    self.entries = entries
    self.problems = problems
  }
}

/// Reads the cache, and only what has changed since it read it last. Made for a thread beside the loop.
package final class CachedListReader: Sendable {
  private struct Key: Hashable, Sendable {
    let source: ListSource
    let digest: String
  }

  private let cache: ListCache
  private let known = Mutex<[Key: ListContent]>([:])

  package init(_ cache: ListCache) { self.cache = cache }

  package func load() -> CachedLists {
    let listing = cache.list()
    var lists = CachedLists(entries: listing.entries, problems: listing.problems)
    var copies: [String: StatusSource.Copy] = [:]
    var used: [Key: ListContent] = [:]
    for entry in listing.entries {
      guard let copy = entry.copy else { continue }
      let key = Key(source: entry.source, digest: copy.digest)
      let content: ListContent
      if let before = known.withLock({ $0[key] }) {
        content = before
      } else {
        do throws(SystemError) {
          let bytes = try cache.body(of: entry.source, copy, limit: entry.source.kind.maximumSize)
          guard let read = try? ListContent(entry.source.kind, bytes) else {
            lists.problems.append("\(entry.source.address): the copy cannot be read")
            if entry.source.kind == .status {
              copies[entry.source.address] = .init(.failure(.tokenMalformed), receivedAt: copy.fetched)
            }
            continue
          }
          content = read
        } catch {
          lists.problems.append("\(entry.source.address): \(error.reason)")
          continue
        }
      }
      used[key] = content
      switch content {
      case .revocation(let list): lists.revocation.append(list)
      case .status(let token): copies[entry.source.address] = .init(.success(token), receivedAt: copy.fetched)
      case .issuers(let bytes): lists.issuerLists.append((entry.source.address, bytes))
      }
    }
    lists.statuses = StatusSource(copies)
    let kept = used
    known.withLock { $0 = kept }
    return lists
  }
}
