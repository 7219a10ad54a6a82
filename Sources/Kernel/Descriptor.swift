import Glibc

/// An open file, owned: it is closed when this value ends.
package struct Descriptor: ~Copyable {
  /// The number, for calls. It is valid as long as this value.
  package let raw: CInt

  /// Takes over an open descriptor; nobody else may close it.
  package init(owning raw: CInt) { self.raw = raw }

  /// Opens a file, close-on-exec and non-blocking.
  package init(opening path: String, flags: CInt, mode: mode_t = 0) throws(SystemError) {
    raw = try check("open", path) { openFile(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode) }
  }

  // EINTR from close still closes on Linux; there is nothing else to do about a failure here.
  deinit { _ = close(raw) }

  /// Hands the descriptor over: the caller closes it.
  package consuming func release() -> CInt {
    let raw = self.raw
    discard self
    return raw
  }

  /// What can be read now, at most `limit` bytes: nil when nothing is there yet, empty at the end.
  package func read(upTo limit: Int, subject: String = "") throws(SystemError) -> [UInt8]? {
    var failure: SystemError?
    var isWaiting = false
    let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      do throws(SystemError) {
        // The buffer is the array's own storage, valid for `limit` bytes during this closure.
        let got = try checkNonBlocking("read", subject) { Glibc.read(raw, buffer.baseAddress, limit) }
        isWaiting = got == nil
        count = got ?? 0
      } catch {
        failure = error
        count = 0
      }
    }
    if let failure { throw failure }
    return isWaiting ? nil : bytes
  }

  /// Writes what can be written now and says how many bytes that was; nil when none could.
  package func write(_ bytes: ArraySlice<UInt8>, subject: String = "") throws(SystemError) -> Int? {
    try bytes.withContiguous { (buffer) throws(SystemError) in
      try checkNonBlocking("write", subject) { Glibc.write(raw, buffer.baseAddress, buffer.count) }
    }
  }
}

/// `open` by a name that `Descriptor`'s own members do not hide.
private func openFile(_ path: String, _ flags: CInt, _ mode: mode_t) -> CInt { open(path, flags, mode) }

extension ArraySlice<UInt8> {
  /// Like `withUnsafeBytes`, with a typed error. The pointer is valid during the closure only.
  package func withContiguous<Result>(
    _ body: (UnsafeRawBufferPointer) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    let result = withUnsafeBytes { buffer -> Swift.Result<Result, SystemError> in
      do throws(SystemError) { return .success(try body(buffer)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
