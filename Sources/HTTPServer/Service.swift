internal import CMicroHTTPD
import Glibc
import Web

/// What libmicrohttpd calls: the server's rules, and which connections are open since when. Used by one `Daemon`, on its thread.
final class Service {
  private let answer: (WebCall) -> WebAnswer
  private let limits: HTTPServer.Limits
  /// When each connection will have waited too long for the end of an exchange, by socket; none for one that was told to end.
  private(set) var deadlines: [CInt: ContinuousClock.Instant] = [:]
  /// How many connections are open.
  private(set) var connectionCount = 0
  /// Whether nobody is to be answered any more, and the rules not asked.
  var isClosed = false

  init(limits: HTTPServer.Limits, answer: @escaping (WebCall) -> WebAnswer) {
    self.limits = limits
    self.answer = answer
  }

  // MARK: Connections

  func opened(_ socket: CInt) {
    connectionCount += 1
    deadlines[socket] = .now + limits.time
  }

  func closed(_ socket: CInt) {
    connectionCount -= 1
    deadlines[socket] = nil
  }

  /// An exchange has ended; the connection may bring another one.
  func exchanged(_ socket: CInt) {
    if deadlines[socket] != nil { deadlines[socket] = .now + limits.time }
  }

  /// Ends connections on which no exchange has ended for too long: idle ones, and those whose client sends or takes its bytes
  /// so slowly that it is no use. libmicrohttpd then finds them closed by the other side.
  func endOverdue() {
    let now = ContinuousClock.now
    for (socket, deadline) in deadlines where deadline <= now {
      // The socket is open: libmicrohttpd says `closed` before it closes one.
      shutdown(socket, CInt(SHUT_RDWR))
      deadlines[socket] = nil
    }
  }

  // MARK: Requests

  func begin(_ target: UnsafePointer<CChar>?) -> Arrival {
    // The text is libmicrohttpd's for the time of the call, and ends with a zero.
    Arrival(target: target.flatMap { String(validatingCString: $0) }, limit: limits.body)
  }

  /// The next piece of a request: first its head, then pieces of its body, then none.
  func take(
    _ arrival: Arrival, method: UnsafePointer<CChar>?, bytes: UnsafeRawBufferPointer, of connection: OpaquePointer
  ) -> MHD_Result {
    if isClosed { return cmhd_no }
    guard arrival.isBegun else {
      arrival.begin(
        method: method.flatMap { String(validatingCString: $0) } ?? "", headers: Service.headers(of: connection))
      guard arrival.isRefusedAtOnce, let refusal = arrival.refusal else { return cmhd_yes }
      return send(refusal, on: connection)
    }
    guard bytes.isEmpty else { return arrival.take(bytes) ? cmhd_yes : cmhd_no }
    // What was refused has no call, and what is no call was refused.
    let answer = arrival.call.map(answer) ?? arrival.refusal ?? .failure
    return isClosed ? cmhd_no : send(answer, on: connection)
  }

  /// Nil where a name or value is no text.
  private static func headers(of connection: OpaquePointer) -> [WebHeader]? {
    var headers: [WebHeader]? = []
    withUnsafeMutablePointer(to: &headers) { pointer in
      _ = MHD_get_connection_values_n(
        connection, cmhd_headers,
        { context, _, name, nameSize, value, valueSize in
          // The context is the array outside, which outlives the walk; name and value are the connection's meanwhile.
          guard let context, let name else { return cmhd_no }
          let headers = context.assumingMemoryBound(to: [WebHeader]?.self)
          let nameBytes = UnsafeRawBufferPointer(start: name, count: nameSize)
          let valueBytes = UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueSize)
          guard let name = String(validating: nameBytes, as: UTF8.self),
            let value = String(validating: valueBytes, as: UTF8.self)
          else {
            headers.pointee = nil
            return cmhd_no
          }
          headers.pointee?.append(WebHeader(name, value))
          return cmhd_yes
        }, pointer)
    }
    return headers
  }

  /// Queues an answer; one that cannot be sent as it is becomes a plain failure.
  private func send(_ answer: WebAnswer, on connection: OpaquePointer) -> MHD_Result {
    guard let response = Service.response(answer) ?? Service.response(.failure) else { return cmhd_no }
    // The connection keeps the response until it has been sent.
    defer { MHD_destroy_response(response) }
    let status = Service.isSendable(answer) ? answer.status : WebAnswer.failure.status
    return MHD_queue_response(connection, UInt32(status), response)
  }

  private static func isSendable(_ answer: WebAnswer) -> Bool {
    (200...599).contains(answer.status) && answer.headers.allSatisfy(\.isWellFormed)
  }

  private static func response(_ answer: WebAnswer) -> OpaquePointer? {
    guard isSendable(answer) else { return nil }
    var body = answer.body
    // Copied by libmicrohttpd during the call.
    let made = body.withUnsafeMutableBytes { bytes in
      MHD_create_response_from_buffer(bytes.count, bytes.baseAddress, cmhd_copied)
    }
    guard let made else { return nil }
    let own: Set = ["content-length", "transfer-encoding", "connection"]
    var headers = answer.headers.filter { !own.contains($0.name.lowercased()) }
    if answer[header: "Cache-Control"] == nil { headers.append(WebHeader("Cache-Control", "no-store")) }
    for header in headers where MHD_add_response_header(made, header.name, header.value) != cmhd_yes {
      MHD_destroy_response(made)
      return nil
    }
    return made
  }
}

extension WebAnswer {
  /// To what the server's own rules got wrong.
  static var failure: WebAnswer { refusal(500, "the server has failed") }
}
