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
  /// What channels were asked for, and how to answer.
  var asked: [String] = []
  var answers: [(Result<RecordSocket, ChannelRefusal>) -> Void] = []
  /// Where GATT was to be connected again, and how to answer.
  var reconnects: [Int] = []
  var connections: [((socket: RecordSocket, engine: any LinkEngine)?) -> Void] = []

  init() throws {
    loop = try EventLoop()
    uuid = try #require(UUID128((0..<16).map { 0xb0 + $0 }))
    var limits = LinkLimits()
    limits.linger = .zero
    links = RadioLinks(on: loop, limits: limits) { [unowned self] id, event in
      switch event {
      case .started(let facts):
        let transport = facts.transport == .gatt ? "" : " l2cap \(facts.mtu) \(facts.roundTrips)"
        events.append("\(id) started \(facts.mode.rawValue)\(transport)\(facts.fallback.map { " \($0.code)" } ?? "")")
      case .message(let message): events.append("\(id) message \(message)")
      case .ended(let reason): events.append("\(id) \(reason)")
      case .sent: events.append("\(id) sent")
      case .progress: break
      }
    } openChannel: { [unowned self] address, psm, completion in
      asked.append("\(address) \(psm)")
      answers.append(completion)
    } reconnect: { [unowned self] address, completion in
      reconnects.append(address)
      connections.append(completion)
    } onEnd: { [unowned self] address, _, mayTryAgain, isLast in
      ended.append("\(address)\(mayTryAgain ? " again" : "")\(isLast ? " last" : "")")
    }
  }

  /// Connects in a mode; the wallet's end is started as well unless it says nothing.
  func connect(
    _ mode: MdocMode, address: Int, number: Int? = nil, isSilent: Bool = false, psm: UInt16? = nil,
    fallback: ChannelRefusal? = nil
  ) throws {
    let number = number ?? address
    var limits = GATTLink.Limits()
    limits.linger = .zero
    let ident = [UInt8](repeating: 3, count: 16)
    let (ours, theirs) = try RecordSocket.pair(on: loop)
    let engines: (GATTLink, GATTLink) =
      mode == .centralClient
      ? (
        .server(mode: mode, service: uuid, ident: ident, psm: psm, limits: limits),
        .client(mode: mode, service: uuid, ident: ident, wantsChannel: true, limits: limits)
      )
      : (
        .client(mode: mode, service: uuid, wantsChannel: true, limits: limits),
        .server(mode: mode, service: uuid, psm: psm, limits: limits)
      )
    let link = MessageLink(theirs, engine: engines.1, on: loop)
    wallet[number] = link
    links.adopt(ours, engine: engines.0, mode: mode, address: address, fallback: fallback)
    guard !isSilent else { return }
    try start(link, number)
  }

  private func start(_ link: MessageLink, _ address: Int) throws {
    try link.start { [unowned self] event in
      switch event {
      case .channelOffered(let psm): walletEvents.append("\(address) channel \(psm)")
      case .message(let message): walletEvents.append("\(address) message \(message)")
      case .finished(let end): walletEvents.append("\(address) \(end.code)")
      default: break
      }
    }
  }

  /// A channel: our end, for the radio; the wallet's end is a link of its own under this number.
  func channel(_ number: Int) throws -> RecordSocket {
    let (ours, theirs) = try RecordSocket.pair(maximumRecord: RecordSocket.maximumSDU, on: loop)
    var limits = LinkLimits()
    limits.linger = .zero
    let link = MessageLink(theirs, engine: L2CAPLink(mtu: theirs.sendLimit, limits: limits), on: loop)
    wallet[number] = link
    try start(link, number)
    return ours
  }

  /// A connection of GATT to the wallet, which serves; ours is for the radio.
  func gatt(_ number: Int) throws -> (RecordSocket, any LinkEngine) {
    var limits = GATTLink.Limits()
    limits.linger = .zero
    let (ours, theirs) = try RecordSocket.pair(on: loop)
    let link = MessageLink(
      theirs, engine: GATTLink.server(mode: .peripheralServer, service: uuid, limits: limits), on: loop)
    wallet[number] = link
    try start(link, number)
    return (ours, GATTLink.client(mode: .peripheralServer, service: uuid, limits: limits))
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
    #expect(crossing.ended == ["2 last"])
    #expect(crossing.walletEvents == ["1 message [1, 2]", "2 linkLost"])
  }

  @Test("a phone is not let go with one of two links to it, only with the last")
  func sameAddress() throws {
    let crossing = try Crossing()
    try crossing.connect(.centralClient, address: 5, number: 1)
    try crossing.turn()
    crossing.links.keep(1)
    try crossing.connect(.peripheralServer, address: 5, number: 2)
    try crossing.connect(.peripheralServer, address: 6, number: 3, isSilent: true)
    try crossing.turn()
    crossing.wallet[3]?.close()
    try crossing.turn()
    #expect(crossing.ended == ["6 again last"])
    crossing.wallet[1]?.send([9])
    try crossing.turn()
    #expect(crossing.ended == ["6 again last", "5"])
    #expect(crossing.walletEvents.last == "2 linkLost")
    crossing.links.finish(1)
    try crossing.turn()
    #expect(crossing.ended == ["6 again last", "5", "5 last"])
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
    #expect(
      crossing.events == [
        "1 started centralClient", "1 sent", "1 started peripheralServer", "1 sent", "1 message [7]",
      ])
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

