internal import CLinux
import Glibc

/// A call to the operating system that failed: which call, why, and on what.
package struct SystemError: Error, Equatable, Sendable {
  /// The call's name: `open`.
  package let call: String
  /// The number that the system gave (`errno`).
  package let code: CInt
  /// What the call was about: a path, a device's name. Empty when the call says it all.
  package let subject: String

  package init(_ call: String, code: CInt, subject: String = "") {
    self.call = call
    self.code = code
    self.subject = subject
  }

  /// The error of the call that has just failed in this thread.
  package static func last(_ call: String, _ subject: String = "") -> SystemError {
    SystemError(call, code: errno, subject: subject)
  }

  /// The system's reason in English: `No such file or directory`.
  package var reason: String { linux_error_text(code).map { String(cString: $0) } ?? "error \(code)" }

  /// The code's name in the C headers: `ENOENT`.
  package var name: String { linux_error_name(code).map { String(cString: $0) } ?? String(code) }
}

extension SystemError: CustomStringConvertible {
  /// `open /x: No such file or directory`.
  package var description: String { "\(call)\(subject.isEmpty ? "" : " ")\(subject): \(reason)" }
}

/// Makes a call again while a signal interrupts it; -1 becomes the error, with `call` and `subject`.
package func check<Value: SignedInteger>(
  _ call: String, _ subject: @autoclosure () -> String = "", _ body: () -> Value
) throws(SystemError) -> Value {
  while true {
    let result = body()
    if result != -1 { return result }
    if errno != EINTR { throw .last(call, subject()) }
  }
}

/// Like `check`, for calls on non-blocking descriptors: nil when the call would have to wait.
package func checkNonBlocking<Value: SignedInteger>(
  _ call: String, _ subject: @autoclosure () -> String = "", _ body: () -> Value
) throws(SystemError) -> Value? {
  while true {
    let result = body()
    if result != -1 { return result }
    switch errno {
    case EINTR: continue
    case EAGAIN: return nil
    default: throw .last(call, subject())
    }
  }
}
