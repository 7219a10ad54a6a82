import Bluetooth
import Foundation
import Kernel
import Links
import ReaderCore
import SimulatedAir
import Testing

@testable import Appliance

@Suite("The simulated radio")
struct SimulatedRadioTests {
  private let folder: String
  private let loop: EventLoop
  private let uuid: UUID128

  init() throws {
    folder = NSTemporaryDirectory() + "radio-\(UInt32.random(in: 0 ... .max))"
    try Files.makeFolder(folder)
    loop = try EventLoop()
    uuid = try #require(UUID128((0..<16).map { 0xb0 + $0 }))
  }

  private var limits: GATTLink.Limits {
    var limits = GATTLink.Limits()
    limits.linger = .zero
    return limits
  }

  @Test("a link that breaks before it starts is tried again, three times in all", arguments: 0...4)
  func retries(failures: Int) throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var connections = 0
    var links: [MessageLink] = []
    let advertisement = try Advertisement(of: uuid, in: folder, on: loop) { connection in
      connections += 1
      guard connections > failures else { return connection.close() }
      let link = MessageLink(
        connection, engine: GATTLink.server(mode: .peripheralServer, service: uuid, limits: limits), on: loop)
      try? link.start { _ in }
      links.append(link)
    }
    var events: [String] = []
    let radio = SimulatedRadio(folder: folder, messageLimit: 1000, on: loop) { event in
      guard case .link(let id, let event) = event else { return }
      switch event {
      case .started: events.append("\(id) started")
      case .ended(let reason): events.append("\(id) \(reason)")
      default: break
      }
    }
    radio.open(RadioPlan(advertise: nil, ident: [], discover: uuid))
    let last = min(failures + 1, 3)
    let deadline = ContinuousClock.now + .seconds(5)
    while events.count < last, .now < deadline { try loop.turn(until: .now + .milliseconds(10)) }
    // There is no fourth attempt, and none after one that succeeded.
    _ = try loop.run(until: .now + .milliseconds(60))
    let broken = (1...last).map { "\($0) linkLost" }
    #expect(events == (failures < 3 ? broken.dropLast() + ["\(last) started"] : broken))
    #expect(connections == last)
    radio.close()
    advertisement.stop()
  }

  @Test(
    "a channel that the code names and nobody takes: the session goes over GATT, with the reason",
    arguments: [true, false])
  func channelGone(isSwitchedOn: Bool) throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var links: [MessageLink] = []
    // The characteristic is there too, and is not tried again.
    let engine = GATTLink.server(mode: .peripheralServer, service: uuid, psm: 0x85, limits: limits)
    let advertisement = try Advertisement(of: uuid, in: folder, on: loop) { connection in
      let link = MessageLink(connection, engine: engine, on: loop)
      try? link.start { _ in }
      links.append(link)
    }
    var facts: LinkFacts?
    let radio = SimulatedRadio(folder: folder, messageLimit: 1000, usesChannels: isSwitchedOn, on: loop) { event in
      if case .link(1, .started(let started)) = event { facts = started }
    }
    radio.open(RadioPlan(advertise: nil, ident: [], discover: uuid, psm: 0x85))
    let deadline = ContinuousClock.now + .seconds(5)
    while facts == nil, .now < deadline { try loop.turn(until: .now + .milliseconds(10)) }
    let started = try #require(facts)
    #expect(started.transport == .gatt && started.fallback == (isSwitchedOn ? .refused : nil))
    #expect(started.roundTrips == 5 && links.count == 1)
    radio.close()
    advertisement.stop()
  }

  @Test("the first to connect is not the wallet; the first to write State start is, and the other is let go")
  func bystander() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let ident = [UInt8](repeating: 3, count: 16)
    var started: [Reader.LinkID] = []
    var messages: [String] = []
    var radio: SimulatedRadio?
    radio = SimulatedRadio(folder: folder, messageLimit: 1000, on: loop) { event in
      guard case .link(let id, let event) = event else { return }
      switch event {
      case .started:
        started.append(id)
        radio?.keep(id)
      case .message(let message): messages.append("\(id) \(message)")
      default: break
      }
    }
    radio?.open(RadioPlan(advertise: uuid, ident: ident, discover: nil))
    var strangerIsGone = false
    var stranger: RecordSocket?
    var wallet: MessageLink?
    var discovery: Discovery?
    discovery = try Discovery(of: uuid, in: folder, on: loop) { event in
      guard case .connected(let address, let connection) = event else { return }
      if stranger == nil {
        // A watch: it connects, looks at the MTU, and even sends what could be part of a message.
        stranger = connection
        try? connection.start { if case .closed = $0 { strangerIsGone = true } }
        for pdu in [[0x02, 0x05, 0x02], [0x52, 0x0c, 0, 0, 9]] as [[UInt8]] { _ = connection.send(pdu) }
        discovery?.connectAgain(to: address)
      } else {
        let link = MessageLink(
          connection, engine: GATTLink.client(mode: .centralClient, service: uuid, ident: ident, limits: limits),
          on: loop)
        try? link.start { if case .started = $0 { link.send([1, 2]) } }
        wallet = link
      }
    }
    let deadline = ContinuousClock.now + .seconds(5)
    while messages.isEmpty || !strangerIsGone, .now < deadline { try loop.turn(until: .now + .milliseconds(10)) }
    #expect(started == [2] && messages == ["2 [1, 2]"] && strangerIsGone)
    wallet?.close()
    discovery?.stop()
    radio?.close()
    radio = nil
  }
}
