/// The panel at one instant: which signal it shows, how, and the level of every line.
package struct PanelState: Equatable, Sendable {
  package let signal: Signal
  /// What the lamps and the buzzer do over time.
  package let look: Look
  /// What they are at this instant, and the relay.
  package let lines: PanelLines

  package init(signal: Signal, look: Look, lines: PanelLines) {
    self.signal = signal
    self.look = look
    self.lines = lines
  }

  /// Everything dark, silent and inactive: before the start, after the stop, and whenever in doubt.
  package static let off = PanelState(signal: .off, look: Look(), lines: PanelLines())
}

/// Logical levels; polarity is a fact of the board.
package struct PanelLines: Equatable, Sendable {
  package var isGreenLit = false
  package var isRedLit = false
  package var isBlueLit = false
  package var isBuzzerOn = false
  package var isRelayActive = false

  package init() {}
}
