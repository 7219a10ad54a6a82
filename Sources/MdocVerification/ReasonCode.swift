extension Reason {
  /// The stable text form, used by events, JSON, the terminal and the tests: the name without its parameters.
  package var code: String { described.code }

  /// The row of the list of checks, such as "B8".
  package var check: String { described.check }

  /// The code with its parameters in parentheses, such as `digestMismatch(org.iso.18013.5.1, family_name)`.
  ///
  /// Name spaces, element identifiers and doc types may come from a stranger's phone: they are cut and made printable.
  package var text: String {
    let parameters = described.parameters
    return parameters.isEmpty ? code : "\(code)(\(parameters.map(Reason.printable).joined(separator: ", ")))"
  }

  private static func printable(_ text: String) -> String {
    let characters = text.unicodeScalars.prefix(80).map { scalar -> Unicode.Scalar in
      (0x20...0x7e).contains(scalar.value) && scalar != "(" && scalar != ")" ? scalar : "?"
    }
    return String(String.UnicodeScalarView(characters))
  }

  private var described: (check: String, code: String, parameters: [String]) {
    switch self {
    case .responseMalformed: ("A1", "responseMalformed", [])
    case .responseVersionUnsupported: ("A2", "responseVersionUnsupported", [])
    case .responseStatus(let status): ("A3", "responseStatus", [String(status)])
    case .noDocuments: ("A4", "noDocuments", [])
    case .documentNotReturned(let docType, let code): ("A4", "documentNotReturned", [docType, String(code)])
    case .zkDocumentsUnsupported: ("A4", "zkDocumentsUnsupported", [])
    case .unrequestedDocument(let docType): ("A5", "unrequestedDocument", [docType])
    case .responseTooLarge: ("A6", "responseTooLarge", [])
    case .issuerAuthMalformed: ("B1", "issuerAuthMalformed", [])
    case .issuerAlgUnsupported: ("B2", "issuerAlgUnsupported", [])
    case .signerCertificateMissing: ("B3", "signerCertificateMissing", [])
    case .signerCertificateMalformed: ("B3", "signerCertificateMalformed", [])
    case .issuerSignatureInvalid: ("B5", "issuerSignatureInvalid", [])
    case .msoMalformed: ("B6", "msoMalformed", [])
    case .msoVersionUnsupported: ("B6", "msoVersionUnsupported", [])
    case .digestAlgorithmUnsupported: ("B7", "digestAlgorithmUnsupported", [])
    case .itemMalformed(let nameSpace): ("B8", "itemMalformed", [nameSpace])
    case .digestMissing(let nameSpace, let element): ("B8", "digestMissing", [nameSpace, element])
    case .digestMismatch(let nameSpace, let element): ("B8", "digestMismatch", [nameSpace, element])
    case .duplicateElement(let nameSpace, let element): ("B9", "duplicateElement", [nameSpace, element])
    case .randomTooShort(let nameSpace, let element): ("B10", "randomTooShort", [nameSpace, element])
    case .docTypeMismatch: ("B11", "docTypeMismatch", [])
    case .signedOutsideSignerValidity: ("B12", "signedOutsideSignerValidity", [])
    case .notYetValid: ("B13", "notYetValid", [])
    case .expired: ("B13", "expired", [])
    case .validityInfoInconsistent: ("B13", "validityInfoInconsistent", [])
    case .countryMismatch: ("B14", "countryMismatch", [])
    case .jurisdictionMismatch: ("B14", "jurisdictionMismatch", [])
    case .revoked: ("B15", "revoked", [])
    case .suspended: ("B15", "suspended", [])
    case .statusUnknownValue: ("B15", "statusUnknownValue", [])
    case .statusIndexOutOfRange: ("B15", "statusIndexOutOfRange", [])
    case .statusUnavailable(let detail): ("B15", "statusUnavailable", [detail])
    case .deviceAuthMissing: ("C1", "deviceAuthMissing", [])
    case .deviceAuthMalformed: ("C1", "deviceAuthMalformed", [])
    case .deviceKeyInvalid: ("C2", "deviceKeyInvalid", [])
    case .deviceSignatureInvalid: ("C3", "deviceSignatureInvalid", [])
    case .deviceMacInvalid: ("C4", "deviceMacInvalid", [])
    case .deviceElementUnauthorized(let nameSpace, let element):
      ("C5", "deviceElementUnauthorized", [nameSpace, element])
    case .ambiguousElement(let nameSpace, let element): ("C6", "ambiguousElement", [nameSpace, element])
    case .chain(.noTrustAnchor): ("D1", "noTrustAnchor", [])
    case .chain(.signerCertSignatureInvalid): ("D2", "signerCertSignatureInvalid", [])
    case .chain(.signerCertExpired): ("D3", "signerCertExpired", [])
    case .chain(.signerCertNotYetValid): ("D3", "signerCertNotYetValid", [])
    case .chain(.anchorExpired): ("D3", "anchorExpired", [])
    case .chain(.anchorNotYetValid): ("D3", "anchorNotYetValid", [])
    case .chain(.validityNesting): ("D4", "validityNesting", [])
    case .chain(.signerProfile(let fault)): ("D5", "signerProfile", [fault.rawValue])
    case .chain(.anchorProfile(let fault)): ("D6", "anchorProfile", [fault.rawValue])
    case .chain(.countryMismatchChain): ("D7", "countryMismatchChain", [])
    case .chain(.stateMismatchChain): ("D7", "stateMismatchChain", [])
    case .chain(.signerRevoked): ("D8", "signerRevoked", [])
    case .chain(.revocationUnknown): ("D8", "revocationUnknown", [])
    case .chain(.selfSignedSigner): ("D9", "selfSignedSigner", [])
    case .signerKey(let fault): ("D5", "signerKey", [fault.rawValue])
    case .unrequestedElement(let nameSpace, let element): ("E1", "unrequestedElement", [nameSpace, element])
    case .ageContradictory(let nameSpace, let element): ("E1", "ageContradictory", [nameSpace, element])
    case .elementTypeInvalid(let nameSpace, let element): ("E2", "elementTypeInvalid", [nameSpace, element])
    case .documentExpired: ("E3", "documentExpired", [])
    case .portraitUnreadable: ("E4", "portraitUnreadable", [])
    }
  }
}
