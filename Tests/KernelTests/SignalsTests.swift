import Glibc
import Synchronization
import Testing

@testable import Kernel

@Suite("Signals")
struct SignalsTests {
  private enum Refusal: Error { case refused }

  /// Whether this thread takes the signal that ends a service.
  fileprivate static var takesTermination: Bool {
    var mask = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &mask)
    return sigismember(&mask, SIGTERM) == 0
  }

  @Test("are held back while something runs, from the threads that it starts for ever, and from nobody after it")
  func held() throws {
    let before = SignalsTests.takesTermination
    let inThread = Mutex<Bool?>(nil)
    let within = Signals.held {
      var thread = pthread_t()
      let context = Unmanaged.passRetained(Answer())
      let code = pthread_create(
        &thread, nil,
        { pointer in
          guard let pointer else { return nil }
          Unmanaged<Answer>.fromOpaque(pointer).takeUnretainedValue().value.withLock {
            $0 = SignalsTests.takesTermination
          }
          return nil
        }, context.toOpaque())
      #expect(code == 0)
      pthread_join(thread, nil)
      let answer = context.takeRetainedValue().value.withLock { $0 }
      inThread.withLock { $0 = answer }
      return SignalsTests.takesTermination
    }
    #expect(!within && inThread.withLock { $0 } == false)
    #expect(SignalsTests.takesTermination == before)
  }

  @Test("are as before also when it throws")
  func thrown() {
    let before = SignalsTests.takesTermination
    #expect(throws: Refusal.refused) { try Signals.held { () throws(Refusal) in throw Refusal.refused } }
    #expect(SignalsTests.takesTermination == before)
  }
}

private final class Answer: Sendable {
  let value = Mutex<Bool?>(nil)
}
