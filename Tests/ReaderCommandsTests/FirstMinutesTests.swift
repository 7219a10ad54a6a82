import Foundation
import Kernel
import Testing

/// "From zero" of the README, command for command as it stands there, with the programs that were built beside the tests.
@Suite("The README's first minutes")
struct FirstMinutesTests {
  private static let top = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  /// The indented blocks of the section, as the reader of it would paste them.
  private static func blocks() throws -> [[String]] {
    let text = try String(contentsOfFile: top + "/README.md", encoding: .utf8)
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
    func start(_ line: String, log: String) throws -> Process {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      // `exec`, so that a signal reaches the program
      process.arguments = ["-euc", "exec \(line) >\(log) 2>&1"]
      process.currentDirectoryURL = URL(fileURLWithPath: folder)
      process.environment = ProcessInfo.processInfo.environment.merging(
        ["PATH": programs + ":/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no"]) { $1 }
      process.standardInput = FileHandle.nullDevice
      try process.run()
      return process
    }

    func run(_ line: String) throws {
      let process = try start(line, log: "log")
      process.waitUntilExit()
      #expect(process.terminationStatus == 0, "\(line): \(text("log"))")
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
    try FileManager.default.copyItem(atPath: FirstMinutesTests.top + "/board", toPath: folder + "/board")
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
    defer { if reader.isRunning { kill(reader.processIdentifier, SIGKILL) } }
    try #require(terminal.awaits("\"event\":\"ready\"", in: "reader"), "\(terminal.text("reader"))")
    try terminal.run(blocks[4][1])
    #expect(terminal.awaits("\"outcome\":\"granted\"", in: "reader"), "\(terminal.text("reader"))")
    try terminal.run("mdoc-reader status --config play/reader.toml")
    kill(reader.processIdentifier, SIGINT)
    reader.waitUntilExit()
    #expect(reader.terminationReason == .exit && reader.terminationStatus == 0)
  }
}
