import Foundation
import Kernel
import Synchronization
import Testing

@Suite struct MutexTests {
  /// What CLinux tells the thread sanitizer of Swift's locks: without it, this is reported as a race there.
  @Test("what several threads change behind a lock that they wait for is changed by one at a time")
  func contended() throws {
    let box = Counter()
    let threads = try (0..<4).map { number in
      try JoinedThread("counter \(number)") {
        for _ in 0..<200 {
          box.count.withLock { count in
            let seen = count
            // Long enough for the others to come and wait
            usleep(20)
            count = seen + 1
          }
        }
      }
    }
    threads.forEach { $0.join() }
    #expect(box.count.withLock { $0 } == 800)
  }

  private final class Counter: Sendable {
    let count = Mutex(0)
  }
}
