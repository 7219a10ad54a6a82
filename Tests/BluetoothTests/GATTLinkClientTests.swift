import Bytes
import Testing

@testable import Bluetooth

@Suite("GATT link, client side")
struct GATTLinkClientTests {
  private func reader(_ limits: GATTLink.Limits = GATTLink.Limits()) -> LinkBench {
    LinkBench(.client(mode: .peripheralServer, service: service, limits: limits))
  }

  private func wallet() -> LinkBench {
    LinkBench(.client(mode: .centralClient, service: service, ident: ident))
  }

  /// Runs a conversation: what is fed, and the last thing that came out.
  private func run(_ bench: inout LinkBench, _ steps: [(peer: String, expected: [String])]) {
    for (peer, expected) in steps { #expect(bench.peer(peer) == expected, "after \(peer)") }
  }

  @Test("a reader has sent the first request byte after five round trips")
  func fiveRoundTrips() {
    var bench = reader()
    #expect(bench.feed(.send([0xa2])) == [])
    #expect(bench.feed(.connected) == ["tx 020502"])
    run(
      &bench,
      [
        ("030502", ["tx 060100ffff0028\(serviceWire)"]), ("0728003000", ["tx 08280030000328"]),
        (peripheralDeclarations, ["tx 122b000100"]), ("13", ["tx 1230000100"]),
        ("13", ["tx 522a0001", "started 517 5", "tx 522d0000a2", "sent"]),
      ])
  }

  @Test("a service with an open end costs one round trip more: six")
  func sixRoundTrips() {
    var bench = reader()
    _ = bench.feed(.connected)
    run(
      &bench,
      [
        ("030502", ["tx 060100ffff0028\(serviceWire)"]), ("072800ffff", ["tx 082800ffff0328"]),
        (peripheralDeclarations, ["tx 122b000100"]), ("13", ["tx 043000ffff"]), ("050130000229", ["tx 1230000100"]),
        ("13", ["tx 522a0001", "started 517 6"]),
      ])
  }

  @Test("descriptors are found behind others, and in several answers")
  func otherDescriptors() {
    var bench = reader()
    _ = bench.feed(.connected)
    run(
      &bench,
      [
        ("0102000006", ["tx 060100ffff0028\(serviceWire)"]),
        ("0728003000", ["tx 08280030000328"]),
        ("09152800142900\(base)01000000", ["tx 082a0030000328"]),
        ("09152d00042e00\(base)020000002f00103000\(base)03000000", ["finished characteristicMissing"]),
      ])
    var second = reader()
    _ = second.feed(.connected)
    run(
      &second,
      [
        ("031700", ["tx 060100ffff0028\(serviceWire)"]), ("0728004000", ["tx 08280040000328"]),
        ("09152900142a00\(base)01000000", ["tx 082b0040000328"]),
        ("09152f00043000\(base)02000000", ["tx 08310040000328"]),
        ("09153100103200\(base)03000000", ["tx 042b002e00"]),
        ("05012b0000292c000129", ["tx 042d002e00"]), ("05012d000229", ["tx 122d000100"]), ("13", ["tx 0433004000"]),
        ("05013300022934000328", ["tx 1233000100"]), ("13", ["tx 522a0001", "started 23 10"]),
      ])
  }

  @Test("a wallet compares Ident before it subscribes, in six round trips")
  func identity() {
    let declarations = """
      09150800140900\(base)050000000b00040c00\(base)060000000d00100e00\(base)07000000\
      1000021100\(base)08000000
      """
    for (value, expected) in [
      (ident.hex, "tx 120a000100"), (String(ident.hex.dropLast(2)), "finished identMismatch"),
      (String(ident.hex.dropLast(2)) + "ae", "finished identMismatch"), ("", "finished identMismatch"),
    ] {
      var bench = wallet()
      #expect(bench.feed(.connected) == ["tx 020502"])
      run(
        &bench,
        [
          ("03f700", ["tx 060100ffff0028\(serviceWire)"]), ("0707001100", ["tx 08070011000328"]),
          (declarations, ["tx 0a1100"]), ("0b\(value)", [expected]),
        ])
      if expected.hasPrefix("tx") {
        run(&bench, [("13", ["tx 120f000100"]), ("13", ["tx 52090001", "started 247 6"])])
      }
    }
  }

  /// How far a set-up is when something else comes than what was asked for.
  private enum Stage: Int, CaseIterable {
    case mtu, service, characteristics, state, serverToClient
    static let answers = ["030502", "0728003000", peripheralDeclarations, "13", "13"]
  }

  private func bench(at stage: Stage) -> LinkBench {
    var bench = reader()
    _ = bench.feed(.connected)
    for answer in Stage.answers.prefix(stage.rawValue) { _ = bench.peer(answer) }
    return bench
  }

  @Test("a refusal or a wrong answer ends the set-up with its reason")
  func refusals() {
    let cases: [(Stage, String, String)] = [
      (.service, "010600000a", "serviceMissing"), (.service, "0106010005", "attRefused"),
      (.service, "0700003000", "attInvalid"), (.service, "0730002800", "attInvalid"), (.service, "07", "attInvalid"),
      (.characteristics, "010828000a", "characteristicMissing"), (.characteristics, "0108280005", "attRefused"),
      (.characteristics, "09072900142a00002a", "continue"), (.characteristics, "09052900142a00", "attInvalid"),
      // Handles outside the service, backwards, or the declaration itself
      (.characteristics, "09071000141100002a", "attInvalid"), (.characteristics, "09072a00142a00002a", "attInvalid"),
      (.characteristics, "09072900144000002a", "attInvalid"),
      (.characteristics, "09072b00142c00002a2900142a00002a", "attInvalid"),
      (.state, "01122b0003", "attRefused"), (.state, "01122b0005", "attRefused"), (.state, "1300", "attInvalid"),
      (.serverToClient, "0112300003", "attRefused"),
    ]
    for (stage, answer, reason) in cases {
      var bench = bench(at: stage)
      let expected = reason == "continue" ? "tx 082b0030000328" : "finished \(reason)"
      #expect(bench.peer(answer) == [expected], "\(stage) \(answer)")
    }
  }

  @Test("an answer to another request ends the set-up, whenever it comes", arguments: 0..<5)
  func mismatched(stage: Int) throws {
    let stage = try #require(Stage(rawValue: stage))
    for answer in ["030502", "050128000229", "0728003000", "0903280000", "0b00", "0d00", "110628003000ff", "13"] {
      guard answer.prefix(2) != Stage.answers[stage.rawValue].prefix(2) else { continue }
      var bench = bench(at: stage)
      #expect(bench.peer(answer) == ["finished attInvalid"], "\(stage) \(answer)")
    }
    var refused = bench(at: stage)
    #expect(refused.peer("010a000001") == ["finished attInvalid"])
  }

  @Test("a peer's own requests and notices do not disturb the set-up", arguments: 0..<5)
  func undisturbed(stage: Int) throws {
    var bench = bench(at: try #require(Stage(rawValue: stage)))
    #expect(bench.peer("100100ffff0028") == ["tx 1106010005000018060006000118"])
    #expect(bench.peer("0a0300") == ["tx 0b"])
    #expect(bench.peer("060100ffff0028\(serviceWire)") == ["tx 010601000a"])
    #expect(bench.peer("1600000000") == ["tx 0116000006"])
    #expect(bench.peer("1b2f0000aa") == [])
    #expect(bench.peer("1d03000100ffff") == ["tx 1e"])
    #expect(bench.peer("5209ff") == [])
    for answer in Stage.answers.dropFirst(stage) {
      #expect(bench.peer(answer).last?.hasPrefix("finished") == false)
    }
    #expect(bench.feed(.send([1])) == ["tx 522d000001", "sent"])
  }

  @Test("a server without MTU exchange is used at 23")
  func noExchange() {
    var bench = reader()
    _ = bench.feed(.connected)
    #expect(bench.peer("0102000006") == ["tx 060100ffff0028\(serviceWire)"])
    for answer in Stage.answers.dropFirst().dropLast() { _ = bench.peer(answer) }
    #expect(bench.peer("13").last == "started 23 5")
  }

  @Test("both halves of a link keep one MTU, whoever asks for it")
  func oneMTU() {
    var bench = reader()
    _ = bench.feed(.connected)
    #expect(bench.peer("02b900") == ["tx 030502"])
    for answer in ["03b900"] + Stage.answers.dropFirst().dropLast() { _ = bench.peer(answer) }
    #expect(bench.peer("13").last == "started 185 5")
    #expect(bench.feed(.send([UInt8](repeating: 0, count: 182))).map(\.count) == [3 + 2 * 185, 3 + 2 * 5, 4])
    // A second exchange cannot raise what both halves use.
    #expect(bench.peer("020502") == ["tx 030502"])
    #expect(bench.feed(.send([UInt8](repeating: 0, count: 182))).map(\.count) == [3 + 2 * 185, 3 + 2 * 5, 4])
  }

  @Test("nothing is remembered: a characteristic that has moved is found on the next connection")
  func moved() {
    var first = bench(at: .serverToClient)
    #expect(first.peer("13").contains("started 517 5"))
    let moved = """
      09152900102a00\(base)030000002c00042d00\(base)020000002e00142f00\(base)01000000
      """
    var second = bench(at: .characteristics)
    run(&second, [(moved, ["tx 1230000100"]), ("13", ["tx 122b000100"]), ("13", ["tx 522f0001", "started 517 5"])])
  }

  @Test("a service that an earlier session left behind is passed over")
  func staleService() {
    var bench = bench(at: .service)
    run(
      &bench,
      [
        ("071000120028003000", ["tx 08100012000328"]), ("010810000a", ["tx 08280030000328"]),
        (peripheralDeclarations, ["tx 122b000100"]),
      ])
  }

  @Test("what a started client does with each input")
  func started() {
    var limits = GATTLink.Limits()
    limits.messageSize = 4
    let cases: [(String, [String])] = [
      ("1b2a0002", ["finished peerTerminated"]), ("1b2a0001", []),
      ("1b2a0003", ["tx 522a0002", "finished stateInvalid"]), ("1b2a00", ["tx 522a0002", "finished stateInvalid"]),
      ("1b2a000202", ["tx 522a0002", "finished stateInvalid"]),
      ("1b2f0001aa", ["progress 1"]), ("1b2f0000aa", ["progress 1", "message aa"]),
      ("1d2f0000aa", ["tx 1e", "progress 1", "message aa"]),
      ("1b2f00", ["tx 522a0002", "finished fragmentInvalid"]),
      ("1b2f0007", ["tx 522a0002", "finished fragmentInvalid"]),
      ("1b2f000001020304ff", ["tx 522a0002", "finished messageTooLarge"]),
      ("1b2d0000aa", []), ("1b2f", ["tx 522a0002", "finished attInvalid"]),
      ("13", []), ("010a000001", []), ("0a0300", ["tx 0b"]), ("522f0000", []), ("1e", []), ("23", []), ("", []),
    ]
    for (input, expected) in cases {
      var bench = startedClient(limits: limits)
      #expect(bench.peer(input) == expected, "\(input)")
    }
  }

  @Test("a peer that drops the link when it has too much to take is never given that much", arguments: [1, 4, 7])
  func pacing(window: Int) {
    var bench = startedClient(mtu: "b900")
    let message = (0..<4000).map { UInt8(truncatingIfNeeded: $0) }
    var reassembler = Reassembler(limit: message.count)
    var queue: [[UInt8]] = []
    var received: [UInt8]?
    bench.link.handle(.send(message), at: bench.now)
    for _ in 0..<1000 where received == nil {
      while let output = bench.link.nextOutput(at: bench.now, canTransmit: queue.count < window) {
        if case .transmit(let pdu) = output { queue.append(pdu) }
      }
      #expect(queue.count <= window && queue.allSatisfy { $0.count <= 185 })
      if !queue.isEmpty { received = try? reassembler.receive(queue.removeFirst().dropFirst(3)) }
    }
    #expect(received == message)
    #expect(bench.link.nextOutput(at: bench.now) == nil)
  }

  @Test("a peer whose service changes or goes away in the middle ends the session with a reason, and no trap")
  func serviceChanged() {
    // Service Changed for the whole range is confirmed; handles are those of this connection all the same.
    var bench = startedClient()
    #expect(bench.peer("1d03000100ffff") == ["tx 1e"])
    #expect(bench.feed(.send([1])) == ["tx 522d000001", "sent"])
    #expect(bench.peer("1b2f0001aa") == ["progress 1"])
    // What comes from handles that were something else is not taken for an answer.
    #expect(bench.peer("1b300000bb") == [] && bench.peer("1b2d0000bb") == [] && bench.peer("1bffff0000bb") == [])
    #expect(bench.feed(.disconnected) == ["finished linkLost"])
  }

  @Test("State end while a message is incomplete loses the message")
  func terminatedMidway() {
    var bench = startedClient()
    #expect(bench.peer("1b2f0001aabb") == ["progress 2"])
    #expect(bench.peer("1b2a0002") == ["finished peerTerminated"])
    #expect(bench.peer("1b2f0000cc") == [])
  }

  @Test("the end is written after the messages before it")
  func end() {
    var bench = startedClient()
    bench.canTransmit = false
    #expect(bench.feed(.send([1])) == [] && bench.feed(.send([2])) == [] && bench.feed(.end) == [])
    #expect(bench.feed(.send([3])) == [])
    bench.canTransmit = true
    #expect(bench.drain() == ["tx 522d000001", "sent", "tx 522d000002", "sent", "tx 522a0002"])
    #expect(bench.feed(.disconnected) == ["finished"])
  }

  @Test("the start is only known to be sent when the connection took it")
  func heldStart() {
    var bench = bench(at: .serverToClient)
    bench.canTransmit = false
    #expect(bench.peer("13") == [])
    var ended = bench
    #expect(ended.feed(.end) == ["finished"])
    ended.canTransmit = true
    #expect(ended.drain() == [])
    bench.canTransmit = true
    #expect(bench.drain() == ["tx 522a0001", "started 517 5"])
  }

  @Test("a set-up has ten seconds, and one request thirty")
  func timeouts() {
    var slow = bench(at: .characteristics)
    #expect(slow.lastWake == slow.now + .seconds(10))
    #expect(slow.tick(after: .milliseconds(9999)) == [])
    #expect(slow.tick(after: .milliseconds(1)) == ["finished setupTimeout"])
    var limits = GATTLink.Limits()
    limits.setup = .seconds(60)
    var patient = reader(limits)
    _ = patient.feed(.connected)
    #expect(patient.lastWake == patient.now + .seconds(30))
    #expect(patient.tick(after: .seconds(29)) == [])
    #expect(patient.peer("030502").count == 1)
    #expect(patient.lastWake == patient.now + .seconds(30))
    #expect(patient.tick(after: .seconds(30)) == ["finished attTimeout"])
    var open = startedClient()
    #expect(open.tick(after: .seconds(3600)) == [])
  }

  @Test("a link loss in the set-up is a link loss", arguments: 0..<5)
  func lost(stage: Int) throws {
    var bench = bench(at: try #require(Stage(rawValue: stage)))
    #expect(bench.feed(.disconnected) == ["finished linkLost"])
  }
}
