import Mdoc

/// The outputs that both sides of a session have.
protocol SessionOutput {
  static func send(_ message: [UInt8]) -> Self
  static func wake(at instant: ContinuousClock.Instant) -> Self
  static func finished(_ outcome: SessionOutcome) -> Self
}

extension ReaderSession.Output: SessionOutput {}
extension HolderSession.Output: SessionOutput {}

/// What both sides of a session do alike: hand out what is to be done, keep the one deadline, say how it ends.
struct SessionOutbox<Output: SessionOutput> {
  typealias Instant = ContinuousClock.Instant

  private var outputs: [Output]
  private var deadline: Instant?

  /// Asks to be woken at the first deadline.
  init(wakeAt instant: Instant) {
    deadline = instant
    outputs = [.wake(at: instant)]
  }

  var isEmpty: Bool { outputs.isEmpty }

  mutating func next() -> Output? { outputs.isEmpty ? nil : outputs.removeFirst() }

  mutating func append(_ output: Output) { outputs.append(output) }

  mutating func sendStatus(_ status: UInt64) {
    outputs.append(.send(SessionData(status: status).encode()))
  }

  /// Sets the deadline, in place of an earlier one.
  mutating func wake(at instant: Instant) {
    deadline = instant
    outputs.append(.wake(at: instant))
  }

  /// Whether the deadline has come; asks for another tick when it has not.
  mutating func isDue(at now: Instant) -> Bool {
    guard let deadline else { return false }
    if now >= deadline { return true }
    outputs.append(.wake(at: deadline))
    return false
  }

  /// Ends with a failure, and tells the other side where it is to be told.
  mutating func fail(_ failure: SessionFailure) {
    if let status = failure.answer { sendStatus(status) }
    end(.failed(failure))
  }

  mutating func end(_ outcome: SessionOutcome) {
    deadline = nil
    outputs.append(.finished(outcome))
  }
}
