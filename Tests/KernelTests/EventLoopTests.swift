import CLinux
import Foundation
import Kernel
import Testing

/// Two connected sockets that keep record boundaries.
struct SocketPair: ~Copyable {
  let left: Descriptor
  let right: Descriptor

  init() throws {
    var raw: [CInt] = [-1, -1]
    _ = try check("socketpair") { linux_seqpacket_pair(&raw) }
    left = Descriptor(owning: raw[0])
    right = Descriptor(owning: raw[1])
  }
}

private let soon = Duration.seconds(60)

@Suite struct EventLoopTests {
  @Test("a readable descriptor is reported until it has been read")
  func readable() throws {
    let loop = try EventLoop()
    let pair = try SocketPair()
    let raw = pair.left.raw
    var calls = 0
    _ = try loop.watch(pair.left, for: .read) { readiness in
      #expect(readiness == .readable)
      calls += 1
      if calls == 3 {
        var byte: UInt8 = 0
        #expect(recv(raw, &byte, 1, 0) == 1)
        #expect(byte == 7)
        loop.stop()
      }
    }
    #expect(try pair.right.write([7]) == 1)
    #expect(try loop.run(until: .now + soon))
    #expect(try loop.run(until: .now + .milliseconds(5)) == false)
    #expect(calls == 3)
  }

  @Test("an interest is changed, and with none not even a hang-up is reported")
  func interest() throws {
    let loop = try EventLoop()
    let pair = try SocketPair()
    var seen: [EventLoop.Readiness] = []
    let watch = try loop.watch(pair.left, for: []) { seen.append($0) }
    try loop.change(watch, to: .write)
    try loop.turn(until: .now + soon)
    #expect(seen == [.writable])
    try loop.change(watch, to: [])
    shutdown(pair.right.raw, CInt(SHUT_RDWR))
    try loop.turn(until: .now + .milliseconds(2))
    #expect(seen == [.writable])
    try loop.change(watch, to: .read)
    try loop.turn(until: .now + soon)
    #expect(seen.count == 2)
    #expect(seen.last?.contains(.hungUp) == true)
  }

  @Test("a handler that removes itself is not called again")
  func removesItself() throws {
    let loop = try EventLoop()
    let pair = try SocketPair()
    var calls = 0
    var watch: EventLoop.Watch?
    watch = try loop.watch(pair.left, for: .write) { _ in
      calls += 1
      if let watch { loop.remove(watch) }
    }
    try loop.turn(until: .now + soon)
    try loop.turn(until: .now + .milliseconds(2))
    #expect(calls == 1)
    #expect(loop.watchCount == 0)
  }

  @Test("of two handlers that remove one another, ready in one batch, only one is called")
  func removesOther() throws {
    let loop = try EventLoop()
    let pair = try SocketPair()
    var watches: [EventLoop.Watch] = []
    var calls = 0
    let removeBoth: (EventLoop.Readiness) -> Void = { _ in
      calls += 1
      for watch in watches { loop.remove(watch) }
    }
    watches.append(try loop.watch(pair.left, for: .write, handler: removeBoth))
    watches.append(try loop.watch(pair.right, for: .write, handler: removeBoth))
    try loop.turn(until: .now + soon)
    #expect(calls == 1)
  }

  @Test("a number that is closed and opened again in a handler does not get its old event")
  func reusedNumber() throws {
    let loop = try EventLoop()
    let trigger = try SocketPair()
    var victims: [CInt] = [-1, -1]
    #expect(linux_seqpacket_pair(&victims) == 0)
    var watch: EventLoop.Watch?
    var newCalls = 0
    var oldCalls = 0
    let swapVictim: (EventLoop.Readiness) -> Void = { _ in
      guard let old = watch else { return }
      watch = nil
      loop.remove(old)
      close(victims[0])
      close(victims[1])
      #expect(linux_seqpacket_pair(&victims) == 0)
      for raw in victims { _ = try? loop.watch(raw: raw, for: .read) { _ in newCalls += 1 } }
    }
    // One before and one after the victim, so that one of them is reported before it in any order.
    _ = try loop.watch(trigger.left, for: .write, handler: swapVictim)
    watch = try loop.watch(raw: victims[0], for: .write) { _ in oldCalls += 1 }
    _ = try loop.watch(trigger.right, for: .write, handler: swapVictim)
    try loop.turn(until: .now + soon)
    #expect(oldCalls == 0)
    #expect(newCalls == 0)
    victims.forEach { close($0) }
  }

  @Test("removing the watch of a number that somebody else has opened meanwhile leaves the new watch alone")
  func staleRemove() throws {
    let loop = try EventLoop()
    var raw: [CInt] = [-1, -1]
    #expect(linux_seqpacket_pair(&raw) == 0)
    let stale = try loop.watch(raw: raw[0], for: .write) { _ in Issue.record("the old watch was called") }
    var calls = 0
    let other = try SocketPair()
    #expect(dup2(other.left.raw, raw[0]) == raw[0])  // closes the old one, without a remove
    _ = try loop.watch(raw: raw[0], for: .write) { _ in calls += 1 }
    loop.remove(stale)
    try loop.turn(until: .now + soon)
    #expect(calls == 1)
    raw.forEach { close($0) }
  }

