import Bytes
import Web

/// The path and query that a request line names (RFC 9112, section 3.2): `/a?b=c`, or a whole address that ends so.
struct RequestTarget: Equatable {
  let path: String
  let query: FormFields

  /// Nil for other forms, for what is no printable ASCII, for fragments, and for a query that `FormFields` does not read.
  init?(_ text: String) {
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) else { return nil }
    var path: Substring
    var query: Substring?
    if text.hasPrefix("/") {
      let halves = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
      path = halves[0]
      query = halves.count == 2 ? halves[1] : nil
    } else if let address = WebAddress(text) {
      path = address.path[...]
      query = address.query?[...]
    } else {
      return nil
    }
    guard let fields = FormFields(reading: query ?? "") else { return nil }
    if path.isEmpty { path = "/" }
    self.path = String(path)
    self.query = fields
  }
}
