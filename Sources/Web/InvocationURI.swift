/// An address that starts a wallet, such as `openid-credential-offer://?...` or `openid4vp://?...`: a scheme, whatever stands
/// between it and the query, and the query's fields.
package struct InvocationURI: Equatable, Sendable {
  /// Most characters that are read.
  package static let longest = 65_536

  /// In lower case: `openid4vp`.
  package let scheme: String
  /// Authority and path, as written.
  package let place: String
  package let fields: FormFields

  /// Nil for text that is no such address: no scheme (RFC 3986, section 3.1), control characters or blanks, or a query that
  /// `FormFields` does not read. A fragment is not part of it.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count <= InvocationURI.longest, bytes.allSatisfy({ (0x21...0x7E).contains($0) }),
      let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
    else { return nil }
    let scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
    guard let first = scheme.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first),
      scheme.utf8.allSatisfy({ byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"),
          UInt8(ascii: "-"), UInt8(ascii: "."):
          true
        default: false
        }
      })
    else { return nil }
    var rest = bytes[(colon + 1)...]
    if let mark = rest.firstIndex(of: UInt8(ascii: "#")) { rest = rest[..<mark] }
    let mark = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
    guard let fields = FormFields(reading: String(decoding: rest[mark...].dropFirst(), as: UTF8.self)) else {
      return nil
    }
    self.scheme = scheme
    place = String(decoding: rest[..<mark], as: UTF8.self)
    self.fields = fields
  }
}
