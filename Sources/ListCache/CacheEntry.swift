import Bytes
import CivilTime
import JSON

/// What is known about one source: the copy that is here, when to look again, and what went wrong last.
package struct CacheEntry: Equatable, Sendable {
  /// The copy that is here.
  package struct Copy: Equatable, Sendable {
    /// SHA-256 of the body, in hexadecimal digits.
    package var digest: String
    /// In bytes.
    package var size: Int
    /// When the server last said that this is the latest.
    package var fetched: UnixTime
    /// Until when it is good by its own word; nil when it does not say.
    package var end: UnixTime?
    package var entityTag: String?
    package var lastModified: String?
    /// The address that it came from, where that is not the one that the source goes by: the validators are its.
    package var origin: String?

    package init(
      digest: String, size: Int, fetched: UnixTime, end: UnixTime?, entityTag: String? = nil,
      lastModified: String? = nil, origin: String? = nil
    ) {
      self.digest = digest
      self.size = size
      self.fetched = fetched
      self.end = end
      self.entityTag = entityTag
      self.lastModified = lastModified
      self.origin = origin
    }
  }

  /// Attempts that failed since the last one that did not.
  package struct Failure: Equatable, Sendable {
    /// A stable code.
    package var reason: String
    package var at: UnixTime
    package var count: Int

    package init(reason: String, at: UnixTime, count: Int) {
      self.reason = reason
      self.at = at
      self.count = count
    }
  }

  package let source: ListSource
  package var copy: Copy?
  package var failure: Failure?
  /// When to look again.
  package var due: UnixTime

  package init(_ source: ListSource, copy: Copy? = nil, failure: Failure? = nil, due: UnixTime) {
    self.source = source
    self.copy = copy
    self.failure = failure
    self.due = due
  }

  /// Whether the copy is older than it may become, or good no more by its own word; also when there is none.
  package func isStale(at now: UnixTime, maximumAge seconds: Int64) -> Bool {
    guard let copy else { return true }
    return now > copy.fetched.adding(seconds: seconds) || copy.end.map { $0 < now } ?? false
  }
}

extension CacheEntry {
  var document: JSONValue {
    .object([
      "kind": .string(source.kind.rawValue), "address": .string(source.address), "due": .string(due.description),
      "copy": copy.map { copy in
        .object([
          "sha256": .string(copy.digest), "bytes": .integer(copy.size), "fetched": .string(copy.fetched.description),
          "end": copy.end.map { .string($0.description) }, "entityTag": copy.entityTag.map(JSONValue.string),
          "lastModified": copy.lastModified.map(JSONValue.string), "origin": copy.origin.map(JSONValue.string),
        ])
      },
      "failure": failure.map { failure in
        .object([
          "reason": .string(failure.reason), "at": .string(failure.at.description), "count": .integer(failure.count),
        ])
      },
    ])
  }

  /// What `document` wrote; nil for anything else, since a card that wears out changes any byte.
  init?(_ document: JSONValue) {
    guard let kind = document["kind"]?.string.flatMap(ListKind.init), let address = document["address"]?.string,
      let due = CacheEntry.time(document["due"])
    else { return nil }
    self.init(ListSource(kind, address), due: due)
    if let member = document["copy"] {
      guard let digest = member["sha256"]?.string, CacheEntry.isDigest(digest),
        let size = member["bytes"]?.integer, size >= 0, let fetched = CacheEntry.time(member["fetched"])
      else { return nil }
      copy = Copy(
        digest: digest, size: size, fetched: fetched, end: CacheEntry.time(member["end"]),
        entityTag: member["entityTag"]?.string, lastModified: member["lastModified"]?.string,
        origin: member["origin"]?.string)
    }
    if let member = document["failure"] {
      guard let reason = member["reason"]?.string, let at = CacheEntry.time(member["at"]),
        let count = member["count"]?.integer, (1...CacheEntry.mostFailures).contains(count)
      else { return nil }
      failure = Failure(reason: reason, at: at, count: count)
    }
  }

  /// More cannot have been counted, five minutes apart.
  static let mostFailures = Int(Int32.max)

  /// SHA-256 in lower-case hexadecimal digits: the name of a file is made of it.
  private static func isDigest(_ text: String) -> Bool {
    guard let digest = bytes(hex: text) else { return false }
    return digest.count == 32 && digest.hex == text
  }

  private static func time(_ value: JSONValue?) -> UnixTime? {
    value?.string.flatMap { DateTime($0) }?.instant
  }
}

/// When to look again.
package enum RefreshSchedule {
  /// No source is asked more often than this, in seconds.
  package static let shortest: Int64 = 300
  /// The longest wait after failures, in seconds.
  package static let longestBackOff: Int64 = 6 * 3600

  /// After a copy came, or was confirmed: after the interval, or when half of what is left of its own time is over, so
  /// that there is time for attempts that fail.
  package static func due(after now: UnixTime, end: UnixTime?, interval: Int64) -> UnixTime {
    var wait = interval
    if let end, end > now { wait = min(wait, (end.seconds - now.seconds) / 2) }
    return now.adding(seconds: max(wait, shortest))
  }

  /// After so many failures in a row: five minutes, then twice as long each time.
  package static func due(afterFailures count: Int, at now: UnixTime, interval: Int64) -> UnixTime {
    let wait = shortest << Int64(min(max(count - 1, 0), 10))
    return now.adding(seconds: min(wait, longestBackOff, max(interval, shortest)))
  }
}

extension CacheEntry {
  /// Whether to look now. A time of the future in the entry means that the clock was wrong then.
  package func isDue(at now: UnixTime) -> Bool {
    if now >= due { return true }
    let last = max(copy?.fetched ?? failure?.at ?? now, failure?.at ?? copy?.fetched ?? now)
    return last > now.adding(seconds: 300)
  }
}
