import CivilTime
import Kernel

/// Compares the wall clock with what it cannot be: earlier than this version, than a time that was good already, or than
/// monotonic time allows.
///
/// A time server may correct a clock that nobody had set before, in either direction; it does not take back what a time
/// server said before.
package struct ClockWatch: Sendable {
  /// How far the wall clock may be set back: a correction, not a jump. Seconds.
  package static let tolerance: Int64 = 300

  /// A moment that nothing spoke against.
  package struct GoodTime: Equatable, Sendable {
    package let time: UnixTime
    /// Whether a time server had set the clock by then.
    package let isSynchronized: Bool

    package init(_ time: UnixTime, isSynchronized: Bool) {
      self.time = time
      self.isSynchronized = isSynchronized
    }
  }

  /// The latest of an earlier run; nil when none is known.
  private let known: GoodTime?
  private var last: (good: GoodTime, monotonic: ContinuousClock.Instant)?

  package init(known: GoodTime? = nil) { self.known = known }

  /// The latest moment that nothing spoke against; nil when there was none.
  package var latest: GoodTime? { last?.good ?? known }

  /// Why the clock cannot be right, for people; nil when nothing speaks against it.
  package mutating func doubt(
    about wall: UnixTime, at monotonic: ContinuousClock.Instant, isSynchronized: Bool = false
  ) -> String? {
    guard wall >= Release.date else { return "it says \(wall), before this version was made" }
    if let last {
      let expected = last.good.time.adding(seconds: (monotonic - last.monotonic).components.seconds)
      if isBefore(wall, expected), !(isSynchronized && !last.good.isSynchronized) {
        return "it went back from \(expected) to \(wall)"
      }
    } else if let known, isBefore(wall, known.time), !(isSynchronized && !known.isSynchronized) {
      return "it says \(wall), and it was \(known.time) already"
    }
    let wasSynchronized = last?.good.isSynchronized ?? false
    last = (GoodTime(wall, isSynchronized: isSynchronized || wasSynchronized), monotonic)
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