@Suite("Channels beside the links of one transaction")
struct ChannelTests {
  private func offering() throws -> Crossing {
    let crossing = try Crossing()
    try crossing.connect(.peripheralServer, address: 1, psm: 0x85)
    try crossing.turn()
    #expect(crossing.asked == ["1 133"] && crossing.events == [])
    return crossing
  }

  @Test("a channel that opens carries the session, and GATT stays connected until its end")
  func opened() throws {
    let crossing = try offering()
    crossing.answers[0](.success(try crossing.channel(11)))
    #expect(crossing.events == ["1 started peripheralServer l2cap 8192 4"])
    crossing.links.keep(1)
    crossing.links.send([UInt8](repeating: 5, count: 20_000), on: 1)
    try crossing.turn()
    #expect(crossing.walletEvents.map { $0.count } == [60_011])
    crossing.wallet[11]?.send([0xa0])
    try crossing.turn()
    #expect(crossing.events.suffix(2) == ["1 sent", "1 message [160]"])
    crossing.links.finish(1)
    try crossing.turn()
    #expect(crossing.events.last == "1 linkEnded" && crossing.ended == ["1 last"])
    #expect(crossing.walletEvents.suffix(2).sorted() == ["1 linkLost", "11 peerTerminated"])
  }

  @Test(
    "without the channel the session goes over GATT, with the reason", arguments: [ChannelRefusal.refused, .timeout])
  func refused(reason: ChannelRefusal) throws {
    let crossing = try offering()
    crossing.answers[0](.failure(reason))
    try crossing.turn()
    #expect(crossing.events == ["1 started peripheralServer \(reason.code)"])
    crossing.links.keep(1)
    crossing.links.send([1, 2], on: 1)
    try crossing.turn()
    #expect(crossing.walletEvents == ["1 message [1, 2]"])
  }

  @Test("a wallet that offers none is not asked, and one that was refused before says why")
  func none() throws {
    let crossing = try Crossing()
    try crossing.connect(.peripheralServer, address: 1, fallback: .refused)
    try crossing.turn()
    #expect(crossing.asked == [] && crossing.events == ["1 started peripheralServer l2capRefused"])
  }

