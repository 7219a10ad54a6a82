/// What a line of the panel drives.
package enum OutputRole: String, CaseIterable, Sendable {
  case green
  case red
  case blue
  case buzzer
  case relay

  /// The name of the fact in the board's file: `panel.lines.relay`.
  package var fact: String { "panel.lines.\(rawValue)" }
}

/// What a line of the panel listens to.
package enum InputRole: String, CaseIterable, Sendable {
  case button
  case doorContact = "door_contact"

  /// The name of the fact in the board's file: `panel.lines.button`.
  package var fact: String { "panel.lines.\(rawValue)" }
}

/// Which lines are the panel: facts of a board.
///
/// Chips are named by what stays the same over releases of the kernel: the label (`pinctrl-rp1`), or the name
/// (`gpiochip4`) where two chips have one label.
package struct LineSettings: Equatable, Sendable {
  /// Which line of a chip.
  package enum Place: Hashable, Sendable {
    /// By its name: `GPIO17`.
    case name(String)
    /// By its number on the chip, from 0.
    case offset(UInt32)
  }

  /// The resistor inside the chip. Not every chip and kernel has it; one that is not there is gone without.
  package enum Bias: String, CaseIterable, Sendable {
    /// Whatever was set before.
    case asIs = "as_is"
    case none
    case pullUp = "pull_up"
    case pullDown = "pull_down"
  }

  package struct Output: Equatable, Sendable {
    package var place: Place
    /// Label or name of its chip; nil for `LineSettings.chip`.
    package var chip: String?
    /// Whether the lamp is lit, or the relay drawn, by a low level.
    package var isActiveLow: Bool

    package init(_ place: Place, chip: String? = nil, isActiveLow: Bool = false) {
      self.place = place
      self.chip = chip
      self.isActiveLow = isActiveLow
    }
  }

  package struct Input: Equatable, Sendable {
    package var place: Place
    /// Label or name of its chip; nil for `LineSettings.chip`.
    package var chip: String?
    /// Whether a low level means pressed, or open.
    package var isActiveLow: Bool
    package var bias: Bias
    /// How long a level must stay before it counts. A new edge starts the wait again.
    package var debounce: Duration

    package init(
      _ place: Place, chip: String? = nil, isActiveLow: Bool = false, bias: Bias = .asIs,
      debounce: Duration = .milliseconds(30)
    ) {
      self.place = place
      self.chip = chip
      self.isActiveLow = isActiveLow
      self.bias = bias
      self.debounce = debounce
    }
  }

  /// What to do while somebody else holds a lamp or the buzzer. A relay or an input that cannot be had is always a fault.
  package enum LampPolicy: String, CaseIterable, Sendable {
    /// Go on without it, say so, and try again now and then: the door works.
    case goOn = "go_on"
    /// Do not serve: the panel is not available.
    case refuse
  }

  /// Label or name of the chip that has the lines.
  package var chip: String
  package var outputs: [OutputRole: Output]
  package var inputs: [InputRole: Input]
  package var busyLamp: LampPolicy
  /// What other programs see as the holder of the lines.
  package var consumer: String

  package init(
    chip: String, outputs: [OutputRole: Output], inputs: [InputRole: Input] = [:], busyLamp: LampPolicy = .goOn,
    consumer: String = "mdoc-reader"
  ) {
    self.chip = chip
    self.outputs = outputs
    self.inputs = inputs
    self.busyLamp = busyLamp
    self.consumer = consumer
  }
}
