import Glibc

/// The memory of another process, for tests that look for what must not be in it.
public struct ProcessMemory {
  /// Why it cannot be looked at.
  public struct Unreadable: Error, CustomStringConvertible {
    /// The reason.
    public let description: String
  }

  private let process: Int32

  /// The memory of a process by its number.
  public init(of process: Int32) { self.process = process }

  /// Where it can be written: what the process has put there, and what it has not wiped. Addresses, and what the kernel calls it.
  private func regions() throws -> [(range: Range<UInt64>, name: String)] {
    guard let file = fopen("/proc/\(process)/maps", "r") else { throw Unreadable(description: "no maps of \(process)") }
    defer { fclose(file) }
    var regions: [(Range<UInt64>, String)] = []
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    while getline(&line, &capacity, file) > 0, let text = line.map({ String(cString: $0) }) {
      let fields = text.split(whereSeparator: { $0 == " " || $0 == "\n" })
      let bounds = fields[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
      guard bounds.count == 2, fields[1].hasPrefix("rw") else { continue }
      regions.append((bounds[0]..<bounds[1], fields.count > 5 ? String(fields[5]) : ""))
    }
    return regions
  }

  /// In which regions each pattern is found, and how often; those that are not found are left out.
  ///
  /// - Throws: `Unreadable` where this process may not look, for want of privileges.
  public func find(_ patterns: [String: [UInt8]]) throws -> [String: [String]] {
    let memory = open("/proc/\(process)/mem", O_RDONLY)
    guard memory >= 0 else { throw Unreadable(description: String(cString: strerror(errno))) }
    defer { close(memory) }
    var found: [String: [String]] = [:]
    var buffer: [UInt8] = []
    for (range, name) in try regions() {
      let size = Int(range.upperBound - range.lowerBound)
      if buffer.count < size { buffer = [UInt8](repeating: 0, count: size) }
      let count = pread(memory, &buffer, size, off_t(range.lowerBound))
      guard count > 0 else { continue }
      for (title, pattern) in patterns {
        let hits = ProcessMemory.positions(of: pattern, in: buffer[..<count])
        if !hits.isEmpty {
          let places = hits.prefix(3).map { "\(name.isEmpty ? "unnamed" : name)+\($0)" }.joined(separator: " ")
          found[title, default: []].append("\(hits.count) in \(places)")
        }
      }
    }
    return found
  }

  /// Where a pattern begins; at most a thousand places.
  public static func positions(of pattern: [UInt8], in bytes: ArraySlice<UInt8>) -> [Int] {
    guard !pattern.isEmpty else { return [] }
    var positions: [Int] = []
    bytes.withUnsafeBytes { all in
      guard let base = all.baseAddress else { return }
      var at = 0
      while positions.count < 1000, at + pattern.count <= all.count,
        let hit = memchr(base + at, Int32(pattern[0]), all.count - pattern.count + 1 - at)
      {
        at = UnsafeRawPointer(hit) - base
        let isWhole = memcmp(base + at, pattern, pattern.count) == 0
        if isWhole { positions.append(at) }
        at += isWhole ? pattern.count : 1
      }
    }
    return positions
  }
}
