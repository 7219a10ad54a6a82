/// Why a Bluetooth link came to nothing. The raw values are stable: events, logs and tests name them.
package enum LinkFailure: String, Error, CaseIterable, Sendable {
  /// No adapter, or one that cannot be used.
  case bleUnavailable
  /// The adapter does not advertise.
  case advertiseFailed
  /// Nobody advertised the service within its time.
  case peerNotFound
  /// A device was found, and no connection came about.
  case connectFailed
  /// The peer has no primary service of the engagement's UUID.
  case serviceMissing
  /// The service lacks a characteristic or a descriptor of its mode.
  case characteristicMissing
  /// The reader's Ident is not that of the engagement (wallet).
  case identMismatch
  /// The peer refused a request that its mode asks it to serve.
  case attRefused
  /// A response or notification that is no PDU, or that does not answer what was asked.
  case attInvalid
  /// No response within the 30 s that ATT grants (Core, Vol 3, Part F, 3.3.3).
  case attTimeout
  /// No State start within the time for the set-up.
  case setupTimeout
  /// A State value other than start and end.
  case stateInvalid
  /// A value that is no part of a message, or bytes of a channel that are none.
  case fragmentInvalid
  /// A message of no bytes.
  case messageEmpty
  /// A message beyond the limit.
  case messageTooLarge
  /// State end: the peer wants no more.
  case peerTerminated
  /// The connection is gone.
  case linkLost

  /// The stable text form.
  package var code: String { rawValue }
}
