import Glibc
import Kernel

/// Where a verb writes: data to standard output, remarks to standard error; tests collect both.
package final class Console {
  private let write: (String, Bool) -> Void
  /// The program that speaks, in front of its failures.
  private let program: String
  /// The descriptor that answers of the person in front of it come from; it stays its owner's.
  package let input: CInt

  /// - Parameters:
  ///   - input: where consent is read from; standard input unless told otherwise.
  ///   - write: takes text and whether it is data.
  package init(
    program: String, input: CInt = 0, _ write: @escaping (_ text: String, _ isData: Bool) -> Void
  ) {
    self.program = program
    self.input = input
    self.write = write
  }

  /// The process's own standard output and error, unbuffered: a reader at the other end of a pipe sees each line.
  package static func standard(program: String) -> Console {
    Console(program: program) { text, isData in
      var rest = Array(text.utf8)[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(isData ? 1 : 2, $0.baseAddress, $0.count) }
        // A closed pipe or a full disk: there is nobody to tell.
        if count < 0, errno != EINTR, errno != EAGAIN { return }
        rest = rest.dropFirst(max(count, 0))
      }
    }
  }

  /// A line of data.
  package func data(_ line: String) { write(line + "\n", true) }

  /// Text of data that ends its own lines.
  package func data(text: String) { write(text, true) }

  /// A remark of one line.
  package func remark(_ line: String) { write(line + "\n", false) }

  /// A failure as people read it: what, why, and a line that says what to do.
  package func failure(_ what: String, _ why: String, hint: String) {
    write("\(program): \(what): \(why)\n\(hint)\n", false)
  }
}
