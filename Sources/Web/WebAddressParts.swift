import Bytes

extension WebAddress {
  /// Scheme and host, such as `https://example.org`.
  package var origin: String { (isSecure ? "https://" : "http://") + host }

  /// The host without its port: `example.org`, `[::1]`.
  package var hostName: String {
    if host.hasPrefix("["), let end = host.firstIndex(of: "]") { return String(host[...end]) }
    return String(host.prefix { $0 != ":" })
  }

  /// What comes after the host, without the query: `/a/b`, or empty.
  package var path: String {
    let start = text.utf8.index(text.startIndex, offsetBy: isSecure ? 8 : 7)
    let rest = text.utf8[start...].drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    return String(decoding: rest.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
  }

  /// What comes after the first `?`; nil when there is none.
  package var query: String? {
    guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
    return String(decoding: text.utf8[mark...].dropFirst(), as: UTF8.self)
  }

  /// Whether it is this machine by name or number (RFC 6761, section 6.3; RFC 8252, section 7.3).
  package var isLoopback: Bool {
    ["localhost", "[::1]", "127.0.0.1"].contains(hostName)
  }

  /// Whether secrets may go there: https, or this machine.
  package var isConfidential: Bool { isSecure || isLoopback }

  /// `/.well-known/NAME` between host and path (RFC 8414, section 3.1); a path of `/` alone counts as none.
  package func wellKnown(_ name: String) -> WebAddress? {
    WebAddress(origin + "/.well-known/" + name + (path == "/" ? "" : path))
  }

  /// `/.well-known/NAME` behind the path, as drafts had it.
  package func wellKnownBehind(_ name: String) -> WebAddress? {
    WebAddress(origin + (path.hasSuffix("/") ? String(path.dropLast()) : path) + "/.well-known/" + name)
  }

  /// With these fields behind what is there.
  package func adding(_ fields: FormFields) -> WebAddress? {
    guard !fields.fields.isEmpty else { return self }
    return WebAddress(text + (query == nil ? "?" : "&") + fields.text)
  }
}
