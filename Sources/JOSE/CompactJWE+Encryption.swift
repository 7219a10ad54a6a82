import Bytes
internal import CJOSE
import Crypto
import JSON

extension CompactJWE {
  /// The compact form of `payload` for whoever has the private key of `key`: ECDH-ES with a key of libjose's making.
  ///
  /// The header has `alg`, `enc`, `epk`, the key's `kid` if it has one, and `apu` and `apv` where they are given, empty ones
  /// too.
  ///
  /// Throws `key` for a key that is not for this ("use" other than "enc", "alg" other than ECDH-ES, "crv" other than
  /// P-256, P-384 and P-521), and `tooLarge` for party information or a text beyond the limits.
  package static func encrypt(
    _ payload: [UInt8], to key: JSONWebKey, encryption: ContentEncryption, partyU: [UInt8]? = nil,
    partyV: [UInt8]? = nil
  ) throws(JOSEFault) -> String {
    guard key.use == nil || key.use == "enc" else { throw .key("use") }
    guard key.algorithm == nil || key.algorithm == keyAgreement else { throw .key("alg") }
    guard key.key.curve.signatureAlgorithm != nil else { throw .key("crv") }
    for info in [partyU, partyV] {
      guard info?.count ?? 0 <= maximumPartyInfoSize else { throw .tooLarge }
    }
    guard payload.count / 3 * 4 <= maximumSize else { throw .tooLarge }
    let header = JSONValue.object([
      "alg": .string(keyAgreement), "enc": .string(encryption.rawValue), "kid": key.id.map { .string($0) },
      "apu": partyU.map { .string(Base64.url.encode($0)) }, "apv": partyV.map { .string(Base64.url.encode($0)) },
    ])
    let jwe = try LibraryObject(.object([JSONValue.Member("protected", header)]))
    let jwk = try LibraryObject(JSONWebKey(key.key).json)
    let contentKey = try LibraryObject(adopting: json_object())
    return try withLibrary { configuration throws(JOSEFault) in
      guard jose_jwe_enc_jwk(configuration, jwe.json, nil, jwk.json, contentKey.json) else { throw .library }
      try protectEphemeralKey(of: jwe)
      var protected: UnsafeMutablePointer<json_t>?
      // CBC fills up to 16 bytes; the other modes need no more than the plaintext
      let ciphertext = [UInt8](unsafeUninitializedCapacity: payload.count + 16) { buffer, count in
        count = buffer.count
        protected = mdoc_jose_encrypt(
          configuration, jwe.json, contentKey.json, payload, payload.count, buffer.baseAddress, &count)
      }
      guard let protected else { throw .library }
      defer { json_decref(protected) }
      let parts = try [
        LibraryObject.text(protected), "", jwe.text("iv"), Base64.url.encode(ciphertext), jwe.text("tag"),
      ]
      let text = parts.joined(separator: ".")
      guard text.utf8.count <= maximumSize else { throw .tooLarge }
      return text
    }
  }

  /// Moves the ephemeral key into the protected header. libjose puts it into the header of the recipient, which the compact
  /// form has not; nothing of the header has been encoded or authenticated yet.
  private static func protectEphemeralKey(of jwe: borrowing LibraryObject) throws(JOSEFault) {
    guard let protected = json_object_get(jwe.json, "protected"),
      let ephemeral = json_object_get(json_object_get(jwe.json, "header"), "epk"),
      json_object_set_new(protected, "epk", json_incref(ephemeral)) == 0,
      json_object_del(jwe.json, "header") == 0
    else { throw .library }
  }
}
