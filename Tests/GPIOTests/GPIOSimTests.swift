import Foundation
import Glibc
import Kernel
import Panel
import Testing

@testable import GPIO

/// The kernel's simulated chip of the virtual board (`--gpio "LED_GREEN LED_RED LED_BLUE BUZZER RELAY BUTTON"`), seen
/// from outside: `/run/gpio/NAME/value` is what a pin has, `pull` what pulls it.
enum SimulatedChip {
  static let names = ["LED_GREEN", "LED_RED", "LED_BLUE", "BUZZER", "RELAY", "BUTTON"]
  static let isThere = names.allSatisfy { FileManager.default.fileExists(atPath: "/run/gpio/\($0)/value") }

  static func value(_ name: String) -> Int? {
    (try? String(contentsOfFile: "/run/gpio/\(name)/value", encoding: .utf8)).flatMap { Int($0.prefix(1)) }
  }

  static func pull(_ name: String, _ direction: String) throws {
    try direction.write(toFile: "/run/gpio/\(name)/pull", atomically: false, encoding: .utf8)
  }

  static func settings(isActiveLow: Bool) -> LineSettings {
    LineSettings(
      chip: "pinctrl-bcm2711",
      outputs: [
        .green: .init(.name("LED_GREEN")), .red: .init(.name("LED_RED")), .blue: .init(.name("LED_BLUE")),
        .buzzer: .init(.name("BUZZER")), .relay: .init(.name("RELAY"), isActiveLow: isActiveLow),
      ],
      inputs: [.button: .init(.name("BUTTON"), debounce: .milliseconds(50))], consumer: "panel test")
  }
}

@Suite(
  "GPIO panel on the kernel's simulated chip", .serialized,
  .enabled(if: SimulatedChip.isThere, "no simulated gpiochip here: Scripts/virtual-board has one"))
struct GPIOSimTests {
  private let loop: EventLoop

  init() throws { loop = try EventLoop() }

  private final class Log { var events: [GPIOPanel.Event] = [] }

  private func open(isActiveLow: Bool = false, _ log: Log = Log()) throws -> GPIOPanel {
    try GPIOPanel(SimulatedChip.settings(isActiveLow: isActiveLow), on: loop) { log.events.append($0) }
  }

  @Test("every signal is on the pins, in either polarity of the relay", arguments: [false, true])
  func signals(isActiveLow: Bool) throws {
    let panel = try open(isActiveLow: isActiveLow)
    var engine = PanelEngine(relayPulse: .milliseconds(300))
    var now = ContinuousClock.now
    for signal in Signal.allCases {
      engine.show(signal, at: now)
      for _ in 0..<8 {
        engine.advance(to: now)
        panel.apply(engine.state)
        let lines = engine.state.lines
        #expect(SimulatedChip.value("LED_GREEN") == (lines.isGreenLit ? 1 : 0))
        #expect(SimulatedChip.value("LED_RED") == (lines.isRedLit ? 1 : 0))
        #expect(SimulatedChip.value("LED_BLUE") == (lines.isBlueLit ? 1 : 0))
        #expect(SimulatedChip.value("BUZZER") == (lines.isBuzzerOn ? 1 : 0))
        #expect(SimulatedChip.value("RELAY") == (lines.isRelayActive != isActiveLow ? 1 : 0))
        now += .milliseconds(70)
      }
    }
    panel.close()
    #expect(SimulatedChip.names.map(SimulatedChip.value) == [0, 0, 0, 0, 0, 0])
  }

  @Test("a line that somebody holds names the holder")
  func busy() throws {
    let first = try open()
    let line = try #require(first.found.outputs[.relay]?.title)
    #expect(throws: PanelError.lineBusy(fact: "panel.lines.relay", line: line, consumer: "panel test")) { try open() }
    first.close()
    try open().close()
  }

  @Test("a pressed button is an event on the loop")
  func button() throws {
    let log = Log()
    let panel = try open(log)
    #expect(panel.isActive(.button) == false)
    try SimulatedChip.pull("BUTTON", "pull-up")
    _ = try loop.run(until: .now + .milliseconds(300))
    #expect(log.events == [.input(.button, isActive: true)])
    try SimulatedChip.pull("BUTTON", "pull-down")
    _ = try loop.run(until: .now + .milliseconds(300))
    #expect(log.events == [.input(.button, isActive: true), .input(.button, isActive: false)])
    panel.close()
  }

  @Test("a fact that is wrong names the nearest line")
  func wrong() throws {
    var settings = SimulatedChip.settings(isActiveLow: false)
    settings.outputs[.relay] = .init(.name("RELAIS"))
    #expect(throws: PanelError.self) { try GPIOPanel(settings, on: loop) { _ in } }
    do throws(PanelError) {
      _ = try GPIOPanel.find(settings)
    } catch {
      guard case .lineMissing("panel.lines.relay", "RELAIS", _, let nearest) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(nearest.first == "RELAY")
    }
  }

  private func open(_ log: Log) throws -> GPIOPanel { try open(isActiveLow: false, log) }
}
