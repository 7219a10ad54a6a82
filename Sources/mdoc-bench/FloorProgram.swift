import Glibc

/// The floor program, kept running so that rounds can alternate: a line with a command goes in, a line with the median
/// in nanoseconds comes out.
final class FloorProgram {
  private let process: ChildProgram

  init(_ program: String, _ file: String) throws { process = try ChildProgram(program, file) }

  /// Ends the program: it stops at the end of its input.
  func end() { process.end() }

  /// The median of one round, in nanoseconds.
  func round(passes: Int, areSignersNew: Bool) throws -> Int64 {
    process.write(line: "\(areSignersNew ? "new" : "seen") \(passes)")
    guard let line = process.readLine() else { throw BenchError("the floor program failed") }
    return atoll(line)
  }
}
