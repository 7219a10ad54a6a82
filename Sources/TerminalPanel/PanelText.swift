import Panel

/// A panel state as a line of text.
enum PanelText {
  /// Whether two states read the same: lamp and buzzer levels inside a pattern do not count, the relay does.
  static func isSame(_ first: PanelState, _ second: PanelState) -> Bool {
    first.signal == second.signal && first.look == second.look
      && first.lines.isRelayActive == second.lines.isRelayActive
  }

  /// `12:03:04.123 panel  ready     led green off  red off  blue on   relay inactive`
  static func line(_ state: PanelState, at time: TimeOfDay, isColored: Bool) -> String {
    func lamp(_ name: String, _ light: Light, _ color: Int) -> String {
      let text = "\(name) \(word(light))"
      return paint(text, light == .off ? nil : color) + padding(text, name.utf8.count + 8)
    }
    func paint(_ text: String, _ color: Int?) -> String {
      guard isColored, let color else { return text }
      return "\u{1b}[\(color)m\(text)\u{1b}[0m"
    }
    let signal = state.signal.rawValue
    let relay = state.lines.isRelayActive ? "relay active" : "relay inactive"
    let beeps = state.look.beeps.count
    return "\(time.text) panel  \(signal)\(padding(signal, 15))led "
      + lamp("green", state.look.green, 32) + lamp("red", state.look.red, 31) + lamp("blue", state.look.blue, 34)
      + paint(relay, state.lines.isRelayActive ? 33 : nil)
      + (beeps == 0 ? "" : beeps == 1 ? "  1 beep" : "  \(beeps) beeps")
  }

  private static func word(_ light: Light) -> String {
    switch light {
    case .off: "off"
    case .on: "on"
    case .blinking(.fast): "flash"
    case .blinking: "blink"
    }
  }

  private static func padding(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(1, width - text.utf8.count))
  }
}
