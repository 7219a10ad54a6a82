import Glibc
import Kernel
import Panel
import Testing

@testable import GPIO

/// Chips in memory: lines that remember who holds them, fall back when they are released, and fail on request.
private final class Bench: LineSource {
  struct Call: Equatable {
    let what: String
    let offsets: [UInt32]
    var levels: [Bool] = []
  }

  var list = ChipList(chips: [chip(0, "bench", ["G", "R", "B", "Z", "DOOR", "BUTTON"])])
  /// Who else holds a line.
  var others: [UInt32: String] = [:]
  var held: Set<UInt32> = []
  var levels: [UInt32: Bool] = [:]
  /// Every level that a line had while it was held, in order.
  var history: [UInt32: [Bool]] = [:]
  var calls: [Call] = []
  /// What the next call on these lines fails with.
  var failures: [UInt32: CInt] = [:]
  /// Lines that something else drives: they are active whatever is set, so many times.
  var stuck: [UInt32: Int] = [:]
  var inputEnds: [CInt] = [-1, -1]

  func chips() throws(SystemError) -> ChipList {
    var list = self.list
    for (offset, name) in others {
      list.chips[0].lines[Int(offset)].isUsed = true
      list.chips[0].lines[Int(offset)].consumer = name
    }
    return list
  }

  func outputs(
    _ path: String, _ offsets: [UInt32], isActiveLow: Bool, consumer: String
  ) throws(SystemError) -> any HeldLines {
    calls.append(Call(what: "request\(isActiveLow ? " low" : "")", offsets: offsets))
    return try hold(offsets)
  }

  func input(
    _ path: String, _ offset: UInt32, isActiveLow: Bool, bias: LineSettings.Bias, consumer: String
  ) throws(SystemError) -> any HeldLines {
    guard pipe(&inputEnds) == 0 else { throw .last("pipe") }
    _ = fcntl(inputEnds[0], F_SETFL, O_NONBLOCK)
    return try hold([offset])
  }

  private func hold(_ offsets: [UInt32]) throws(SystemError) -> BenchLines {
    for offset in offsets {
      if others[offset] != nil || held.contains(offset) { throw SystemError("request", code: EBUSY) }
      if let code = failures[offset] { throw SystemError("request", code: code) }
    }
    for offset in offsets {
      held.insert(offset)
      if levels[offset] == nil { levels[offset] = false }
      history[offset, default: []].append(levels[offset] ?? false)
    }
    return BenchLines(self, offsets)
  }

  deinit { for end in inputEnds where end >= 0 { close(end) } }
}

private final class BenchLines: HeldLines {
  let bench: Bench
  let offsets: [UInt32]
  init(_ bench: Bench, _ offsets: [UInt32]) {
    self.bench = bench
    self.offsets = offsets
  }

  var descriptor: CInt { bench.inputEnds[0] }

  private func checkFailure(_ call: String) throws(SystemError) {
    for offset in offsets { if let code = bench.failures[offset] { throw SystemError(call, code: code) } }
  }

  func set(_ levels: [Bool]) throws(SystemError) {
    bench.calls.append(Bench.Call(what: "set", offsets: offsets, levels: levels))
    try checkFailure("set")
    for (offset, level) in zip(offsets, levels) {
      bench.levels[offset] = level
      bench.history[offset, default: []].append(level)
    }
  }

  func get() throws(SystemError) -> [Bool] {
    try checkFailure("get")
    return offsets.map { offset in
      if let times = bench.stuck[offset], times > 0 {
        bench.stuck[offset] = times - 1
        return true
      }
      return bench.levels[offset] ?? false
    }
  }

  func drain() throws(SystemError) {
    var byte: UInt8 = 0
    while read(bench.inputEnds[0], &byte, 1) == 1 {}
    try checkFailure("read")
  }

  func release() {
    for offset in offsets where bench.held.remove(offset) != nil {
      bench.calls.append(Bench.Call(what: "release", offsets: [offset]))
      bench.levels[offset] = false
    }
  }
}

@Suite("GPIO panel") struct GPIOPanelTests {
  private let bench = Bench()
  private let loop: EventLoop

  init() throws { loop = try EventLoop() }

  private var settings: LineSettings {
    LineSettings(
      chip: "bench",
      outputs: [
        .green: .init(.name("G")), .red: .init(.name("R")), .blue: .init(.name("B"), isActiveLow: true),
        .buzzer: .init(.name("Z")), .relay: .init(.name("DOOR"), isActiveLow: true),
      ])
  }

