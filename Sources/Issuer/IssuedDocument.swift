import Mdoc

/// A document as it leaves its issuer, who knows no private key of the holder's.
package struct IssuedDocument: Sendable {
  package let docType: String
  /// In the order they were issued.
  package var nameSpaces: [Credential.NameSpace]
  /// The encoded COSE_Sign1.
  package let issuerAuth: [UInt8]

  /// The IssuerSigned structure with every item: what is sent to the holder.
  package var issuerSigned: [UInt8] { Credential.issuerSigned(nameSpaces, issuerAuth: issuerAuth).encode() }
}
