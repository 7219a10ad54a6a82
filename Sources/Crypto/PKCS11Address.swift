/// The address of an object in a token (RFC 7512): `pkcs11:token=door;object=reader?pin-source=file:/etc/mdoc-reader/pin`.
package struct PKCS11Address: Equatable, Sendable {
  private let path: [Substring]
  private let query: [Substring]

  /// Nil for an address of another kind.
  package init?(_ text: String) {
    let scheme = "pkcs11:"
    guard text.prefix(scheme.count).lowercased() == scheme else { return nil }
    let parts = text.dropFirst(scheme.count).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    path = parts[0].split(separator: ";")
    query = parts.count > 1 ? parts[1].split(separator: "&") : []
  }

  /// Without its query, where a PIN can be: what may be shown.
  package var shown: String { "pkcs11:" + path.joined(separator: ";") }

  /// Whether the PIN itself is written in it (`pin-value`).
  package var hasPIN: Bool { query.contains { PKCS11Address.name(of: $0) == "pin-value" } }

  /// Where the PIN is (`pin-source`), percent-encoding undone; nil when that is not said.
  package var pinSource: String? {
    query.first { PKCS11Address.name(of: $0) == "pin-source" }.map {
      PKCS11Address.decoded($0.drop { $0 != "=" }.dropFirst())
    }
  }

  /// The file that `pin-source` names; nil when it names none by its whole path.
  package var pinFile: String? {
    guard var path = pinSource else { return nil }
    if path.hasPrefix("file:") { path.removeFirst(5) }
    return path.hasPrefix("/") ? path : nil
  }

  /// The address of everything of one type (`private`, `public`) in the same token, without its PIN.
  func allOfToken(_ type: String) -> String {
    let token = path.filter { !["object", "id", "type"].contains(PKCS11Address.name(of: $0)) }
    let rest = query.filter { !PKCS11Address.name(of: $0).hasPrefix("pin-") }
    let address = "pkcs11:" + (token + ["type=\(type)"]).joined(separator: ";")
    return rest.isEmpty ? address : address + "?" + rest.joined(separator: "&")
  }

  private static func name(of attribute: Substring) -> String { String(attribute.prefix { $0 != "=" }) }

  /// Percent-encoding undone; what is none stays as it is.
  private static func decoded(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      if byte == UInt8(ascii: "%"), digits.utf8.count == 2,
        digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
        let value = UInt8(digits, radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
