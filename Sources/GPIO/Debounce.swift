/// Tells a level that stays from contacts that bounce: a new level counts once it was there for `interval` without an edge.
package struct Debounce: Equatable, Sendable {
  package typealias Instant = ContinuousClock.Instant

  package let interval: Duration
  /// The level that counts.
  package private(set) var level: Bool
  /// When to look again; nil while nothing is open.
  package private(set) var deadline: Instant?

  /// - Parameter level: what the line has now; it counts at once.
  package init(level: Bool, interval: Duration) {
    self.level = level
    self.interval = max(.zero, interval)
  }

  /// There was an edge, and this is the level now. Says whether the level that counts has changed.
  package mutating func edge(to level: Bool, at now: Instant) -> Bool {
    guard level != self.level else {
      deadline = nil
      return false
    }
    deadline = now + interval
    return look(at: level, now)
  }

  /// Looks whether the deadline has come, with the level of now. Says whether the level that counts has changed.
  package mutating func look(at level: Bool, _ now: Instant) -> Bool {
    guard let deadline, now >= deadline else { return false }
    self.deadline = nil
    guard level != self.level else { return false }
    self.level = level
    return true
  }
}
