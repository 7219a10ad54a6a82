internal import CLinux
import Glibc

/// Tells the service manager that started this program how it is doing (sd_notify(3)): that the loop turns, and that the
/// service is about to end.
///
/// `READY=1` goes out in the first turn of the loop, so after everything that comes before it; `WATCHDOG=1` twice in each
/// interval that the manager asks for (`WATCHDOG_USEC`), from the same loop, so that a loop that hangs is noticed. Started by
/// hand, there is nobody to tell, and nothing is done.
package final class ServiceManager {
  /// How often it is told that the loop turns; nil when it did not ask.
  package let interval: Duration?
  private let socket: CInt?
  private var isReady = false
  private var timer: EventLoop.Timer?

  /// Reads `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`, and takes them out of the environment: they are not meant
  /// for children. Throws when the manager named an address that cannot be had, since it would then wait in vain.
  package convenience init(on loop: EventLoop) throws(SystemError) {
    let address = ServiceManager.take("NOTIFY_SOCKET")
    let interval = ServiceManager.take("WATCHDOG_USEC")
    let process = ServiceManager.take("WATCHDOG_PID")
    try self.init(on: loop, address: address, watchdog: interval, process: process)
  }

  /// As `init(on:)`, with the values of the three variables.
  package init(
    on loop: EventLoop, address: String?, watchdog: String? = nil, process: String? = nil
  ) throws(SystemError) {
    guard let address else {
      socket = nil
      interval = nil
      return
    }
    socket = try check("connect", address) { linux_notify_socket(address) }
    let isMeant = process.map { $0 == String(getpid()) } ?? true
    interval = isMeant ? watchdog.flatMap(Int64.init).flatMap { $0 > 0 ? .microseconds($0) / 2 : nil } : nil
    let timer = loop.timer("service manager") { [weak self] in self?.beat() }
    timer.set(at: .now)
    self.timer = timer
  }

  deinit {
    if let socket { _ = close(socket) }
  }

  private func beat() {
    if !isReady {
      isReady = true
      send("READY=1")
    }
    guard let interval else { return }
    send("WATCHDOG=1")
    timer?.set(after: interval)
  }

  /// One line for people, which `systemctl status` shows. No personal data.
  package func say(_ status: String) {
    send("STATUS=" + String(status.map { $0.isNewline ? " " : $0 }))
  }

  /// The service ends now, because it was asked to.
  package func stopping() {
    timer?.cancel()
    send("STOPPING=1")
  }

  /// A manager that does not listen now loses this one; the next beat comes anyway.
  private func send(_ text: String) {
    guard let socket else { return }
    let bytes = Array(text.utf8)
    _ = linux_send(socket, bytes, bytes.count)
  }

  private static func take(_ name: String) -> String? {
    guard let value = getenv(name) else { return nil }
    // Copied before the variable goes.
    let text = String(cString: value)
    unsetenv(name)
    return text
  }
}
