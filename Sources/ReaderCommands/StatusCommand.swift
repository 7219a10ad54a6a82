import Commands
import JSON
import Kernel

/// `status`: what the running reader says about itself.
enum StatusCommand {
  static let verb = Verb(
    name: "status", summary: "Say what the running reader is doing.", usage: "status [--config FILE] [--json]",
    options: [Site.option, .json], operandLimit: 0, run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    let path = try Site(arguments).statusFile
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try Files.read(path, limit: 1 << 20)
    } catch {
      throw CommandError.failure(path, error.reason, hint: "the reader is not running, or its [status] file is another")
    }
    guard let status = JSONValue(reading: bytes), let state = status["state"]?.string, let pid = status["pid"]?.integer
    else {
      throw CommandError.failure(path, "not the status of a reader", hint: "correct [status] file in the configuration")
    }
    let isRunning = state != "stopped" && Files.exists("/proc/\(pid)")
    if arguments.has("--json") {
      console.data(String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? "")
    } else {
      for line in lines(status, state: isRunning ? state : "stopped") { console.data(line) }
    }
    guard isRunning else {
      throw CommandError.failure("reader", "not running (it was process \(pid))", hint: "start it with mdoc-reader run")
    }
    return status["faults"]?.strings.isEmpty == false ? 1 : 0
  }

  private static func lines(_ status: JSONValue, state: String) -> [String] {
    func number(_ key: String) -> Int { status[key]?.integer ?? 0 }
    var lines = [
      "state     \(state)",
      "version   \(status["version"]?.string ?? "?"), process \(number("pid")), since \(status["started"]?.string ?? "?")",
      "anchors   \(number("anchors"))",
      "visitors  \(number("granted")) granted, \(number("refused")) refused, \(number("failed")) failed",
    ]
    if case .object(let kinds)? = status["lists"] {
      for kind in kinds {
        let stale = kind.value["stale"]?.integer ?? 0
        lines.append(
          "lists     \(kind.key): \(kind.value["count"]?.integer ?? 0), "
            + (stale > 0 ? "\(stale) stale" : "oldest \(kind.value["oldest"]?.string ?? "?")"))
      }
    }
    let faults = status["faults"]?.strings ?? []
    if !faults.isEmpty {
      lines.append("faults    \(faults.joined(separator: ", ")) (mdoc-reader check says what to do)")
    }
    if let last = status["last"], let outcome = last["outcome"]?.string {
      let reasons = last["reasons"]?.strings ?? []
      lines.append("last      \(outcome)" + (reasons.isEmpty ? "" : ": \(reasons.joined(separator: ", "))"))
    }
    return lines
  }
}
