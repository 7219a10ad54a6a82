import Bytes

/// A request as the server sees it that was called.
package struct WebCall: Equatable, Sendable {
  package let method: WebRequest.Method
  /// Without the query: `/token`; `/` where none was written.
  package let path: String
  package let query: FormFields
  package let headers: [WebHeader]
  package let body: [UInt8]

  package init(
    _ method: WebRequest.Method, path: String, query: FormFields = FormFields(), headers: [WebHeader] = [],
    body: [UInt8] = []
  ) {
    self.method = method
    self.path = path.isEmpty ? "/" : path
    self.query = query
    self.headers = headers
    self.body = body
  }

  /// What a server gets of a request; nil for a query that cannot be read.
  package init?(_ request: WebRequest) {
    guard let query = FormFields(reading: request.address.query ?? "") else { return nil }
    self.init(
      request.method, path: request.address.path, query: query, headers: request.headers, body: request.body)
  }

  /// The first header of this name, whatever its letters' case; nil when there is none.
  package subscript(header name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// The media type of the body without parameters, in lower case; nil when none is said.
  package var mediaType: String? { Web.mediaType(self[header: "Content-Type"]) }

  /// The fields of a body that says it is a form; nil for any other.
  package var form: FormFields? {
    guard mediaType == "application/x-www-form-urlencoded", let text = String(validating: body, as: UTF8.self) else {
      return nil
    }
    return FormFields(reading: text)
  }
}
