import CLinux
import Glibc
import Kernel
import Testing

@testable import Links

@Suite("record sockets that have failed")
struct LostRecordSocketTests {
  /// An L2CAP socket tells the loss of its link to whoever asks first. When that was a `send`, reading finds nothing, for
  /// ever, and only the hang-up is left.
  @Test("a hang-up with nothing to read is the end, told once")
  func hangUp() throws {
    let loop = try EventLoop()
    let (link, peer) = try RecordSocket.pair(on: loop)
    var events: [RecordSocket.Event] = []
    try link.start { events.append($0) }
    link.ready(.readable)
    #expect(events == [] && link.isOpen)
    link.ready([.hungUp, .writable])
    #expect(events == [.closed(.byPeer)] && !link.isOpen)
    link.ready(.hungUp)
    #expect(events.count == 1)
    peer.close()
  }

  @Test("what was received before a hang-up is read first")
  func records() throws {
    let loop = try EventLoop()
    let (link, peer) = try RecordSocket.pair(on: loop)
    var events: [RecordSocket.Event] = []
    try link.start { events.append($0) }
    #expect(peer.send([1]) && peer.send([2, 3]))
    link.ready(.hungUp)
    #expect(events == [.received([1]), .received([2, 3]), .closed(.byPeer)])
  }

  @Test("a send that finds the peer gone is no event; the end comes with the next turn")
  func failedSend() throws {
    let loop = try EventLoop()
    let (link, peer) = try RecordSocket.pair(on: loop)
    var events: [RecordSocket.Event] = []
    try link.start { events.append($0) }
    #expect(peer.send([1]))
    peer.close()
    #expect(link.send([2]) && events == [] && link.isOpen)
    try loop.turn(until: .now + .seconds(5))
    #expect(events == [.received([1]), .closed(.byPeer)])
  }

  @Test("a record that the kernel has no memory for is not sent, and is asked for again", arguments: [ENOBUFS, ENOMEM])
  func noMemory(code: CInt) throws {
    let loop = try EventLoop()
    let (link, peer) = try RecordSocket.pair(on: loop)
    var events: [RecordSocket.Event] = []
    try link.start { events.append($0) }
    let sendRecord = link.sendRecord
    link.sendRecord = { _, _ in
      errno = code
      return -1
    }
    #expect(!link.send([1]) && events == [])
    link.sendRecord = sendRecord
    try loop.turn(until: .now + .seconds(5))
    #expect(events == [.writable] && link.send([1]))
    var received: [RecordSocket.Event] = []
    try peer.start { received.append($0) }
    try loop.turn(until: .now + .seconds(5))
    #expect(received == [.received([1])])
  }

  @Test("a record that is longer than any buffer ends the link, and nothing is sent after it")
  func tooLong() throws {
    let loop = try EventLoop()
    let (link, peer) = try RecordSocket.pair(on: loop)
    var events: [RecordSocket.Event] = []
    try link.start { events.append($0) }
    #expect(link.send([1]) && link.send([UInt8](repeating: 0, count: 8 << 20)) && link.send([2]) && events == [])
    try loop.turn(until: .now + .seconds(5))
    #expect(events == [.closed(.failed(SystemError("send", code: EMSGSIZE, subject: "link")))] && !link.isOpen)
    var received: [RecordSocket.Event] = []
    try peer.start { received.append($0) }
    try loop.turn(until: .now + .seconds(5))
    #expect(received == [.received([1]), .closed(.byPeer)])
  }
}