  private final class Log { var events: [GPIOPanel.Event] = [] }

  private func open(_ settings: LineSettings, _ log: Log = Log()) throws -> GPIOPanel {
    try GPIOPanel(settings, source: bench, on: loop) { log.events.append($0) }
  }

  private func state(_ signal: Signal) -> PanelState {
    var engine = PanelEngine(relayPulse: .seconds(1))
    engine.show(signal, at: .now)
    return engine.state
  }

  private func turn(_ time: Duration = .milliseconds(20)) throws { _ = try loop.run(until: .now + time) }

  @Test("opening takes one request for each polarity, the relay alone and first")
  func requests() throws {
    let panel = try open(settings)
    #expect(
      bench.calls == [
        .init(what: "request low", offsets: [4]), .init(what: "request", offsets: [0, 1, 3]),
        .init(what: "request low", offsets: [2]),
      ])
    panel.close()
  }

  @Test("a relay that is active though nobody set it is set inactive again; one that stays so is no panel")
  func stuckRelay() throws {
    let relay = LineSettings(chip: "bench", outputs: [.relay: .init(.name("DOOR"))])
    bench.stuck[4] = 2
    let log = Log()
    let panel = try open(relay, log)
    #expect(bench.calls.map(\.what) == ["request", "set"])
    #expect(bench.calls.last?.levels == [false])
    bench.stuck[4] = 1000
    _ = try loop.run(until: .now + GPIOPanel.probeInterval + .milliseconds(200))
    let stuck = PanelError.relayStuck(fact: "panel.lines.relay", line: "bench (gpiochip0) line 4 \"DOOR\"")
    #expect(log.events == [.unavailable(stuck)])
    #expect(bench.held.isEmpty)
    #expect(throws: stuck) { try open(relay) }
    #expect(bench.held.isEmpty)
    #expect("\(stuck)" == "panel.lines.relay: bench (gpiochip0) line 4 \"DOOR\" is active though it is set inactive")
    panel.close()
  }

  @Test("a relay in its pulse may be active")
  func relayInPulse() throws {
    let log = Log()
    let panel = try open(LineSettings(chip: "bench", outputs: [.relay: .init(.name("DOOR"))]), log)
    panel.apply(state(.ready))
    panel.apply(state(.granted))
    _ = try loop.run(until: .now + GPIOPanel.probeInterval + .milliseconds(200))
    #expect(log.events.isEmpty)
    #expect(bench.levels[4] == true)
    panel.close()
  }

  @Test("a grant sets the lamps, then the relay; the end sets the relay, then the lamps; closing leaves all inactive")
  func order() throws {
    let panel = try open(settings)
    panel.apply(state(.ready))
    bench.calls = []
    panel.apply(state(.granted))
    #expect(
      bench.calls == [
        .init(what: "set", offsets: [0, 1, 3], levels: [true, false, true]),
        .init(what: "set", offsets: [2], levels: [false]),
        .init(what: "set", offsets: [4], levels: [true]),
      ])
    bench.calls = []
    panel.close()
    #expect(
      bench.calls.prefix(3) == [
        .init(what: "set", offsets: [4], levels: [false]),
        .init(what: "set", offsets: [0, 1, 3], levels: [false, false, false]),
        .init(what: "set", offsets: [2], levels: [false]),
      ])
    #expect(bench.calls.dropFirst(3).allSatisfy { $0.what == "release" })
    #expect(bench.held.isEmpty)
    bench.calls = []
    panel.apply(state(.granted))
    panel.close()
    #expect(bench.calls.isEmpty)
  }

  @Test("fifty starts and stops give the relay no active level, also when they begin in the middle of a pulse")
  func restarts() throws {
    for _ in 0..<50 {
      let panel = try open(settings)
      panel.apply(state(.granted))
      panel.close()
    }
    #expect(bench.history[4]?.contains(true) == false)
  }

  @Test("a panel that is let go of without close makes everything inactive")
  func released() throws {
    do {
      let panel = try open(settings)
      panel.apply(state(.ready))
      panel.apply(state(.granted))
      #expect(bench.levels[4] == true)
    }
    #expect(bench.history[4] == [false, true, false])
    #expect(bench.held.isEmpty)
    #expect(loop.watchCount == 0)
  }

  @Test("a busy relay refuses to open, names its holder, and leaves nothing held")
  func busyRelay() throws {
    bench.others[4] = "gpioset"
    #expect(
      throws: PanelError.lineBusy(
        fact: "panel.lines.relay", line: "bench (gpiochip0) line 4 \"DOOR\"", consumer: "gpioset")
    ) { try open(settings) }
    #expect(bench.held.isEmpty)
  }

  @Test("a busy lamp is gone without: the others and the relay work, it is said once, and it comes back by itself")
  func busyLamp() throws {
    bench.others[1] = "spi0 CS0"
    let log = Log()
    let panel = try open(settings, log)
    let busy = PanelError.lineBusy(
      fact: "panel.lines.red", line: "bench (gpiochip0) line 1 \"R\"", consumer: "spi0 CS0")
    #expect(panel.missingLamps == [busy])
    try turn()
    #expect(log.events == [.lampsUnavailable([busy])])
    panel.apply(state(.ready))
    panel.apply(state(.granted))
    #expect(bench.levels[0] == true && bench.levels[4] == true)
    panel.apply(state(.denied))
    bench.others = [:]
    try turn(GPIOPanel.probeInterval + .milliseconds(100))
    #expect(log.events == [.lampsUnavailable([busy]), .lampsRestored])
    #expect(bench.levels[1] == true)
    panel.close()
    #expect(bench.held.isEmpty)
  }

  @Test("a busy lamp refuses to open where the settings say so")
  func refusedLamp() throws {
    bench.others[1] = "spi0 CS0"
    var settings = settings
    settings.busyLamp = .refuse
    #expect(
      throws: PanelError.lineBusy(
        fact: "panel.lines.red", line: "bench (gpiochip0) line 1 \"R\"", consumer: "spi0 CS0")
    ) { try open(settings) }
    #expect(bench.held.isEmpty)
  }

  @Test("a relay that cannot be set makes the panel unavailable, once, with everything released")
  func lostRelay() throws {
    let log = Log()
    let panel = try open(settings, log)
    panel.apply(state(.ready))
    bench.failures[4] = ENODEV
    panel.apply(state(.granted))
    #expect(log.events.isEmpty)
    #expect(bench.held.isEmpty)
    panel.apply(state(.granted))
    try turn()
    #expect(log.events == [.unavailable(.failed(fact: "panel.lines.relay", SystemError("set", code: ENODEV)))])
  }

  @Test("a chip that went away is noticed without anything to show")
  func probed() throws {
    let log = Log()
    let panel = try open(settings, log)
    for offset in 0..<5 { bench.failures[UInt32(offset)] = ENODEV }
    try turn(GPIOPanel.probeInterval + .milliseconds(100))
    #expect(log.events == [.unavailable(.failed(fact: "panel.lines.relay", SystemError("get", code: ENODEV)))])
    panel.close()
    bench.failures = [:]
    let next = try open(settings, log)
    next.apply(state(.ready))
    #expect(bench.levels[2] == true)
    next.close()
  }

  @Test("lamps that fail at work are gone without, and tried again")
  func lostLamps() throws {
    let log = Log()
    let panel = try open(settings, log)
    panel.apply(state(.ready))
    bench.failures[0] = EIO
    panel.apply(state(.granted))
    #expect(bench.levels[4] == true)
    try turn()
    #expect(log.events == [.lampsUnavailable([.failed(fact: "panel.lines.green", SystemError("set", code: EIO))])])
    bench.failures = [:]
    try turn(GPIOPanel.probeInterval + .milliseconds(100))
    #expect(log.events.last == .lampsRestored)
    #expect(bench.levels[0] == true)
    panel.close()
  }

  @Test("an input reports its settled level, not its bounces")
  func input() throws {
    var settings = settings
    settings.inputs[.button] = .init(.name("BUTTON"), bias: .pullUp, debounce: .milliseconds(40))
    let log = Log()
    let panel = try open(settings, log)
    #expect(panel.isActive(.button) == false)
    #expect(panel.isActive(.doorContact) == nil)
    for level in [true, false, true] {
      bench.levels[5] = level
      #expect(write(bench.inputEnds[1], "x", 1) == 1)
      try turn(.milliseconds(5))
    }
    #expect(log.events.isEmpty)
    try turn(.milliseconds(80))
    #expect(log.events == [.input(.button, isActive: true)])
    #expect(panel.isActive(.button) == true)
    bench.failures[5] = ENODEV
    #expect(write(bench.inputEnds[1], "x", 1) == 1)
    try turn()
    #expect(log.events.last == .unavailable(.failed(fact: "panel.lines.button", SystemError("read", code: ENODEV))))
    #expect(loop.watchCount == 0)
    panel.close()
  }
}
