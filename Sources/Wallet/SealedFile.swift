import Bytes
import CBOR
import Crypto

/// A passphrase: what a wallet's files are encrypted under.
package final class Passphrase: Sendable {
  fileprivate let secret: SecretBytes

  package init(_ bytes: some Collection<UInt8>) { secret = SecretBytes(copying: bytes) }
}

/// The file of a credential at rest, encrypted under a passphrase.
///
/// A CBOR map: `format`, `salt` (16 bytes) and `cost` (logarithm of N) of scrypt (RFC 7914), `check` (the last 16 of the 48 bytes
/// it gives; the first 32 are the key), `nonce`, and `sealed`: AES-256-GCM over the file as it is without a passphrase.
enum SealedFile {
  /// Why a file was not opened.
  enum Violation: Error, Equatable, Sendable {
    case member(String)
    /// It opens under another passphrase than this one.
    case otherPassphrase
    /// The passphrase is right; the contents are not what was written.
    case changed
    /// Want of memory, or an OpenSSL without scrypt.
    case unavailable
  }

  static let format = "mdoc-wallet-sealed-1"
  private static let saltSize = 16
  private static let checkSize = 16
  private static let keySize = 32
  /// 32 MiB, and some tenths of a second on a small board.
  static let standardLogN = 15

  /// Whether a file says that it is one.
  static func isSealed(_ root: CBORItem) -> Bool { root[key: "format"]?.isText(format) == true }

  static func seal(
    _ plain: [UInt8], under passphrase: Passphrase, logN: Int
  ) throws(CryptoError) -> [UInt8] {
    let salt = randomBytes(saltSize)
    let nonce = randomBytes(AES256GCM.nonceSize)
    let secret = try derive(passphrase, salt: salt, logN: logN)
    let sealed = try AES256GCM(key: secret.part(0..<keySize)).seal(plain[...], nonce: nonce)
    let check = secret.revealed(keySize..<keySize + checkSize)
    return CBORValue.map([
      "format": .text(format), "salt": .bytes(salt), "cost": .unsigned(UInt64(logN)), "check": .bytes(check),
      "nonce": .bytes(nonce), "sealed": .bytes(sealed),
    ]).encode()
  }

  static func open(_ root: CBORItem, under passphrase: Passphrase) throws(Violation) -> [UInt8] {
    guard let salt = root[key: "salt"]?.bytes, salt.count == saltSize else { throw .member("salt") }
    let logN = Int(clamping: root[key: "cost"]?.int ?? 0)
    guard ScryptCost(logN: logN) != nil else { throw .member("cost") }
    guard let check = root[key: "check"]?.bytes, check.count == checkSize else { throw .member("check") }
    guard let nonce = root[key: "nonce"]?.bytes, nonce.count == AES256GCM.nonceSize else { throw .member("nonce") }
    guard let sealed = root[key: "sealed"]?.bytes else { throw .member("sealed") }
    let secret: SecretBytes
    do throws(CryptoError) {
      secret = try derive(passphrase, salt: Array(salt), logN: logN)
    } catch {
      throw .unavailable
    }
    guard isEqualInConstantTime(secret.revealed(keySize..<keySize + checkSize), check) else { throw .otherPassphrase }
    do throws(CryptoError) {
      return try AES256GCM(key: secret.part(0..<keySize)).open(sealed, nonce: Array(nonce))
    } catch {
      throw .changed
    }
  }

  private static func derive(_ passphrase: Passphrase, salt: [UInt8], logN: Int) throws(CryptoError) -> SecretBytes {
    guard let cost = ScryptCost(logN: logN) else { throw .wrongSize(expected: standardLogN, actual: logN) }
    return try scrypt(passphrase: passphrase.secret, salt: salt, cost: cost, count: keySize + checkSize)
  }
}
