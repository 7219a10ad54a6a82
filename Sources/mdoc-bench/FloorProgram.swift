import Glibc

/// The floor program, kept running so that rounds can alternate: a line with a command goes in, a line with the median
/// in nanoseconds comes out.
final class FloorProgram {
  private let output: UnsafeMutablePointer<FILE>
  private let input: UnsafeMutablePointer<FILE>
  private let process: pid_t

  init(_ program: String, _ file: String) throws {
    var toChild: [Int32] = [0, 0]
    var fromChild: [Int32] = [0, 0]
    guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else { throw BenchError("pipe: errno \(errno)") }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
    posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
    for end in toChild + fromChild { posix_spawn_file_actions_addclose(&actions, end) }
    let arguments = [strdup(program), strdup(file), nil]
    defer { arguments.forEach { free($0) } }
    var process: pid_t = 0
    guard posix_spawn(&process, program, &actions, nil, arguments, environ) == 0,
      let input = fdopen(toChild[1], "w"), let output = fdopen(fromChild[0], "r")
    else { throw BenchError("cannot start \(program)") }
    close(toChild[0])
    close(fromChild[1])
    self.process = process
    self.input = input
    self.output = output
  }

  /// Ends the program: it stops at the end of its input.
  func end() {
    fclose(input)
    fclose(output)
    var status: Int32 = 0
    waitpid(process, &status, 0)
  }

  func round(passes: Int, areSignersNew: Bool) throws -> Int64 {
    fputs("\(areSignersNew ? "new" : "seen") \(passes)\n", input)
    fflush(input)
    var line = [CChar](repeating: 0, count: 64)
    guard fgets(&line, Int32(line.count), output) != nil else { throw BenchError("the floor program failed") }
    return atoll(line)
  }
}
