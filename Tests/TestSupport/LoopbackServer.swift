import Foundation
import Synchronization

/// A small HTTP server on the loopback interface, for what no real server does on request: being slow, too long, or wrong.
public final class LoopbackServer: Sendable {
  /// What it is asked.
  public struct Request: Sendable {
    /// Such as `GET`.
    public let method: String
    /// With what follows a question mark.
    public let path: String
    /// By name in lower case.
    public let headers: [String: String]
    /// As long as Content-Length says.
    public let body: [UInt8]
  }

  /// What it answers.
  public struct Answer: Sendable {
    /// Of HTTP.
    public var status = 200
    /// Lines without their end.
    public var headers: [String] = []
    /// What follows the head.
    public var body: [UInt8] = []
    /// Whether Content-Length is said.
    public var saysLength = true
    /// Before the body.
    public var delay: TimeInterval = 0

    /// An answer with its length.
    public init(status: Int = 200, headers: [String] = [], body: [UInt8] = []) {
      self.status = status
      self.headers = headers
      self.body = body
    }
  }

  /// Where it listens, on 127.0.0.1.
  public let port: UInt16
  private let socket: CInt
  private let seen = Mutex<[Request]>([])
  private let handler: Mutex<@Sendable (Request) -> Answer>

  /// Without a path.
  public var address: String { "http://127.0.0.1:\(port)" }
  /// Everything it was asked, in order.
  public var requests: [Request] { seen.withLock { $0 } }

  /// Starts it in a thread of its own.
  public init(_ handler: @escaping @Sendable (Request) -> Answer) throws {
    // What has gone away is no reason to end the tests.
    signal(SIGPIPE, SIG_IGN)
    let socket = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    self.socket = socket
    self.handler = Mutex(handler)
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    var bound = sockaddr_in()
    let isBound = withUnsafePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, length) }
    }
    let isNamed = withUnsafeMutablePointer(to: &bound) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
    }
    port = UInt16(bigEndian: bound.sin_port)
    guard socket >= 0, isBound == 0, isNamed == 0, listen(socket, 8) == 0 else { throw CancellationError() }
    Thread.detachNewThread { [weak self] in
      while true {
        let connection = accept(socket, nil, nil)
        guard connection >= 0 else {
          close(socket)
          return
        }
        self?.serve(connection)
        close(connection)
      }
    }
  }

  // Its thread closes it: a number that is free might be another server's when the thread accepts next.
  deinit { shutdown(socket, CInt(SHUT_RDWR)) }

  /// Answers differently from now on.
  public func answer(_ handler: @escaping @Sendable (Request) -> Answer) { self.handler.withLock { $0 = handler } }

  private func serve(_ connection: CInt) {
    var received = Data()
    var buffer = [UInt8](repeating: 0, count: 8192)
    func receive() -> Bool {
      let count = read(connection, &buffer, buffer.count)
      if count > 0 { received += buffer[..<count] }
      return count > 0
    }
    while received.range(of: Data("\r\n\r\n".utf8)) == nil { guard receive() else { return } }
    guard let end = received.range(of: Data("\r\n\r\n".utf8)) else { return }
    let lines = String(decoding: received[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    let words = lines[0].split(separator: " ")
    guard words.count == 3 else { return }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    let length = headers["content-length"].flatMap { Int($0) } ?? 0
    while received.count < end.upperBound + length { guard receive() else { return } }
    let request = Request(
      method: String(words[0]), path: String(words[1]), headers: headers, body: [UInt8](received[end.upperBound...]))
    seen.withLock { $0.append(request) }
    let answer = handler.withLock { $0 }(request)
    var head = "HTTP/1.1 \(answer.status) Status\r\nConnection: close\r\n"
    if answer.saysLength { head += "Content-Length: \(answer.body.count)\r\n" }
    head += answer.headers.map { $0 + "\r\n" }.joined() + "\r\n"
    send(connection, Array(head.utf8))
    if answer.delay > 0 { usleep(UInt32(answer.delay * 1_000_000)) }
    send(connection, answer.body)
  }

  private func send(_ connection: CInt, _ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
