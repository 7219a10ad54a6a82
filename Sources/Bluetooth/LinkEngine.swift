/// What speaks on one connection: PDUs and messages in, PDUs and messages out. One socket class serves every kind of
/// connection through it.
package protocol LinkEngine: Sendable {
  /// Feeds one event. Drain `nextOutput` after it.
  mutating func handle(_ input: GATTLink.Input, at now: ContinuousClock.Instant)

  /// The next thing to do; nil when there is nothing for now. Nothing to transmit comes while `canTransmit` is false.
  mutating func nextOutput(at now: ContinuousClock.Instant, canTransmit: Bool) -> GATTLink.Output?
}

extension GATTLink: LinkEngine {}
