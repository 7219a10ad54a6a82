import Commands
import Foundation
import Synchronization
import WalletCommands

/// A verb of `mdoc-wallet` in a thread of its own.
final class RunningWallet: Sendable {
  private let lines = Mutex<(out: String, err: String, status: Int32?)>(("", "", nil))

  /// - Parameter verb: `present` unless another is named.
  init(verb: String = "present", _ words: [String], input: CInt = -1) {
    Thread.detachNewThread { [self] in
      let console = Console(program: "mdoc-wallet", input: input) { text, isData in
        self.lines.withLock { if isData { $0.out += text } else { $0.err += text } }
      }
      let status = WalletCommands.run([verb] + words, console: console)
      self.lines.withLock { $0.status = status }
    }
  }

  var out: String { lines.withLock { $0.out } }
  var err: String { lines.withLock { $0.err } }

  struct Late: Error {}

  private func wait<Value>(for value: () -> Value?) throws -> Value {
    let deadline = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < deadline {
      if let value = value() { return value }
      usleep(2000)
    }
    throw Late()
  }

  /// The text of the engagement, once it is shown.
  func engagement() throws -> String { try line("mdoc:") }

  /// The first line of data that begins so, once it is there.
  func line(_ beginning: String) throws -> String {
    try wait {
      let whole = out
      guard let line = whole.split(separator: "\n").first(where: { $0.hasPrefix(beginning) }) else { return nil }
      // A line is there when its end is.
      return whole.contains(line + "\n") ? String(line) : nil
    }
  }

  /// The exit status, once it is there.
  func status() throws -> Int32 { try wait { lines.withLock { $0.status } } }

  func waitForRemark(_ text: String) throws { _ = try wait { err.contains(text) ? true : nil } }
}
