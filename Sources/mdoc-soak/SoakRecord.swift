import Glibc

/// What a soak has measured, and what of it is good.
struct SoakRecord {
  /// Of the reader's process, when it was ready.
  struct Sample {
    let visitor: Int
    /// Anonymous memory that is resident, in KiB.
    let memory: Int
    let descriptors: Int
    let threads: Int

    init(of process: pid_t, visitor: Int) throws {
      func fact(_ name: String, in text: String) -> Int {
        text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
          .flatMap { Int($0.drop { !$0.isNumber }.prefix { $0.isNumber }) } ?? -1
      }
      guard let file = fopen("/proc/\(process)/status", "r") else { throw SoakError("the reader is gone") }
      defer { fclose(file) }
      var bytes = [UInt8](repeating: 0, count: 8192)
      let size = fread(&bytes, 1, bytes.count, file)
      let text = String(decoding: bytes.prefix(size), as: UTF8.self)
      self.visitor = visitor
      memory = fact("RssAnon", in: text)
      threads = fact("Threads", in: text)
      guard let folder = opendir("/proc/\(process)/fd") else {
        throw SoakError("the reader's descriptors cannot be seen")
      }
      defer { closedir(folder) }
      var count = -2  // the folder itself and the one above
      while readdir(folder) != nil { count += 1 }
      descriptors = count
    }
  }

  /// From which visitor on memory must not grow: by then everything has happened a few times.
  static let settled = 500
  static let memoryLimit = 1024
  static let latencyLimit = 1.2

  let count: Int
  var samples: [Sample] = []
  /// Of visitors who were admitted undisturbed: the number and the time from picture to report, in microseconds.
  var latencies: [(visitor: Int, microseconds: Int)] = []
  /// From the end of each transaction that failed to ready again, in milliseconds.
  var recoveries: [Int] = []
  /// How often which outcome came of which fault.
  var outcomes: [String: [String: Int]] = [:]
  /// What came out otherwise than it has to.
  var surprises: [String] = []

  init(count: Int) { self.count = count }

  private static func percentile99(_ values: [Int]) -> Int {
    values.isEmpty ? 0 : values.sorted()[min(values.count - 1, values.count * 99 / 100)]
  }

  private static func median(_ values: [Int]) -> Int { values.isEmpty ? 0 : values.sorted()[values.count / 2] }

  private var start: Sample? { samples.first { $0.visitor >= SoakRecord.settled } }
  private var first: [Int] { latencies.filter { $0.visitor <= 1000 }.map(\.microseconds) }
  private var last: [Int] { latencies.filter { $0.visitor > count - 1000 }.map(\.microseconds) }

  private var figures: [(name: String, value: String, target: String, isGood: Bool)] {
    guard let start, let end = samples.last else { return [("samples", "none", "some", false)] }
    let growth = (samples.filter { $0.visitor >= SoakRecord.settled }.map(\.memory).max() ?? 0) - start.memory
    let ratio = Double(SoakRecord.percentile99(last)) / Double(max(1, SoakRecord.percentile99(first)))
    func rounded(_ value: Double) -> String { "\(Double(Int(value * 100 + 0.5)) / 100)" }
    return [
      ("visitors", "\(count)", "-", true),
      ("otherwise than expected", "\(surprises.count)", "0", surprises.isEmpty),
      (
        "memory after \(start.visitor), most later, KiB", "\(start.memory), \(growth >= 0 ? "+" : "")\(growth)",
        "+\(SoakRecord.memoryLimit)", growth <= SoakRecord.memoryLimit
      ),
      (
        "descriptors after \(start.visitor), at the end", "\(start.descriptors), \(end.descriptors)", "same",
        end.descriptors == start.descriptors
      ),
      (
        "threads after \(start.visitor), at the end", "\(start.threads), \(end.threads)", "same",
        end.threads == start.threads
      ),
      (
        "picture to admitted, median, ms", rounded(Double(SoakRecord.median(first + last)) / 1000), "-", true
      ),
      (
        "the same, p99 of the first and the last 1000, ms",
        [first, last].map { rounded(Double(SoakRecord.percentile99($0)) / 1000) }.joined(separator: ", "),
        "x \(SoakRecord.latencyLimit)", ratio <= SoakRecord.latencyLimit
      ),
    ]
  }

  /// For Scripts/bench: CASE OURS FLOOR UNIT TARGET.
  var benchLines: String {
    guard let start, let end = samples.last else { return "" }
    let growth = (samples.filter { $0.visitor >= SoakRecord.settled }.map(\.memory).max() ?? 0) - start.memory
    let slowest = [last, first].map { "\(Double(SoakRecord.percentile99($0)) / 1000)" }
    return """
      memory-growth \(max(0, growth)) 0 KiB \(SoakRecord.memoryLimit)
      descriptors \(end.descriptors) \(start.descriptors) open 1.00
      p99-last-first \(slowest[0]) \(slowest[1]) ms \(SoakRecord.latencyLimit)

      """
  }

  var isGood: Bool { figures.allSatisfy(\.isGood) }

  /// For people: a line for each fault, then the figures.
  var table: String {
    var lines = outcomes.sorted { $0.key < $1.key }.map { fault, results in
      pad(fault, 24) + results.sorted { $0.value > $1.value }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
    lines += surprises.prefix(20).map { "UNEXPECTED " + $0 }
    lines.append("")
    lines += figures.map { figure in
      let verdict = figure.target == "-" ? "" : figure.isGood ? "reached" : "MISSED"
      return pad(figure.name, 50) + pad(figure.value, 20) + pad(figure.target, 8) + verdict
    }
    return lines.joined(separator: "\n")
  }

  private func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }
}
