import Crypto
import JOSE
import JSON
import Web

/// To which key, and how, an answer is encrypted (OpenID4VP 1.0, section 8.3; ISO/IEC 18013-7 Annex B).
package struct ResponseEncryption: Equatable, Sendable {
  package let key: JSONWebKey
  package let content: ContentEncryption

  package init(key: JSONWebKey, content: ContentEncryption) {
    self.key = key
    self.content = content
  }

  /// The first key of the verifier's metadata that can be used, and the first way that both know.
  init(metadata: JSONValue?, form: AuthorizationRequest.Form) throws(RequestFault) {
    guard let metadata else { throw .parameter("client_metadata", .missing) }
    guard let keys = metadata["jwks"]?["keys"]?.elements, keys.count <= 100 else { throw .encryptionKey }
    let usable = keys.compactMap { element -> JSONWebKey? in
      guard let key = try? JSONWebKey(reading: element), key.use == nil || key.use == "enc",
        key.key.curve.kind == .weierstrass
      else { return nil }
      return key
    }
    switch form {
    case .final:
      // `alg` says how a key is to be used; without it nobody said (section 8.3).
      guard let key = usable.first(where: { $0.algorithm == "ECDH-ES" }) else { throw .encryptionKey }
      let names = metadata["encrypted_response_enc_values_supported"]?.strings ?? [ContentEncryption.a128GCM.rawValue]
      self.init(key: key, content: try ResponseEncryption.choose(names))
    case .annexB:
      let algorithm = metadata["authorization_encrypted_response_alg"]?.string
      guard algorithm == nil || algorithm == "ECDH-ES" else { throw .encryptionUnsupported(printable(algorithm ?? "")) }
      guard let key = usable.first(where: { $0.algorithm == nil || $0.algorithm == "ECDH-ES" }) else {
        throw .encryptionKey
      }
      let name = metadata["authorization_encrypted_response_enc"]?.string ?? ContentEncryption.a256GCM.rawValue
      self.init(key: key, content: try ResponseEncryption.choose([name]))
    }
  }

  private static func choose(_ names: [String]) throws(RequestFault) -> ContentEncryption {
    guard let known = names.compactMap(ContentEncryption.init(rawValue:)).first else {
      throw .encryptionUnsupported(names.prefix(5).map { printable($0, limit: 30) }.joined(separator: ", "))
    }
    return known
  }
}
