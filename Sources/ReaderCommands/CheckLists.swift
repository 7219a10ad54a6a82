import Appliance
import CivilTime
import Configuration
import Kernel
import ListCache
import TrustStore

extension CheckCommand {
  private static let refreshing =
    "mdoc-reader refresh says why; as a service: systemctl enable --now mdoc-reader-refresh.timer"

  /// How old the copies of lists are, by kind, as the running reader judges it.
  static func checkLists(_ site: Site, _ contents: StoreContents, _ lists: CachedLists, _ list: inout CheckList) {
    for problem in lists.problems { list.warn("lists", problem, refreshing) }
    let configured = site.configuration.refresh.issuerLists.map { ListSource(.issuers, $0) }
    let imported = contents.importedLists
    let entries = lists.entries(and: configured + contents.revocationSources) + imported
    let now = UnixTime.wallClock()
    var health = HealthWatch(limits: site.listLimits)
    _ = health.look(at: entries, now: now)
    for kind in ListKind.allCases {
      guard let found = health.lists[kind], found.count > 0, let limit = health.limits[kind] else { continue }
      let age = found.oldest.map { ", the oldest of \($0)" } ?? ""
      guard let first = found.stale.first else {
        let place = kind == .issuers && !imported.isEmpty ? "\(site.cacheFolder) and imported" : site.cacheFolder
        list.pass("lists", "\(kind.rawValue): \(found.count) in \(place)\(age)")
        continue
      }
      let failure = entries.first { $0.source.address == first }?.failure.map { " (\($0.reason))" } ?? ""
      let text =
        "\(kind.rawValue): \(found.stale.count) of \(found.count) missing, ended, or older than \(limit.days) days: "
        + "\(first)\(failure)"
      let remedy =
        imported.contains { $0.source.address == first }
        ? "get the provider's present list: mdoc-reader trust import FILE"
        : refreshing
      switch limit.policy {
      case .warn: list.warn("lists", text, remedy)
      case .fault, .deny: list.fail("lists", text, remedy)
      }
    }
    if entries.isEmpty { list.pass("lists", "none to fetch") }
  }
}

extension CachedLists {
  /// Its entries, and one for each source that was never fetched: those are as missing as others are too old.
  func entries(and wanted: [ListSource]) -> [CacheEntry] {
    let known = Set(entries.map(\.source))
    return entries + wanted.filter { !known.contains($0) }.map { CacheEntry($0, due: UnixTime(seconds: 0)) }
  }
}
