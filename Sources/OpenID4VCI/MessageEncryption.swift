import Crypto
import JOSE
import JSON

/// How an issuer takes encrypted requests (`credential_request_encryption`, OpenID4VCI 1.0 section 12.2.4).
package struct CredentialRequestEncryption: Equatable, Sendable {
  /// The first key of its set that this wallet can use; nil when there is none.
  package let key: JSONWebKey?
  /// The best of its content encryptions that this wallet has; nil when there is none.
  package let content: ContentEncryption?
  package let isRequired: Bool

  package init(key: JSONWebKey, content: ContentEncryption, isRequired: Bool) {
    self.key = key
    self.content = content
    self.isRequired = isRequired
  }

  init(_ members: MemberReading) throws(IssuanceError) {
    guard let keys = try members.members("jwks")?.list("keys", most: 100) else {
      throw members.failure(.missing("jwks"))
    }
    key = keys.lazy.compactMap { try? JSONWebKey(reading: $0.object) }.first {
      $0.key.curve == .p256 && $0.id != nil && ($0.algorithm ?? keyAgreement) == keyAgreement && $0.use != "sig"
    }
    content = bestEncryption(try members.texts("enc_values_supported", most: 100) ?? [])
    isRequired = try members.flag("encryption_required") ?? false
  }

  package var json: JSONValue {
    .object([
      "jwks": .object(["keys": .array(key.map { [$0.json] } ?? [])]),
      "enc_values_supported": .array(content.map { [.string($0.rawValue)] } ?? []),
      "encryption_required": .bool(isRequired),
    ])
  }
}

/// How an issuer encrypts its answers (`credential_response_encryption`, OpenID4VCI 1.0 section 12.2.4).
package struct CredentialResponseEncryption: Equatable, Sendable {
  /// Whether ECDH-ES is among its key agreements.
  package let hasKeyAgreement: Bool
  /// The best of its content encryptions that this wallet has; nil when there is none.
  package let content: ContentEncryption?
  package let isRequired: Bool

  package init(content: ContentEncryption, isRequired: Bool) {
    hasKeyAgreement = true
    self.content = content
    self.isRequired = isRequired
  }

  init(_ members: MemberReading) throws(IssuanceError) {
    hasKeyAgreement = (try members.texts("alg_values_supported", most: 100) ?? []).contains(keyAgreement)
    content = bestEncryption(try members.texts("enc_values_supported", most: 100) ?? [])
    isRequired = try members.flag("encryption_required") ?? false
  }

  package var json: JSONValue {
    .object([
      "alg_values_supported": [.string(keyAgreement)],
      "enc_values_supported": .array(content.map { [.string($0.rawValue)] } ?? []),
      "encryption_required": .bool(isRequired),
    ])
  }
}

/// The one key agreement of encrypted messages here.
let keyAgreement = "ECDH-ES"

/// The media type of encrypted messages.
let encryptedMediaType = "application/jwt"

private func bestEncryption(_ names: [String]) -> ContentEncryption? {
  [ContentEncryption.a256GCM, .a128GCM].first { names.contains($0.rawValue) }
}
