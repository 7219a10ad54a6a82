import Bytes
import Testing

@testable import Bluetooth

@Suite("GATT link, server side")
struct GATTLinkServerTests {
  private func bench(_ limits: GATTLink.Limits = GATTLink.Limits()) -> LinkBench {
    LinkBench(.server(mode: .centralClient, service: service, ident: ident, limits: limits))
  }

  @Test("a phone's whole conversation is served, with responses and notifications only")
  func conversation() {
    var bench = bench()
    var sent: [String] = []
    func step(_ outputs: [String], _ expected: [String]) {
      #expect(outputs == expected)
      sent += outputs.filter { $0.hasPrefix("tx ") }
    }
    step(bench.feed(.connected), [])
    step(bench.peer("020502"), ["tx 030502"])
    step(bench.peer("060100ffff0028\(serviceWire)"), ["tx 0707001100"])
    step(bench.peer("100100ffff0128"), ["tx 011001000a"])
    step(bench.peer("0a1100"), ["tx 0b\(ident.hex)"])
    step(bench.peer("120a000100"), ["tx 13"])
    step(bench.peer("120f000100"), ["tx 13"])
    step(bench.feed(.send([0xa0])), [])
    step(bench.peer("52090001"), ["started 517 6", "tx 1b0e0000a0", "sent"])
    step(bench.peer("520c0001aa"), ["progress 1"])
    step(bench.peer("120c0000bb"), ["tx 13", "progress 2", "message aabb"])
    // An indication of the peer's own server is confirmed; nobody asked for it.
    step(bench.peer("1d03000100ffff"), ["tx 1e"])
    step(bench.feed(.end), ["tx 1b090002"])
    step(bench.feed(.disconnected), ["finished"])
    for pdu in sent.compactMap({ Bytes.bytes(hex: $0.dropFirst(3)) }) {
      #expect([.response, .notification, .confirmation].contains(ATTPDU.purpose(of: pdu[0])))
    }
    #expect(sent.count == 10)
  }

  @Test("a device that connects and writes no start is never served")
  func bystander() {
    var bench = bench()
    _ = bench.feed(.connected)
    #expect(bench.feed(.send([1, 2, 3])) == [])
    #expect(bench.peer("120f000100") == ["tx 13"])
    #expect(bench.peer("520c0000aa") == [])
    #expect(bench.peer("520c00ff") == [])
    #expect(bench.peer("120c0000aa") == ["tx 13"])
    #expect(bench.lastWake == bench.now + .seconds(30))
    #expect(bench.tick(after: .seconds(29)) == [])
    #expect(bench.tick(after: .seconds(1)) == ["finished setupTimeout"])
  }

  @Test("the second of two devices is served when it is the one that starts")
  func twoDevices() {
    var first = bench()
    var second = bench()
    _ = first.feed(.connected)
    _ = second.feed(.connected)
    _ = first.peer("120f000100")
    _ = second.peer("120f000100")
    #expect(second.peer("52090001") == ["started 23 1"])
    #expect(first.peer("520c0000aa") == [])
    #expect(second.peer("520c0000aa") == ["progress 1", "message aa"])
    #expect(first.feed(.end) == ["finished"])
  }

  @Test("a start before the subscription counts once the subscription is there")
  func startFirst() {
    var bench = bench()
    _ = bench.feed(.connected)
    #expect(bench.peer("52090001") == [])
    #expect(bench.peer("120a000100") == ["tx 13"])
    #expect(bench.peer("120f000100") == ["tx 13", "started 23 2"])
    #expect(bench.peer("52090001") == [])
  }

  /// What a started link does with each input.
  static let inputs: [(input: String, outputs: [String])] = [
    ("52090002", ["finished peerTerminated"]),
    ("12090002", ["tx 13", "finished peerTerminated"]),
    ("52090001", []),
    ("52090000", ["tx 1b090002", "finished stateInvalid"]),
    ("520900", ["tx 1b090002", "finished stateInvalid"]),
    ("5209000101", ["tx 1b090002", "finished stateInvalid"]),
    ("120900ff", ["tx 13", "tx 1b090002", "finished stateInvalid"]),
    ("520c00", ["tx 1b090002", "finished fragmentInvalid"]),
    ("520c0002", ["tx 1b090002", "finished fragmentInvalid"]),
    ("520c00ffaa", ["tx 1b090002", "finished fragmentInvalid"]),
    ("520c00000102030405", ["tx 1b090002", "finished messageTooLarge"]),
    ("520c000001020304", ["progress 4", "message 01020304"]),
    ("520c0001", []),
    ("520c0000", ["message "]),
    ("120f000000", ["tx 13", "finished peerTerminated"]),
    ("120a000000", ["tx 13"]),
    // Responses to nothing, notifications, confirmations
    ("13", []), ("030502", []), ("0b00", []), ("010a000001", []), ("0303", []), ("1e", []), ("1e00", []),
    ("1b0e0000", []), ("1d0e0000", ["tx 1e"]), ("2300", []), ("1b0e", ["tx 1b090002", "finished attInvalid"]),
    ("", []), ("7f", []), ("3f", ["tx 013f000006"]), ("0200", ["tx 0102000004"]), ("020502", ["tx 030502"]),
  ]

