import Web

extension HTTPClient {
  /// What a server answers to a request. Any status is an answer, and a redirect is one of them: it is not followed.
  ///
  /// Headers of the answer that are no well-formed fields are left out; more of them than any server has (`Reception`) are
  /// refused as `tooLarge`, as is a body over the limit.
  ///
  /// - Throws: `header` for a header that must not be sent: one that would not stay one field on the wire, and those that
  ///   frame the message, which are not the caller's to say.
  package func perform(_ request: WebRequest, limits: WebLimits = WebLimits()) throws(FetchFailure) -> WebAnswer {
    do throws(FetchFailure) {
      let reception = try receive(request, size: limits.size, until: .now + limits.time)
      return WebAnswer(status: reception.status, headers: reception.headers, body: reception.body)
    } catch .redirectScheme {
      throw .unreachable("the address cannot be asked")
    }
  }
}

extension WebExchange {
  /// Carries requests over HTTP. One at a time: the call returns with the answer.
  package init(http client: HTTPClient) {
    self.init { request, limits throws(ExchangeFailure) in
      do throws(FetchFailure) {
        return try client.perform(request, limits: limits)
      } catch {
        throw ExchangeFailure(error.code, error.detail)
      }
    }
  }
}