  @Test("a descriptor that cannot be waited for is refused with the call's error")
  func regularFile() throws {
    let loop = try EventLoop()
    let folder = try TemporaryFolder()
    let file = try Descriptor(opening: folder.path + "/a", flags: O_RDWR | O_CREAT, mode: 0o600)
    let raw = file.raw
    #expect(throws: SystemError("epoll_ctl", code: EPERM, subject: "descriptor \(raw)")) {
      _ = try loop.watch(raw: raw, for: .read) { _ in }
    }
    #expect(loop.watchCount == 0)
  }

  @Test("stop ends the run after the running handler, and the rest is reported in the next run")
  func stopping() throws {
    let loop = try EventLoop()
    let pair = try SocketPair()
    var calls = 0
    _ = try loop.watch(pair.left, for: .write) { _ in
      calls += 1
      loop.stop()
    }
    _ = try loop.watch(pair.right, for: .write) { _ in
      calls += 1
      loop.stop()
    }
    try loop.run()
    #expect(calls == 1)
    try loop.run()
    #expect(calls == 2)
  }

  @Test("a stop before the run ends that run at once")
  func earlyStop() throws {
    let loop = try EventLoop()
    loop.stop()
    #expect(try loop.run(until: nil))
    #expect(try loop.run(until: .now) == false)
  }
}

@Suite struct TimerTests {
  @Test("timers fire in the order of their deadlines, once each, never early")
  func order() throws {
    let loop = try EventLoop()
    var fired: [String] = []
    let start = ContinuousClock.now
    var early = false
    func add(_ name: String, _ milliseconds: Int) -> EventLoop.Timer {
      let timer = loop.timer(name) {
        fired.append(name)
        if ContinuousClock.now < start + .milliseconds(milliseconds) { early = true }
      }
      timer.set(at: start + .milliseconds(milliseconds))
      return timer
    }
    let timers = [add("c", 12), add("a", 3), add("b", 7)]
    #expect(loop.pendingTimers == ["a", "b", "c"])
    #expect(try loop.run(until: start + .milliseconds(30)) == false)
    #expect(fired == ["a", "b", "c"])
    #expect(!early)
    #expect(timers.allSatisfy { $0.deadline == nil })
    #expect(loop.pendingTimers.isEmpty)
  }

  @Test("a timer is cancelled and moved, also by another timer of the same moment")
  func cancelling() throws {
    let loop = try EventLoop()
    var fired: [String] = []
    let cancelled = loop.timer("cancelled") { fired.append("cancelled") }
    let moved = loop.timer("moved") { fired.append("moved") }
    let start = ContinuousClock.now
    let first = loop.timer("first") {
      fired.append("first")
      cancelled.cancel()
      moved.set(at: start + .milliseconds(20))
    }
    first.set(at: start - .milliseconds(3))
    cancelled.set(at: start - .milliseconds(2))
    moved.set(at: start - .milliseconds(1))
    try loop.turn(until: nil)
    #expect(fired == ["first"])
    #expect(loop.pendingTimers == ["moved"])
    _ = try loop.run(until: start + .milliseconds(40))
    #expect(fired == ["first", "moved"])
  }

  @Test("a timer without delay that sets itself again does not keep descriptors from being served")
  func noStarvation() throws {
    let loop = try EventLoop()
    let pair = try SocketPair()
    var turns = 0
    var again: (() -> Void)?
    let timer = loop.timer("busy") { again?() }
    again = {
      turns += 1
      timer.set(after: .zero)
    }
    timer.set(after: .zero)
    _ = try loop.watch(pair.left, for: .write) { _ in loop.stop() }
    #expect(try loop.run(until: .now + soon))
    #expect(turns <= 2)
    again = nil
  }
}

@Suite struct WakeupTests {
  @Test("a ring of another thread is heard by the waiting loop")
  func otherThread() throws {
    let loop = try EventLoop()
    let wakeup = try Wakeup()
    var rings = 0
    let watch = try loop.watch(wakeup) {
      rings += 1
      loop.stop()
    }
    let thread = Thread { wakeup.signal() }
    thread.start()
    #expect(try loop.run(until: .now + soon))
    #expect(rings == 1)
    for _ in 0..<1000 { wakeup.signal() }
    #expect(try loop.run(until: .now + soon))
    #expect(try loop.run(until: .now + .milliseconds(2)) == false)
    #expect(rings == 2)
    loop.remove(watch)
    wakeup.signal()
    #expect(try loop.run(until: .now + .milliseconds(2)) == false)
  }

  @Test("signals arrive as events and do not end the process", arguments: [SIGTERM, SIGINT, SIGHUP])
  func signals(signal: CInt) throws {
    let loop = try EventLoop()
    var seen: [CInt] = []
    let signals = try SignalWatch(on: loop) { signal in
      seen.append(signal)
      loop.stop()
    }
    // To this thread, since the test process has others in which the signal is not blocked.
    #expect(pthread_kill(pthread_self(), signal) == 0)
    #expect(try loop.run(until: .now + soon))
    #expect(seen == [signal])
    signals.cancel()
    #expect(loop.watchCount == 0)
  }
}
