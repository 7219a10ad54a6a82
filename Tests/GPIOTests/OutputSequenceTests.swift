import Panel
import Testing

@testable import GPIO

private func lines(_ active: OutputRole...) -> PanelLines {
  var lines = PanelLines()
  lines.isGreenLit = active.contains(.green)
  lines.isRedLit = active.contains(.red)
  lines.isBlueLit = active.contains(.blue)
  lines.isBuzzerOn = active.contains(.buzzer)
  lines.isRelayActive = active.contains(.relay)
  return lines
}

/// Boxes of the values under test: an expectation takes no mutating call.
private final class Sequencer {
  private var sequence: OutputSequence
  init(_ sequence: OutputSequence) { self.sequence = sequence }
  func steps(to lines: PanelLines) -> [OutputSequence.Step] { sequence.steps(to: lines) }
  func reset(_ group: Int) { sequence.reset(group) }
}

private final class Debouncer {
  private var debounce: Debounce
  init(level: Bool, interval: Duration) { debounce = Debounce(level: level, interval: interval) }
  var level: Bool { debounce.level }
  var deadline: ContinuousClock.Instant? { debounce.deadline }
  func edge(to level: Bool, at now: ContinuousClock.Instant) -> Bool { debounce.edge(to: level, at: now) }
  func look(at level: Bool, _ now: ContinuousClock.Instant) -> Bool { debounce.look(at: level, now) }
}

@Suite("Order of line changes") struct OutputSequenceTests {
  private typealias Step = OutputSequence.Step
  private let all = Sequencer(OutputSequence([[.relay], [.green, .red], [.blue, .buzzer]]))

  @Test("nothing is called while nothing changes, and one call is enough for a group")
  func calls() {
    let sequence = all
    #expect(sequence.steps(to: lines()) == [])
    #expect(sequence.steps(to: lines(.green, .red)) == [Step(group: 1, levels: [true, true])])
    #expect(sequence.steps(to: lines(.green, .red)) == [])
    #expect(
      sequence.steps(to: lines(.red, .buzzer)) == [
        Step(group: 1, levels: [false, true]), Step(group: 2, levels: [false, true]),
      ])
  }

  @Test("the relay goes active last and inactive first")
  func order() {
    let sequence = all
    _ = sequence.steps(to: lines(.blue))
    #expect(
      sequence.steps(to: lines(.green, .relay)) == [
        Step(group: 1, levels: [true, false]), Step(group: 2, levels: [false, false]), Step(group: 0, levels: [true]),
      ])
    #expect(
      sequence.steps(to: lines(.red)) == [Step(group: 0, levels: [false]), Step(group: 1, levels: [false, true])])
  }

  @Test("a relay that is to be active from the first instant stays inactive until it was inactive once")
  func armed() {
    let sequence = all
    #expect(sequence.steps(to: lines(.green, .relay)) == [Step(group: 1, levels: [true, false])])
    #expect(sequence.steps(to: lines(.green, .relay)) == [])
    #expect(sequence.steps(to: lines(.green)) == [])
    #expect(sequence.steps(to: lines(.green, .relay)) == [Step(group: 0, levels: [true])])
  }

  @Test("a group that was requested anew is set again")
  func reset() {
    let sequence = all
    _ = sequence.steps(to: lines(.blue))
    sequence.reset(2)
    #expect(sequence.steps(to: lines(.blue)) == [Step(group: 2, levels: [true, false])])
  }

  @Test("over every signal the relay is active only while granted, and every call changes something")
  func signals() {
    let sequence = all
    var engine = PanelEngine(relayPulse: .seconds(1))
    var now = ContinuousClock.now
    var current: [Int: [Bool]] = [:]
    for signal in Signal.allCases + Signal.allCases.reversed() {
      engine.show(signal, at: now)
      for _ in 0..<40 {
        engine.advance(to: now)
        for step in sequence.steps(to: engine.state.lines) {
          #expect(current[step.group] ?? step.levels.map { _ in false } != step.levels)
          current[step.group] = step.levels
        }
        #expect((current[0] == [true]) == engine.state.lines.isRelayActive)
        now += .milliseconds(50)
      }
    }
  }
}

@Suite("Debounce") struct DebounceTests {
  private let start = ContinuousClock.now
  private func at(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

  @Test("a level counts once it was there for the interval")
  func settles() {
    let debounce = Debouncer(level: false, interval: .milliseconds(30))
    #expect(!debounce.edge(to: true, at: at(0)))
    #expect(debounce.deadline == at(30))
    #expect(!debounce.look(at: true, at(29)))
    #expect(debounce.look(at: true, at(30)))
    #expect(debounce.level)
    #expect(debounce.deadline == nil)
  }

  @Test("each edge starts the wait again")
  func bounces() {
    let debounce = Debouncer(level: false, interval: .milliseconds(30))
    for time in stride(from: 0, to: 100, by: 10) { #expect(!debounce.edge(to: true, at: at(time))) }
    #expect(debounce.deadline == at(120))
    #expect(debounce.look(at: true, at(120)))
  }

  @Test("a glitch that is over, or a level that went back without an edge, counts for nothing")
  func glitch() {
    let debounce = Debouncer(level: false, interval: .milliseconds(30))
    #expect(!debounce.edge(to: true, at: at(0)))
    #expect(!debounce.edge(to: false, at: at(5)))
    #expect(debounce.deadline == nil)
    #expect(!debounce.edge(to: true, at: at(10)))
    #expect(!debounce.look(at: false, at(40)))
    #expect(!debounce.level)
  }

  @Test("without an interval every edge counts at once")
  func immediate() {
    let debounce = Debouncer(level: true, interval: .zero)
    #expect(debounce.edge(to: false, at: at(0)))
    #expect(debounce.edge(to: true, at: at(0)))
  }
}
