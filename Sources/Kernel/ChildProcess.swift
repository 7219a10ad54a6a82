import Glibc

/// A program started from here. It does not outlive its owner.
///
/// It starts with no signal blocked, whatever this process waits for, and of the open descriptors it gets those three alone that do
/// not close on exec: all that this project opens do.
package final class ChildProcess {
  /// Where its input comes from, or an output goes.
  package enum Stream {
    /// Where this process's goes.
    case inherited
    case nothing
    /// Behind what a file holds; it is made, for its owner alone.
    case appended(to: String)
    /// Here; the number has to be open until the program is started.
    case open(CInt)
  }

  package let id: pid_t
  private var status: Int32?

  /// Starts a program with arguments. Throws the error of `posix_spawn`, with the program's name.
  package init(
    _ program: String, _ arguments: [String], input: Stream = .nothing, output: Stream = .inherited,
    error: Stream = .inherited
  ) throws(SystemError) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (stream, number) in [(input, STDIN_FILENO), (output, STDOUT_FILENO), (error, STDERR_FILENO)] {
      switch stream {
      case .inherited: break
      case .nothing: posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
      case .appended(let path):
        posix_spawn_file_actions_addopen(&actions, number, path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
      case .open(let raw): posix_spawn_file_actions_adddup2(&actions, raw, number)
      }
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var child: pid_t = 0
    let code = posix_spawn(&child, program, &actions, &attributes, &words, environ)
    guard code == 0 else { throw SystemError("spawn", code: code, subject: program) }
    id = child
  }

  deinit { end() }

  /// Waits for its end; the exit status, or 128 and the number of the signal.
  @discardableResult
  package func wait() -> Int32 {
    if let status { return status }
    var raw: Int32 = 0
    while waitpid(id, &raw, 0) < 0 && errno == EINTR {}
    let result = raw & 0x7f == 0 ? raw >> 8 & 0xff : 128 + (raw & 0x7f)
    status = result
    return result
  }

  /// Ends it by a signal when it still runs, and waits for that; its status, as `wait` has it.
  @discardableResult
  package func end(by signal: CInt = SIGTERM) -> Int32 {
    if status == nil { _ = kill(id, signal) }
    return wait()
  }
}
