import Foundation
import Kernel
import Testing

@Suite struct ChildProcessTests {
  @Test("its input and outputs go where they are sent, and its status is what it ends with")
  func streams() throws {
    let folder = try TemporaryFolder()
    let ends = try makePipe()
    let log = ChildProcess.Stream.appended(to: folder.path + "/log")
    let process = try ChildProcess(
      "/bin/sh", ["-c", "read word; echo \"out $word\"; echo error >&2; exit 7"], input: .open(ends.reading),
      output: log,
      error: log)
    close(ends.reading)
    #expect(write(ends.writing, "in\n", 3) == 3)
    close(ends.writing)
    #expect(process.wait() == 7)
    #expect(process.wait() == 7)
    let again = try ChildProcess("/bin/sh", ["-c", "cat; echo more"], output: log)
    #expect(again.wait() == 0)
    #expect(try String(contentsOfFile: folder.path + "/log", encoding: .utf8) == "out in\nerror\nmore\n")
  }

  @Test("an end by a signal is 128 and its number, and after it there is no process")
  func signals() throws {
    let process = try ChildProcess("/bin/sleep", ["600"])
    #expect(process.end() == 128 + SIGTERM)
    #expect(process.end(by: SIGKILL) == 128 + SIGTERM)
    #expect(kill(process.id, 0) == -1)
    var left: ChildProcess? = try ChildProcess("/bin/sleep", ["600"])
    let id = try #require(left?.id)
    left = nil
    #expect(kill(id, 0) == -1)
  }

  @Test("no signal is blocked in it, whatever the thread that starts it holds back")
  func unblocked() throws {
    let status: Int32 = try Signals.held { try ChildProcess("/bin/sh", ["-c", "kill -TERM $$; exit 3"]).wait() }
    #expect(status == 128 + SIGTERM)
  }

  @Test("what is no program is refused with its name")
  func missing() {
    #expect(throws: SystemError("spawn", code: ENOENT, subject: "/no/such/program")) {
      _ = try ChildProcess("/no/such/program", [])
    }
  }

  @Test("no pipe is open in it but the end it is given")
  func descriptors() throws {
    let (given, kept) = (try makePipe(), try makePipe())
    let others = [given.reading, given.writing, kept.reading, kept.writing]
    // Looked at by the shell itself, which opens nothing for that.
    let words = others.map { "[ ! -e /proc/$$/fd/\($0) ] || exit 5" } + ["echo none"]
    let process = try ChildProcess("/bin/sh", ["-c", words.joined(separator: "; ")], output: .open(given.writing))
    #expect(process.wait() == 0)
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(given.reading, &bytes, bytes.count)
    #expect(String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self) == "none\n")
    others.forEach { close($0) }
  }
}
