/// An address that a reader may fetch from (http or https), in the few forms that leave no doubt about its host.
package struct WebAddress: Hashable, Sendable {
  /// Most characters of an address.
  package static let longest = 2048

  /// As it was written: what is looked up by it has to be the same to the character.
  package let text: String
  package let isSecure: Bool
  /// Host in lower case, and the port where it is not that of the scheme: `example.org`, `[::1]:8080`.
  package let host: String

  /// Nil for other schemes, for names and passwords, for fragments, and for characters that no address may have.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count <= WebAddress.longest, bytes.allSatisfy(WebAddress.isAllowed) else { return nil }
    let lower = bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    let start: Int
    if lower.starts(with: "https://".utf8) {
      start = 8
    } else if lower.starts(with: "http://".utf8) {
      start = 7
    } else {
      return nil
    }
    let isSecure = start == 8
    let authority = lower[start...].prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    guard let host = WebAddress.host(authority, standardPort: isSecure ? 443 : 80) else { return nil }
    self.text = text
    self.isSecure = isSecure
    self.host = host
  }

  /// A host as a site writes it in its configuration: with a port where that is not the scheme's own.
  package static func isHost(_ text: String) -> Bool { host(Array(text.utf8)[...], standardPort: nil) == text }

  private static func host(_ authority: ArraySlice<UInt8>, standardPort: Int?) -> String? {
    var name = authority
    var port: ArraySlice<UInt8>?
    if authority.first == UInt8(ascii: "[") {
      guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
      name = authority[...end]
      let digits = name.dropFirst().dropLast()
      let isAddress = digits.allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x66).contains($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
      }
      guard digits.count >= 2, isAddress else { return nil }
      let rest = authority[(end + 1)...]
      guard rest.isEmpty || rest.first == UInt8(ascii: ":") else { return nil }
      port = rest.isEmpty ? nil : rest.dropFirst()
    } else {
      if let colon = authority.firstIndex(of: UInt8(ascii: ":")) {
        name = authority[..<colon]
        port = authority[(colon + 1)...]
      }
      let isName = name.allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
      }
      guard !name.isEmpty, isName else { return nil }
    }
    let host = String(decoding: name, as: UTF8.self)
    guard let port else { return host }
    let isNumber = (1...5).contains(port.count) && port.allSatisfy { (0x30...0x39).contains($0) }
    guard isNumber, let number = Int(String(decoding: port, as: UTF8.self)), (1...65535).contains(number) else {
      return nil
    }
    return number == standardPort ? host : "\(host):\(number)"
  }

  /// Printable, and nothing that programs read in different ways.
  private static func isAllowed(_ byte: UInt8) -> Bool {
    (0x21...0x7E).contains(byte) && !"\\\"<>^`{|}#@".utf8.contains(byte)
  }
}
