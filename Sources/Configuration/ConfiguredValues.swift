/// A path as written in a file; a relative one counts from the folder of that file.
package struct ConfiguredPath: Hashable, Sendable {
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
  /// How long the reader waits for what, at most.
  package struct Timeouts: Equatable, Sendable {
    /// From the code to the session's start.
    package var connect = Duration.seconds(20)
    /// From one part of a message to the next.
    package var idle = Duration.seconds(15)
    /// From the request to the first part of the answer: the holder reads and consents meanwhile.
    package var response = Duration.seconds(120)
    /// From the code to the decision.
    package var total = Duration.seconds(180)
  }

  package struct Signals: Equatable, Sendable {
    /// How long an outcome is shown before the next visitor.
    package var display = Duration.seconds(2)
    /// How long the relay is active after a grant.
    package var relayPulse = Duration.seconds(1)
    package var hasBuzzer = true
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

  /// What a clock that cannot be right does (before the build date, or going backwards).
  package enum ClockPolicy: String, CaseIterable, Sendable {
    /// The reader shows `clockUntrusted` and verifies nothing.
    case fault
    /// The reader says so and goes on: for benches without a clock, not for doors.
    case warn
  }

  /// The folders that stand for camera and radio on the simulated board.
  package struct SimulatedFolders: Equatable, Sendable {
    package var pictures = ConfiguredPath("pictures")
    package var air = ConfiguredPath("air")
  }
}
