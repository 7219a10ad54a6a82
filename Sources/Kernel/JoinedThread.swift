internal import CLinux
import Glibc

/// A thread of the system's own (pthread) that is joined before this value ends.
///
/// No signal is delivered to it, so that they all reach the thread of the event loop.
package final class JoinedThread {
  private let thread: pthread_t
  private var isJoined = false

  /// Starts a thread. `name` shows in `top -H`; the system keeps 15 bytes of it.
  package init(_ name: String, body: @escaping @Sendable () -> Void) throws(SystemError) {
    let context = Unmanaged.passRetained(Context(name: name, body: body))
    var thread = pthread_t()
    // Held while the thread is made, since it inherits the mask.
    let code = Signals.held {
      pthread_create(
        &thread, nil,
        { pointer in
          // Retained for this thread alone, and released here.
          guard let pointer else { return nil }
          let context = Unmanaged<Context>.fromOpaque(pointer).takeRetainedValue()
          linux_name_thread(String(decoding: context.name.utf8.prefix(15), as: UTF8.self))
          context.body()
          return nil
        }, context.toOpaque())
    }
    guard code == 0 else {
      context.release()
      throw SystemError("pthread_create", code: code, subject: name)
    }
    self.thread = thread
  }

  deinit { join() }

  /// Waits for the end of the thread, which must have been told to end. Doing it twice is harmless.
  package func join() {
    guard !isJoined else { return }
    isJoined = true
    pthread_join(thread, nil)
  }
}

private final class Context: Sendable {
  let name: String
  let body: @Sendable () -> Void

  init(name: String, body: @escaping @Sendable () -> Void) {
    self.name = name
    self.body = body
  }
}
