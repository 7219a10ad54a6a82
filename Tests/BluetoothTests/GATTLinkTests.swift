import Bytes
import Foundation
import TestSupport
import Testing

@testable import Bluetooth

private let uuid: [UInt8] = Array(0x10..<0x20)
private let ident: [UInt8] = Array(0x40..<0x50)
private let epoch = ContinuousClock.now

private func service(_ mode: MdocService.Mode, ident: [UInt8] = ident) -> MdocService {
  MdocService(mode: mode, uuid: uuid, ident: ident)
}

/// Two links joined by an in-memory connection; PDUs arrive in order, one at a time.
private struct Pair {
  var server: GATTLink
  var client: GATTLink
  var serverEvents: [GATTLink.Output] = []
  var clientEvents: [GATTLink.Output] = []
  var log: [(fromServer: Bool, pdu: [UInt8])] = []
  /// Changes a PDU on its way, or drops it.
  var air: (Bool, [UInt8]) -> [UInt8]? = { $1 }

  init(_ mode: MdocService.Mode, clientIdent: [UInt8] = ident, limit: Int = 1 << 20) {
    server = GATTLink(role: .server, service: service(mode), messageLimit: limit)
    client = GATTLink(role: .client, service: service(mode, ident: clientIdent), messageLimit: limit)
  }

  mutating func connect() {
    server.handle(.connected, at: epoch)
    client.handle(.connected, at: epoch)
    run()
  }

  mutating func run() {
    var isBusy = true
    while isBusy {
      isBusy = false
      while let output = client.nextOutput() {
        isBusy = true
        guard case .transmit(let pdu) = output else {
          clientEvents.append(output)
          continue
        }
        log.append((false, pdu))
        if let arrived = air(false, pdu) { server.handle(.received(arrived[...]), at: epoch) }
      }
      while let output = server.nextOutput() {
        isBusy = true
        guard case .transmit(let pdu) = output else {
          serverEvents.append(output)
          continue
        }
        log.append((true, pdu))
        if let arrived = air(true, pdu) { client.handle(.received(arrived[...]), at: epoch) }
      }
    }
  }

  static func messages(_ events: [GATTLink.Output]) -> [[UInt8]] {
    events.compactMap { if case .message(let message) = $0 { message } else { nil } }
  }

  static func start(_ events: [GATTLink.Output]) -> LinkStart? {
    for case .started(let facts) in events { return facts }
    return nil
  }
}

@Suite("GATT link, both sides")
struct GATTLinkPairTests {
  @Test("messages of 100 KiB arrive whole, both ways, in both modes", arguments: [MdocService.Mode.centralClient, .peripheralServer], [23, 185, 247, 512, 517])
  func messages(mode: MdocService.Mode, clientOffer: UInt16) throws {
    var pair = Pair(mode)
    // The client of this table offers less than it could: the request is changed on its way.
    pair.air = { fromServer, pdu in
      guard !fromServer, pdu.first == 0x02 else { return pdu }
      return ATTPDU.exchangeMTURequest(clientOffer).encoded
    }
    pair.connect()
    let facts = try #require(Pair.start(pair.serverEvents))
    #expect(facts.mtu == Int(clientOffer))
    let question = (0..<700).map { UInt8(truncatingIfNeeded: $0) }
    let answer = (0..<100 << 10).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    pair.server.handle(.send(answer), at: epoch)
    pair.run()
    pair.client.handle(.send(question), at: epoch)
    pair.run()
    #expect(Pair.messages(pair.clientEvents) == [answer])
    #expect(Pair.messages(pair.serverEvents) == [question])
    let longest = pair.log.filter { $0.pdu[0] == 0x1b }.map(\.pdu.count).max()
    #expect(longest == min(Int(clientOffer), 515))
  }

