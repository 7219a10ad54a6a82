import Commands
import GPIO
import Glibc
import JSON
import Kernel
import Panel
import TerminalPanel

/// What the panel of a board is driven by.
enum PanelHardware {
  /// One line of text for each change, on this descriptor.
  case terminal(CInt)
  case lines(LineSettings)
}

extension Site {
  var panelHardware: PanelHardware {
    switch board.panel {
    case .terminal: .terminal(STDERR_FILENO)
    case .gpio(let facts): .lines(LineSettings(facts))
    }
  }
}

/// `signal`: shows each signal of the panel on the configured board, and says which line is which.
enum SignalCommand {
  static let verb = Verb(
    name: "signal", summary: "Show signals on the panel: lamps and buzzer, and the relay only when told to.",
    usage: "signal [NAME] [--seconds N] [--relay] [--list] [--config FILE] [--json]",
    options: [
      Site.option, CommandOption("--seconds", "N", "how long each signal is shown, 1 to 60 (default 2)"),
      CommandOption("--relay", "let the relay pulse with granted: this opens the door"),
      CommandOption("--list", "only say which line is which, without touching any"), .json,
    ], operandLimit: 1, run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    let signals = try arguments.operands.first.map { [try Arguments.choice($0, of: Signal.self, for: "signal")] }
    let seconds = try arguments.integer("--seconds", in: 1...60) ?? 2
    let site = try Site(arguments)
    let hardware = site.panelHardware
    if arguments.has("--list") {
      try list(hardware, asJSON: arguments.has("--json"), console)
      return 0
    }
    let show = try SignalShow(
      signals ?? Signal.allCases.filter { $0 != .off }, each: .seconds(seconds), withRelay: arguments.has("--relay"),
      pulse: site.configuration.signals.relayPulse, hasBuzzer: site.configuration.signals.hasBuzzer,
      asJSON: arguments.has("--json"), console: console)
    try show.run(on: hardware)
    return 0
  }

  private static func list(_ hardware: PanelHardware, asJSON: Bool, _ console: Console) throws {
    guard case .lines(let settings) = hardware else {
      return asJSON ? console.data("[]") : console.data("the panel is the terminal: it has no lines")
    }
    let lines: [PanelLine]
    do throws(PanelError) {
      lines = PanelLine.all(try GPIOPanel.find(settings), settings)
    } catch {
      throw error.failure
    }
    if asJSON {
      console.data(JSONValue.array(lines.map(\.document)).text)
    } else {
      for line in lines { console.data(line.text) }
    }
  }
}

extension PanelError {
  /// As people read it. What the board's file has wrong is wrong configuration: exit status 2.
  var failure: CommandError {
    isWrongFact ? .usage("board", description, hint: remedy) : .failure("panel", description, hint: remedy)
  }
}

/// One line of the panel, as `signal` lists it.
private struct PanelLine {
  let role: String
  let line: FoundLine
  let isActiveLow: Bool
  let isInput: Bool

  static func all(_ found: FoundLines, _ settings: LineSettings) -> [PanelLine] {
    let outputs = OutputRole.allCases.compactMap { role in
      found.outputs[role].map {
        PanelLine(
          role: role.rawValue, line: $0, isActiveLow: settings.outputs[role]?.isActiveLow == true, isInput: false)
      }
    }
    let inputs = InputRole.allCases.compactMap { role in
      found.inputs[role].map {
        PanelLine(role: role.rawValue, line: $0, isActiveLow: settings.inputs[role]?.isActiveLow == true, isInput: true)
      }
    }
    return outputs + inputs
  }

  var text: String {
    let padding = String(repeating: " ", count: max(1, 14 - role.utf8.count))
    let holder = line.consumer.isEmpty ? "somebody" : quoted(line.consumer)
    return "\(role)\(padding)\(line.title), \(isInput ? "input" : "output"), active \(isActiveLow ? "low" : "high")"
      + (line.isUsed ? ", held by \(holder)" : "")
  }

