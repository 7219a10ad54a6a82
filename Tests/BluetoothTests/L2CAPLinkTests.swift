import Bytes
import TestSupport
import Testing

@testable import Bluetooth

@Suite("A session on a channel")
struct L2CAPLinkTests {
  private func bench(mtu: Int = 512, _ limits: LinkLimits = LinkLimits()) -> LinkBench {
    LinkBench(L2CAPLink(mtu: mtu, roundTrips: 4, limits: limits))
  }

  private func opened(mtu: Int = 512, _ limits: LinkLimits = LinkLimits()) -> LinkBench {
    var bench = bench(mtu: mtu, limits)
    #expect(bench.feed(.connected) == ["started \(mtu) 4"])
    return bench
  }

  @Test("starts when it is open, and a message that waited goes out at once")
  func start() {
    var bench = bench()
    #expect(bench.feed(.send([0xa0])) == [])
    #expect(bench.feed(.connected) == ["started 512 4", "tx 00000001a0", "sent"])
    #expect(bench.lastWake == nil)
    #expect(bench.feed(.connected) == [])
  }

  @Test("a request, its answer, a second message and the end")
  func conversation() {
    var bench = opened()
    #expect(bench.feed(.send([0xa0])) == ["tx 00000001a0", "sent"])
    #expect(bench.peer("00000003a1") == ["progress 5"])
    #expect(bench.peer("01") == ["progress 6"])
    #expect(bench.peer("0200000001a0") == ["progress 1", "message a10102", "message a0"])
    #expect(bench.feed(.send([0xa1, 1, 1])) == ["tx 00000003a10101", "sent"])
    #expect(bench.feed(.end) == [])
    #expect(bench.lastWake == bench.now + .seconds(1))
    // Nobody listens any more.
    #expect(bench.peer("00000001a0") == [])
    #expect(bench.feed(.closedByPeer) == ["finished"])
    #expect(bench.feed(.disconnected) == [])
  }

  @Test("answers as the peer speaks: bare")
  func bare() {
    var bench = opened()
    #expect(bench.peer("a101") == ["progress 2"])
    #expect(bench.peer("02a0") == ["progress 1", "message a10102", "message a0"])
    #expect(bench.feed(.send([0xa0])) == ["tx a0", "sent"])
  }

  @Test("100 KiB both ways, at SDUs of every kind of size", arguments: [23, 24, 247, 512, 2048, 65_535])
  func sizes(mtu: Int) {
    var random = SplitMix64(state: UInt64(mtu))
    let up = (0..<100 << 10).map { _ in UInt8.random(in: 0...255, using: &random) }
    let down = (0..<100 << 10).map { _ in UInt8.random(in: 0...255, using: &random) }
    let now = ContinuousClock.now
    var links = [L2CAPLink(mtu: mtu), L2CAPLink(mtu: mtu)]
    var received: [[[UInt8]]] = [[], []]
    var longest = 0
    for index in 0...1 { links[index].handle(.connected, at: now) }
    links[0].handle(.send(up), at: now)
    links[1].handle(.send(down), at: now)
    links[0].handle(.send([1]), at: now)
    var isBusy = true
    while isBusy {
      isBusy = false
      for index in 0...1 {
        while let output = links[index].nextOutput(at: now) {
          isBusy = true
          switch output {
          case .transmit(let piece):
            longest = max(longest, piece.count)
            links[1 - index].handle(.received(piece[...]), at: now)
          case .message(let message): received[index].append(message)
          default: break
          }
        }
      }
    }
    #expect(received[0] == [down])
    #expect(received[1] == [up, [1]])
    #expect(longest == min(mtu, 2048))
  }

