/// The library's random numbers, as a generator for what is made with `using:` or `random:`: keys, serial numbers, salts.
///
/// In place of `SystemRandomNumberGenerator`: that one has no size, and the thread sanitizer reads past it wherever it is
/// lent. An object without a state, so that a copy can never give numbers that were given before.
package final class RandomSource: RandomNumberGenerator, Sendable {
  package init() {}

  package func next() -> UInt64 {
    randomBytes(8).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
  }
}
