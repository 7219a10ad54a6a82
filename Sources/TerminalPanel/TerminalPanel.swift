import Glibc
import Kernel
import Panel

/// The panel of a board without lamps: one line of text for each change, on a descriptor.
///
/// Blinking and beeping are named rather than followed, so that a fault does not fill the screen. A line that the reader
/// of the descriptor does not take at once is left out rather than waited for: the loop never blocks.
package struct TerminalPanel {
  private let descriptor: Int32
  private let isColored: Bool
  private var shown: PanelState?

  /// `descriptor` stays the caller's. Colours only on a terminal, and not where `NO_COLOR` is set.
  package init(descriptor: Int32, isColored: Bool? = nil) {
    self.descriptor = descriptor
    self.isColored = isColored ?? (isatty(descriptor) == 1 && getenv("NO_COLOR") == nil)
  }

  /// Prints a line when something that people would notice has changed since the last line printed.
  package mutating func show(_ state: PanelState) {
    show(state, at: .now)
  }

  mutating func show(_ state: PanelState, at time: TimeOfDay) {
    if let shown, PanelText.isSame(shown, state) { return }
    if write(PanelText.line(state, at: time, isColored: isColored) + "\n") { shown = state }
  }

  /// Whether the whole line went out. A pipe that polls writable takes `PIPE_BUF` bytes, far more than a line.
  private func write(_ line: String) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard poll(&request, 1, 0) == 1, request.revents & Int16(POLLOUT) != 0 else { return false }
    let bytes = Array(line.utf8)
    return Glibc.write(descriptor, bytes, bytes.count) == bytes.count
  }
}

/// Local time of day for people to read; never used to decide anything.
struct TimeOfDay {
  let hour: Int
  let minute: Int
  let second: Int
  let millisecond: Int

  static var now: TimeOfDay {
    let now = WallClock.now()
    var seconds = time_t(now.seconds)
    var local = tm()
    localtime_r(&seconds, &local)
    return TimeOfDay(
      hour: Int(local.tm_hour), minute: Int(local.tm_min), second: Int(local.tm_sec),
      millisecond: Int(now.nanoseconds / 1_000_000))
  }

  var text: String {
    func padded(_ value: Int, _ width: Int) -> String {
      let digits = String(value)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    return "\(padded(hour, 2)):\(padded(minute, 2)):\(padded(second, 2)).\(padded(millisecond, 3))"
  }
}
