import Bytes
internal import CCurl

/// Fetches one file after another over HTTP, through libcurl: bounded in size and time, no proxy, no cookie, no password, only
/// http and https, each redirect looked at before it is followed.
package final class HTTPClient {
  private let handle: UnsafeMutableRawPointer
  private let agent: String

  /// - Parameter agent: how the program calls itself to servers.
  /// - Throws: `library` when libcurl is not there.
  package init(agent: String) throws(FetchFailure) {
    if let problem = ccurl_load() { throw .library(String(cString: problem)) }
    guard let handle = ccurl_new() else { throw .library("no handle") }
    self.handle = handle
    self.agent = agent
  }

  deinit { ccurl_free(handle) }

  /// The file at an address, or that it is the one known already.
  ///
  /// - Parameters:
  ///   - validators: of the copy that is here; empty when there is none.
  ///   - mayFollow: whether a redirect may lead to this host; the address's own host is always allowed.
  package func fetch(
    _ address: WebAddress, accept: String, validators: Validators = Validators(), limits: FetchLimits,
    mayFollow: (String) -> Bool = { _ in false }
  ) throws(FetchFailure) -> FetchAnswer {
    let deadline = ContinuousClock.now + limits.time
    var current = address
    for _ in 0...limits.redirects {
      let exchange = try request(current, accept, validators, limits, until: deadline)
      switch exchange.status {
      case 200: return .content(exchange.body, exchange.validators)
      case 304: return .unchanged(exchange.validators)
      case 301, 302, 303, 307, 308:
        guard let text = exchange.redirect, let next = WebAddress(text) else { throw .redirectScheme }
        guard next.isSecure || !current.isSecure else { throw .redirectScheme }
        guard next.host == address.host || mayFollow(next.host) else { throw .redirectHost(next.host) }
        current = next
      default: throw .status(exchange.status)
      }
    }
    throw .redirectLimit
  }

  /// What one request brings together; libcurl's callbacks write into it.
  private final class Exchange {
    let limit: Int
    var body: [UInt8] = []
    var isTooLarge = false
    var validators = Validators()
    var status = 0
    var redirect: String?

    init(limit: Int) { self.limit = limit }

    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
      guard body.count + bytes.count <= limit else {
        isTooLarge = true
        return false
      }
      body.append(contentsOf: bytes)
      return true
    }

    func takeHeader(_ bytes: UnsafeRawBufferPointer) {
      let line = String(decoding: bytes, as: UTF8.self)
      // A new answer begins, such as after `100 Continue`.
      if line.hasPrefix("HTTP/") { validators = Validators() }
      guard bytes.count <= 512, let colon = line.firstIndex(of: ":") else { return }
      let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        .prefix { $0 != "\r" && $0 != "\n" && $0 != "\r\n" }
      guard !value.isEmpty, value.unicodeScalars.allSatisfy({ (0x20...0x7E).contains($0.value) }) else { return }
      switch line[..<colon].lowercased() {
      case "etag": validators.entityTag = String(value)
      case "last-modified": validators.lastModified = String(value)
      default: break
      }
    }
  }

  private func request(
    _ address: WebAddress, _ accept: String, _ validators: Validators, _ limits: FetchLimits,
    until deadline: ContinuousClock.Instant
  ) throws(FetchFailure) -> Exchange {
    let left = (deadline - .now) / .milliseconds(1)
    guard left >= 1 else { throw .timeout }
    let exchange = Exchange(limit: limits.size)
    var lines: UnsafeMutableRawPointer?
    defer { ccurl_free_list(lines) }
    func add(_ line: String) { if let longer = ccurl_append(lines, line) { lines = longer } }
    add("Accept: \(accept)")
    if let tag = validators.entityTag { add("If-None-Match: \(tag)") }
    if let date = validators.lastModified { add("If-Modified-Since: \(date)") }
    // Retained until the request has ended, which is before this function does.
    let context = Unmanaged.passUnretained(exchange).toOpaque()
    let isSet = [
      ccurl_set_text(handle, CURLOPT_URL, address.text),
      ccurl_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https"),
      ccurl_set_text(handle, CURLOPT_PROXY, ""),
      ccurl_set_text(handle, CURLOPT_USERAGENT, agent),
      ccurl_set_number(handle, CURLOPT_FOLLOWLOCATION, 0),
      ccurl_set_number(handle, CURLOPT_DISALLOW_USERNAME_IN_URL, 1),
      ccurl_set_number(handle, CURLOPT_SSL_VERIFYPEER, 1),
      ccurl_set_number(handle, CURLOPT_SSL_VERIFYHOST, 2),
      ccurl_set_number(handle, CURLOPT_SSLVERSION, ccurl_tls12()),
      ccurl_set_number(handle, CURLOPT_NOSIGNAL, 1),
      ccurl_set_number(handle, CURLOPT_CONNECTTIMEOUT_MS, min(15_000, Int(left))),
      ccurl_set_number(handle, CURLOPT_TIMEOUT_MS, Int(left)),
      ccurl_set_size(handle, CURLOPT_MAXFILESIZE_LARGE, Int64(limits.size)),
      ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, lines),
      ccurl_set_pointer(handle, CURLOPT_WRITEDATA, context),
      ccurl_set_pointer(handle, CURLOPT_HEADERDATA, context),
      ccurl_set_receiver(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
        // The context is the exchange of this request.
        guard let bytes, let context else { return 0 }
        let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
        return exchange.take(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
      },
      ccurl_set_receiver(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
        exchange.takeHeader(UnsafeRawBufferPointer(start: bytes, count: size * count))
        return size * count
      },
    ]
    // What is not set would be a limit less.
    guard isSet.allSatisfy({ $0 == 0 }) else { throw .library("an option is not known to it") }
    let code = withExtendedLifetime(exchange) { CURLcode(UInt32(bitPattern: ccurl_perform(handle))) }
    exchange.status = ccurl_number(handle, CURLINFO_RESPONSE_CODE)
    exchange.redirect = ccurl_text(handle, CURLINFO_REDIRECT_URL).map { String(cString: $0) }
    _ = ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, nil)
    switch code {
    case CURLE_OK: return exchange
    case CURLE_OPERATION_TIMEDOUT: throw .timeout
    case CURLE_FILESIZE_EXCEEDED: throw .tooLarge
    case CURLE_WRITE_ERROR where exchange.isTooLarge: throw .tooLarge
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE,
      CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CIPHER:
      throw .tls("curl code \(code.rawValue)")
    case CURLE_COULDNT_RESOLVE_HOST: throw .unreachable("the name \(address.host) is not found")
    case CURLE_COULDNT_CONNECT: throw .unreachable("\(address.host) does not answer")
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT: throw .redirectScheme
    default: throw .unreachable("curl code \(code.rawValue)")
    }
  }
}
