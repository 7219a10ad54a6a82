/// Carries one request after another to whom it is for and brings the answer: over HTTP in the programs, straight to a server's
/// rules in tests. No redirect is followed, and an answer of any status is an answer.
package struct WebExchange {
  private let carry: (WebRequest, WebLimits) throws(ExchangeFailure) -> WebAnswer

  package init(_ carry: @escaping (WebRequest, WebLimits) throws(ExchangeFailure) -> WebAnswer) { self.carry = carry }

  /// - Throws: when no whole answer came within the limits.
  package func callAsFunction(
    _ request: WebRequest, limits: WebLimits = WebLimits()
  ) throws(ExchangeFailure) -> WebAnswer {
    try carry(request, limits)
  }
}

/// What an answer may cost.
package struct WebLimits: Equatable, Sendable {
  /// Most bytes of its body.
  package var size: Int
  package var time: Duration

  package init(size: Int = 1 << 20, time: Duration = .seconds(30)) {
    self.size = size
    self.time = time
  }
}

/// Why no answer came.
package struct ExchangeFailure: Error, Equatable, Sendable {
  /// Stable: `unreachable`, `timeout`, `tooLarge`, `tlsFailed`, …
  package let code: String
  /// More about it, for people; may be empty. Never a secret or a body.
  package let detail: String

  package init(_ code: String, _ detail: String = "") {
    self.code = code
    self.detail = detail
  }
}
