import Bytes
internal import CCurl
import Web

/// Carries one request after another over HTTP, through libcurl: bounded in size and time, no proxy, no cookie, no password,
/// only http and https. `fetch` gets a file and looks at each redirect before it follows; `perform` follows none.
package final class HTTPClient {
  private let handle: UnsafeMutableRawPointer
  private let agent: String
  private let authorities: String?

  /// - Parameters:
  ///   - agent: how the program calls itself to servers.
  ///   - authorities: a file of certificates (PEM) that may vouch for servers, in the place of the system's file of them. What
  ///     the system has in its folder of certificates counts beside them.
  /// - Throws: `library` when libcurl is not there.
  package init(agent: String, authorities: String? = nil) throws(FetchFailure) {
    if let problem = ccurl_load() { throw .library(String(cString: problem)) }
    guard let handle = ccurl_new() else { throw .library("no handle") }
    self.handle = handle
    self.agent = agent
    self.authorities = authorities
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
    var headers = [WebHeader("Accept", accept)]
    if let tag = validators.entityTag { headers.append(WebHeader("If-None-Match", tag)) }
    if let date = validators.lastModified { headers.append(WebHeader("If-Modified-Since", date)) }
    // A validator that cannot be repeated as it was said is no use: then the whole file comes.
    headers.removeAll { !$0.isWellFormed }
    var current = address
    for _ in 0...limits.redirects {
      let reception = try receive(WebRequest(.get, current, headers: headers), size: limits.size, until: deadline)
      switch reception.status {
      case 200: return .content(reception.body, reception.validators)
      case 304: return .unchanged(reception.validators)
      case 301, 302, 303, 307, 308:
        guard let text = reception.redirect, let next = WebAddress(text) else { throw .redirectScheme }
        guard next.isSecure || !current.isSecure else { throw .redirectScheme }
        guard next.host == address.host || mayFollow(next.host) else { throw .redirectHost(next.host) }
        current = next
      default: throw .status(reception.status)
      }
    }
    throw .redirectLimit
  }

  /// What comes of one request, whatever its status.
  ///
  /// - Parameter size: most bytes of the answer's body.
  /// - Throws: `redirectScheme` too for an address that libcurl does not take.
  func receive(
    _ request: WebRequest, size: Int, until deadline: ContinuousClock.Instant
  ) throws(FetchFailure) -> Reception {
    let left = (deadline - .now) / .milliseconds(1)
    guard left >= 1 else { throw .timeout }
    let reception = Reception(limit: size)
    var lines: UnsafeMutableRawPointer?
    defer { ccurl_free_list(lines) }
    for line in try HTTPClient.lines(of: request) {
      guard let longer = ccurl_append(lines, line) else { throw .library("no memory for a header") }
      lines = longer
    }
    // Retained until the request has ended, which is before this function does.
    let context = Unmanaged.passUnretained(reception).toOpaque()
    let isSet = [
      ccurl_set_text(handle, CURLOPT_URL, request.address.text),
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
      ccurl_set_size(handle, CURLOPT_MAXFILESIZE_LARGE, Int64(size)),
      ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, lines),
      ccurl_set_pointer(handle, CURLOPT_WRITEDATA, context),
      ccurl_set_pointer(handle, CURLOPT_HEADERDATA, context),
      ccurl_set_receiver(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
        // The context is the reception of this request; the bytes are libcurl's for the time of the call.
        guard let bytes, let context else { return 0 }
        let reception = Unmanaged<Reception>.fromOpaque(context).takeUnretainedValue()
        return reception.take(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
      },
      ccurl_set_receiver(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let reception = Unmanaged<Reception>.fromOpaque(context).takeUnretainedValue()
        return reception.takeHeader(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
      },
      authorities.map { ccurl_set_text(handle, CURLOPT_CAINFO, $0) } ?? 0,
    ]
    // What is not set would be a limit less.
    guard isSet.allSatisfy({ $0 == 0 }) else { throw .library("an option is not known to it") }
    let code = try withExtendedLifetime(reception) { () throws(FetchFailure) in try perform(request) }
    reception.status = ccurl_number(handle, CURLINFO_RESPONSE_CODE)
    reception.redirect = ccurl_text(handle, CURLINFO_REDIRECT_URL).map { String(cString: $0) }
    _ = ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, nil)
    switch code {
    case CURLE_OK: return reception
    case CURLE_OPERATION_TIMEDOUT: throw .timeout
    case CURLE_FILESIZE_EXCEEDED: throw .tooLarge
    case CURLE_WRITE_ERROR where reception.isTooLarge: throw .tooLarge
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE,
      CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CIPHER:
      throw .tls("curl code \(code.rawValue)")
    case CURLE_COULDNT_RESOLVE_HOST: throw .unreachable("the name \(request.address.host) is not found")
    case CURLE_COULDNT_CONNECT: throw .unreachable("\(request.address.host) does not answer")
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT: throw .redirectScheme
    default: throw .unreachable("curl code \(code.rawValue)")
    }
  }

  /// Sends it with its body, and waits for the end.
  private func perform(_ request: WebRequest) throws(FetchFailure) -> CURLcode {
    guard request.method == .post else {
      guard ccurl_set_number(handle, CURLOPT_HTTPGET, 1) == 0 else { throw .library("an option is not known to it") }
      return CURLcode(UInt32(bitPattern: ccurl_perform(handle)))
    }
    // Without a pointer libcurl would read a body from standard input.
    var body = request.body.isEmpty ? [0] : request.body
    let code = body.withUnsafeMutableBytes { bytes -> Int32? in
      // Not copied by libcurl: the bytes are there until the request has ended, and forgotten by it before they go.
      let isSet =
        ccurl_set_number(handle, CURLOPT_POST, 1) == 0
        && ccurl_set_size(handle, CURLOPT_POSTFIELDSIZE_LARGE, Int64(request.body.count)) == 0
        && ccurl_set_pointer(handle, CURLOPT_POSTFIELDS, bytes.baseAddress) == 0
      let code = isSet ? ccurl_perform(handle) : nil
      _ = ccurl_set_pointer(handle, CURLOPT_POSTFIELDS, nil)
      _ = ccurl_set_number(handle, CURLOPT_HTTPGET, 1)
      return code
    }
    guard let code else { throw .library("an option is not known to it") }
    return CURLcode(UInt32(bitPattern: code))
  }

  /// The header lines of a request as libcurl takes them.
  private static func lines(of request: WebRequest) throws(FetchFailure) -> [String] {
    // What frames the message is said by libcurl; a second opinion would be read by somebody as another message.
    let framing: Set = [
      "host", "content-length", "transfer-encoding", "connection", "expect", "te", "trailer", "upgrade",
    ]
    var lines: [String] = []
    for header in request.headers {
      let isNamed = WebHeader(header.name, "").isWellFormed
      guard header.isWellFormed, !framing.contains(header.name.lowercased()) else {
        throw .header(isNamed ? header.name : "")
      }
      // A name with a semicolon is how libcurl is told to send an empty value.
      lines.append(header.value.isEmpty ? header.name + ";" : header.name + ": " + header.value)
    }
    guard request.method == .post else { return lines }
    // No waiting for `100 Continue`, and no media type that nobody said.
    lines.append("Expect:")
    if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) { lines.append("Content-Type:") }
    return lines
  }
}
