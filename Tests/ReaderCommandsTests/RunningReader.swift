import Foundation
import Kernel
import Pictures
import TestSupport
import Wallet

/// `mdoc-reader run` in a process and a folder of its own, on the simulated board.
final class RunningReader {
  let folder: String
  private let process = Process()

  /// The program as it was built beside the tests; nil where it was not.
  static let program: String? = {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let build = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
    let candidates = [build, tests.deletingLastPathComponent().appendingPathComponent(".build/debug")]
    return candidates.map { $0.appendingPathComponent("mdoc-reader").path }.first(where: Files.exists)
  }()

  /// Starts in `folder`, where `reader.toml` and all that it names has to be.
  init(in folder: String, program: String) throws {
    self.folder = folder
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = ["run", "--config", folder + "/reader.toml"]
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    for (name, assign) in [("out", \Process.standardOutput), ("err", \Process.standardError)] {
      _ = FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: nil)
      process[keyPath: assign] = FileHandle(forWritingAtPath: "\(folder)/\(name)")
    }
    // What a crash would print about memory is part of what must not hold anything.
    process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=yes"]) { $1 }
    try process.run()
  }

  deinit { kill(SIGKILL) }

  var id: Int32 { process.processIdentifier }
  var isRunning: Bool { process.isRunning }

  func kill(_ signal: Int32) { if process.isRunning { Glibc.kill(id, signal) } }

  /// Waits for its end; gives the signal that ended it, or nil. One that does not end is killed.
  func end(seconds: Double = 30) -> Int32? {
    let deadline = Date(timeIntervalSinceNow: seconds)
    while isRunning, Date() < deadline { usleep(5000) }
    guard !isRunning else {
      kill(SIGKILL)
      return nil
    }
    return process.terminationReason == .uncaughtSignal ? process.terminationStatus : nil
  }

  /// Its events so far, of one name.
  func events(_ name: String) -> [Substring] {
    let text = (try? String(contentsOfFile: folder + "/out", encoding: .utf8)) ?? ""
    return text.split(separator: "\n").filter { $0.contains("\"event\":\"\(name)\"") }
  }

  /// Waits until there are so many of an event; false when it does not come.
  func awaits(_ count: Int, _ name: String, seconds: Double = 30) -> Bool {
    let deadline = Date(timeIntervalSinceNow: seconds)
    while events(name).count < count {
      guard isRunning, Date() < deadline else { return false }
      usleep(5000)
    }
    return true
  }

  /// Holds a code before its camera.
  func show(_ text: String) throws {
    guard let picture = QRCode(text)?.pixels(moduleSize: 5) else { throw CocoaError(.featureUnsupported) }
    let image = try LumaImage(width: picture.side, height: picture.side, pixels: picture.grey)
    try PictureFile.write(image, to: folder + "/pictures/code.png")
  }
}
