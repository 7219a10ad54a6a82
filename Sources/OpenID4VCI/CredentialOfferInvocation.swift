import Bytes
import JSON
import Web

extension CredentialOffer {
  /// Schemes that start a wallet with an offer, beside https: the standard's, and that of the high assurance profile.
  package static let schemes = ["openid-credential-offer", "haip-vci"]

  /// What an invocation brings.
  package enum Invocation: Equatable, Sendable {
    case offer(CredentialOffer)
    /// Where the offer is to be had; https, or http on this machine.
    case reference(WebAddress)

    /// Reads the text of a QR code or link (OpenID4VCI 1.0, section 4.1): exactly one of `credential_offer` and
    /// `credential_offer_uri`. How long it may be is said by `InvocationURI`.
    package init(_ text: String) throws(IssuanceError) {
      guard let uri = InvocationURI(text), CredentialOffer.schemes.contains(uri.scheme) || uri.scheme == "https" else {
        throw IssuanceError(.issuer, .offer, .notAnOffer)
      }
      switch (uri.fields["credential_offer"], uri.fields["credential_offer_uri"]) {
      case (let value?, nil):
        self = .offer(try CredentialOffer(reading: JSONValue(reading: Array(value.utf8))))
      case (nil, let reference?):
        guard let address = WebAddress(reference) else {
          throw IssuanceError(.issuer, .offer, .malformed("credential_offer_uri"))
        }
        guard address.isConfidential else {
          throw IssuanceError(.issuer, .offer, .notConfidential("credential_offer_uri"))
        }
        self = .reference(address)
      default: throw IssuanceError(.issuer, .offer, .notAnOffer)
      }
    }
  }

  /// The offer by value, as a QR code or link carries it.
  package func invocation(scheme: String = "openid-credential-offer") -> String {
    let fields: FormFields = ["credential_offer": json.text]
    return "\(scheme)://?\(fields.text)"
  }

  /// An offer by reference.
  package static func invocation(at address: WebAddress, scheme: String = "openid-credential-offer") -> String {
    let fields: FormFields = ["credential_offer_uri": address.text]
    return "\(scheme)://?\(fields.text)"
  }
}