  @Test("what is too long, or no message, ends it with its reason")
  func violations() {
    var limits = LinkLimits()
    limits.messageSize = 100
    for (hex, reason) in [
      ("7fffffff", "messageTooLarge"), ("00000065", "messageTooLarge"), ("01000000", "messageTooLarge"),
      ("d8185801", "messageTooLarge"), ("a0f6", "fragmentInvalid"), ("a1ff", "fragmentInvalid"),
      ("00000000", "messageEmpty"), (String(repeating: "a0", count: 17), "fragmentInvalid"),
    ] {
      var bench = opened(limits)
      #expect(bench.peer(hex) == ["finished \(reason)"], "\(hex)")
      #expect(bench.peer("00000001a0") == [])
      #expect(bench.feed(.send([1])) == [])
    }
    var atLimit = opened(limits)
    #expect(atLimit.peer("00000064" + String(repeating: "00", count: 100)).first == "progress 100")
  }

  private func opened(_ limits: LinkLimits) -> LinkBench { opened(mtu: 512, limits) }

  @Test("a peer that closes between messages has ended the session, one that closes within one is lost")
  func closing() {
    var idle = opened()
    #expect(idle.feed(.closedByPeer) == ["finished peerTerminated"])
    var after = opened()
    _ = after.peer("00000001a0")
    #expect(after.feed(.closedByPeer) == ["finished peerTerminated"])
    for part in ["00", "00000002", "00000002a0"] {
      var within = opened()
      _ = within.peer(part)
      #expect(within.feed(.closedByPeer) == ["finished linkLost"])
    }
    var gone = opened()
    #expect(gone.feed(.disconnected) == ["finished linkLost"])
    var unopened = bench()
    #expect(unopened.feed(.end) == ["finished"])
  }

  @Test("the end waits for what is still to send, and a second for the peer to close")
  func ending() {
    var bench = opened(mtu: 23)
    bench.canTransmit = false
    #expect(bench.feed(.send([UInt8](repeating: 1, count: 30))) == [])
    #expect(bench.feed(.end) == [])
    #expect(bench.lastWake == bench.now + .seconds(5))
    #expect(bench.tick(after: .seconds(4)) == [])
    bench.canTransmit = true
    let first = "tx 0000001e" + String(repeating: "01", count: 19)
    #expect(bench.drain() == [first, "tx " + String(repeating: "01", count: 11), "sent"])
    #expect(bench.lastWake == bench.now + .seconds(1))
    #expect(bench.tick(after: .milliseconds(999)) == [])
    #expect(bench.tick(after: .milliseconds(1)) == ["finished"])
  }

  @Test("a channel that takes nothing any more is not waited for for ever")
  func stalled() {
    var bench = opened()
    bench.canTransmit = false
    _ = bench.feed(.send([1]))
    _ = bench.feed(.end)
    #expect(bench.tick(after: .seconds(5)) == ["finished"])
  }

  @Test("messages that nobody has taken when the end comes are dropped; what was sent is told still")
  func dropped() {
    var ending = opened()
    ending.link.handle(.received([0, 0, 0, 1, 1, 0, 0, 0, 1, 2]), at: ending.now)
    #expect(ending.link.nextOutput(at: ending.now) == .messageProgress(byteCount: 1))
    #expect(ending.link.nextOutput(at: ending.now) == .message([1]))
    #expect(ending.feed(.end) == [])
    var lost = opened()
    lost.link.handle(.send([0xa0]), at: lost.now)
    #expect(lost.link.nextOutput(at: lost.now) == .transmit([0, 0, 0, 1, 0xa0]))
    lost.link.handle(.received([0, 0, 0, 1, 1]), at: lost.now)
    #expect(lost.feed(.disconnected) == ["sent", "finished linkLost"])
  }

  @Test("where closing delivers what was sent, the end is at once")
  func noLinger() {
    var limits = LinkLimits()
    limits.linger = .zero
    var bench = opened(limits)
    _ = bench.feed(.send([0xa0]))
    #expect(bench.feed(.end) == ["finished"])
  }

  @Test("a counterpart that misbehaves on purpose sends what it likes")
  func misbehaving() {
    var bench = opened()
    #expect(bench.feed(.sendValue([7, 7])) == ["tx 0707"])
    #expect(bench.feed(.sendValue([])) == [])
    #expect(bench.peer("") == [])
  }
}

