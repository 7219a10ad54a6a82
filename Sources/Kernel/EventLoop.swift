internal import CLinux
import Glibc

/// One epoll loop on one thread: descriptors, deadlines, signals and wake-ups of other threads.
///
/// Everything that belongs to the loop is used on the loop's thread only (it is not `Sendable`); `Wakeup` alone may
/// be signalled from elsewhere. Handlers run one at a time, never inside another, and may add, change and remove
/// whatever they like, themselves included: what is removed is not called any more, even when its event has
/// already been fetched.
package final class EventLoop {
  /// What to report about a descriptor. With nothing asked, nothing is reported, not even a hang-up.
  package struct Interest: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let read = Interest(rawValue: 1)
    package static let write = Interest(rawValue: 2)
  }

  /// What a descriptor is ready for. `hungUp` and `failed` are reported without having been asked for.
  package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let readable = Readiness(rawValue: 1)
    package static let writable = Readiness(rawValue: 2)
    /// The other side is gone. Data may still be there to read.
    package static let hungUp = Readiness(rawValue: 4)
    package static let failed = Readiness(rawValue: 8)
  }

  /// Names one registration. It is never used again for another one, whatever happens to the descriptor's number.
  package struct Watch: Hashable, Sendable {
    fileprivate let token: UInt64
  }

  private struct Entry {
    let descriptor: CInt
    var interest: Interest
    let handler: (Readiness) -> Void
  }

  private let epoll: Descriptor
  private var entries: [UInt64: Entry] = [:]
  /// Which registration a descriptor number belongs to now: one that was closed, and its number opened again, must
  /// not be touched through the old registration.
  private var owners: [CInt: UInt64] = [:]
  private var lastToken: UInt64 = 0
  private var isStopping = false
  private var armed: [Timer] = []
  private var batch = [linux_event](repeating: linux_event(), count: 64)

  /// A loop with nothing in it.
  package init() throws(SystemError) {
    epoll = Descriptor(owning: try check("epoll_create1") { linux_epoll_create() })
  }

  // MARK: Descriptors

  /// Calls `handler` whenever the descriptor is ready (level-triggered), until `remove`.
  ///
  /// The descriptor stays the caller's: remove the watch before closing it. One descriptor has one watch.
  package func watch(
    _ descriptor: borrowing Descriptor, for interest: Interest, handler: @escaping (Readiness) -> Void
  ) throws(SystemError) -> Watch {
    try watch(raw: descriptor.raw, for: interest, handler: handler)
  }

  /// Like `watch(_:for:handler:)`, for a descriptor that somebody else owns, such as standard input.
  package func watch(
    raw descriptor: CInt, for interest: Interest, handler: @escaping (Readiness) -> Void
  ) throws(SystemError) -> Watch {
    lastToken += 1
    if !interest.isEmpty {
      try control(linux_epoll_ctl_add, descriptor, interest, lastToken)
    }
    if let stale = owners.updateValue(lastToken, forKey: descriptor) { entries[stale] = nil }
    entries[lastToken] = Entry(descriptor: descriptor, interest: interest, handler: handler)
    return Watch(token: lastToken)
  }

  /// Replaces what is reported. A watch that was removed is left alone.
  package func change(_ watch: Watch, to interest: Interest) throws(SystemError) {
    guard let entry = entries[watch.token], entry.interest != interest else { return }
    // A descriptor in the set reports hang-ups whatever is asked; out of the set it is quiet.
    let operation =
      interest.isEmpty ? linux_epoll_ctl_del : entry.interest.isEmpty ? linux_epoll_ctl_add : linux_epoll_ctl_mod
    try control(operation, entry.descriptor, interest, watch.token)
    entries[watch.token]?.interest = interest
  }

  /// Ends a watch: its handler is not called again. Doing it twice is harmless.
  package func remove(_ watch: Watch) {
    guard let entry = entries.removeValue(forKey: watch.token) else { return }
    guard owners[entry.descriptor] == watch.token else { return }
    owners[entry.descriptor] = nil
    // This can only fail for a descriptor that is closed already, and then it is out of the set.
    if !entry.interest.isEmpty { try? control(linux_epoll_ctl_del, entry.descriptor, [], watch.token) }
  }

  /// How many watches there are; a test for leaks reads it.
  package var watchCount: Int { entries.count }

  private func control(
    _ operation: CInt, _ descriptor: CInt, _ interest: Interest, _ token: UInt64
  ) throws(SystemError) {
    var events: UInt32 = 0
    if interest.contains(.read) { events |= linux_epoll_in }
    if interest.contains(.write) { events |= linux_epoll_out }
    _ = try check("epoll_ctl", "descriptor \(descriptor)") {
      linux_epoll_ctl(epoll.raw, operation, descriptor, events, token)
    }
  }

  // MARK: Turning

  /// Turns until `stop()`.
  package func run() throws(SystemError) { _ = try run(until: nil) }

  /// Turns until `stop()` or until the deadline, and says whether it was `stop()`.
  ///
  /// A `stop()` before the call counts as well: the call returns at once, and the next one turns again.
  package func run(until deadline: ContinuousClock.Instant?) throws(SystemError) -> Bool {
    while !isStopping {
      if let deadline, ContinuousClock.now >= deadline { return false }
      try turn(until: deadline)
    }
    isStopping = false
    return true
  }

  /// Ends `run` after the handler that is running now. What was not yet reported is reported in the next run.
  package func stop() { isStopping = true }

  /// Waits for one batch of events, or until the deadline, or until the next timer; calls the handlers.
  package func turn(until deadline: ContinuousClock.Instant?) throws(SystemError) {
    let next = armed.lazy.compactMap(\.deadline).min()
    let timeout = EventLoop.milliseconds(until: [deadline, next].compactMap { $0 }.min())
    let count = Int(
      try checkWait {
        // The batch is this loop's own storage; the kernel fills it during the call only.
        batch.withUnsafeMutableBufferPointer { linux_epoll_wait(epoll.raw, $0.baseAddress, CInt($0.count), timeout) }
      })
    fireTimers(at: .now)
    for index in 0..<count where !isStopping {
      let event = batch[index]
      // Looked up only now: an earlier handler of this batch may have removed or replaced it.
      guard let entry = entries[event.token] else { continue }
      var readiness: Readiness = []
      if event.events & linux_epoll_in != 0, entry.interest.contains(.read) { readiness.insert(.readable) }
      if event.events & linux_epoll_out != 0, entry.interest.contains(.write) { readiness.insert(.writable) }
      if event.events & linux_epoll_hup != 0 { readiness.insert(.hungUp) }
      if event.events & linux_epoll_err != 0 { readiness.insert(.failed) }
      if !readiness.isEmpty && !entry.interest.isEmpty { entry.handler(readiness) }
    }
  }

  /// An interrupted wait is a wait without events: the timeout has to be worked out again.
  private func checkWait(_ body: () -> CInt) throws(SystemError) -> CInt {
    let result = body()
    if result >= 0 { return result }
    if errno == EINTR { return 0 }
    throw .last("epoll_wait")
  }

  /// Rounded up, so that the loop never wakes before the deadline; -1 waits for ever.
  private static func milliseconds(until deadline: ContinuousClock.Instant?) -> CInt {
    guard let deadline else { return -1 }
    let left = deadline - .now
    guard left > .zero else { return 0 }
    let (seconds, attoseconds) = left.components
    guard seconds < 1_000_000 else { return 1_000_000_000 }
    return CInt(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }

  // MARK: Timers

  /// A deadline with a name and something to do when it has passed. It fires once for each `set`.
  package final class Timer {
    /// For diagnosis only: several timers may share a name.
    package let name: String
    /// When it fires, nil while it is not set.
    package fileprivate(set) var deadline: ContinuousClock.Instant?
    private weak var loop: EventLoop?
    fileprivate let handler: () -> Void

    fileprivate init(_ name: String, loop: EventLoop, handler: @escaping () -> Void) {
      self.name = name
      self.loop = loop
      self.handler = handler
    }

    /// Sets the deadline, or moves it. A deadline in the past fires in the loop's next turn. The loop keeps a timer
    /// alive while it is set.
    package func set(at instant: ContinuousClock.Instant) {
      if deadline == nil { loop?.armed.append(self) }
      deadline = instant
    }

    /// Fires after this time from now.
    package func set(after delay: Duration) { set(at: .now + delay) }

    /// Unsets the deadline; harmless when it is not set.
    package func cancel() {
      guard deadline != nil else { return }
      deadline = nil
      loop?.armed.removeAll { $0 === self }
    }
  }

  /// A timer of this loop, not set yet. Without its loop it never fires.
  package func timer(_ name: String, handler: @escaping () -> Void) -> Timer {
    Timer(name, loop: self, handler: handler)
  }

  /// The names of the timers that are set, the next one first.
  package var pendingTimers: [String] {
    armed.sorted { ($0.deadline ?? .now) < ($1.deadline ?? .now) }.map(\.name)
  }

  private func fireTimers(at now: ContinuousClock.Instant) {
    guard !armed.isEmpty else { return }
    let due = armed.filter { timer in timer.deadline.map { $0 <= now } ?? false }
      .sorted { ($0.deadline ?? now) < ($1.deadline ?? now) }
    for timer in due where !isStopping {
      // A handler before this one may have cancelled or moved it. What is set again in a handler waits for the
      // next turn, so that a timer without delay cannot hold up the descriptors.
      guard let deadline = timer.deadline, deadline <= now else { continue }
      timer.cancel()
      timer.handler()
    }
  }
}
