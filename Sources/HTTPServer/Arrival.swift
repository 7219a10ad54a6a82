import Web

/// A request while it comes in: head first, then its body in pieces. It becomes a call, or a refusal.
final class Arrival {
  private let target: RequestTarget?
  private let limit: Int
  private var method: WebRequest.Method?
  private var headers: [WebHeader] = []
  private var body: [UInt8] = []
  private var received = 0
  /// Whether the head is complete.
  private(set) var isBegun = false
  /// The answer to what is no call for the server's rules.
  private(set) var refusal: WebAnswer?

  /// - Parameters:
  ///   - target: as it was sent; nil where it is no text.
  ///   - limit: most bytes of the body.
  init(target: String?, limit: Int) {
    self.target = target.flatMap { RequestTarget($0) }
    self.limit = limit
  }

  /// The head is complete.
  ///
  /// - Parameter headers: nil where one is no text.
  func begin(method: String, headers: [WebHeader]?) {
    isBegun = true
    self.headers = headers ?? []
    switch method {
    case "GET", "HEAD": self.method = .get
    case "POST": self.method = .post
    default:
      refusal = .refusal(405, "this method is not served", headers: [WebHeader("Allow", "GET, HEAD, POST")])
      return
    }
    if headers == nil || target == nil {
      refusal = .refusal(400, "the request cannot be read")
    } else if length > limit {
      refusal = .tooLarge
    } else {
      body.reserveCapacity(length)
    }
  }

  /// Whether to answer before the body has come, which costs the connection: the client waits with the body until it is
  /// asked for it, or the body is long. A short one is read and thrown away: a client that still sends when the connection
  /// ends may lose the answer.
  var isRefusedAtOnce: Bool {
    refusal != nil && (length > 2 * limit || self["Expect"]?.lowercased() == "100-continue")
  }

  /// A piece of the body. False when so much has come over the limit that it is no use to listen any longer.
  func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
    received += bytes.count
    if received > limit, refusal == nil {
      refusal = .tooLarge
      body = []
    }
    if refusal == nil { body.append(contentsOf: bytes) }
    return received <= 2 * limit
  }

  /// What was asked, once all of it is there; nil where it is refused.
  var call: WebCall? {
    guard refusal == nil, let method, let target else { return nil }
    return WebCall(method, path: target.path, query: target.query, headers: headers, body: body)
  }

  /// What Content-Length says; libmicrohttpd has seen that it is a number.
  private var length: Int { self["Content-Length"].flatMap { Int($0) } ?? 0 }

  private subscript(header: String) -> String? {
    headers.first { $0.name.lowercased() == header.lowercased() }?.value
  }
}

extension WebAnswer {
  static var tooLarge: WebAnswer { refusal(413, "the body is too large") }

  /// An answer that says in plain text why there is no better one.
  static func refusal(_ status: Int, _ text: String, headers: [WebHeader] = []) -> WebAnswer {
    WebAnswer(
      status: status, headers: headers + [WebHeader("Content-Type", "text/plain")], body: Array((text + "\n").utf8))
  }
}
