import CBOR
import Mdoc

/// Why a session failed (part F of the checks). None of these says anything about a document.
package enum SessionFailure: Error, Equatable, Sendable {
  /// A message that is no session message; answered with status 11.
  case sessionDataMalformed
  /// A message that the next key and counter do not open; answered with status 10.
  case decryptionFailed
  /// The other side said something else than 20.
  case unexpectedStatus(UInt64)
  /// Status 20 before the answer.
  case sessionTerminatedByPeer
  /// The link ended before the answer was complete.
  case transportLost
  case timeout
  /// To a holder only: the reader's key is of another curve or no point of it; answered with status 10.
  case readerKeyUnusable
  /// A message of ours could not be encrypted.
  case encryptionFailed

  /// The stable reason code.
  package var code: String {
    switch self {
    case .sessionDataMalformed: "sessionDataMalformed"
    case .decryptionFailed: "decryptionFailed"
    case .unexpectedStatus(let status): "unexpectedStatus(\(status))"
    case .sessionTerminatedByPeer: "sessionTerminatedByPeer"
    case .transportLost: "transportLost"
    case .timeout: "timeout"
    case .readerKeyUnusable: "readerKeyUnusable"
    case .encryptionFailed: "encryptionFailed"
    }
  }

  /// The status to tell the other side, where it is to be told.
  var answer: UInt64? {
    switch self {
    case .sessionDataMalformed: SessionData.Status.decodingError
    case .decryptionFailed, .readerKeyUnusable: SessionData.Status.encryptionError
    case .timeout, .encryptionFailed: SessionData.Status.termination
    case .unexpectedStatus, .sessionTerminatedByPeer, .transportLost: nil
    }
  }
}

/// How a session ended.
package enum SessionOutcome: Equatable, Sendable {
  /// After a complete answer, whoever ended it and however.
  case completed
  /// From this side, before there was an answer.
  case cancelled
  case failed(SessionFailure)
}

/// What a session waits for at most, and what it accepts at most.
package struct SessionLimits: Sendable {
  /// From the start to the link.
  package var link: Duration
  /// From one message to the next. People read and consent meanwhile: the standard's advice is 300 s.
  package var message: Duration
  /// Bytes of one message.
  package var messageSize: Int

  package init(link: Duration = .seconds(30), message: Duration = .seconds(300), messageSize: Int = 4 << 20) {
    self.link = link
    self.message = message
    self.messageSize = messageSize
  }

  /// A session message is a flat map: what is inside its data has limits of its own.
  var cbor: CBORLimits { CBORLimits(depth: 16, items: 1000, size: messageSize) }
}
