/// Why a link is over, or never came about (names of the BLE transport notes).
package enum LinkFailure: Error, Equatable, Sendable {
  /// The other side has no service of this engagement.
  case serviceMissing
  /// The service lacks a characteristic or a client configuration.
  case characteristicMissing
  /// Ident is not that of the engagement: another reader.
  case identMismatch
  /// A value that is no part of a message.
  case fragmentInvalid
  case messageTooLarge
  /// The other side wrote State 02.
  case peerTerminated
  /// A State value that means nothing.
  case stateInvalid
  /// Start without a subscription to the answers.
  case notSubscribed
  /// A request of ours was refused.
  case requestRefused
  /// A request of ours was not answered in 30 s (Core, volume 3, part F, section 3.3.3).
  case attTimeout
  /// A PDU that breaks the attribute protocol.
  case attViolation
  /// The connection is gone.
  case linkLost

  /// The stable reason code.
  package var code: String { "\(self)" }
}
