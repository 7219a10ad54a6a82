/// How long the reader waits for what, at most. Each is a failure with its own reason and leads back to ready.
package struct ReaderTimeouts: Equatable, Sendable {
  /// From the code to State start.
  package var connect: Duration
  /// From one part of a message to the next, either way.
  package var idle: Duration
  /// From the request to the first part of the answer: the holder reads and consents meanwhile.
  package var response: Duration
  /// From the code to the decision, whatever happens in between.
  package var total: Duration

  package init(
    connect: Duration = .seconds(20), idle: Duration = .seconds(15), response: Duration = .seconds(120),
    total: Duration = .seconds(180)
  ) {
    self.connect = connect
    self.idle = idle
    self.response = response
    self.total = total
  }
}
