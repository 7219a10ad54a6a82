import Bytes
import TestSupport
import Testing

@testable import Bluetooth

/// Reader and wallet in one process: every PDU of one is fed to the other.
@Suite("GATT links joined")
struct GATTLinkPairTests {
  private struct Pair {
    var server: GATTLink
    var client: GATTLink
    var started: [GATTLink.Start] = []
    var toServer: [[UInt8]] = []
    var toClient: [[UInt8]] = []
    var ends: [GATTLink.End] = []
    var longest = 0
    /// Opcodes the server sent.
    var opcodes: Set<UInt8> = []
    let now = ContinuousClock.now

    init(mode: MdocMode, offers: (server: Int, client: Int)) {
      var limits = GATTLink.Limits()
      limits.mtuOffer = offers.server
      let serverIdent = mode == .centralClient ? ident : []
      server = .server(mode: mode, service: service, ident: serverIdent, limits: limits)
      limits.mtuOffer = offers.client
      client = .client(mode: mode, service: service, ident: mode == .centralClient ? ident : nil, limits: limits)
      server.handle(.connected, at: now)
      client.handle(.connected, at: now)
    }

    /// Until neither has anything to say.
    mutating func settle() {
      var isBusy = true
      while isBusy {
        isBusy = false
        while let output = client.nextOutput(at: now) {
          isBusy = true
          if let pdu = note(output, received: { $0.toClient.append($1) }) {
            server.handle(.received(pdu[...]), at: now)
          }
          drainServer()
        }
        if drainServer() { isBusy = true }
      }
    }

    @discardableResult
    private mutating func drainServer() -> Bool {
      var isBusy = false
      while let output = server.nextOutput(at: now) {
        isBusy = true
        guard let pdu = note(output, received: { $0.toServer.append($1) }) else { continue }
        opcodes.insert(pdu[0])
        client.handle(.received(pdu[...]), at: now)
      }
      return isBusy
    }

    private mutating func note(_ output: GATTLink.Output, received: (inout Pair, [UInt8]) -> Void) -> [UInt8]? {
      switch output {
      case .transmit(let pdu):
        longest = max(longest, pdu.count)
        return pdu
      case .started(let start): started.append(start)
      case .message(let message): received(&self, message)
      case .finished(let end): ends.append(end)
      case .messageProgress, .messageSent, .wake, .channelOffered: break
      }
      return nil
    }
  }

  static let offers: [(server: Int, client: Int, effective: Int)] = [
    (23, 23, 23), (185, 185, 185), (247, 247, 247), (517, 517, 517), (515, 517, 515), (23, 517, 23), (517, 23, 23),
    (512, 517, 512), (517, 512, 512), (185, 247, 185), (247, 185, 185),
  ]

  @Test(
    "100 KiB come through both ways at every MTU, in both modes",
    arguments: MdocMode.allCases, offers.indices)
  func bothWays(mode: MdocMode, index: Int) {
    let (serverOffer, clientOffer, effective) = GATTLinkPairTests.offers[index]
    var pair = Pair(mode: mode, offers: (serverOffer, clientOffer))
    var random = SplitMix64(state: UInt64(index))
    let up = (0..<100 << 10).map { _ in UInt8.random(in: 0...255, using: &random) }
    let down = (0..<100 << 10).map { _ in UInt8.random(in: 0...255, using: &random) }
    pair.settle()
    let declarations = mode == .centralClient ? 4 : 3
    let searches = effective == 23 ? declarations : 1
    let roundTrips = 1 + 1 + searches + (mode == .centralClient ? 1 : 0) + 2
    #expect(pair.started.map(\.mtu) == [effective, effective])
    // At MTU 23 the end of the last characteristic is known without asking, for the service ends there.
    #expect(pair.started.map(\.roundTrips) == [roundTrips, roundTrips])
    if effective > 85 { #expect(roundTrips == (mode == .centralClient ? 6 : 5)) }
    pair.longest = 0
    pair.client.handle(.send(up), at: pair.now)
    pair.server.handle(.send(down), at: pair.now)
    pair.settle()
    #expect(pair.toServer == [up])
    #expect(pair.toClient == [down])
    #expect(pair.longest == min(effective, 515))
    pair.client.handle(.end, at: pair.now)
    pair.settle()
    #expect(pair.ends == [.failed(.peerTerminated)])
    pair.client.handle(.disconnected, at: pair.now)
    pair.settle()
    #expect(pair.ends == [.failed(.peerTerminated), .ended])
    for opcode in pair.opcodes { #expect([.response, .notification].contains(ATTPDU.purpose(of: opcode))) }
  }

  @Test("a client at the wrong server finds no service, or no characteristics of its mode, or another Ident")
  func strangers() {
    func end(_ client: GATTLink) -> [GATTLink.End] {
      var pair = Pair(mode: .centralClient, offers: (517, 517))
      pair.client = client
      pair.client.handle(.connected, at: pair.now)
      pair.settle()
      return pair.ends
    }
    let other = UUID128(mdoc: 99)
    #expect(end(.client(mode: .centralClient, service: other)) == [.failed(.serviceMissing)])
    #expect(end(.client(mode: .peripheralServer, service: service)) == [.failed(.characteristicMissing)])
    #expect(end(.client(mode: .centralClient, service: service, ident: [1])) == [.failed(.identMismatch)])
    #expect(end(.client(mode: .centralClient, service: service, ident: ident)) == [])
  }

  @Test("random PDUs never stop a link from coming to an end", arguments: UInt64(0)..<64)
  func noise(seed: UInt64) {
    var random = SplitMix64(state: seed)
    var links = [startedServer().link, startedClient().link, Pair(mode: .centralClient, offers: (517, 517)).client]
    let now = ContinuousClock.now
    for index in links.indices {
      for _ in 0..<200 {
        var pdu = (0..<Int.random(in: 0...24, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        // Mostly opcodes and handles that exist, or little of it would get far.
        if !pdu.isEmpty { pdu[0] = UInt8.random(in: 0...0x24, using: &random) }
        if pdu.count > 2 { (pdu[1], pdu[2]) = (UInt8.random(in: 0...0x31, using: &random), 0) }
        links[index].handle(.received(pdu[...]), at: now)
        while links[index].nextOutput(at: now) != nil {}
      }
      links[index].handle(.disconnected, at: now)
      while links[index].nextOutput(at: now) != nil {}
    }
  }
}
