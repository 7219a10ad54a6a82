import Kernel
import Web

/// A small HTTP server of this machine: one address, whole requests and whole answers, bounded in everything.
///
/// It lives on its loop's thread and calls its rules there, one request at a time; while they think, the loop waits.
package final class HTTPServer {
  /// What clients may cost.
  package struct Limits: Sendable {
    /// Most bytes of a request's body; what is longer is answered with 413.
    package var body = 4 << 20
    /// Bytes that a connection has for the head of a request and for that of the answer; a longer one is answered with 431,
    /// or with 414 where it is the address that is too long.
    package var memory = 32 << 10
    /// Most connections at a time. What comes then waits, unanswered, until one of them has ended.
    package var connections = 64
    /// How long a connection may be without the end of an exchange, from its beginning or from the last one; then it is closed.
    package var time: Duration = .seconds(30)

    package init() {}
  }

  /// What TLS is served with.
  package struct Identity: Sendable {
    /// PEM text: the server's certificate, then those above it but the root.
    package var certificate: String
    /// PEM text, not encrypted.
    package var key: String

    package init(certificate: String, key: String) {
      self.certificate = certificate
      self.key = key
    }
  }

  /// The one it listens at, also when any was asked for.
  package let port: UInt16
  private let isSecure: Bool
  private let loop: EventLoop
  private let limits: Limits
  private let service: Service
  private var daemon: Daemon?
  private var listener: Listener?
  private var watches: [EventLoop.Watch] = []
  private var listening: EventLoop.Watch?
  private var again: EventLoop.Timer?
  private var overdue: EventLoop.Timer?
  private var isTurning = false
  private var pausedUntil: ContinuousClock.Instant?

  /// Listens from now on; the loop answers when it turns.
  ///
  /// - Parameters:
  ///   - port: 0 for any that is free.
  ///   - isLoopback: whether it listens on 127.0.0.1 alone; else on every IPv4 address of the machine.
  ///   - identity: for TLS; nil for plain HTTP.
  ///   - answer: the server's rules. HEAD comes as a GET; other methods than these and POST, a query that cannot be read, and a
  ///     body over the limit never come. An answer gets its length and, where it says nothing of it, `Cache-Control: no-store`; one
  ///     whose status or headers cannot be sent becomes a 500.
  package init(
    loop: EventLoop, port: UInt16, isLoopback: Bool = true, limits: Limits = Limits(), identity: Identity? = nil,
    answer: @escaping (WebCall) -> WebAnswer
  ) throws(HTTPServerFailure) {
    let listener = try Listener.open(port: port, isLoopback: isLoopback)
    self.port = listener.port
    self.loop = loop
    self.limits = limits
    isSecure = identity != nil
    service = Service(limits: limits, answer: answer)
    let daemon = try Daemon(service, limits: limits, identity: identity)
    let socket = listener.descriptor.raw
    self.daemon = daemon
    self.listener = listener
    again = loop.timer("http") { [weak self] in self?.turn() }
    overdue = loop.timer("http connections") { [weak self] in self?.turn() }
    do throws(SystemError) {
      watches.append(try loop.watch(raw: daemon.epoll, for: .read) { [weak self] _ in self?.turn() })
      let listening = try loop.watch(raw: socket, for: .read) { [weak self] _ in self?.accept() }
      watches.append(listening)
      self.listening = listening
    } catch {
      close()
      throw .system(error)
    }
  }

  deinit { close() }

  /// What clients call it by: `http://127.0.0.1:8080`, and `localhost` where it has a certificate, which is for a name.
  package var origin: String { isSecure ? "https://localhost:\(port)" : "http://127.0.0.1:\(port)" }

  /// Ends it and every connection; the port is free again. Doing it twice is harmless. Called by the server's own rules, their
  /// answer is lost with the rest.
  package func close() {
    for watch in watches { loop.remove(watch) }
    watches = []
    listening = nil
    listener = nil
    again?.cancel()
    overdue?.cancel()
    service.isClosed = true
    // libmicrohttpd cannot be stopped from within one of its calls.
    if !isTurning { daemon = nil }
  }

  /// How many connections there are.
  package var connectionCount: Int { service.connectionCount }

  private func accept() {
    var failed = false
    do throws(SystemError) {
      while connectionCount < limits.connections, let socket = try listener?.accept() { daemon?.add(socket) }
    } catch {
      // A connection that went before it was taken, or no descriptor left: it is tried again a little later.
      failed = true
    }
    if failed { pausedUntil = .now + .milliseconds(100) }
    turn()
  }

  /// Lets libmicrohttpd do what there is to do, and sees when it has to be next.
  private func turn() {
    guard !isTurning, let daemon else { return }
    isTurning = true
    service.endOverdue()
    let hasMore = daemon.run()
    isTurning = false
    guard let listening else {
      // Closed meanwhile.
      self.daemon = nil
      return
    }
    if hasMore { again?.set(after: .zero) }
    if let instant = pausedUntil, instant <= .now { pausedUntil = nil }
    let mayListen = connectionCount < limits.connections && pausedUntil == nil
    // Should the system refuse, then this is tried again at the next turn.
    try? loop.change(listening, to: mayListen ? .read : [])
    let next = [service.deadlines.values.min(), pausedUntil].compactMap { $0 }.min()
    if let next { overdue?.set(at: next) } else { overdue?.cancel() }
  }
}
