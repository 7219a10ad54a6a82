internal import CLinux
import Glibc

/// A bell that any thread may ring and that an `EventLoop` hears (eventfd). Rings between two looks count as one.
package final class Wakeup: Sendable {
  private let descriptor: CInt

  /// A bell that nobody hears yet.
  package init() throws(SystemError) {
    descriptor = try check("eventfd") { linux_eventfd() }
  }

  deinit { _ = close(descriptor) }

  /// Rings. It never blocks, and it may be called in any thread, also after the loop has ended.
  package func signal() {
    var one: UInt64 = 1
    // EAGAIN means that the counter is full, so the bell is ringing already.
    while write(descriptor, &one, MemoryLayout<UInt64>.size) < 0 && errno == EINTR {}
  }

  /// Waits in the calling thread until it rings. For worker threads: the loop's thread never waits like this.
  package func wait() {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while poll(&entry, 1, -1) < 0 && errno == EINTR {}
    clear()
  }

  fileprivate func clear() {
    var count: UInt64 = 0
    while read(descriptor, &count, MemoryLayout<UInt64>.size) < 0 && errno == EINTR {}
  }

  fileprivate func attach(to loop: EventLoop, _ handler: @escaping () -> Void) throws(SystemError) -> EventLoop.Watch {
    // The closure keeps the bell, and so its descriptor, until the watch is removed.
    try loop.watch(raw: descriptor, for: .read) { _ in
      self.clear()
      handler()
    }
  }
}

extension EventLoop {
  /// Calls `handler` on the loop's thread after each ring. The loop keeps the bell until the watch is removed.
  package func watch(_ wakeup: Wakeup, handler: @escaping () -> Void) throws(SystemError) -> Watch {
    try wakeup.attach(to: self, handler)
  }
}

/// Signals of the process (SIGTERM, SIGINT, SIGHUP) as events of a loop (signalfd).
///
/// They are blocked in the thread that makes this, and in the threads made after it. Make it before any thread is
/// started: a thread in which they are not blocked would get them the old way.
package final class SignalWatch {
  private let loop: EventLoop
  private let signals: [CInt]
  private let descriptor: Descriptor
  private var watch: EventLoop.Watch?

  /// Calls `handler` with the number of each signal that arrives.
  package init(
    _ signals: [CInt] = [SIGTERM, SIGINT, SIGHUP], on loop: EventLoop, handler: @escaping (CInt) -> Void
  ) throws(SystemError) {
    self.loop = loop
    self.signals = signals
    let raw = try check("signalfd") { linux_signalfd(signals, signals.count) }
    descriptor = Descriptor(owning: raw)
    watch = try loop.watch(raw: raw, for: .read) { _ in
      let signal = linux_signalfd_read(raw)
      if signal > 0 { handler(signal) }
    }
  }

  deinit { cancel() }

  /// Ends it: the signals act as before in this thread.
  package func cancel() {
    guard let watch else { return }
    loop.remove(watch)
    self.watch = nil
    _ = linux_unblock_signals(signals, signals.count)
  }
}