  @Test("a client needs five round trips in peripheral server mode, six with Ident")
  func roundTrips() throws {
    var peripheral = Pair(.peripheralServer)
    peripheral.connect()
    #expect(Pair.start(peripheral.clientEvents)?.roundTrips == 5)
    #expect(peripheral.log.filter { !$0.fromServer }.map { $0.pdu[0] } == [0x02, 0x06, 0x08, 0x12, 0x12, 0x52])
    var central = Pair(.centralClient)
    central.connect()
    #expect(Pair.start(central.clientEvents)?.roundTrips == 6)
  }

  @Test("a link that never sends a request of its own: the server only answers and notifies")
  func serverIsPassive() {
    var pair = Pair(.centralClient)
    pair.connect()
    pair.server.handle(.send([1, 2, 3]), at: epoch)
    pair.run()
    for entry in pair.log where entry.fromServer {
      #expect([0x01, 0x03, 0x05, 0x07, 0x09, 0x0b, 0x13, 0x1b].contains(entry.pdu[0]))
    }
  }

  @Test("another Ident ends the client's link before it starts")
  func otherReader() {
    var pair = Pair(.centralClient, clientIdent: Array(repeating: 9, count: 16))
    pair.connect()
    #expect(pair.clientEvents.last == .finished(.identMismatch))
    #expect(Pair.start(pair.serverEvents) == nil)
  }

  @Test("end delivers what waits, then State 02; the other side learns it")
  func end() {
    var pair = Pair(.centralClient)
    pair.connect()
    pair.server.handle(.send([7, 7]), at: epoch)
    pair.server.handle(.end, at: epoch)
    pair.run()
    #expect(Pair.messages(pair.clientEvents) == [[7, 7]])
    #expect(pair.clientEvents.last == .finished(.peerTerminated))
    #expect(pair.serverEvents.last == .finished(nil))
    #expect(pair.serverEvents.contains(.sent))
  }

  @Test("a message beyond the limit ends the link")
  func tooLarge() {
    var pair = Pair(.peripheralServer, limit: 1000)
    pair.connect()
    pair.server.handle(.send([UInt8](repeating: 0, count: 1001)), at: epoch)
    pair.run()
    #expect(pair.clientEvents.last == .finished(.messageTooLarge))
  }

  @Test("nothing to transmit is handed out while the edge cannot send, and nothing is lost")
  func backPressure() {
    var pair = Pair(.centralClient)
    pair.connect()
    pair.server.handle(.send([UInt8](repeating: 5, count: 4000)), at: epoch)
    #expect(pair.server.nextOutput(canTransmit: false) == nil)
    #expect(pair.server.wantsToTransmit)
    pair.run()
    #expect(Pair.messages(pair.clientEvents) == [[UInt8](repeating: 5, count: 4000)])
    #expect(!pair.server.wantsToTransmit)
  }
}

@Suite("GATT link, scripts of PDUs")
struct GATTLinkScriptTests {
  /// A server in central client mode: State at 8 (configuration 9), Client2Server 11, Server2Client 13 (14), Ident 16.
  private func server() -> GATTLink {
    var link = GATTLink(role: .server, service: service(.centralClient), messageLimit: 1000)
    link.handle(.connected, at: epoch)
    return link
  }

  private func exchange(_ link: inout GATTLink, _ hex: String) -> [GATTLink.Output] {
    link.handle(.received((bytes(hex: hex.filter { $0 != " " }) ?? [])[...]), at: epoch)
    var outputs: [GATTLink.Output] = []
    while let output = link.nextOutput() { outputs.append(output) }
    return outputs
  }

