import Bytes
import Crypto
import JOSE
import JSON
import Web

/// How the messages of one credential are encrypted (OpenID4VCI 1.0, section 10), decided from what issuer and wallet want.
struct MessageProtection {
  /// Nil for requests in the clear.
  let request: (key: JSONWebKey, content: ContentEncryption)?
  /// Nil for answers in the clear. The key is for this credential only.
  let response: (key: PrivateKey, content: ContentEncryption)?

  /// Requests are encrypted when the issuer requires it, and when they carry the key for an encrypted answer, so that nobody
  /// replaces that key; where an issuer requires encrypted answers and cannot take encrypted requests, they are sent as they are.
  ///
  /// - Throws: `unsupported` when the issuer requires what this wallet has not.
  init(for issuer: IssuerMetadata, isWanted: Bool) throws(IssuanceError) {
    var request: (key: JSONWebKey, content: ContentEncryption)?
    if let offered = issuer.requestEncryption {
      if let key = offered.key, let content = offered.content {
        request = (key, content)
      } else if offered.isRequired {
        throw IssuanceError(.issuer, .issuerMetadata, .unsupported("credential_request_encryption"))
      }
    }
    var content: ContentEncryption?
    if let offered = issuer.responseEncryption {
      let isPossible = offered.hasKeyAgreement && offered.content != nil
      if offered.isRequired, !isPossible {
        throw IssuanceError(.issuer, .issuerMetadata, .unsupported("credential_response_encryption"))
      }
      if isPossible, offered.isRequired || (isWanted && request != nil) { content = offered.content }
    }
    if let content {
      do { response = (try PrivateKey.generate(.p256), content) } catch {
        throw IssuanceError(.wallet, .credential, .cryptography)
      }
    } else {
      response = nil
    }
    self.request = content != nil || issuer.requestEncryption?.isRequired == true ? request : nil
  }

  /// The member that asks for an encrypted answer; nil for one in the clear. `alg` stands within the key, and beside it for
  /// issuers that look there.
  var parameters: JSONValue? {
    response.map { response in
      let key = JSONWebKey(response.key.publicKey, id: "1", use: "enc", algorithm: keyAgreement)
      return .object([
        "jwk": key.json, "alg": .string(keyAgreement), "enc": .string(response.content.rawValue),
      ])
    }
  }

  /// A request with this body.
  func request(
    to address: WebAddress, body: JSONValue, _ dialogue: ServerDialogue
  ) throws(IssuanceError) -> WebRequest {
    let accept = response == nil ? "application/json" : "\(encryptedMediaType), application/json"
    let bytes = Array(body.text.utf8)
    guard let request else { return .post(address, type: "application/json", body: bytes, accept: accept) }
    do {
      let text = try CompactJWE.encrypt(bytes, to: request.key, encryption: request.content)
      return .post(address, type: encryptedMediaType, body: Array(text.utf8), accept: accept)
    } catch {
      throw IssuanceError(.wallet, dialogue.step, .cryptography)
    }
  }

  /// The object in an answer. One in the clear is not taken where an encrypted one was asked for.
  func object(in answer: WebAnswer, _ dialogue: ServerDialogue) throws(IssuanceError) -> JSONValue {
    guard let response else { return try dialogue.object(in: answer) }
    guard answer.mediaType == encryptedMediaType, let text = String(validating: answer.body, as: UTF8.self),
      let message = try? CompactJWE(reading: text), message.encryption == response.content.rawValue,
      let plain = try? message.decrypted(with: response.key)
    else { throw dialogue.failure(.notEncrypted) }
    guard let value = JSONValue(reading: plain), case .object = value else { throw dialogue.failure(.notJSON) }
    return value
  }
}
