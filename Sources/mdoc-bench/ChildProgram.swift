import Glibc
import Kernel

/// A program started from here, spoken to in lines.
final class ChildProgram {
  private let process: ChildProcess
  private let input: UnsafeMutablePointer<FILE>
  private let output: UnsafeMutablePointer<FILE>

  var id: pid_t { process.id }

  /// Starts a program; its standard error stays ours.
  init(_ program: String, _ arguments: String...) throws {
    let (toChild, fromChild) = (try makePipe(), try makePipe())
    process = try ChildProcess(
      program, arguments, input: .open(toChild.reading), output: .open(fromChild.writing))
    close(toChild.reading)
    close(fromChild.writing)
    guard let input = fdopen(toChild.writing, "w"), let output = fdopen(fromChild.reading, "r") else {
      throw BenchError("fdopen: errno \(errno)")
    }
    self.input = input
    self.output = output
  }

  func write(line: String) {
    fputs(line + "\n", input)
    fflush(input)
  }

  /// The next line of at most 4095 bytes, its end included; nil at the end of the output.
  func readLine() -> String? {
    var line = [CChar](repeating: 0, count: 4096)
    return fgets(&line, Int32(line.count), output).map { String(cString: $0) }
  }

  /// Ends its input, sends a signal where one is wanted, and waits for its end.
  func end(signal: Int32? = nil) {
    fclose(input)
    if let signal { process.end(by: signal) }
    fclose(output)
    process.wait()
  }
}
