import TestSupport
import Testing

@testable import Panel

@Suite("Panel engine") struct PanelEngineTests {
  let start = ContinuousClock.now

  @Test("everything is inactive before the first signal")
  func beginsInactive() {
    let engine = PanelEngine(relayPulse: .seconds(1))
    #expect(engine.state == .off)
    #expect(engine.deadline == nil)
  }

  @Test("granted pulses the relay once, for the configured time, and the pulse ends by itself")
  func pulse() {
    var engine = PanelEngine(relayPulse: .milliseconds(700))
    engine.show(.ready, at: start)
    #expect(!engine.state.lines.isRelayActive)
    engine.show(.granted, at: start + .seconds(1))
    #expect(engine.state.lines.isRelayActive)
    engine.advance(to: start + .milliseconds(1699))
    #expect(engine.state.lines.isRelayActive)
    #expect(engine.deadline == start + .milliseconds(1700))
    engine.advance(to: start + .milliseconds(1700))
    #expect(!engine.state.lines.isRelayActive)
    #expect(engine.deadline == nil)
    engine.show(.granted, at: start + .seconds(2))
    #expect(!engine.state.lines.isRelayActive, "repeating a signal is no new decision")
    engine.show(.ready, at: start + .seconds(3))
    engine.show(.granted, at: start + .seconds(4))
    #expect(engine.state.lines.isRelayActive)
  }

  @Test("going out of service cuts the pulse", arguments: [Signal.off, .starting, .fault, .clockUntrusted])
  func cut(signal: Signal) {
    var engine = PanelEngine(relayPulse: .seconds(5))
    engine.show(.granted, at: start)
    #expect(engine.state.lines.isRelayActive)
    engine.show(signal, at: start + .milliseconds(10))
    #expect(!engine.state.lines.isRelayActive)
    engine.show(.ready, at: start + .milliseconds(20))
    #expect(!engine.state.lines.isRelayActive)
  }

  @Test("the pulse outlasts the signal that started it", arguments: [Signal.ready, .reading, .processing, .denied])
  func outlasts(signal: Signal) {
    var engine = PanelEngine(relayPulse: .seconds(5))
    engine.show(.granted, at: start)
    engine.show(signal, at: start + .seconds(2))
    #expect(engine.state.lines.isRelayActive)
    engine.advance(to: start + .seconds(5))
    #expect(!engine.state.lines.isRelayActive)
  }

  @Test("a pulse outside the bounds is moved to the nearer end")
  func bounds() {
    #expect(PanelEngine(relayPulse: .zero).relayPulse == .milliseconds(100))
    #expect(PanelEngine(relayPulse: .seconds(3600)).relayPulse == .seconds(10))
    #expect(PanelEngine(relayPulse: .seconds(2)).relayPulse == .seconds(2))
  }

  @Test("no two signals look alike")
  func looks() {
    for first in Signal.allCases {
      for second in Signal.allCases where second != first { #expect(first.look != second.look) }
    }
  }

  @Test("fault blinks red, denied holds it")
  func faultIsNotDenied() {
    var engine = PanelEngine(relayPulse: .seconds(1))
    engine.show(.denied, at: start)
    #expect(engine.state.look.red == .on)
    engine.show(.fault, at: start + .seconds(1))
    var levels: [Bool] = []
    for step in 0..<4 {
      engine.advance(to: start + .seconds(1) + .milliseconds(125 * step))
      levels.append(engine.state.lines.isRedLit)
    }
    #expect(levels == [true, false, true, false])
    #expect(engine.deadline == start + .seconds(1) + .milliseconds(500))
  }

  @Test("the untrusted clock alternates red and blue")
  func clock() {
    var engine = PanelEngine(relayPulse: .seconds(1))
    engine.show(.clockUntrusted, at: start)
    #expect(engine.state.lines.isRedLit && !engine.state.lines.isBlueLit)
    engine.advance(to: start + .milliseconds(500))
    #expect(!engine.state.lines.isRedLit && engine.state.lines.isBlueLit)
  }

  @Test("denied beeps twice, then the buzzer rests")
  func beeps() {
    var engine = PanelEngine(relayPulse: .seconds(1))
    engine.show(.denied, at: start)
    var edges: [Bool] = [engine.state.lines.isBuzzerOn]
    while let deadline = engine.deadline {
      engine.advance(to: deadline)
      edges.append(engine.state.lines.isBuzzerOn)
    }
    #expect(edges == [true, false, true, false])
    var silent = PanelEngine(relayPulse: .seconds(1), hasBuzzer: false)
    silent.show(.denied, at: start)
    #expect(!silent.state.lines.isBuzzerOn)
  }

  @Test("time that goes back does not lengthen a pulse")
  func backwards() {
    var engine = PanelEngine(relayPulse: .seconds(1))
    engine.show(.granted, at: start + .seconds(10))
    engine.advance(to: start)
    #expect(engine.state.lines.isRelayActive)
    engine.advance(to: start + .seconds(11))
    #expect(!engine.state.lines.isRelayActive)
  }

  @Test("whatever happens, the relay is active only inside a bounded pulse after a grant", arguments: 1...40)
  func property(seed: UInt64) {
    var random = SplitMix64(state: seed)
    let pulse = Duration.milliseconds(Int.random(in: 100...10_000, using: &random))
    var engine = PanelEngine(relayPulse: pulse)
    var now = start
    var shown = Signal.off
    var allowedUntil: ContinuousClock.Instant?
    for step in 0..<500 {
      now += .milliseconds(Int.random(in: 0...2_000, using: &random))
      if Bool.random(using: &random), let deadline = engine.deadline { now = max(now, deadline) }
      if Bool.random(using: &random) {
        let signal = Signal.allCases.randomElement(using: &random) ?? .off
        engine.show(signal, at: now)
        if signal != shown {
          if signal == .granted { allowedUntil = now + pulse }
          if [.off, .starting, .fault, .clockUntrusted].contains(signal) { allowedUntil = nil }
        }
        shown = signal
      } else {
        engine.advance(to: now)
      }
      // A model of its own: exactly inside the pulse, and never elsewhere.
      let expected = allowedUntil.map { now < $0 } ?? false
      #expect(engine.state.lines.isRelayActive == expected, "seed \(seed), step \(step), signal \(shown)")
      if expected { #expect(engine.deadline.map { $0 <= now + pulse } == true, "seed \(seed), step \(step)") }
      if let deadline = engine.deadline { #expect(deadline > now, "seed \(seed), step \(step): no busy loop") }
    }
    engine.show(.off, at: now)
    #expect(engine.state == .off && engine.deadline == nil, "seed \(seed)")
  }
}