@Suite("A channel beside GATT")
struct ChannelOfferTests {
  /// As `peripheralDeclarations`, and L2CAP with its value at 0x32.
  private let declarations = """
    09152900142a00\(base)010000002c00042d00\(base)020000002e00102f00\(base)030000003100023200\(base)0a000000
    """

  private func reader(wantsChannel: Bool = true) -> LinkBench {
    LinkBench(.client(mode: .peripheralServer, service: service, wantsChannel: wantsChannel))
  }

  /// Up to the read of the PSM.
  private func asking() -> LinkBench {
    var bench = reader()
    _ = bench.feed(.connected)
    _ = bench.peer("030502")
    #expect(bench.peer("0728003200") == ["tx 08280032000328"])
    #expect(bench.peer(declarations) == ["tx 0a3200"])
    return bench
  }

  @Test("a reader is told of it after four round trips, and stands by when it is open")
  func offered() {
    var bench = asking()
    #expect(bench.peer("0b00000085") == ["channel 133"])
    #expect(bench.link.roundTrips == 4)
    #expect(bench.lastWake == bench.now + .seconds(10))
    #expect(bench.feed(.channelOpened) == [])
    #expect(bench.tick(after: .seconds(60)) == [])
    // The phone's requests are answered still; its State says nothing.
    #expect(bench.peer("100100ffff0028").first?.hasPrefix("tx 11") == true)
    #expect(bench.peer("1b2a0002") == [])
    #expect(bench.feed(.send([1])) == [])
    #expect(bench.feed(.disconnected) == ["finished linkLost"])
  }

  @Test("without one, GATT goes on where it was and says why", arguments: ChannelRefusal.allCases)
  func refused(reason: ChannelRefusal) {
    var bench = asking()
    _ = bench.peer("0b00000085")
    #expect(bench.feed(.channelRefused(reason)) == ["tx 122b000100"])
    #expect(bench.peer("13") == ["tx 1230000100"])
    #expect(bench.peer("13") == ["tx 522a0001", "started 517 6 \(reason.code)"])
    #expect(bench.feed(.channelRefused(reason)) == [])
  }

  @Test("a channel that failed is gone back from: the set-up has its whole time again")
  func lost() {
    var bench = asking()
    _ = bench.peer("0b00000085")
    _ = bench.feed(.channelOpened)
    bench.now += .seconds(100)
    #expect(bench.feed(.channelRefused(.lost)) == ["tx 122b000100"])
    #expect(bench.lastWake == bench.now + .seconds(10))
    #expect(bench.feed(.send([0xa0])) == [])
    _ = bench.peer("13")
    #expect(bench.peer("13") == ["tx 522a0001", "started 517 6 l2capLost", "tx 522d0000a0", "sent"])
  }

  @Test("a characteristic that holds no PSM, or refuses to be read, costs a round trip and no visitor")
  func unusable() {
    for answer in ["0b00000001", "0b", "010a320002"] {
      var bench = asking()
      #expect(bench.peer(answer) == ["tx 122b000100"])
      _ = bench.peer("13")
      #expect(bench.peer("13") == ["tx 522a0001", "started 517 6 l2capPSMInvalid"])
    }
  }

  @Test("a channel that nobody answers for ends with the set-up's own time")
  func unanswered() {
    var bench = asking()
    _ = bench.peer("0b00000085")
    #expect(bench.tick(after: .seconds(10)) == ["finished setupTimeout"])
  }

  @Test("a reader that wants none never reads it, and one that finds none needs no request more")
  func notWanted() {
    var bench = reader(wantsChannel: false)
    _ = bench.feed(.connected)
    _ = bench.peer("030502")
    _ = bench.peer("0728003200")
    #expect(bench.peer(declarations) == ["tx 122b000100"])
    var other = reader()
    _ = other.feed(.connected)
    _ = other.peer("030502")
    _ = other.peer("072800ffff")
    #expect(other.peer(peripheralDeclarations) == ["tx 122b000100"])
  }

