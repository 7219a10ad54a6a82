import Glibc
import Kernel
import Testing

private let soon = Duration.seconds(10)

/// Numbers go in; they come back doubled, with the thread that did it.
private struct Mailbox: Sendable {
  var numbers: [Int] = []
  var doubled: [Int] = []
  var worker: UInt = 0
  var isStopping = false
}

private typealias Side = SideThread<Mailbox>

private func identity() -> UInt { UInt(bitPattern: Int(pthread_self())) }

private func double(_ box: Side.Box) {
  while true {
    let (numbers, isStopping) = box.look { mailbox in
      defer { mailbox.numbers = [] }
      return (mailbox.numbers, mailbox.isStopping)
    }
    if isStopping { return }
    if numbers.isEmpty {
      box.wait()
    } else {
      box.deliver {
        $0.doubled += numbers.map { 2 * $0 }
        $0.worker = identity()
      }
    }
  }
}

private func doubling(on loop: EventLoop, onDelivery: @escaping (Side.Box) -> Void) throws -> Side {
  try Side(
    "doubling", on: loop, content: Mailbox(), end: { $0.isStopping = true }, onDelivery: onDelivery, work: double)
}

@Suite struct SideThreadTests {
  @Test("what is posted is worked on in the other thread, and what is delivered comes in the loop's")
  func back() throws {
    let loop = try EventLoop()
    var seen: [Int] = []
    var here: UInt = 0
    var there: UInt = 0
    let side = try doubling(on: loop) { box in
      here = identity()
      (seen, there) = box.look { ($0.doubled, $0.worker) }
      if seen.count == 3 { loop.stop() }
    }
    side.post { $0.numbers += [1, 2] }
    let waiting = side.post { mailbox in
      mailbox.numbers.append(3)
      return mailbox.numbers.count
    }
    #expect((1...3).contains(waiting))
    #expect(try loop.run(until: .now + soon))
    #expect(seen == [2, 4, 6])
    #expect(here == identity())
    #expect(there != 0 && there != here)
    side.stop()
    #expect(loop.watchCount == 0)
  }

  @Test("deliveries that the loop has not looked at become one call")
  func oneCall() throws {
    let loop = try EventLoop()
    var calls = 0
    let side = try Side(
      "twice", on: loop, content: Mailbox(), end: { $0.isStopping = true }, onDelivery: { _ in calls += 1 },
      work: { box in
        for number in 1...2 { box.deliver { $0.doubled.append(number) } }
        while !box.look({ $0.isStopping }) { box.wait() }
      })
    while side.box.look({ $0.doubled.count }) < 2 { usleep(1000) }
    // The second bell may ring a moment after the box was filled.
    usleep(50_000)
    try loop.turn(until: .now + soon)
    #expect(calls == 1)
    #expect(try loop.run(until: .now + .milliseconds(20)) == false)
    #expect(calls == 1)
    side.stop()
  }

  @Test("the end waits for what the thread is at, and nothing is delivered after it")
  func end() throws {
    let loop = try EventLoop()
    var calls = 0
    let side = try Side(
      "slow", on: loop, content: Mailbox(), end: { $0.isStopping = true }, onDelivery: { _ in calls += 1 },
      work: { box in
        box.wait()
        usleep(50_000)
        box.deliver { $0.doubled.append(1) }
      })
    side.stop()
    #expect(side.box.look { $0.doubled } == [1])
    #expect(side.box.look { $0.isStopping })
    #expect(loop.watchCount == 0)
    side.stop()
    #expect(try loop.run(until: .now + .milliseconds(20)) == false)
    #expect(calls == 0)
  }

  @Test("the thread may be ended by what it has delivered")
  func endFromInside() throws {
    let loop = try EventLoop()
    var side: Side?
    var calls = 0
    side = try doubling(on: loop) { _ in
      calls += 1
      side?.stop()
      loop.stop()
    }
    side?.post { $0.numbers = [1] }
    #expect(try loop.run(until: .now + soon))
    side?.post { $0.numbers = [2] }
    #expect(try loop.run(until: .now + .milliseconds(20)) == false)
    #expect(calls == 1)
    side = nil
  }

  @Test("a thread whose owner goes is ended")
  func goes() throws {
    let loop = try EventLoop()
    let box: Side.Box
    do {
      let side = try doubling(on: loop) { _ in }
      box = side.box
    }
    #expect(box.look { $0.isStopping })
    #expect(loop.watchCount == 0)
  }
}
