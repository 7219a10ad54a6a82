import Panel

/// The rule of the relay, told a second time and from outside: what the panel must do, by the decisions alone.
///
/// It knows no signal, phase or timer of the reader, so that a fault in those cannot be a fault here too.
struct RelayRule {
  typealias Instant = ContinuousClock.Instant

  /// As configured, brought within what a door gets at most and at least.
  let pulse: Duration
  private(set) var pulses = 0
  private var end: Instant?
  private var latest: Instant?
  private var wasActive = false

  init(configured: Duration) {
    pulse = min(max(configured, .milliseconds(100)), .seconds(10))
  }

  /// What is wrong with the panel after a call at `now`, or nil.
  ///
  /// - Parameter isGrant: whether this call brought a decision that opens.
  mutating func violation(of panel: PanelEngine, at now: Instant, isGrant: Bool) -> String? {
    // Time that goes back is no time: a pulse neither begins again nor lasts longer for it.
    let now = max(now, latest ?? now)
    latest = now
    if isGrant {
      end = now + pulse
      pulses += 1
    }
    let isActive = panel.state.lines.isRelayActive
    defer { wasActive = isActive }
    switch panel.state.signal {
    case .off, .starting, .fault, .clockUntrusted:
      // Out of service the pulse is cut, and does not come back.
      end = nil
      return isActive ? "active while \(panel.state.signal)" : nil
    default: break
    }
    guard let end else { return isActive ? "active without a decision" : nil }
    // A door has its whole pulse.
    guard isActive else { return now < end ? "inactive \(end - now) before its end" : nil }
    if now >= end { return "active \(now - end) after its end" }
    if !wasActive, !isGrant { return "active again without a decision" }
    // Whoever wakes the panel when it says so ends the pulse in time.
    guard let deadline = panel.deadline else { return "active without an end in sight" }
    return deadline > end ? "its end is \(deadline - end) late" : nil
  }
}
