internal import CJOSE
import Crypto
import JSON

/// A JSON object as libjose takes and changes it. Keys in it are wiped when it goes.
struct LibraryObject: ~Copyable {
  /// Owned: one reference, given up in deinit. Whoever borrows it does so on the same thread, while this lives.
  let json: UnsafeMutablePointer<json_t>

  /// Takes over a reference.
  init(adopting json: UnsafeMutablePointer<json_t>?) throws(JOSEFault) {
    guard let json else { throw .library }
    self.json = json
  }

  /// The same object as ours.
  init(_ value: JSONValue) throws(JOSEFault) {
    var text = value.text
    // the library reads the bytes while the closures last and keeps none of them
    let made = text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { json_loadb($0.baseAddress, $0.count, 0, nil) }
    }
    try self.init(adopting: made)
  }

  /// An object with these texts.
  static func texts(_ members: KeyValuePairs<String, String>) throws(JOSEFault) -> LibraryObject {
    let object = try LibraryObject(adopting: json_object())
    for (name, text) in members { try object.set(name, to: text) }
    return object
  }

  /// A private JWK. libjose clears the copies it makes of the scalar; this one is wiped when it goes.
  ///
  /// Throws `key` for the curves that libjose has not, and for a key whose scalar is not here but in a token.
  static func jwk(_ key: PrivateKey) throws(JOSEFault) -> LibraryObject {
    guard key.curve.signatureAlgorithm != nil else { throw .key("crv") }
    let jwk = try LibraryObject(JSONWebKey(key.publicKey).json)
    let member: UnsafeMutablePointer<json_t>?
    do {
      let scalar = try key.scalar()
      member = scalar.withBytes { jose_b64_enc($0.baseAddress, $0.count) }
    } catch {
      throw .key("private")
    }
    try jwk.set("d", to: member)
    return jwk
  }

  deinit {
    for secret in ["d", "k"] { mdoc_json_wipe(json_object_get(json, secret)) }
    json_decref(json)
  }

  /// Puts a member in, and takes over its reference, also when it throws.
  func set(_ name: String, to value: UnsafeMutablePointer<json_t>?) throws(JOSEFault) {
    guard json_object_set_new(json, name, value) == 0 else { throw .library }
  }

  /// Puts a text in.
  func set(_ name: String, to text: String) throws(JOSEFault) {
    var text = text
    let value = text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { json_stringn($0.baseAddress, $0.count) }
    }
    try set(name, to: value)
  }

  /// The text of a member.
  func text(_ name: String) throws(JOSEFault) -> String { try LibraryObject.text(json_object_get(json, name)) }

  /// The text of a JSON string.
  static func text(_ value: UnsafeMutablePointer<json_t>?) throws(JOSEFault) -> String {
    guard let value, let characters = json_string_value(value) else { throw .library }
    // valid while `value` is, and copied here
    let bytes = UnsafeRawBufferPointer(start: characters, count: json_string_length(value))
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Calls libjose with a configuration of this call's own, which keeps it quiet, and leaves no errors of it in OpenSSL's
/// queue, where the next call of ours would find them.
func withLibrary<Result>(
  _ body: (OpaquePointer) throws(JOSEFault) -> Result
) throws(JOSEFault) -> Result {
  guard let configuration = mdoc_jose_configuration() else { throw .library }
  defer {
    jose_cfg_decref(configuration)
    discardOpenSSLErrors()
  }
  return try body(configuration)
}
