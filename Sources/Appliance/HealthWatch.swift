import CivilTime
import Configuration
import ListCache

/// Compares what the reader knows with how old it may become. Pure: time is an argument.
package struct HealthWatch: Sendable {
  /// How many days before its end a certificate is spoken of, once each.
  package static let warnings = [60, 30, 7]

  /// The lists of one kind, as they are.
  package struct Lists: Equatable, Sendable {
    package var count = 0
    /// Addresses of those that are too old or missing.
    package var stale: [String] = []
    /// When the oldest copy was fetched; nil when one is missing or there is none at all.
    package var oldest: UnixTime?
  }

  /// A certificate that ends soon.
  package struct Ending: Equatable, Sendable {
    package let certificate: DatedCertificate
    /// Whole days that are left.
    package let days: Int
    /// Which of the warnings this is.
    package let warning: Int
  }

  package let limits: [ListKind: ReaderConfiguration.StalenessLimit]
  package private(set) var lists: [ListKind: Lists] = [:]

  package init(limits: [ListKind: ReaderConfiguration.StalenessLimit]) { self.limits = limits }

  /// Looks at the lists; gives the kinds of which others are stale now than before.
  package mutating func look(at entries: [CacheEntry], now: UnixTime) -> [ListKind] {
    var changed: [ListKind] = []
    for kind in ListKind.allCases {
      let mine = entries.filter { $0.source.kind == kind }
      var found = Lists(count: mine.count)
      if let limit = limits[kind] {
        found.stale = mine.filter { $0.isStale(at: now, maximumAge: limit.seconds) }.map(\.source.address)
      }
      if mine.allSatisfy({ $0.copy != nil }) { found.oldest = mine.compactMap(\.copy?.fetched).min() }
      if found.stale != lists[kind]?.stale ?? [] { changed.append(kind) }
      lists[kind] = found
    }
    return changed
  }

  /// The kinds of which a list is stale, where the site has this policy for them.
  package func stale(_ policy: ReaderConfiguration.StalenessPolicy) -> [ListKind] {
    ListKind.allCases.filter { limits[$0]?.policy == policy && lists[$0]?.stale.isEmpty == false }
  }

  /// Certificates that come to their end and of which that was not said yet. `announced` remembers what was said, by
  /// fingerprint.
  package static func endings(
    of certificates: [DatedCertificate], announced: inout [String: Int], now: UnixTime
  ) -> [Ending] {
    var endings: [Ending] = []
    for certificate in certificates {
      let left = certificate.notAfter.seconds - now.seconds
      guard let warning = warnings.last(where: { left <= Int64($0) * 86_400 }) else { continue }
      guard announced[certificate.fingerprint].map({ warning < $0 }) ?? true else { continue }
      announced[certificate.fingerprint] = warning
      endings.append(Ending(certificate: certificate, days: Int(max(left, 0) / 86_400), warning: warning))
    }
    return endings
  }
}