  @Test(
    "requests are answered to the byte",
    arguments: [
      ("02 1700", "03 0502"),  // Exchange MTU
      ("06 0100 ffff 0028 1f1e1d1c1b1a19181716151413121110", "07 0700 1100"),
      ("06 0100 ffff 0028 00000000000000000000000000000000", "01 06 0100 0a"),
      ("10 0100 ffff 0028", "11 06 0100 0500 0018 0600 0600 0118"),
      ("10 0100 ffff 0128", "01 10 0100 10"),
      ("04 0a00 0b00", "05 01 0a00 0229 0b00 0328"),
      ("04 1200 ffff", "01 04 1200 0a"),
      ("0a 1100", "0b 404142434445464748494a4b4c4d4e4f"),
      ("0c 1100 0e00", "0d 4e4f"),
      ("0c 1100 1100", "01 0c 1100 07"),
      ("0a 6300", "01 0a 6300 01"),
      ("0a 0900", "01 0a 0900 02"),
      ("0a 0a00", "0b 0000"),
      ("12 1100 01", "01 12 1100 03"),
      ("12 0a00 01", "01 12 0a00 0d"),
      ("12 0a00 0100", "13"),
      ("08 0100 ffff 0229", "09 04 0a00 0000 0f00 0000"),
      ("16 0900 0000 01", "01 16 0000 06"),  // Prepare Write
      ("18 00", "01 18 0000 06"),  // Execute Write
      ("20 0000", "01 20 0000 06"),  // Read Multiple Variable
      ("02", "01 02 0000 04"), ("02 170000", "01 02 0000 04"), ("04 0000 ffff", "01 04 0000 01"),
      ("04 0500 0400", "01 04 0500 01"), ("0a 01", "01 0a 0000 04"), ("08 0100 ffff 012345", "01 08 0000 04"),
      ("12 01", "01 12 0000 04"),
    ])
  func requests(request: String, response: String) {
    var link = server()
    #expect(exchange(&link, request) == [.transmit(bytes(hex: response.filter { $0 != " " })!)])
  }

  @Test("commands, confirmations and answers nobody asked for are ignored", arguments: ["d2 0900 01", "52 6300 01", "1e", "13", "0b 01", "", "52 01", "ff"])
  func ignored(pdu: String) {
    var link = server()
    #expect(exchange(&link, pdu).isEmpty)
    #expect(!link.isFinished)
  }

  @Test("values before start are not taken for a message")
  func beforeStart() {
    var link = server()
    #expect(exchange(&link, "52 0c00 00 a0").isEmpty)
    _ = exchange(&link, "12 0f00 0100")
    #expect(exchange(&link, "52 0900 01") == [.started(LinkStart(mtu: 23, roundTrips: 0))])
    #expect(exchange(&link, "52 0c00 00 a0") == [.progress(1), .message([0xa0])])
  }

  @Test("start without a subscription ends the link")
  func notSubscribed() {
    var link = server()
    #expect(exchange(&link, "52 0900 01") == [.finished(.notSubscribed)])
  }

  @Test("State values end a link or mean nothing", arguments: [("02", LinkFailure.peerTerminated), ("00", .stateInvalid), ("03", .stateInvalid), ("0101", .stateInvalid), ("", .stateInvalid)])
  func states(value: String, failure: LinkFailure) {
    var link = server()
    _ = exchange(&link, "12 0f00 0100")
    _ = exchange(&link, "52 0900 01")
    #expect(exchange(&link, "52 0900 \(value)") == [.finished(failure)])
    #expect(exchange(&link, "52 0900 01").isEmpty)
  }

  @Test("a value that is no part ends the link", arguments: ["02", "ff00", ""])
  func invalidParts(value: String) {
    var link = server()
    _ = exchange(&link, "12 0f00 0100")
    _ = exchange(&link, "52 0900 01")
    #expect(exchange(&link, "52 0c00 \(value)") == [.finished(.fragmentInvalid)])
  }

  @Test("a request that is not answered in thirty seconds ends the link")
  func transactionTimeout() {
    var link = GATTLink(role: .client, service: service(.peripheralServer), messageLimit: 1000)
    link.handle(.connected, at: epoch)
    while link.nextOutput() != nil {}
    link.handle(.tick, at: epoch + .seconds(29))
    #expect(link.nextOutput() == .wake(at: epoch + .seconds(30)))
    link.handle(.tick, at: epoch + .seconds(30))
    #expect(link.nextOutput() == .finished(.attTimeout))
  }

