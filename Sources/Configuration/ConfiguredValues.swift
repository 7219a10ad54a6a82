/// A path as written in a file; a relative one counts from the folder of that file.
package struct ConfiguredPath: Hashable, Sendable {
  /// As it is written.
  package let text: String

  package init(_ text: String) {
    self.text = text
  }

  /// The path to open, for a file that lies in `folder` (`.` or empty for the working folder).
  package func resolved(in folder: String) -> String {
    if text.hasPrefix("/") || folder.isEmpty || folder == "." { return text }
    return folder.hasSuffix("/") ? folder + text : "\(folder)/\(text)"
  }
}

extension ReaderConfiguration {
  /// What people see, hear and pass.
  package struct Signals: Equatable, Sendable {
    /// How long an outcome is shown before the next visitor.
    package var display: Duration
    /// How long the relay is active after a grant.
    package var relayPulse: Duration
    /// Whether the buzzer sounds.
    package var hasBuzzer: Bool

    package init(display: Duration = .seconds(2), relayPulse: Duration = .seconds(1), hasBuzzer: Bool = true) {
      self.display = display
      self.relayPulse = relayPulse
      self.hasBuzzer = hasBuzzer
    }
  }

  /// Where events go.
  package enum EventOutput: Hashable, Sendable {
    case standardOutput
    case none
    case file(ConfiguredPath)

    init(_ text: String) {
      switch text {
      case "stdout": self = .standardOutput
      case "none": self = .none
      default: self = .file(ConfiguredPath(text))
      }
    }
  }

  /// What a list of issuers does that is overdue for too long.
  package enum OverdueListPolicy: String, CaseIterable, Sendable {
    /// It is named and used.
    case warn
    /// Its issuers are not trusted any more.
    case drop
  }

  /// What a clock that cannot be right does (before the build date, or going backwards).
  package enum ClockPolicy: String, CaseIterable, Sendable {
    /// The reader shows `clockUntrusted` and verifies nothing.
    case fault
    /// The reader says so and goes on: for benches without a clock, not for doors.
    case warn
  }

  /// The clock, and what is known about it.
  package struct Clock: Equatable, Sendable {
    /// What a clock that cannot be right does.
    package var doubtful = ClockPolicy.fault
    /// Where the latest good time is kept.
    package var file = ConfiguredPath("/var/lib/mdoc-reader/state/clock")
    /// The file that is there once a time server has set the clock.
    package var synchronizedFile = ConfiguredPath("/run/systemd/timesync/synchronized")

    package init() {}
  }

  /// The folders that stand for camera and radio on the simulated board.
  package struct SimulatedFolders: Equatable, Sendable {
    package var pictures = ConfiguredPath("pictures")
    package var air = ConfiguredPath("air")
  }
}
