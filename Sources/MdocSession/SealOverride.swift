import Bytes
import Mdoc

/// What a test wallet does wrong with one message. The reader has to end the session with the reason named here.
package enum SealOverride: Equatable, Sendable {
  /// Sealed with this counter: `decryptionFailed`, unless it happens to be the next one.
  case counter(UInt32)
  /// Sealed with SKReader: `decryptionFailed`.
  case readerKey
  /// Sealed with the reader's identifier in the IV: `decryptionFailed`.
  case readerIdentifier
  /// The last bit of the tag is turned: `decryptionFailed`.
  case corruptTag
  /// The plaintext in place of the ciphertext: `decryptionFailed`.
  case plainData
  /// Sealed as it should be, with this status beside it: 20 is no fault, any other is `unexpectedStatus`.
  case dataWithStatus(UInt64)
  /// These bytes are the message, whatever they are.
  case rawMessage([UInt8])
}

extension SessionEncryption {
  /// A SessionData that carries `plaintext` in a wrong way. The counter of honest messages moves only where one is made.
  mutating func message(_ plaintext: [UInt8], _ override: SealOverride) throws(Violation) -> [UInt8] {
    let data: [UInt8]
    var status: UInt64?
    switch override {
    case .counter(let counter):
      data = try seal(plaintext[...], keyOf: .holder, identifierOf: .holder, counter: counter)
    case .readerKey:
      data = try seal(plaintext[...], keyOf: .reader, identifierOf: .holder, counter: 1)
    case .readerIdentifier:
      data = try seal(plaintext[...], keyOf: .holder, identifierOf: .reader, counter: 1)
    case .corruptTag:
      var sealed = try seal(plaintext[...])
      sealed[sealed.count - 1] ^= 1
      data = sealed
    case .plainData:
      data = plaintext
    case .dataWithStatus(let number):
      data = try seal(plaintext[...])
      status = number
    case .rawMessage(let message):
      return message
    }
    return SessionData(data: data[...], status: status).encode()
  }
}
