import Foundation
import Kernel
import TestSupport
import Testing

/// "From zero" of the README, command for command as it stands there, with the programs that were built beside the tests.
@Suite("The README's first minutes")
struct FirstMinutesTests {
  /// The indented blocks of the section, as the reader of it would paste them.
  private static func blocks() throws -> [[String]] {
    let text = try repositoryFile("README.md")
    let start = try #require(text.range(of: "\n## From zero"))
    let end = try #require(text.range(of: "\n## ", range: start.upperBound..<text.endIndex))
    var blocks: [[String]] = [[]]
    for line in text[start.upperBound..<end.lowerBound].split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("    ") {
        blocks[blocks.count - 1].append(String(line.dropFirst(4)))
      } else if !line.isEmpty, blocks.last?.isEmpty == false {
        blocks.append([])
      }
    }
    return blocks.filter { !$0.isEmpty }
  }

  private struct Terminal {
    let folder: String
    let programs: String

    /// Starts a line in the folder. What it writes goes to the file `log` there.
    func start(_ line: String, log: String) throws -> ChildProcess {
      // `exec`, so that a signal reaches the program
      let script =
        "cd '\(folder)'\nexport PATH='\(programs)':/usr/bin:/bin SWIFT_BACKTRACE=enable=no\nexec \(line) >\(log) 2>&1"
      return try ChildProcess("/bin/sh", ["-euc", script])
    }

    func run(_ line: String) throws {
      #expect(try start(line, log: "log").wait() == 0, "\(line): \(text("log"))")
    }

    func text(_ file: String) -> String { (try? String(contentsOfFile: folder + "/" + file, encoding: .utf8)) ?? "" }

    /// Whether such text comes into the file, in half a minute at most.
    func awaits(_ wanted: String, in file: String) -> Bool {
      for _ in 0..<6000 {
        if text(file).contains(wanted) { return true }
        usleep(5000)
      }
      return false
    }
  }

  @Test("end with a verified document")
  func firstMinutes() throws {
    guard let program = RunningReader.program,
      Files.exists((program as NSString).deletingLastPathComponent + "/mdoc-wallet")
    else {
      print("skipped: the README's first minutes: the programs are not built")
      return
    }
    let folder = NSTemporaryDirectory() + "mdoc-minutes-\(UInt64.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.copyItem(atPath: repositoryPath("board"), toPath: folder + "/board")
    let terminal = Terminal(folder: folder, programs: (program as NSString).deletingLastPathComponent)

    let blocks = try FirstMinutesTests.blocks()
    try #require(blocks.count == 5, "the section has other steps now: this test has to know them")
    // The programs are built; the alias is PATH here
    #expect(blocks[0].map { $0.prefix { $0 != " " } } == ["swift", "mkdir", "alias"])
    try terminal.run(blocks[0][1])
    for line in blocks[1] { try terminal.run(line) }
    try blocks[2].joined(separator: "\n").write(toFile: folder + "/play/reader.toml", atomically: true, encoding: .utf8)
    for line in blocks[3] { try terminal.run(line) }

    try #require(blocks[4].count == 2)
    let reader = try terminal.start(blocks[4][0], log: "reader")
    try #require(terminal.awaits("\"event\":\"ready\"", in: "reader"), "\(terminal.text("reader"))")
    try terminal.run(blocks[4][1])
    #expect(terminal.awaits("\"outcome\":\"granted\"", in: "reader"), "\(terminal.text("reader"))")
    try terminal.run("mdoc-reader status --config play/reader.toml")
    #expect(reader.end(by: SIGINT) == 0)
  }
}
