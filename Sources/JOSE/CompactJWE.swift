internal import CJOSE
import Crypto
import JSON

/// A JWE in compact serialization (RFC 7516 section 7.1), read strictly. To have read one says nothing about who made it:
/// whoever knows the recipient's public key can.
package struct CompactJWE: Sendable {
  /// Bytes of the longest text that is read or made.
  package static let maximumSize = 16 << 20
  /// Bytes of the longest `apu` and `apv`: libjose has room for no more.
  static let maximumPartyInfoSize = 1024
  /// The one key agreement that is taken: ECDH-ES, its secret being the content's key (RFC 7518 section 4.6).
  static let keyAgreement = "ECDH-ES"

  /// As it came.
  package let text: String
  /// The protected header, an object; authenticated once `decrypted(with:)` has given a plaintext.
  package let header: JSONValue
  /// `alg`.
  package let algorithm: String
  /// `enc`.
  package let encryption: String
  /// `kid`.
  package let keyID: String?
  /// `apu`, decoded: what the producer says of itself for the key agreement.
  package let partyU: [UInt8]?
  /// `apv`, decoded: the same about the recipient.
  package let partyV: [UInt8]?
  /// The five parts in base64url.
  private let parts: [String]
  private let ciphertext: [UInt8]

  /// Reads the form alone.
  ///
  /// Throws `tooLarge`, also for `apu` and `apv`; `malformed` for what is not five parts in base64url without padding, a
  /// header that is no object without repeated names, and members of it that are no texts; `unsupported` for the members
  /// `crit`, `zip` and `p2c`.
  package init(reading text: String) throws(JOSEFault) {
    let form = try CompactForm(text, parts: 5, maximumSize: CompactJWE.maximumSize)
    header = form.header
    // before anything else of the library's sees them: both make a recipient work as much as the sender likes
    for name in ["zip", "p2c"] where header[name] != nil { throw .unsupported(name) }
    algorithm = try CompactForm.text("alg", of: header)
    encryption = try CompactForm.text("enc", of: header)
    keyID = header["kid"] == nil ? nil : try CompactForm.text("kid", of: header)
    partyU = try CompactJWE.partyInfo("apu", of: header)
    partyV = try CompactJWE.partyInfo("apv", of: header)
    for index in [1, 2, 4] { _ = try CompactForm.bytes(form.parts[index]) }
    ciphertext = try CompactForm.bytes(form.parts[3])
    parts = form.parts
    self.text = text
  }

  private static func partyInfo(_ name: String, of header: JSONValue) throws(JOSEFault) -> [UInt8]? {
    guard header[name] != nil else { return nil }
    let bytes: [UInt8]
    do { bytes = try CompactForm.bytes(CompactForm.text(name, of: header)) } catch { throw .malformed(name) }
    guard bytes.count <= maximumPartyInfoSize else { throw .tooLarge }
    return bytes
  }

  /// The plaintext.
  ///
  /// Before libjose is asked: `alg` is ECDH-ES alone, `enc` one of `ContentEncryption`, there is no encrypted key, and
  /// `epk` is a public key on the curve of `key`. Throws `unsupported`, `malformed` and `key` for that, and `decryption`
  /// for all that comes later, whatever it is.
  ///
  /// What stays in memory: the JSON of `key` and of the content's key are wiped, and libjose clears its own copies, but it
  /// leaves the shared secret of this one message in memory that jansson has given back and nobody has overwritten.
  package func decrypted(with key: PrivateKey) throws(JOSEFault) -> [UInt8] {
    guard algorithm == CompactJWE.keyAgreement else { throw .unsupported("alg") }
    guard ContentEncryption(rawValue: encryption) != nil else { throw .unsupported("enc") }
    guard parts[1].isEmpty else { throw .malformed("encrypted key") }
    guard let member = header["epk"] else { throw .malformed("epk") }
    guard try JSONWebKey(reading: member).key.curve == key.curve else { throw .key("epk") }
    let jwk = try LibraryObject.jwk(key)
    let jwe = try LibraryObject.texts(["protected": parts[0], "iv": parts[2], "tag": parts[4]])
    return try withLibrary { configuration throws(JOSEFault) in
      guard let made = jose_jwe_dec_jwk(configuration, jwe.json, nil, jwk.json) else { throw .decryption }
      let contentKey = try LibraryObject(adopting: made)
      var isGood = false
      // never empty, so that there is an address; no mode makes more of a ciphertext than its own size
      let plaintext = [UInt8](unsafeUninitializedCapacity: max(ciphertext.count, 1)) { buffer, count in
        count = buffer.count
        isGood = mdoc_jose_decrypt(
          configuration, jwe.json, contentKey.json, ciphertext, ciphertext.count, buffer.baseAddress, &count)
      }
      guard isGood else { throw .decryption }
      return plaintext
    }
  }
}
