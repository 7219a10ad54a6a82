import Glibc
import Kernel

extension Descriptor {
  /// The next bytes of standard input; empty at its end. It may block: only short-lived verbs read it.
  static func readStandardInput(upTo limit: Int) throws(SystemError) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: limit)
    while true {
      let count = Glibc.read(STDIN_FILENO, &buffer, limit)
      if count >= 0 { return Array(buffer[..<count]) }
      guard errno == EINTR else { throw SystemError.last("read", "standard input") }
    }
  }
}

extension SystemError {
  static var tooLarge: CInt { EFBIG }
}
