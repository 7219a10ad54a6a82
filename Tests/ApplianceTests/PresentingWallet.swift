import Commands
import Foundation
import Synchronization
import Testing
import WalletCommands

/// A wallet in a thread of its own.
final class PresentingWallet: Sendable {
  private let out = Mutex("")

  init(_ words: [String]) {
    Thread.detachNewThread { [self] in
      let console = Console(program: "mdoc-wallet", input: -1) { text, isData in
        if isData { self.out.withLock { $0 += text } }
      }
      _ = WalletCommands.run(["present"] + words, console: console)
    }
  }

  func engagement() throws -> String {
    let deadline = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < deadline {
      let code = out.withLock { $0.split(separator: "\n").first { $0.hasPrefix("mdoc:") }.map(String.init) }
      if let code { return code }
      usleep(2000)
    }
    throw CancellationError()
  }
}
