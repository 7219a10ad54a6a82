import Glibc
import Kernel

/// A program started from here: its output goes to a file, and it does not outlive its owner.
final class ChildProcess {
  let pid: pid_t
  private var status: Int32?

  /// Starts a program with arguments; both outputs go to `log`.
  init(_ program: String, _ arguments: [String], log: String) throws(SystemError) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
    // The child starts with no signal blocked, whatever this process waits for.
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
    pid = child
  }

  deinit { end() }

  /// Waits for its end; the exit status, or 128 and the number of the signal.
  func wait() -> Int32 {
    if let status { return status }
    var raw: Int32 = 0
    while waitpid(pid, &raw, 0) < 0 && errno == EINTR {}
    let result = raw & 0x7f == 0 ? raw >> 8 & 0xff : 128 + (raw & 0x7f)
    status = result
    return result
  }

  /// Ends it when it still runs.
  func end() {
    guard status == nil else { return }
    _ = kill(pid, SIGTERM)
    _ = wait()
  }
}
