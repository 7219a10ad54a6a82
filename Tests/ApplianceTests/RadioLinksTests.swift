import Bluetooth
import Foundation
import Kernel
import Links
import ReaderCore
import Testing

@testable import Appliance

/// Two links of one wallet, as they come about where both modes are offered: ours are adopted, the wallet's are here.
private final class Crossing {
  let loop: EventLoop
  let uuid: UUID128
  private(set) var links: RadioLinks<Int>!
  private(set) var wallet: [Int: MessageLink] = [:]
  var events: [String] = []
  var ended: [String] = []
  var walletEvents: [String] = []

  init() throws {
    loop = try EventLoop()
    uuid = try #require(UUID128((0..<16).map { 0xb0 + $0 }))
    links = RadioLinks(on: loop) { [unowned self] id, event in
      switch event {
      case .started(let facts): events.append("\(id) started \(facts.mode.rawValue)")
      case .message(let message): events.append("\(id) message \(message)")
      case .ended(let reason): events.append("\(id) \(reason)")
      case .sent: events.append("\(id) sent")
      case .progress: break
      }
    } onEnd: { [unowned self] address, _, hadStarted, _ in
      ended.append("\(address) \(hadStarted)")
    }
  }

  /// Connects in a mode; the wallet's end is started as well unless it says nothing.
  func connect(_ mode: MdocMode, address: Int, isSilent: Bool = false) throws {
    var limits = GATTLink.Limits()
    limits.linger = .zero
    let ident = [UInt8](repeating: 3, count: 16)
    let (ours, theirs) = try RecordSocket.pair(on: loop)
    let engines: (GATTLink, GATTLink) =
      mode == .centralClient
      ? (
        .server(mode: mode, service: uuid, ident: ident, limits: limits),
        .client(mode: mode, service: uuid, ident: ident, limits: limits)
      )
      : (.client(mode: mode, service: uuid, limits: limits), .server(mode: mode, service: uuid, limits: limits))
    let link = MessageLink(theirs, engine: engines.1, on: loop)
    wallet[address] = link
    links.adopt(ours, engine: engines.0, mode: mode, address: address)
    guard !isSilent else { return }
    try link.start { [unowned self] event in
      switch event {
      case .message(let message): walletEvents.append("\(address) message \(message)")
      case .finished(let end): walletEvents.append("\(address) \(end.code)")
      default: break
      }
    }
  }

  func turn() throws { _ = try loop.run(until: .now + .milliseconds(30)) }
}

@Suite("The links of one transaction")
struct RadioLinksTests {
  @Test("the other link goes when the kept one has brought its first message, not before")
  func firstMessage() throws {
    let crossing = try Crossing()
    try crossing.connect(.centralClient, address: 1)
    try crossing.turn()
    crossing.links.keep(1)
    try crossing.connect(.peripheralServer, address: 2)
    crossing.links.send([1, 2], on: 1)
    try crossing.turn()
    #expect(crossing.events == ["1 started centralClient", "1 sent"])
    #expect(crossing.ended == [])
    crossing.wallet[1]?.send([9])
    try crossing.turn()
    #expect(crossing.events.last == "1 message [9]")
    #expect(crossing.ended == ["2 true"])
    #expect(crossing.walletEvents == ["1 message [1, 2]", "2 linkLost"])
  }

  @Test("when the wallet keeps the other link, the exchange goes on there, under the number that is known")
  func crossed() throws {
    let crossing = try Crossing()
    try crossing.connect(.centralClient, address: 1)
    try crossing.turn()
    crossing.links.keep(1)
    crossing.links.send([1, 2], on: 1)
    try crossing.connect(.peripheralServer, address: 2)
    try crossing.turn()
    crossing.wallet[1]?.close()
    try crossing.turn()
    crossing.wallet[2]?.send([7])
    try crossing.turn()
    #expect(crossing.events == ["1 started centralClient", "1 sent", "1 sent", "1 message [7]"])
    #expect(crossing.walletEvents == ["1 message [1, 2]", "2 message [1, 2]"])
    crossing.links.send([3], on: 1)
    try crossing.turn()
    #expect(crossing.walletEvents.last == "2 message [3]")
    crossing.links.finish(1)
    try crossing.turn()
    #expect(crossing.events.last == "1 linkEnded")
  }

  @Test("a link that has said nothing does not take the place of one that is lost")
  func silent() throws {
    let crossing = try Crossing()
    try crossing.connect(.centralClient, address: 1)
    try crossing.turn()
    crossing.links.keep(1)
    try crossing.connect(.peripheralServer, address: 2, isSilent: true)
    crossing.wallet[1]?.close()
    try crossing.turn()
    #expect(crossing.events == ["1 started centralClient", "1 linkLost"])
  }

  @Test("a link that is lost after its first message is lost")
  func afterMessage() throws {
    let crossing = try Crossing()
    try crossing.connect(.centralClient, address: 1)
    try crossing.connect(.peripheralServer, address: 2)
    try crossing.turn()
    crossing.links.keep(1)
    crossing.wallet[1]?.send([9])
    try crossing.turn()
    crossing.wallet[1]?.close()
    try crossing.turn()
    #expect(crossing.events.last == "1 linkLost")
    #expect(crossing.links.close() == [])
  }

  @Test("closing gives the addresses of what was open")
  func close() throws {
    let crossing = try Crossing()
    try crossing.connect(.centralClient, address: 1)
    try crossing.connect(.peripheralServer, address: 2)
    try crossing.turn()
    #expect(crossing.links.close().sorted() == [1, 2])
    #expect(crossing.links.close() == [])
  }
}
