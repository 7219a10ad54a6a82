import Glibc

/// A program started from here, spoken to in lines.
final class ChildProgram {
  let pid: pid_t
  private let input: UnsafeMutablePointer<FILE>
  private let output: UnsafeMutablePointer<FILE>

  /// Starts a program; its standard error stays ours.
  init(_ program: String, _ arguments: String...) throws {
    var toChild: [Int32] = [0, 0]
    var fromChild: [Int32] = [0, 0]
    guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else { throw BenchError("pipe: errno \(errno)") }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, toChild[0], STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, fromChild[1], STDOUT_FILENO)
    for end in toChild + fromChild { posix_spawn_file_actions_addclose(&actions, end) }
    let words = ([program] + arguments).map { strdup($0) } + [nil]
    defer { words.forEach { free($0) } }
    var pid: pid_t = 0
    guard posix_spawn(&pid, program, &actions, nil, words, environ) == 0, let input = fdopen(toChild[1], "w"),
      let output = fdopen(fromChild[0], "r")
    else { throw BenchError("cannot start \(program)") }
    close(toChild[0])
    close(fromChild[1])
    self.pid = pid
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
    if let signal { kill(pid, signal) }
    fclose(output)
    var status: Int32 = 0
    waitpid(pid, &status, 0)
  }
}
