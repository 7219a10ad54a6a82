import Bytes
import CBOR
import Crypto

/// Why an entry of a list is not used. The raw value is a stable name.
package enum VICALEntryFault: String, Error, CaseIterable, Sendable {
  /// Not a map, or a member is missing or of a wrong kind.
  case malformed
  /// Its certificate cannot be read.
  case certificate
  /// The public key is of a kind no mdoc issuer may have: nothing can be verified with it.
  case publicKey
  case serialNumberMismatch
  case subjectKeyIdentifierMismatch
  /// It names no doc type, and so may sign for none.
  case docTypes
  /// The certificate says that it is no certification authority.
  case notAuthority
}

/// An issuer root of a list. Its certificate is what counts; what the list says beside it is for people.
package struct VICALEntry: Sendable {
  package let certificate: Certificate
  /// What it may sign for; never empty.
  package let docTypes: Set<String>
  package let issuingAuthority: String?
  package let issuingCountry: String?

  /// Most doc types of an entry.
  private static let mostDocTypes = 64

  init(_ item: CBORItem) throws(VICALEntryFault) {
    guard item.kind == .map, let der = item[key: "certificate"]?.bytes,
      let serialNumber = item[key: "serialNumber"].flatMap(VICALEntry.serialNumber),
      let identifier = item[key: "ski"]?.bytes
    else { throw .malformed }
    guard let list = item[key: "docType"]?.elements else { throw .docTypes }
    var docTypes: Set<String> = []
    for element in list {
      guard let text = element.text, !text.isEmpty, docTypes.count < VICALEntry.mostDocTypes else { throw .docTypes }
      docTypes.insert(text)
    }
    guard !docTypes.isEmpty else { throw .docTypes }
    guard let certificate = try? Certificate(der) else { throw .certificate }
    guard serialNumber == certificate.serialNumber else { throw .serialNumberMismatch }
    if let found = certificate.subjectKeyIdentifier.value, !VICALEntry.names(identifier, found) {
      throw .subjectKeyIdentifierMismatch
    }
    guard case .success = certificate.publicKey else { throw .publicKey }
    // One that cannot be read is the provider's to judge, who lists it as a root; one that says no is not.
    switch certificate.basicConstraints {
    case .absent: throw .notAuthority
    case .present(let constraints, _) where !constraints.isAuthority: throw .notAuthority
    case .present, .malformed: break
    }
    self.certificate = certificate
    self.docTypes = docTypes
    issuingAuthority = item[key: "issuingAuthority"]?.text
    issuingCountry = item[key: "issuingCountry"]?.text
  }

  /// A bignum (tag 2) or a plain number.
  private static func serialNumber(_ item: CBORItem) -> SerialNumber? {
    if let number = item.uint {
      return SerialNumber(magnitude: (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) })
    }
    guard item.tagNumber == 2, let magnitude = item.tagged?.bytes else { return nil }
    return SerialNumber(magnitude: magnitude)
  }

  /// Whether the list's key identifier is that of the certificate; some lists have the whole extension value there, an
  /// OCTET STRING of DER around another.
  private static func names(_ listed: ByteView, _ found: ByteView) -> Bool {
    var listed = listed
    for _ in 0..<3 {
      if listed.elementsEqual(found) { return true }
      guard listed.count >= 2, listed.first == 4, Int(listed[listed.startIndex + 1]) == listed.count - 2 else {
        return false
      }
      listed = listed.dropFirst(2)
    }
    return false
  }

  /// What an entry says about itself, whatever else is wrong with it; cut and printable.
  static func name(of item: CBORItem) -> String {
    let parts = [item[key: "issuingCountry"], item[key: "stateOrProvinceName"], item[key: "issuingAuthority"]]
      .compactMap { $0?.text }.filter { !$0.isEmpty }
    let text = parts.joined(separator: ", ").unicodeScalars.prefix(80).map { scalar -> Unicode.Scalar in
      (0x20...0x7e).contains(scalar.value) ? scalar : "?"
    }
    return String(String.UnicodeScalarView(text))
  }
}

extension VICALEntryFault {
  /// One line for a technician.
  package var explanation: String {
    switch self {
    case .malformed: "a member is missing or of a wrong kind"
    case .certificate: "its certificate cannot be read"
    case .publicKey: "its public key is not an EC key on a named curve of the standard"
    case .serialNumberMismatch: "its serial number is not that of its certificate"
    case .subjectKeyIdentifierMismatch: "its key identifier is not that of its certificate"
    case .docTypes: "it names no document type"
    case .notAuthority: "its certificate is no certification authority"
    }
  }
}

extension VICALFault {
  /// One line for a technician: what is wrong.
  package var explanation: String {
    switch self {
    case .malformed: "it is no VICAL, or a damaged one"
    case .versionUnsupported: "it is of a version that this reader does not know"
    case .signatureInvalid: "its signature does not verify: it was changed, or is not of its signer"
    case .signerUntrusted: "no certificate that this site trusts to sign lists vouches for its signer"
    case .signerExpired: "the certificate of its signer, or one above it, is not valid now"
    case .signerRevoked: "the certificate of its signer was revoked"
    case .signerProfile: "its signer's certificate is not for signing lists of issuers"
    case .notYetValid: "it was issued in the future: the clock of this machine is wrong, or the list is"
    case .older: "a later list of the same provider is in force"
    }
  }

  /// What to do about it.
  package var hint: String {
    switch self {
    case .malformed, .signatureInvalid: "fetch the list again from its provider"
    case .versionUnsupported: "ask the provider for a list of version 1"
    case .signerUntrusted:
      "get the provider's root certificate by a way you trust, and add it: mdoc-reader trust add FILE --list-signer"
    case .signerExpired, .older: "fetch the provider's present list"
    case .signerRevoked, .signerProfile: "ask the provider"
    case .notYetValid: "set the clock"
    }
  }
}