  @Test("a started link answers each input in its way", arguments: inputs)
  func started(input: String, expected: [String]) {
    var limits = GATTLink.Limits()
    limits.messageSize = 4
    var bench = startedServer(limits: limits)
    #expect(bench.peer(input) == expected)
    if expected.last?.hasPrefix("finished") == true {
      #expect(bench.peer("0a1100") == [] && bench.feed(.end) == [] && bench.feed(.disconnected) == [])
    }
  }

  @Test("a link that is not connected yet takes no PDU")
  func early() {
    var bench = bench()
    #expect(bench.peer("0a1100") == [])
    #expect(bench.feed(.tick) == [])
    #expect(bench.feed(.disconnected) == ["finished linkLost"])
    #expect(bench.feed(.connected) == [])
  }

  @Test("a State value that does not exist ends a link before start, too")
  func stateBeforeStart() {
    var bench = bench()
    _ = bench.feed(.connected)
    #expect(bench.peer("52090003") == ["finished stateInvalid"])
  }

  @Test("a PDU longer than the MTU we offered ends the link, one as long does not")
  func longPDU() {
    var bench = startedServer()
    let longest = "520c0001" + String(repeating: "aa", count: 513)
    #expect(bench.peer(longest) == ["progress 513"])
    #expect(bench.peer(longest + "aa") == ["tx 1b090002", "finished attInvalid"])
  }

  @Test("parts are handed out one by one, only while the connection takes them")
  func backPressure() {
    var bench = startedServer()
    bench.canTransmit = false
    #expect(bench.feed(.send([UInt8](repeating: 7, count: 40))) == [])
    #expect(bench.peer("520c0000aa") == ["progress 1", "message aa"])
    #expect(bench.peer("0a1100") == [])
    // The answer goes before the parts.
    let order = (0..<3).map { _ in bench.link.nextOutput(at: bench.now) }
    #expect(order[0] == .transmit([0x0b] + ident))
    #expect(order[1] == .transmit([0x1b, 0x0e, 0, 1] + [UInt8](repeating: 7, count: 19)))
    #expect(order[2] == .transmit([0x1b, 0x0e, 0, 1] + [UInt8](repeating: 7, count: 19)))
    #expect(bench.drain() == [])
    bench.canTransmit = true
    #expect(bench.drain() == ["tx 1b0e00000707", "sent"])
  }

  @Test("a peer that asks again before it can have the answer is dropped")
  func flood() {
    var bench = startedServer()
    bench.canTransmit = false
    #expect(bench.peer("0a1100") == [])
    #expect(bench.peer("0a1100") == ["finished attInvalid"])
    var indications = startedServer()
    indications.canTransmit = false
    #expect(indications.peer("1d0e0000") == [])
    #expect(indications.peer("1d0e0000") == ["finished attInvalid"])
  }

  @Test("the end waits for the peer to close, a second at most")
  func linger() {
    var bench = startedServer()
    #expect(bench.feed(.send([1])) == ["tx 1b0e000001", "sent"])
    #expect(bench.feed(.end) == ["tx 1b090002"])
    #expect(bench.lastWake == bench.now + .seconds(1))
    #expect(bench.peer("520c0000aa") == [])
    #expect(bench.tick(after: .milliseconds(999)) == [])
    #expect(bench.tick(after: .milliseconds(1)) == ["finished"])
    var answered = startedServer()
    #expect(answered.feed(.end) == ["tx 1b090002"])
    #expect(answered.peer("52090002") == ["finished"])
    var limits = GATTLink.Limits()
    limits.linger = .zero
    var prompt = startedServer(limits: limits)
    #expect(prompt.feed(.end) == ["tx 1b090002", "finished"])
  }

  @Test("an ending link gives up on a connection that takes nothing")
  func stall() {
    var bench = startedServer()
    bench.canTransmit = false
    #expect(bench.feed(.send([UInt8](repeating: 1, count: 100))) == [])
    #expect(bench.feed(.end) == [])
    #expect(bench.lastWake == bench.now + .seconds(5))
    bench.now += .seconds(4)
    #expect(bench.link.nextOutput(at: bench.now).map { if case .transmit = $0 { true } else { false } } == true)
    #expect(bench.drain() == [])
    #expect(bench.lastWake == bench.now + .seconds(5))
    #expect(bench.tick(after: .seconds(5)) == ["finished"])
  }

  @Test("a peer without State notifications is not told of the end")
  func silentEnd() {
    var bench = bench()
    _ = bench.feed(.connected)
    _ = bench.peer("120f000100")
    _ = bench.peer("52090001")
    #expect(bench.peer("520c00ff") == ["finished fragmentInvalid"])
  }

  @Test("a link loss is reported as such, whatever was received")
  func linkLoss() {
    var bench = startedServer()
    #expect(bench.peer("520c0000aa") == ["progress 1", "message aa"])
    #expect(bench.feed(.disconnected) == ["finished linkLost"])
  }

  @Test("values that are wrong on purpose go out as they are, and short ones on request")
  func misbehaviour() {
    var limits = GATTLink.Limits()
    limits.valueLength = 3
    var bench = startedServer(limits: limits)
    #expect(bench.feed(.sendValue([0x7f, 1])) == ["tx 1b0e007f01"])
    #expect(bench.feed(.send([1, 2, 3])) == ["tx 1b0e00010102", "tx 1b0e000003", "sent"])
  }
}
