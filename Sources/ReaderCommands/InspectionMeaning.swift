import MdocVerification
import Trust

extension Reason {
  /// One line for people: what the finding means.
  var meaning: String {
    switch self {
    case .responseMalformed: "the response is not well-formed CBOR of the structure it should have"
    case .responseVersionUnsupported: "the response has a version other than 1.x"
    case .responseStatus: "the wallet reports an error instead of documents"
    case .noDocuments: "the response contains no document"
    case .documentNotReturned: "the wallet did not return a document that was asked for"
    case .zkDocumentsUnsupported: "zero-knowledge documents came, which this reader cannot check"
    case .unrequestedDocument: "a document came that was not asked for; it is not used"
    case .responseTooLarge: "the response is larger than this reader accepts"
    case .issuerAuthMalformed: "the issuer's signature is missing or not a COSE_Sign1 with its payload"
    case .issuerAlgUnsupported: "the issuer signed with an algorithm that is not allowed"
    case .signerCertificateMissing: "the document does not carry its signer's certificate"
    case .signerCertificateMalformed: "the signer's certificate cannot be read"
    case .issuerSignatureInvalid: "the issuer's signature is wrong: the document was changed or is a forgery"
    case .msoMalformed: "the signed object has not the structure it should have"
    case .msoVersionUnsupported: "the signed object has a version other than 1.0"
    case .digestAlgorithmUnsupported: "the signed object uses a digest algorithm that is not allowed"
    case .itemMalformed: "an element has not the structure it should have"
    case .digestMissing: "the issuer did not sign this element"
    case .digestMismatch: "this element is not the one the issuer signed"
    case .duplicateElement: "an element, or its digest id, came twice"
    case .randomTooShort: "the salt of this element is shorter than 16 bytes"
    case .docTypeMismatch: "the document says it is of another type than the issuer signed"
    case .signedOutsideSignerValidity: "the document was signed when the signer's certificate was not valid"
    case .notYetValid: "the document is not valid yet; check the clock as well"
    case .expired: "the issuer's signature over the document has expired; check the clock as well"
    case .validityInfoInconsistent: "the dates of the signed object contradict one another"
    case .countryMismatch: "the issuing country is not that of the signer's certificate"
    case .jurisdictionMismatch: "the issuing jurisdiction is not that of the signer's certificate"
    case .revoked: "the issuer has revoked the document"
    case .suspended: "the issuer has suspended the document"
    case .statusUnknownValue: "the issuer's status list has a value of unknown meaning"
    case .statusIndexOutOfRange: "the document points outside its status list"
    case .statusUnavailable: "whether the document was revoked could not be found out"
    case .deviceAuthMissing: "the wallet did not prove that the document is its own"
    case .deviceAuthMalformed: "the wallet's proof has not the structure it should have"
    case .deviceKeyInvalid: "the device key in the document cannot be used"
    case .deviceSignatureInvalid: "the wallet's signature does not fit this session: a copy or a wrong transcript"
    case .deviceMacInvalid: "the wallet's MAC does not fit this session: a copy, a wrong transcript or reader key"
    case .deviceElementUnauthorized: "the device signed an element that the issuer did not let it sign"
    case .ambiguousElement: "an element came both from the issuer and from the device"
    case .noTrustAnchor: "none of the trusted issuer roots issued the signer's certificate"
    case .signerCertSignatureInvalid: "the signer's certificate was not signed by the root it names"
    case .signerCertExpired: "the signer's certificate has expired"
    case .signerCertNotYetValid: "the signer's certificate is not valid yet; check the clock as well"
    case .anchorExpired: "the issuer root has expired; ask the issuer for the renewed one"
    case .anchorNotYetValid: "the issuer root is not valid yet; check the clock as well"
    case .validityNesting: "the signer's certificate is valid outside the dates of its root"
    case .signerProfile(let detail):
      SignerProfileFault(rawValue: detail).map { "about the signer's certificate: \($0.explanation)" }
        ?? "the signer's certificate does not keep to its profile"
    case .anchorProfile(let detail):
      AnchorProfileFault(rawValue: detail).map { "about the issuer root: \($0.explanation)" }
        ?? "the issuer root does not keep to its profile"
    case .countryMismatchChain: "the signer's certificate and its root name different countries"
    case .stateMismatchChain: "the signer's certificate and its root name different states"
    case .signerRevoked: "the issuer has revoked the signer's certificate"
    case .revocationUnknown: "whether the signer's certificate was revoked could not be found out"
    case .selfSignedSigner: "the document is signed with a root itself instead of a document signer"
    case .unrequestedElement: "an element came that was not asked for; it is not used"
    case .ageContradictory: "the age statements contradict one another"
    case .elementTypeInvalid: "the element has not the kind of value it is defined with"
    case .documentExpired: "the document's own expiry date has passed"
    case .portraitUnreadable: "the portrait is not a JPEG or JPEG 2000 picture"
    }
  }
}
