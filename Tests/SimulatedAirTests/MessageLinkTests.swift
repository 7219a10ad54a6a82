import Bluetooth
import Glibc
import Kernel
import Links
import Testing

/// A link of a channel whose peer is a socket that reads only when it is told to.
private final class Blocked {
  let loop: EventLoop
  let link: MessageLink
  let peer: RecordSocket
  var events: [MessageLink.Event] = []
  /// Bytes that the peer has read.
  var arrived = 0

  init(_ limits: LinkLimits = LinkLimits()) throws {
    loop = try EventLoop()
    let (ours, theirs) = try RecordSocket.pair(maximumRecord: RecordSocket.maximumSDU, on: loop)
    peer = theirs
    link = MessageLink(ours, engine: L2CAPLink(mtu: ours.sendLimit, limits: limits), on: loop)
    try link.start { [unowned self] in events.append($0) }
    events = []
  }

  /// Sends more than the socket takes while nobody reads.
  func fill() { link.send([UInt8](repeating: 1, count: 4 << 20)) }

  func read() throws {
    try peer.start { [unowned self] in if case .received(let record) = $0 { arrived += record.count } }
  }

  /// Until it is so, or far too late.
  func turn(until isSo: () -> Bool) throws {
    let limit = ContinuousClock.now + .seconds(20)
    while !isSo(), .now < limit { try loop.turn(until: limit) }
  }
}

@Suite("A link whose peer does not read")
struct MessageLinkTests {
  @Test("hears what the peer sends, and says that its own is sent when the last of it was taken, not before")
  func messages() throws {
    let blocked = try Blocked()
    blocked.fill()
    for number in UInt8(1)...100 { #expect(blocked.peer.send([0, 0, 0, 1, number])) }
    try blocked.turn { blocked.events.last == .message([100]) }
    let messages = blocked.events.filter { if case .message = $0 { true } else { false } }
    #expect(messages == (UInt8(1)...100).map { MessageLink.Event.message([$0]) })
    #expect(!blocked.events.contains(.sent))
    try blocked.read()
    try blocked.turn { blocked.events.last == .sent && blocked.arrived == 4 + 4 << 20 }
    #expect(blocked.events.last == .sent && blocked.arrived == 4 + 4 << 20)
  }

  @Test("is not told that a message was sent while its only record waits")
  func heldBack() throws {
    let blocked = try Blocked()
    var count = 0
    while count < 100_000, blocked.events.count == count {
      count += 1
      blocked.link.send([7])
    }
    // The record of the last one was not taken.
    #expect(blocked.events.count == count - 1)
    try blocked.read()
    try blocked.turn { blocked.events.count == count && blocked.arrived == 5 * count }
    #expect(blocked.events == [MessageLink.Event](repeating: .sent, count: count))
    #expect(blocked.arrived == 5 * count)
  }

  @Test("ends with what the peer does wrong, and at once")
  func violation() throws {
    let blocked = try Blocked()
    blocked.fill()
    #expect(blocked.peer.send([0x7f, 0xff, 0xff, 0xff]))
    for _ in 1...10 { _ = blocked.peer.send([0, 0, 0, 1, 2]) }
    try blocked.turn { !blocked.events.isEmpty }
    #expect(blocked.events == [.finished(.failed(.messageTooLarge))])
  }

  @Test("ends when its time for an end is over")
  func stalled() throws {
    var limits = LinkLimits()
    limits.stall = .milliseconds(50)
    let blocked = try Blocked(limits)
    blocked.fill()
    let start = ContinuousClock.now
    blocked.link.end()
    #expect(blocked.events == [])
    try blocked.turn { !blocked.events.isEmpty }
    #expect(blocked.events == [.finished(.ended)] && .now >= start + .milliseconds(50))
  }

  @Test("a peer that is gone is the end")
  func gone() throws {
    let blocked = try Blocked()
    blocked.fill()
    blocked.peer.close()
    try blocked.turn { if case .finished? = blocked.events.last { true } else { false } }
    #expect(blocked.events.last == .finished(.failed(.peerTerminated)))
  }
}
