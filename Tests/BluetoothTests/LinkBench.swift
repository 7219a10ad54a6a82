import Bytes
import Testing

@testable import Bluetooth

let service = UUID128(text: "00112233-4455-6677-8899-aabbccddeeff")!
/// The service UUID on the air.
let serviceWire = "ffeeddccbbaa99887766554433221100"
/// What every characteristic UUID has on the air before its number.
let base = "e6733397764c6b89ce4823a1"
let ident = [UInt8](0xa0..<0xb0)

/// One link with virtual time. Outputs come out as text, so that a conversation reads like one.
struct LinkBench {
  var link: any LinkEngine
  var now = ContinuousClock.now
  var canTransmit = true
  /// Deadlines are asked for apart from the rest.
  var lastWake: ContinuousClock.Instant?

  init(_ link: any LinkEngine) { self.link = link }
  init(_ link: GATTLink) { self.link = link }

  mutating func feed(_ input: GATTLink.Input) -> [String] {
    link.handle(input, at: now)
    return drain()
  }

  /// Feeds one PDU of the peer.
  mutating func peer(_ hex: String) -> [String] { feed(.received(bytes(hex: hex)![...])) }

  mutating func tick(after duration: Duration) -> [String] {
    now += duration
    return feed(.tick)
  }

  mutating func drain() -> [String] {
    var texts: [String] = []
    while let output = link.nextOutput(at: now, canTransmit: canTransmit) {
      switch output {
      case .transmit(let pdu): texts.append("tx " + pdu.hex)
      case .channelOffered(let psm): texts.append("channel \(psm)")
      case .started(let start):
        texts.append("started \(start.mtu) \(start.roundTrips)" + (start.fallback.map { " \($0.code)" } ?? ""))
      case .messageProgress(let count): texts.append("progress \(count)")
      case .message(let message): texts.append("message " + message.hex)
      case .messageSent: texts.append("sent")
      case .wake(let instant): lastWake = instant
      case .finished(.ended): texts.append("finished")
      case .finished(.failed(let failure)): texts.append("finished " + failure.code)
      }
    }
    return texts
  }
}

/// A server link in mdoc central client mode (the reader) that a client has just started at MTU 23.
func startedServer(limits: GATTLink.Limits = GATTLink.Limits()) -> LinkBench {
  var bench = LinkBench(.server(mode: .centralClient, service: service, ident: ident, limits: limits))
  #expect(bench.feed(.connected) == [])
  #expect(bench.peer("120a000100") == ["tx 13"])
  #expect(bench.peer("120f000100") == ["tx 13"])
  #expect(bench.peer("52090001") == ["started 23 2"])
  return bench
}

/// A client link in mdoc peripheral server mode (the reader) that has just started.
func startedClient(mtu: String = "0502", limits: GATTLink.Limits = GATTLink.Limits()) -> LinkBench {
  var bench = LinkBench(.client(mode: .peripheralServer, service: service, limits: limits))
  _ = bench.feed(.connected)
  _ = bench.peer("03" + mtu)
  #expect(bench.peer("0728003000") == ["tx 08280030000328"])
  #expect(bench.peer(peripheralDeclarations) == ["tx 122b000100"])
  #expect(bench.peer("13") == ["tx 1230000100"])
  #expect(bench.peer("13").first == "tx 522a0001")
  return bench
}

/// A wallet's service at 0x28 to 0x30: State 0x2a and 0x2b, Client2Server 0x2d, Server2Client 0x2f and 0x30.
let peripheralDeclarations =
  "09152900142a00\(base)010000002c00042d00\(base)020000002e00102f00\(base)03000000"
