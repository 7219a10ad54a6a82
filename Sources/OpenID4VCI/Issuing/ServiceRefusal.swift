import JSON
import Web

/// An issuer's no, as it is sent.
struct ServiceRefusal: Error, Equatable {
  let status: Int
  let code: IssuanceErrorCode
  /// For people who write wallets. Nothing that was sent is repeated.
  let description: String
  var headers: [WebHeader] = []

  init(_ code: IssuanceErrorCode, _ description: String = "", status: Int = 400, headers: [WebHeader] = []) {
    self.code = code
    self.description = description
    self.status = status
    self.headers = headers
  }

  /// At an endpoint that wants a token (RFC 6750, section 3; RFC 9449, section 7.1).
  static func unauthorized(_ code: IssuanceErrorCode, scheme: String = "Bearer", headers: [WebHeader] = [])
    -> ServiceRefusal
  {
    ServiceRefusal(
      code, status: 401,
      headers: headers + [WebHeader("WWW-Authenticate", "\(scheme) error=\"\(code.rawValue)\"")])
  }

  var answer: WebAnswer {
    let body: JSONValue = .object([
      "error": .string(code.rawValue), "error_description": description.isEmpty ? nil : .string(description),
    ])
    var answer = WebAnswer.json(body, status: status)
    answer.headers += headers
    return answer
  }
}

extension WebAnswer {
  /// JSON that nobody may keep (RFC 6749, section 5.1).
  static func json(_ value: JSONValue, status: Int = 200) -> WebAnswer {
    WebAnswer(
      status: status,
      headers: [WebHeader("Content-Type", "application/json"), WebHeader("Cache-Control", "no-store")],
      body: Array(value.text.utf8))
  }

  /// A page; only text that was made for it goes in.
  static func html(_ body: String, status: Int = 200) -> WebAnswer {
    WebAnswer(
      status: status,
      headers: [
        WebHeader("Content-Type", "text/html; charset=utf-8"), WebHeader("Cache-Control", "no-store"),
        WebHeader("Content-Security-Policy", "default-src 'none'; form-action 'self'; frame-ancestors 'none'"),
      ],
      body: Array("<!doctype html><meta charset=\"utf-8\"><title>Test issuer</title>\(body)\n".utf8))
  }

  static func redirect(to address: String) -> WebAnswer {
    WebAnswer(status: 302, headers: [WebHeader("Location", address), WebHeader("Cache-Control", "no-store")])
  }
}
