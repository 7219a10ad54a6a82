import CivilTime
import Glibc
import JSON
import ReaderCore

/// When this version was made: no clock that is earlier can be right.
package enum Release {
  package static let version = "0.1.0"
  package static let date = UnixTime(seconds: 1_795_996_800)  // 2026-11-30T00:00:00Z
}

/// What the running reader says about itself; no personal data.
struct ApplianceStatus {
  var state = "starting"
  var anchors = 0
  /// What is wrong, and why.
  var faults: [Fault: String] = [:]
  var lastRefusal: String?
  /// Of lists, by kind: how many, how old, how many are stale.
  var lists: [JSONValue.Member] = []
  var isUnwritable = false
  private let started = UnixTime.wallClock()
  private var counts: [TransactionReport.Outcome: Int] = [:]
  private var last: TransactionReport?

  mutating func count(_ report: TransactionReport) {
    counts[report.outcome, default: 0] += 1
    last = report
  }

  func document(at now: UnixTime) -> JSONValue {
    .object([
      "version": .string(Release.version), "pid": .integer(Int(getpid())), "time": .string(now.description),
      "started": .string(started.description), "state": .string(state),
      "faults": .array(faults.keys.map(\.rawValue).sorted().map(JSONValue.string)), "anchors": .integer(anchors),
      "lists": .object(lists),
      "granted": .integer(counts[.granted, default: 0]), "refused": .integer(counts[.refused, default: 0]),
      "failed": .integer(counts[.failed, default: 0]), "last": last.map { .object($0.members) },
      "lastCodeRefused": lastRefusal.map(JSONValue.string),
    ])
  }
}
