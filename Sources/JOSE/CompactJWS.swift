import Bytes
internal import CJOSE
import Crypto
import JSON

/// A JWS in compact serialization (RFC 7515 section 7.1), read strictly. To have read one says nothing about its
/// signature: `isSigned(by:)` does.
package struct CompactJWS: Sendable {
  /// Bytes of the longest text that is read or made.
  package static let maximumSize = 1 << 20

  /// As it came.
  package let text: String
  /// The protected header, an object.
  package let header: JSONValue
  /// What is signed, decoded.
  package let payload: [UInt8]
  /// `alg`.
  package let algorithm: String
  /// The three parts in base64url.
  private let parts: [String]

  /// Reads the form alone.
  ///
  /// Throws `tooLarge`; `malformed` for what is not three parts in base64url without padding, an empty signature, a header
  /// that is no object without repeated names, or a `typ` that is no text; `unsupported` for `alg` "none" and for the
  /// members `crit` and `b64`.
  package init(reading text: String) throws(JOSEFault) {
    let form = try CompactForm(text, parts: 3, maximumSize: CompactJWS.maximumSize)
    header = form.header
    guard header["b64"] == nil else { throw .unsupported("b64") }
    algorithm = try CompactForm.text("alg", of: header)
    guard algorithm.lowercased() != "none" else { throw .unsupported("alg") }
    if header["typ"] != nil { _ = try CompactForm.text("typ", of: header) }
    payload = try CompactForm.bytes(form.parts[1])
    guard try !CompactForm.bytes(form.parts[2]).isEmpty else { throw .malformed("compact form") }
    parts = form.parts
    self.text = text
  }

  /// `typ`.
  package var type: String? { header["typ"]?.string }

  /// The payload as a JSON object; nil for anything else.
  package var claims: JSONValue? {
    guard let value = JSONValue(reading: payload), case .object = value else { return nil }
    return value
  }

  /// `x5c`: the certificate of the key that signed, then its issuers, as DER that nobody has parsed yet. Empty when there
  /// is no such member; throws `malformed("x5c")` when it is no list of at least one base64 text (RFC 7515 section 4.1.6).
  package func certificates() throws(JOSEFault) -> [[UInt8]] {
    guard let member = header["x5c"] else { return [] }
    guard case .array(let elements) = member, !elements.isEmpty else { throw .malformed("x5c") }
    var certificates: [[UInt8]] = []
    for element in elements {
      guard let text = element.string, let der = try? Base64.standard.decode(text), !der.isEmpty else {
        throw .malformed("x5c")
      }
      certificates.append(der)
    }
    return certificates
  }

  /// `jwk`: the key that signed, on nobody's word. Nil when there is no such member; throws as `JSONWebKey` does.
  package func embeddedKey() throws(JOSEFault) -> JSONWebKey? {
    guard let member = header["jwk"] else { return nil }
    return try JSONWebKey(reading: member)
  }

  /// Whether the signature is one by `key`: ES256 on P-256, ES384 on P-384 and ES512 on P-521. Every other algorithm, and
  /// one that is not that of the key's curve, is not valid; nothing is thrown.
  package func isSigned(by key: PublicKey) -> Bool {
    guard let expected = key.curve.signatureAlgorithm, algorithm == expected else { return false }
    do {
      let jws = try LibraryObject.texts(["protected": parts[0], "payload": parts[1], "signature": parts[2]])
      let jwk = try LibraryObject(JSONWebKey(key).json)
      return try withLibrary { jose_jws_ver($0, jws.json, nil, jwk.json, true) }
    } catch {
      return false
    }
  }

  /// The compact form of a signed object.
  ///
  /// - Parameters:
  ///   - header: the protected header but for `alg`, which follows from the key's curve and is put first.
  ///   - key: on P-256, P-384 or P-521, with its scalar in this process: libjose signs, and takes no other.
  ///
  /// Throws `key` for other keys, `unsupported` for a header with `alg`, `crit` or `b64`, `malformed("header")` for one with
  /// a name twice, and `tooLarge` when the text would be.
  package static func sign(
    _ payload: JSONValue, header: [JSONValue.Member], with key: PrivateKey
  ) throws(JOSEFault) -> String {
    guard let algorithm = key.curve.signatureAlgorithm else { throw .key("crv") }
    var names: Set<String> = []
    for name in header.map(\.key) {
      guard !["alg", "crit", "b64"].contains(name) else { throw .unsupported(name) }
      guard names.insert(name).inserted else { throw .malformed("header") }
    }
    let protected = JSONValue.object([JSONValue.Member("alg", .string(algorithm))] + header)
    let parts = [protected.text, payload.text].map { Base64.url.encode($0.utf8) }
    guard parts[0].utf8.count + parts[1].utf8.count + 3 * key.curve.fieldSize <= maximumSize else { throw .tooLarge }
    let jws = try LibraryObject.texts(["payload": parts[1]])
    let signature = try LibraryObject.texts(["protected": parts[0]])
    let jwk = try LibraryObject.jwk(key)
    guard try withLibrary({ jose_jws_sig($0, jws.json, signature.json, jwk.json) }) else { throw .library }
    return try parts[0] + "." + parts[1] + "." + signature.text("signature")
  }
}
