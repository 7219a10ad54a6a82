import Foundation
import Kernel
import Synchronization
import Web

@testable import HTTPServer

/// A server whose loop turns in a thread of its own until it is ended, so that a test can be its client.
final class RunningServer {
  /// What is known once the thread has ended.
  struct Account {
    /// What the processor spent on the thread.
    var time: Duration
    /// Whether SIGPIPE was raised in it; all signals are blocked there, so that one would still be waiting.
    var hasBrokenPipe: Bool
    var watches: Int
    var timers: [String]
  }

  private final class Shared: Sendable {
    let started = DispatchSemaphore(value: 0)
    let server = Mutex<Result<(port: UInt16, origin: String), HTTPServerFailure>?>(nil)
    let account = Mutex<Account?>(nil)
  }

  let port: UInt16
  let origin: String
  private let bell: Wakeup
  private let thread: JoinedThread
  private let shared = Shared()

  init(
    port: UInt16 = 0, limits: HTTPServer.Limits = HTTPServer.Limits(), identity: HTTPServer.Identity? = nil,
    answer: @escaping @Sendable (WebCall) -> WebAnswer
  ) throws {
    let bell = try Wakeup()
    let shared = self.shared
    self.bell = bell
    thread = try JoinedThread("http test") {
      do {
        let loop = try EventLoop()
        let server = try HTTPServer(loop: loop, port: port, limits: limits, identity: identity, answer: answer)
        let watch = try loop.watch(bell) { loop.stop() }
        shared.server.withLock { $0 = .success((server.port, server.origin)) }
        shared.started.signal()
        try loop.run()
        loop.remove(watch)
        server.close()
        var spent = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent)
        var waiting = sigset_t()
        sigpending(&waiting)
        let account = Account(
          time: .seconds(spent.tv_sec) + .nanoseconds(spent.tv_nsec),
          hasBrokenPipe: sigismember(&waiting, SIGPIPE) == 1,
          watches: loop.watchCount, timers: loop.pendingTimers)
        shared.account.withLock { $0 = account }
      } catch {
        shared.server.withLock { $0 = .failure(error as? HTTPServerFailure ?? .library) }
        shared.started.signal()
      }
    }
    shared.started.wait()
    guard let server = shared.server.withLock({ $0 }) else { throw CancellationError() }
    (self.port, origin) = try server.get()
  }

  deinit { bell.signal() }

  /// Closes it, and waits for that.
  @discardableResult
  func end() -> Account? {
    bell.signal()
    thread.join()
    return shared.account.withLock { $0 }
  }
}

/// A client that speaks in bytes, also wrong ones.
final class RawClient {
  private let socket: CInt
  private(set) var received: [UInt8] = []

  init(port: UInt16) throws {
    signal(SIGPIPE, SIG_IGN)
    socket = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = port.bigEndian
    name.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    let isConnected = withUnsafePointer(to: &name) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard isConnected == 0 else { throw CancellationError() }
  }

  deinit { close(socket) }

  /// False when the other side is gone.
  @discardableResult
  func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(socket, $0.baseAddress, $0.count) }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// Ends the connection with a reset, whatever is on its way.
  func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    shutdownNow()
  }

  private func shutdownNow() {
    // The number stays this object's: what takes its place is a socket of its own, connected to nobody.
    let other = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    dup2(other, socket)
    close(other)
  }

  /// What has come when `isEnough` says so, or after this time, or when the other side has closed.
  @discardableResult
  func receive(within time: Duration = .seconds(5), until isEnough: (String) -> Bool = { _ in false }) -> String {
    let deadline = ContinuousClock.now + time
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while !isEnough(text), !isClosed, deadline > .now {
      var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, 20) == 1 else { continue }
      let count = read(socket, &buffer, buffer.count)
      if count <= 0 { isClosed = true } else { received += buffer[..<count] }
    }
    defer { received = [] }
    return text
  }

  /// Whether the other side has ended the connection, as far as `receive` has seen.
  private(set) var isClosed = false

  private var text: String { String(decoding: received, as: UTF8.self) }
}

/// `HTTP/1.1 200 OK` of an answer as it came, without what follows the number.
func status(_ answer: String) -> Int? {
  let words = answer.split(separator: " ", maxSplits: 2)
  return words.count == 3 && words[0] == "HTTP/1.1" ? Int(words[1]) : nil
}