  @Test("a client answers what the other side asks meanwhile, and one MTU counts for both")
  func clientServes() {
    var link = GATTLink(role: .client, service: service(.peripheralServer), messageLimit: 1000)
    link.handle(.connected, at: epoch)
    while link.nextOutput() != nil {}
    #expect(exchange(&link, "02 b900") == [.transmit([0x03, 0x05, 0x02])])
    #expect(link.mtu == 185)
    #expect(exchange(&link, "06 0100 ffff 0028 1f1e1d1c1b1a19181716151413121110") == [.transmit([0x01, 0x06, 0x01, 0x00, 0x0a])])
  }

  @Test("a service with foreign characteristics and descriptors is found by asking")
  func unusualLayout() {
    var link = GATTLink(role: .client, service: service(.peripheralServer), messageLimit: 1000)
    link.handle(.connected, at: epoch)
    while link.nextOutput() != nil {}
    func uuid(_ number: UInt8) -> String { "e67333977 64c6b89ce4823a1\(String(format: "%02x", number))000000".filter { $0 != " " } }
    func sent(_ hex: String) -> [GATTLink.Output] { [.transmit(bytes(hex: hex.filter { $0 != " " })!)] }
    #expect(exchange(&link, "03 1700").first == sent("06 0100 ffff 0028 1f1e1d1c1b1a19181716151413121110").first)
    // Service 20 to 60: State at 22 with two descriptors, a foreign one, Client2Server, Server2Client.
    #expect(exchange(&link, "07 1400 3c00").first == sent("08 1400 3c00 0328").first)
    #expect(exchange(&link, "09 15 1500 10 1600 \(uuid(1))").first == sent("08 1700 3c00 0328").first)
    #expect(exchange(&link, "09 07 1900 02 1a00 1234").first == sent("08 1b00 3c00 0328").first)
    #expect(exchange(&link, "09 15 1b00 04 1c00 \(uuid(2))").first == sent("08 1d00 3c00 0328").first)
    #expect(exchange(&link, "09 15 1d00 10 1e00 \(uuid(3))").first == sent("08 1f00 3c00 0328").first)
    #expect(exchange(&link, "01 08 1f00 0a").first == sent("04 1700 1800").first)
    #expect(exchange(&link, "05 01 1700 0129 1800 0229").first == sent("12 1800 0100").first)
    #expect(exchange(&link, "13").first == sent("04 1f00 3c00").first)
    #expect(exchange(&link, "05 01 1f00 0229").first == sent("12 1f00 0100").first)
    let last = exchange(&link, "13")
    #expect(last.first == sent("52 1600 01").first)
    #expect(last.last == .started(LinkStart(mtu: 23, roundTrips: 11)))
  }

  @Test("what a server lacks has its own reason")
  func missing() {
    var none = GATTLink(role: .client, service: service(.peripheralServer), messageLimit: 1000)
    none.handle(.connected, at: epoch)
    while none.nextOutput() != nil {}
    _ = exchange(&none, "03 0502")
    #expect(exchange(&none, "01 06 0100 0a") == [.finished(.serviceMissing)])
    var partial = GATTLink(role: .client, service: service(.peripheralServer), messageLimit: 1000)
    partial.handle(.connected, at: epoch)
    while partial.nextOutput() != nil {}
    _ = exchange(&partial, "03 0502")
    _ = exchange(&partial, "07 1400 3c00")
    #expect(exchange(&partial, "01 08 1400 0a") == [.finished(.characteristicMissing)])
  }
}

@Suite("Attribute PDUs")
struct ATTPDUTests {
  private static let samples = [
    "010601000a", "021700", "030502", "0401000900", "05010100002802000328", "0601000900002801", "0701000900", "080100ffff0328",
    "09040a000000", "0a0100", "0b0102", "0c01000200", "0d01", "100100ffff0028", "1106010005000018", "12010001", "13", "52010001",
    "1b010001", "1d010001", "1e",
  ]