  var document: JSONValue {
    .object([
      "role": .string(role), "chip": .string(line.chip), "device": .string(line.path),
      "offset": .integer(Int(line.offset)), "name": line.name.isEmpty ? nil : .string(line.name),
      "direction": .string(isInput ? "in" : "out"), "activeLow": .bool(isActiveLow), "used": .bool(line.isUsed),
      "consumer": line.consumer.isEmpty ? nil : .string(line.consumer),
    ])
  }
}

/// Shows signals one after the other, then everything is off.
private final class SignalShow {
  private let signals: [Signal]
  private let length: Duration
  private let withRelay: Bool
  private let asJSON: Bool
  private let console: Console
  private let loop: EventLoop
  private var engine: PanelEngine
  private var show: (PanelState) -> Void = { _ in }
  private var rest: [Signal] = []
  private var failure: PanelError?
  private var blink: EventLoop.Timer?
  private var step: EventLoop.Timer?

  init(
    _ signals: [Signal], each length: Duration, withRelay: Bool, pulse: Duration, hasBuzzer: Bool, asJSON: Bool,
    console: Console
  ) throws(SystemError) {
    self.signals = signals
    self.length = length
    self.withRelay = withRelay
    self.asJSON = asJSON
    self.console = console
    engine = PanelEngine(relayPulse: pulse, hasBuzzer: hasBuzzer)
    loop = try EventLoop()
  }

  func run(on hardware: PanelHardware) throws {
    switch hardware {
    case .terminal(let descriptor):
      var terminal = TerminalPanel(descriptor: descriptor)
      show = { terminal.show($0) }
      try turn()
    case .lines(let settings):
      let panel: GPIOPanel
      do throws(PanelError) {
        panel = try GPIOPanel(settings, on: loop) { [unowned self] in take($0) }
      } catch {
        throw error.failure
      }
      defer { panel.close() }
      if !asJSON { for line in PanelLine.all(panel.found, settings) { console.remark(line.text) } }
      show = { panel.apply($0) }
      try turn()
    }
    show = { _ in }
    if let failure { throw failure.failure }
  }

  private func turn() throws(SystemError) {
    // Whatever ends this, the lines go back to inactive before they are let go.
    let watch = try SignalWatch(on: loop) { [unowned self] _ in loop.stop() }
    defer { watch.cancel() }
    blink = loop.timer("blink") { [unowned self] in advance() }
    step = loop.timer("next signal") { [unowned self] in next() }
    if !withRelay, signals.contains(.granted) {
      console.remark("the relay stays inactive; --relay lets it pulse, and opens the door")
    }
    rest = signals
    // The relay goes active only after it was told to be inactive.
    apply()
    next()
    try loop.run()
    engine.show(.off, at: .now)
    apply()
  }

  private func next() {
    guard !rest.isEmpty else { return loop.stop() }
    let signal = rest.removeFirst()
    engine.show(signal, at: .now)
    if asJSON {
      console.data(JSONValue.object(["signal": .string(signal.rawValue)]).text)
    } else {
      console.data("signal \(signal.rawValue)")
    }
    apply()
    step?.set(after: signal == .off ? .zero : length)
  }

  private func advance() {
    engine.advance(to: .now)
    apply()
  }

  private func apply() {
    let state = engine.state
    var lines = state.lines
    lines.isRelayActive = lines.isRelayActive && withRelay
    show(PanelState(signal: state.signal, look: state.look, lines: lines))
    if let deadline = engine.deadline { blink?.set(at: deadline) } else { blink?.cancel() }
  }

  private func take(_ event: GPIOPanel.Event) {
    switch event {
    case .unavailable(let error):
      failure = error
      loop.stop()
    case .lampsUnavailable(let errors): for error in errors { console.remark("without \(error)") }
    case .lampsRestored: console.remark("all lamps are there again")
    case .input(let role, let isActive): console.remark("\(role.rawValue) \(isActive ? "active" : "inactive")")
    }
  }
}
