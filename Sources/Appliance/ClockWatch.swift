import CivilTime
import Kernel

/// Compares the wall clock with what it cannot be: earlier than this version, or than monotonic time allows.
package struct ClockWatch: Sendable {
  /// How far the wall clock may be set back while the reader runs: a correction, not a jump.
  package static let tolerance: Int64 = 300

  private var last: (wall: UnixTime, monotonic: ContinuousClock.Instant)?

  package init() {}

  /// Why the clock cannot be right, for people; nil when nothing speaks against it.
  package mutating func doubt(about wall: UnixTime, at monotonic: ContinuousClock.Instant) -> String? {
    guard wall >= Release.date else { return "it says \(wall), before this version was made" }
    if let last {
      let expected = last.wall.adding(seconds: (monotonic - last.monotonic).components.seconds)
      if wall < expected.adding(seconds: -ClockWatch.tolerance) { return "it went back from \(expected) to \(wall)" }
    }
    last = (wall, monotonic)
    return nil
  }
}

extension UnixTime {
  /// Now, by the clock on the wall, which may be wrong.
  package static func wallClock() -> UnixTime {
    let now = WallClock.now()
    return UnixTime(seconds: now.seconds, nanoseconds: now.nanoseconds)
  }
}
