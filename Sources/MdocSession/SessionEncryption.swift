import Bytes
import Crypto
import Mdoc

/// The two keys of a session and their counters (ISO/IEC 18013-5 sections 9.1.1.4 and 9.1.1.5).
///
/// Only the next counter is tried, never another, and none wraps. After one message that cannot be decrypted nothing
/// more is. The keys are wiped when this goes out of scope.
package struct SessionEncryption: ~Copyable {
  /// Which side of the session: also which side made a message.
  package enum Side: Sendable {
    case reader
    case holder

    var other: Side { self == .reader ? .holder : .reader }

    /// HKDF info of the key that protects messages of this side.
    var keyInfo: String { self == .reader ? "SKReader" : "SKDevice" }

    /// The first eight bytes of the IV of this side's messages, as a number.
    var identifier: UInt64 { self == .reader ? 0 : 1 }
  }

  /// Why no message came out.
  package enum Violation: Error, Equatable, Sendable {
    /// The tag is not that of the next message of the other side; or this failed before.
    case decryptionFailed
    /// The counter of a direction has been used up, or OpenSSL refused.
    case encryptionFailed
  }

  private let side: Side
  private let sending: AES256GCM
  private let receiving: AES256GCM
  /// The counter of the next message; nil when there can be none.
  var nextSent: UInt32? = 1
  var nextReceived: UInt32? = 1

  /// Agrees on the keys. Throws `agreementFailed` when the two keys are on different curves or give no secret.
  package init(
    side: Side, ownKey: PrivateKey, peerKey: PublicKey, transcript: SessionTranscript
  ) throws(CryptoError) {
    let secret = try ownKey.sharedSecret(with: peerKey)
    let salt = transcript.salt
    self.side = side
    sending = AES256GCM(key: SessionEncryption.key(of: side, secret: secret, salt: salt))
    receiving = AES256GCM(key: SessionEncryption.key(of: side.other, secret: secret, salt: salt))
  }

  /// SKReader or SKDevice.
  static func key(of sender: Side, secret: borrowing SecretBytes, salt: [UInt8]) -> SecretBytes {
    hkdfSHA256(secret: secret, salt: salt[...], info: ArraySlice(sender.keyInfo.utf8), count: 32)
  }

  /// The IV of a message: who made it, and which one it is.
  static func nonce(of sender: Side, counter: UInt32) -> [UInt8] {
    var nonce: [UInt8] = []
    for shift in stride(from: 56, through: 0, by: -8) {
      nonce.append(UInt8(truncatingIfNeeded: sender.identifier >> UInt64(shift)))
    }
    for shift in stride(from: 24, through: 0, by: -8) {
      nonce.append(UInt8(truncatingIfNeeded: counter >> UInt32(shift)))
    }
    return nonce
  }

  /// Ciphertext and tag of the next message of this side.
  package mutating func seal(_ plaintext: ByteView) throws(Violation) -> [UInt8] {
    guard let counter = nextSent else { throw .encryptionFailed }
    nextSent = SessionEncryption.counter(after: counter)
    return try seal(plaintext, keyOf: side, identifierOf: side, counter: counter)
  }

  /// The plaintext of the next message of the other side.
  package mutating func open(_ sealed: ByteView) throws(Violation) -> [UInt8] {
    guard let counter = nextReceived else { throw .decryptionFailed }
    nextReceived = nil
    do throws(CryptoError) {
      let plaintext = try receiving.open(sealed, nonce: SessionEncryption.nonce(of: side.other, counter: counter))
      nextReceived = SessionEncryption.counter(after: counter)
      return plaintext
    } catch {
      throw .decryptionFailed
    }
  }

  /// Seals with parts of one's choice and moves no counter: what `seal` is made of, and what a test wallet misuses.
  func seal(
    _ plaintext: ByteView, keyOf key: Side, identifierOf sender: Side, counter: UInt32
  ) throws(Violation) -> [UInt8] {
    let nonce = SessionEncryption.nonce(of: sender, counter: counter)
    do throws(CryptoError) {
      return try key == side ? sending.seal(plaintext, nonce: nonce) : receiving.seal(plaintext, nonce: nonce)
    } catch {
      throw .encryptionFailed
    }
  }

  /// Nil after the last one: a counter may not wrap.
  static func counter(after counter: UInt32) -> UInt32? {
    counter == .max ? nil : counter + 1
  }
}