  @Test("a channel that fails before it has carried anything gives way to GATT, which is sent the same")
  func lost() throws {
    let crossing = try offering()
    let (ours, theirs) = try RecordSocket.pair(maximumRecord: 16, on: crossing.loop)
    try theirs.start { _ in }
    crossing.answers[0](.success(ours))
    crossing.links.keep(1)
    crossing.links.send([1, 2], on: 1)
    try crossing.turn()
    // An SDU longer than we allow: the channel is closed, by nobody's wish.
    _ = theirs.send([UInt8](repeating: 0, count: 17))
    try crossing.turn()
    #expect(
      crossing.events == [
        "1 started peripheralServer l2cap 16 4", "1 sent", "1 started peripheralServer l2capLost", "1 sent",
      ])
    #expect(crossing.walletEvents == ["1 message [1, 2]"])
    crossing.wallet[1]?.send([7])
    try crossing.turn()
    #expect(crossing.events.last == "1 message [7]")
  }

  /// A channel that the code named is kept, asked something over, and lost.
  private func named() throws -> Crossing {
    let crossing = try Crossing()
    let (ours, theirs) = try RecordSocket.pair(maximumRecord: 16, on: crossing.loop)
    try theirs.start { _ in }
    crossing.links.adoptChannel(ours, mode: .peripheralServer, address: 7)
    crossing.links.keep(1)
    crossing.links.send([1, 2], on: 1)
    _ = theirs.send([UInt8](repeating: 0, count: 17))
    try crossing.turn()
    #expect(crossing.reconnects == [7] && crossing.ended == [])
    #expect(crossing.events == ["1 started peripheralServer l2cap 16 0", "1 sent"])
    return crossing
  }

  @Test("a channel that the code named and that is lost at once gives way to GATT, which is connected for it, once")
  func namedChannelLost() throws {
    let crossing = try named()
    let (socket, engine) = try crossing.gatt(7)
    crossing.connections[0]((socket, engine))
    try crossing.turn()
    #expect(crossing.events.suffix(2) == ["1 started peripheralServer l2capLost", "1 sent"])
    #expect(crossing.walletEvents == ["7 message [1, 2]"])
    crossing.wallet[7]?.send([7])
    try crossing.turn()
    #expect(crossing.events.last == "1 message [7]")
    crossing.wallet[7]?.close()
    try crossing.turn()
    #expect(crossing.events.last == "1 linkLost" && crossing.ended == ["7 last"] && crossing.reconnects == [7])
  }

  @Test("where no connection comes about for it, the link is lost")
  func namedChannelGone() throws {
    let crossing = try named()
    crossing.connections[0](nil)
    #expect(crossing.events.last == "1 linkLost" && crossing.ended == ["7 last"])
    // Nothing more is heard of.
    crossing.connections[0](nil)
    #expect(crossing.events.count == 3)
  }

  @Test("an end while it is connected is an end, and the connection is nobody's")
  func endedMeanwhile() throws {
    let crossing = try named()
    crossing.links.finish(1)
    #expect(crossing.events.last == "1 linkEnded" && crossing.ended == ["7 last"])
    let (socket, engine) = try crossing.gatt(7)
    crossing.connections[0]((socket, engine))
    try crossing.turn()
    #expect(crossing.events.count == 3 && crossing.links.close() == [])
  }

  @Test("a wallet that closes the channel wants no more, and one that goes within a message is lost")
  func closed() throws {
    for (part, code) in [([], "peerTerminated"), ([0, 0, 0, 9, 1], "linkLost")] as [([UInt8], String)] {
      let crossing = try offering()
      let (ours, theirs) = try RecordSocket.pair(maximumRecord: 16, on: crossing.loop)
      crossing.answers[0](.success(ours))
      crossing.links.keep(1)
      if !part.isEmpty { _ = theirs.send(part) }
      theirs.close()
      try crossing.turn()
      #expect(crossing.events.last == "1 \(code)")
      #expect(crossing.ended == ["1 last"])
    }
  }

  @Test("an answer that comes when the link is gone is dropped")
  func late() throws {
    let crossing = try offering()
    crossing.wallet[1]?.close()
    try crossing.turn()
    #expect(crossing.events == ["1 linkLost"])
    crossing.answers[0](.success(try crossing.channel(11)))
    crossing.answers[0](.failure(.timeout))
    try crossing.turn()
    #expect(crossing.events == ["1 linkLost"])
    #expect(crossing.walletEvents.last == "11 peerTerminated")
  }

  @Test("a phone's channel takes the place of its GATT connection, and of nobody else's")
  func accepted() throws {
    let crossing = try Crossing()
    try crossing.connect(.centralClient, address: 1, psm: 0x92)
    try crossing.turn()
    #expect(crossing.walletEvents == ["1 channel 146"])
    #expect(crossing.links.isAwaited(1, .centralClient))
    #expect(!crossing.links.isAwaited(2, .centralClient) && !crossing.links.isAwaited(1, .peripheralServer))
    crossing.links.adoptChannel(try crossing.channel(11), mode: .centralClient, address: 1)
    // MTU, service, characteristics, Ident, PSM.
    #expect(crossing.events == ["1 started centralClient l2cap 8192 5"])
    #expect(!crossing.links.isAwaited(1, .centralClient))
    // A second one, by itself, is another link.
    crossing.links.adoptChannel(try crossing.channel(12), mode: .centralClient, address: 1)
    #expect(crossing.events.last == "2 started centralClient l2cap 8192 0")
    crossing.links.keep(1)
    crossing.wallet[11]?.send([9])
    try crossing.turn()
    #expect(crossing.events.last == "1 message [9]" && crossing.ended == ["1"])
  }

  @Test("a phone that does not use the channel is served over GATT")
  func ignored() throws {
    let crossing = try Crossing()
    try crossing.connect(.centralClient, address: 1, psm: 0x92)
    try crossing.turn()
    crossing.wallet[1]?.channelRefused(.refused)
    try crossing.turn()
    #expect(crossing.events == ["1 started centralClient"])
  }
}
