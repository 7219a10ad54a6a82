/// The error of a certain type that a call throws; nil when it throws none, or another.
///
/// `#expect(throws:)` returns the error only from Swift Testing 6.1 on, and our floor is 6.0.3.
public func thrown<Failure: Error>(_ type: Failure.Type, _ body: () throws -> Void) -> Failure? {
  do { try body() } catch { return error as? Failure }
  return nil
}
