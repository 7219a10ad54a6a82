import Commands
import Foundation
import Testing

@testable import ReaderCommands

@Suite("signal") struct SignalTests {
  private func run(_ words: String...) throws -> (status: Int32, out: String, err: String) {
    let folder = NSTemporaryDirectory() + "mdoc-signal-\(UInt64.random(in: 0 ... .max))"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(atPath: folder + "/board/simulated", withIntermediateDirectories: true)
    try """
    name = "simulated"
    [camera]
    kind = "pictures"
    [radio]
    kind = "air"
    [panel]
    kind = "terminal"
    """.write(toFile: folder + "/board/simulated/board.toml", atomically: true, encoding: .utf8)
    try """
    board = "simulated"
    [[request.document]]
    doc_type = "org.iso.18013.5.1.mDL"
    [request.document.name_spaces]
    "org.iso.18013.5.1" = ["age_over_18"]
    """.write(toFile: folder + "/reader.toml", atomically: true, encoding: .utf8)
    var out = ""
    var err = ""
    let console = Console(program: "mdoc-reader") { if $1 { out += $0 } else { err += $0 } }
    let status = ReaderCommands.run(["signal", "--config", folder + "/reader.toml"] + words, console: console)
    return (status, out, err)
  }

  @Test("one signal is shown for its time, and the relay is not touched unless told to")
  func one() throws {
    let start = ContinuousClock.now
    let shown = try run("granted", "--seconds", "1")
    #expect(shown.status == 0)
    #expect(shown.out == "signal granted\n")
    #expect(shown.err == "the relay stays inactive; --relay lets it pulse, and opens the door\n")
    #expect(.now - start >= .seconds(1))
    #expect(try run("denied", "--seconds", "1", "--relay", "--json").out == "{\"signal\":\"denied\"}\n")
  }

  @Test("off takes no time: it only leaves everything inactive")
  func off() throws {
    let start = ContinuousClock.now
    let shown = try run("off", "--seconds", "60")
    #expect(shown.status == 0 && shown.out == "signal off\n" && shown.err.isEmpty)
    #expect(.now - start < .seconds(30))
  }

  @Test("the simulated board has no lines to list")
  func list() throws {
    #expect(try run("--list").out == "the panel is the terminal: it has no lines\n")
    #expect(try run("--list", "--json").out == "[]\n")
  }

  @Test("a signal that does not exist, and a time that is none, are wrong usage")
  func usage() throws {
    let wrong = try run("grantd")
    #expect(wrong.status == 2)
    #expect(wrong.err == "mdoc-reader: signal 'grantd': no such value\ndid you mean granted?\n")
    #expect(try run("granted", "--seconds", "0").status == 2)
  }
}
