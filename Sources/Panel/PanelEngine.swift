/// Turns signals into the states of lamps, buzzer and relay over time.
///
/// The relay rule: it is inactive at the start; the change to `granted` starts one pulse of `relayPulse`; the pulse ends by
/// itself, and at once when the reader goes out of service (`off`, `starting`, `fault`, `clockUntrusted`). Nothing
/// else touches it. Repeating `granted` is no new decision. A grant while an earlier pulse still runs gives the new
/// visitor a whole pulse: the relay stays active, to the later end.
///
/// Sans-IO: call `show` for a signal and `advance` when `deadline` has come; apply `state` after each call.
package struct PanelEngine: Sendable {
  package typealias Instant = ContinuousClock.Instant

  /// The pulse that a door gets at least and at most, whatever is configured.
  package static let relayPulseBounds: ClosedRange<Duration> = .milliseconds(100) ... .seconds(10)

  /// How long the relay is active after a grant, within the bounds.
  package let relayPulse: Duration
  package let hasBuzzer: Bool
  /// What the lines are to be now.
  package private(set) var state = PanelState.off

  private var signalBegan: Instant?
  private var pulseEnd: Instant?
  private var latest: Instant?

  /// A pulse outside `relayPulseBounds` is moved to the nearer end.
  package init(relayPulse: Duration, hasBuzzer: Bool = true) {
    let bounds = PanelEngine.relayPulseBounds
    self.relayPulse = min(max(relayPulse, bounds.lowerBound), bounds.upperBound)
    self.hasBuzzer = hasBuzzer
  }

  /// Shows a signal from `now` on. Showing the signal that is already shown changes nothing.
  package mutating func show(_ signal: Signal, at now: Instant) {
    let now = monotonic(now)
    if signal != state.signal {
      signalBegan = now
      if signal.isOutOfService { pulseEnd = nil }
      if signal == .granted { pulseEnd = now + relayPulse }
    }
    update(signal, at: now)
  }

  /// Follows the patterns and ends the relay pulse. Late calls are harmless: nothing is caught up.
  package mutating func advance(to now: Instant) {
    update(state.signal, at: monotonic(now))
  }

  /// When `advance` must be called next; nil while nothing changes by itself.
  package var deadline: Instant? {
    guard let signalBegan, let latest else { return nil }
    let elapsed = latest - signalBegan
    let look = state.look
    var instants: [Instant] = []
    for case .blinking(let blink) in [look.green, look.red, look.blue] {
      instants.append(signalBegan + blink.half.times(elapsed.dividedDown(by: blink.half) + 1))
    }
    if !look.beeps.isOver(after: elapsed) {
      instants.append(signalBegan + look.beeps.length.times(elapsed.dividedDown(by: look.beeps.length) + 1))
    }
    if let pulseEnd { instants.append(pulseEnd) }
    return instants.min()
  }

  /// Time never goes back for the engine, whatever its caller does.
  private mutating func monotonic(_ now: Instant) -> Instant {
    let instant = max(now, latest ?? now)
    latest = instant
    return instant
  }

  private mutating func update(_ signal: Signal, at now: Instant) {
    if let end = pulseEnd, now >= end { pulseEnd = nil }
    let elapsed = signalBegan.map { now - $0 } ?? .zero
    var look = signal.look
    if !hasBuzzer { look.beeps = .none }
    var lines = PanelLines()
    lines.isGreenLit = look.green.isLit(after: elapsed)
    lines.isRedLit = look.red.isLit(after: elapsed)
    lines.isBlueLit = look.blue.isLit(after: elapsed)
    lines.isBuzzerOn = look.beeps.isSounding(after: elapsed)
    lines.isRelayActive = pulseEnd != nil
    state = PanelState(signal: signal, look: look, lines: lines)
  }
}