  @Test("every PDU is written as it was read", arguments: samples)
  func roundTrip(hex: String) throws {
    let pdu = try ATTPDU((bytes(hex: hex) ?? [])[...])
    #expect(pdu.encoded.hex == hex)
  }

  @Test("no truncation of a PDU traps, and none is read as another opcode", arguments: samples)
  func truncations(hex: String) {
    let whole = bytes(hex: hex) ?? []
    for count in 0..<whole.count {
      if let pdu = try? ATTPDU(whole[..<count]) { #expect(pdu.encoded.first == whole.first) }
    }
  }

  @Test("random records never trap a server or a client", arguments: 0..<8)
  func random(seed: UInt64) {
    var generator = SplitMix64(state: seed)
    for _ in 0..<300 {
      var link = GATTLink(role: seed.isMultiple(of: 2) ? .server : .client, service: service(.peripheralServer), messageLimit: 100)
      link.handle(.connected, at: epoch)
      for _ in 0..<12 {
        let record = (0..<Int.random(in: 0...24, using: &generator)).map { _ in UInt8.random(in: 0...0x24, using: &generator) }
        link.handle(.received(record[...]), at: epoch)
        while link.nextOutput() != nil {}
      }
    }
  }
}

@Suite("Part framing")
struct PartFramingTests {
  @Test("a value holds at most 512 bytes, and MTU less three", arguments: [(23, 20), (185, 182), (515, 512), (517, 512)])
  func valueSize(mtu: Int, size: Int) {
    #expect(PartFraming.valueSize(mtu: mtu) == size)
    var fragmenter = Fragmenter([UInt8](repeating: 1, count: 2000), mtu: mtu)
    #expect(fragmenter.next()?.count == size)
  }

  @Test("a message that fills its values exactly has no empty last one; an empty message has one")
  func edges() {
    var exact = Fragmenter([UInt8](repeating: 1, count: 38), mtu: 23)
    #expect(exact.next()?.first == 1)
    #expect(exact.next()?.first == 0)
    #expect(exact.next() == nil)
    var empty = Fragmenter([], mtu: 23)
    #expect(empty.next() == [0])
    #expect(empty.next() == nil)
  }

  @Test("short parts are put together; parts without data are borne for a while")
  func shortParts() throws {
    var reassembler = Reassembler(limit: 10)
    #expect(try reassembler.feed([1, 7]) == nil)
    #expect(try reassembler.feed([1]) == nil)
    #expect(try reassembler.feed([0, 8]) == [7, 8])
    #expect(try reassembler.feed([0]) == [])
    for _ in 0..<16 { _ = try reassembler.feed([1]) }
    #expect(throws: Reassembler.Violation.fragmentInvalid) { try reassembler.feed([1]) }
  }

  @Test("the limit counts data and is exact")
  func limit() throws {
    var reassembler = Reassembler(limit: 3)
    #expect(try reassembler.feed([0, 1, 2, 3]) == [1, 2, 3])
    _ = try reassembler.feed([1, 1, 2])
    #expect(throws: Reassembler.Violation.messageTooLarge) { try reassembler.feed([0, 3, 4]) }
  }

  @Test("the counts of the reference data hold")
  func vectors() throws {
    guard let file = try sharedJSON("vectors/transport/ble-chunking.json") as? [String: Any] else { return }
    for entry in try #require(file["cases"] as? [[String: Any]]) {
      let name = try #require(entry["message"] as? String)
      let message = try #require(try sharedBytes("vectors/annex-d/\(name).cbor"))
      var fragmenter = Fragmenter(message, mtu: try #require(entry["attMtu"] as? Int))
      var values: [[UInt8]] = []
      while let value = fragmenter.next() { values.append(value) }
      #expect(values.count == entry["chunks"] as? Int)
      #expect(values.last?.count == entry["lastChunkLength"] as? Int)
      var reassembler = Reassembler(limit: 10_000)
      var result: [UInt8]?
      for value in values { result = try reassembler.feed(value[...]) }
      #expect(result == message)
    }
  }
}
