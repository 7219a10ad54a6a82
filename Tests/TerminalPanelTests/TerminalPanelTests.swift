import Glibc
import Panel
import Testing

@testable import TerminalPanel

@Suite("Terminal panel") struct TerminalPanelTests {
  let noon = TimeOfDay(hour: 12, minute: 3, second: 4, millisecond: 7)

  private func state(_ signal: Signal, after elapsed: Duration = .zero) -> PanelState {
    var engine = PanelEngine(relayPulse: .seconds(1))
    let start = ContinuousClock.now
    engine.show(signal, at: start)
    engine.advance(to: start + elapsed)
    return engine.state
  }

  @Test("each signal has its line, columns aligned")
  func lines() {
    func line(_ signal: Signal) -> String { PanelText.line(state(signal), at: noon, isColored: false) }
    #expect(
      line(.ready) == "12:03:04.007 panel  ready          led green off    red off    blue on     relay inactive")
    #expect(
      line(.granted)
        == "12:03:04.007 panel  granted        led green on     red off    blue off    relay active  1 beep")
    #expect(
      line(.denied)
        == "12:03:04.007 panel  denied         led green off    red on     blue off    relay inactive  2 beeps")
    #expect(
      line(.clockUntrusted)
        == "12:03:04.007 panel  clockUntrusted led green off    red blink  blue blink  relay inactive")
  }

  @Test("colours appear only when asked for")
  func colors() {
    #expect(PanelText.line(state(.ready), at: noon, isColored: true).contains("\u{1b}[34mblue on\u{1b}[0m"))
    for signal in Signal.allCases {
      #expect(!PanelText.line(state(signal), at: noon, isColored: false).contains("\u{1b}"))
    }
  }

  @Test("one line is printed for each change, none for a blink, and none in colour to a pipe")
  func changes() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
    var panel = TerminalPanel(descriptor: ends[1])
    panel.show(state(.ready), at: noon)
    panel.show(state(.ready), at: noon)
    panel.show(state(.fault), at: noon)
    panel.show(state(.fault, after: .milliseconds(130)), at: noon)
    panel.show(state(.granted), at: noon)
    panel.show(state(.granted, after: .seconds(1)), at: noon)
    panel.show(state(.off), at: noon)
    close(ends[1])
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = read(ends[0], &buffer, buffer.count)
    let lines = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
    #expect(
      lines.map { $0.split(separator: " ")[2] + " " + ($0.contains("relay active") ? "active" : "inactive") }
        == ["ready inactive", "fault inactive", "granted active", "granted inactive", "off inactive"])
    #expect(!lines.contains { $0.contains("\u{1b}") })
  }

  @Test("a reader that does not read is not waited for, and the latest state is printed when it reads again")
  func full() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer {
      close(ends[0])
      close(ends[1])
    }
    let flags = fcntl(ends[1], F_GETFL)
    _ = fcntl(ends[1], F_SETFL, flags | O_NONBLOCK)
    let filler = [UInt8](repeating: 0x2e, count: 4096)
    while write(ends[1], filler, filler.count) > 0 {}
    _ = fcntl(ends[1], F_SETFL, flags)
    var panel = TerminalPanel(descriptor: ends[1])
    panel.show(state(.ready), at: noon)  // would hang here for ever
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    _ = read(ends[0], &buffer, buffer.count)
    panel.show(state(.ready), at: noon)
    let count = read(ends[0], &buffer, buffer.count)
    #expect(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).contains("panel  ready"))
  }
}
