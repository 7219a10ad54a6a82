import Bytes

/// A request over HTTP as a value: what is sent to whom.
package struct WebRequest: Equatable, Sendable {
  package enum Method: String, Equatable, Sendable {
    case get = "GET"
    case post = "POST"
  }

  package var method: Method
  package var address: WebAddress
  /// Beside those that the content says; names as RFC 9110 writes them.
  package var headers: [WebHeader] = []
  /// Empty for GET.
  package var body: [UInt8] = []

  package init(_ method: Method, _ address: WebAddress, headers: [WebHeader] = [], body: [UInt8] = []) {
    self.method = method
    self.address = address
    self.headers = headers
    self.body = body
  }

  /// Asks for a document of this media type.
  package static func get(_ address: WebAddress, accept: String) -> WebRequest {
    WebRequest(.get, address, headers: [WebHeader("Accept", accept)])
  }

  /// Sends form fields.
  package static func post(_ address: WebAddress, form: FormFields, accept: String = "application/json") -> WebRequest {
    post(address, type: "application/x-www-form-urlencoded", body: Array(form.text.utf8), accept: accept)
  }

  /// Sends a body of this media type; an empty one without a type.
  package static func post(
    _ address: WebAddress, type: String?, body: [UInt8], accept: String = "application/json"
  ) -> WebRequest {
    let content = type.map { [WebHeader("Content-Type", $0)] } ?? []
    return WebRequest(.post, address, headers: [WebHeader("Accept", accept)] + content, body: body)
  }
}

/// A header field.
package struct WebHeader: Equatable, Sendable {
  package let name: String
  package let value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// Whether it is one header field and stays one on the wire: the name a token (RFC 9110, section 5.6.2), the value without
  /// line ends, NUL or other control characters but tabs, and without blanks at its ends (section 5.5). What is not could
  /// carry a second field or the end of the head with it.
  package var isWellFormed: Bool {
    let isToken = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
      }
    }
    let blanks: Set<UInt8?> = [UInt8(ascii: " "), UInt8(ascii: "\t")]
    return isToken && !name.isEmpty && !blanks.contains(value.utf8.first) && !blanks.contains(value.utf8.last)
      && value.utf8.allSatisfy { $0 == UInt8(ascii: "\t") || ($0 >= 0x20 && $0 != 0x7F) }
  }
}

/// An answer over HTTP as a value.
package struct WebAnswer: Equatable, Sendable {
  package var status: Int
  package var headers: [WebHeader]
  package var body: [UInt8]

  package init(status: Int, headers: [WebHeader] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The first header of this name, whatever its letters' case; nil when there is none.
  package subscript(header name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// The media type without parameters, in lower case; nil when none is said.
  package var mediaType: String? { Web.mediaType(self[header: "Content-Type"]) }
}

/// The media type of a `Content-Type` without parameters, in lower case.
package func mediaType(_ contentType: String?) -> String? {
  guard let contentType else { return nil }
  let type = contentType.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
  return type.isEmpty ? nil : type
}