  @Test("at MTU 23 it is looked for behind the others, where there is room for one")
  func smallest() {
    func search(until end: String) -> LinkBench {
      var bench = reader()
      _ = bench.feed(.connected)
      _ = bench.peer("031700")
      _ = bench.peer("072800\(end)")
      _ = bench.peer("09152900142a00\(base)01000000")
      _ = bench.peer("09152c00042d00\(base)02000000")
      return bench
    }
    var without = search(until: "3000")
    #expect(without.peer("09152e00102f00\(base)03000000") == ["tx 122b000100"])
    var with = search(until: "3200")
    #expect(with.peer("09152e00102f00\(base)03000000") == ["tx 08300032000328"])
    #expect(with.peer("09153100023200\(base)0a000000") == ["tx 0a3200"])
    var open = search(until: "ffff")
    #expect(open.peer("09152e00102f00\(base)03000000") == ["tx 083000ffff0328"])
    // Nothing more: the descriptors are next.
    #expect(open.peer("010830000a") == ["tx 122b000100"])
  }

  @Test(
    "looking for one further on is given up at a refusal; the set-up of GATT is complete without",
    arguments: [
      "02", "05", "0e", "80",
    ])
  func searchRefused(code: String) {
    var bench = reader()
    _ = bench.feed(.connected)
    _ = bench.peer("031700")
    _ = bench.peer("072800ffff")
    _ = bench.peer("09152900142a00\(base)01000000")
    _ = bench.peer("09152c00042d00\(base)02000000")
    #expect(bench.peer("09152e00102f00\(base)03000000") == ["tx 083000ffff0328"])
    #expect(bench.peer("01083000\(code)") == ["tx 122b000100"])
    // Before they are all found it is a refusal of what the mode needs.
    var other = reader()
    _ = other.feed(.connected)
    _ = other.peer("031700")
    _ = other.peer("072800ffff")
    _ = other.peer("09152900142a00\(base)01000000")
    #expect(other.peer("01082b00\(code)") == ["finished attRefused"])
  }

  @Test("a server shows it behind the others, and its own round trips when the channel is open")
  func served() {
    var bench = LinkBench(.server(mode: .centralClient, service: service, ident: ident, psm: 0x92))
    _ = bench.feed(.connected)
    _ = bench.peer("020502")
    #expect(bench.peer("060100ffff0028\(serviceWire)") == ["tx 0707001300"])
    #expect(bench.peer("0812001300" + "0328") == ["tx 0915120002" + "1300\(base)0b000000"])
    #expect(bench.peer("0a1300") == ["tx 0b00000092"])
    #expect(bench.peer("1213000000000080") == ["tx 0112130003"])
    #expect(bench.link.roundTrips == 5)
    #expect(bench.feed(.channelOpened) == [])
    #expect(bench.tick(after: .seconds(60)) == [])
    #expect(bench.peer("0a1100") == ["tx 0b\(ident.hex)"])
  }

  @Test("a phone that leaves the channel for GATT is served there, whichever comes first")
  func phoneGoesBack() {
    for startsEarly in [true, false] {
      var bench = LinkBench(.server(mode: .centralClient, service: service, ident: ident, psm: 0x92))
      _ = bench.feed(.connected)
      _ = bench.feed(.channelOpened)
      _ = bench.peer("120f000100")
      let started = "started 23 1 l2capLost"
      if startsEarly {
        #expect(bench.peer("52090001") == [])
        #expect(bench.feed(.channelRefused(.lost)) == [started])
      } else {
        #expect(bench.feed(.channelRefused(.lost)) == [])
        #expect(bench.peer("52090001") == [started])
      }
    }
  }

  @Test("a server that offers none shows none")
  func notServed() {
    var bench = LinkBench(.server(mode: .centralClient, service: service, ident: ident))
    _ = bench.feed(.connected)
    #expect(bench.peer("060100ffff0028\(serviceWire)") == ["tx 0707001100"])
  }
}
