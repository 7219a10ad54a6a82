import Web

/// Why a credential that came is not handed out.
package enum IssuedCredentialFault: Error, Equatable, Sendable {
  /// The member `credential` is no text.
  case notText
  /// Base64 with padding, or of the standard alphabet: the final text says base64url without.
  case padded
  case notBase64URL
  case notCBOR
  /// IssuerSigned inside of something else.
  case wrapped(Wrapping)
  /// CBOR, and no IssuerSigned.
  case notIssuerSigned
  /// The mobile security object cannot be read; the text names the member.
  case objectMalformed(String)
  /// The signed doc type is not that of the configuration.
  case otherDocType
  /// Bound to a key that is none of those proved.
  case otherDeviceKey
  /// Bound to a key that another credential of the answer has already.
  case repeatedDeviceKey
  /// An element that the configuration calls mandatory is not there.
  case missingElement(nameSpace: String, element: String)
  /// Checks of the document failed: the texts of their reasons, in the order of the checks.
  case notAuthentic([String])
  /// No root that is trusted vouches for the signer.
  case untrustedIssuer

  /// What an IssuerSigned may come wrapped in.
  package enum Wrapping: String, Sendable {
    /// A Document of a DeviceResponse: `docType` and `issuerSigned`.
    case document = "Document"
    case deviceResponse = "DeviceResponse"
    /// A byte string, with or without tag 24.
    case byteString = "byte string"
  }
}

extension IssuedCredentialFault: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notText: "the credential is no text"
    case .padded: "the credential is base64 with padding or of the wrong alphabet, not base64url"
    case .notBase64URL: "the credential is not base64url"
    case .notCBOR: "the credential is not CBOR"
    case .wrapped(let wrapping): "the credential is a \(wrapping.rawValue), not the IssuerSigned in it"
    case .notIssuerSigned: "the credential is no IssuerSigned"
    case .objectMalformed(let member):
      "the mobile security object is malformed" + (member.isEmpty ? "" : " at \(member)")
    case .otherDocType: "the signed doc type is another one than the configuration's"
    case .otherDeviceKey: "the credential is bound to another key than those proved"
    case .repeatedDeviceKey: "two credentials are bound to one key"
    case .missingElement(let nameSpace, let element):
      "the mandatory element \(printable(element)) of \(printable(nameSpace)) is missing"
    case .notAuthentic(let reasons): "the document fails its checks: " + reasons.joined(separator: ", ")
    case .untrustedIssuer: "no trusted root vouches for the issuer"
    }
  }
}
