import CivilTime
import Kernel

/// Compares the wall clock with what it cannot be: before this version or decades after it, before a time that was good
/// already, or behind monotonic time.
///
/// Two lower bounds, which only grow: the latest good time of any kind, and the latest that a time server vouched for.
/// Below the first only a time server may go, which corrects what nobody had set; below the second nobody.
package struct ClockWatch: Equatable, Sendable {
  /// How far the wall clock may be behind a bound: a correction, not a jump. Seconds.
  package static let tolerance: Int64 = 300
  /// How long after it was made this version may be in use. Seconds: 20 years of 365 days.
  package static let lifetime: Int64 = 20 * 365 * 86_400

  /// The lower bounds.
  package struct Bounds: Equatable, Sendable {
    /// The latest good time.
    package var latest: UnixTime
    /// The latest that a time server, or a technician, vouched for; nil when there was none.
    package var synchronized: UnixTime?

    package init(latest: UnixTime, synchronized: UnixTime?) {
      self.latest = latest
      self.synchronized = synchronized
    }

    func later(by seconds: Int64) -> Bounds {
      Bounds(latest: latest.adding(seconds: seconds), synchronized: synchronized?.adding(seconds: seconds))
    }
  }

  /// Nil before the first good time.
  package private(set) var bounds: Bounds?
  /// When the bounds held; nil for those of an earlier run.
  private var monotonic: ContinuousClock.Instant?

  /// - Parameter bounds: of an earlier run.
  package init(bounds: Bounds? = nil) { self.bounds = bounds }

  /// Why the clock cannot be right, for people; nil when nothing speaks against it.
  package mutating func doubt(
    about wall: UnixTime, at now: ContinuousClock.Instant, isSynchronized: Bool = false
  ) -> String? {
    guard wall >= Release.date else { return "it says \(wall), before this version was made" }
    guard wall <= Release.date.adding(seconds: ClockWatch.lifetime) else {
      return "it says \(wall), decades after this version was made"
    }
    let passed = monotonic.map { (now - $0).components.seconds } ?? 0
    var bounds = bounds?.later(by: passed) ?? Bounds(latest: wall, synchronized: nil)
    if let synchronized = bounds.synchronized, isBefore(wall, synchronized) {
      return "it says \(wall), and it was \(synchronized) already"
    }
    if isBefore(wall, bounds.latest) {
      guard isSynchronized else { return "it says \(wall), and it was \(bounds.latest) already" }
      bounds.latest = wall
    }
    // A clock that is a little behind does not pull the bounds with it.
    bounds.latest = max(bounds.latest, wall)
    if isSynchronized { bounds.synchronized = max(bounds.synchronized ?? wall, wall) }
    self.bounds = bounds
    monotonic = now
    return nil
  }

  private func isBefore(_ wall: UnixTime, _ bound: UnixTime) -> Bool {
    wall < bound.adding(seconds: -ClockWatch.tolerance)
  }
}

extension UnixTime {
  /// Now, by the clock on the wall, which may be wrong.
  package static func wallClock() -> UnixTime {
    let now = WallClock.now()
    return UnixTime(seconds: now.seconds, nanoseconds: now.nanoseconds)
  }
}
