import Crypto
import Mdoc
import StatusLists
import Trust

/// One result of a check that has something to report.
package struct Finding: Hashable, Sendable {
  /// What it costs.
  package enum Severity: String, Sendable {
    /// The document, or at response level the whole response, is untrusted.
    case failure
    /// A warning; the document can still be verified.
    case warning
    /// An element, or a document, that is not used; the rest stands.
    case dropped
    /// Something about the content, not about its authenticity.
    case information
  }

  package let severity: Severity
  package let reason: Reason
  /// Index into `documents` of the response; nil at response level.
  package let document: Int?

  package init(_ severity: Severity, _ reason: Reason, document: Int? = nil) {
    self.severity = severity
    self.reason = reason
    self.document = document
  }
}

/// The answer of a whole verification, with all findings and not only the first.
package struct Verdict: Sendable {
  /// One for each returned document, in order.
  package let documents: [DocumentVerdict]
  /// Findings at response level.
  package let findings: [Finding]

  init(documents: [DocumentVerdict], findings: [Finding]) {
    self.documents = documents
    self.findings = findings
  }

  /// Nothing hard was found in the response or in any document that was not dropped, and at least one requested
  /// document is verified.
  package var isVerified: Bool {
    allFindings.allSatisfy { $0.severity != .failure } && documents.contains { $0.isVerified }
  }

  /// The findings of the response, then those of each document.
  package var allFindings: [Finding] { findings + documents.flatMap(\.findings) }
}

/// The result for one document.
package struct DocumentVerdict: Sendable {
  package let docType: String
  package let findings: [Finding]
  /// The document's content, only when it is verified; nil otherwise.
  package let verified: VerifiedDocument?
  /// What revocation lists say about the signer, whether or not the policy asks; nil when there is nobody to ask about:
  /// no root, or a signer that is trusted itself.
  package let signerRevocation: RevocationAnswer?
  /// What status lists say about the document, whether or not the policy asks; nil when it names none.
  package let status: StatusAnswer?
  /// Where lists about this document and its signer are to be had: known only from a document that is verified.
  package let lists: ListAddresses?

  init(
    docType: String, findings: [Finding], verified: VerifiedDocument?, signerRevocation: RevocationAnswer? = nil,
    status: StatusAnswer? = nil, lists: ListAddresses? = nil
  ) {
    self.docType = docType
    self.findings = findings
    self.verified = verified
    self.signerRevocation = signerRevocation
    self.status = status
    self.lists = lists
  }

  package var isVerified: Bool { verified != nil }
}

/// Addresses of lists that a verified document and its signer name; they say nothing about the holder.
package struct ListAddresses: Sendable {
  private let signer: Certificate
  /// Of the status list or identifier list; nil when the document names none.
  package let status: String?

  init(signer: Certificate, status: String?) {
    self.signer = signer
    self.status = status
  }

  /// Of the revocation lists of the signer, in the order to be tried.
  package var revocation: [String] { signer.crlDistributionPoints.value?.uris ?? [] }
}

/// What a verified document proved: only the verifier makes one, and only after every hard check passed.
package struct VerifiedDocument: Sendable {
  package let docType: String
  /// Issuing country: countryName of the signer certificate (ISO 3166-1 alpha-2), nil where it has none.
  package let issuingCountry: String?
  /// Elements that were asked for and may be used, in the order received.
  package let elements: [VerifiedElement]
  /// For each requested `age_over_NN`, what issuer-signed statements prove about it.
  package let ages: [AgeResult]
  /// Asked for and not given, whatever the wallet says about it.
  package let missing: [ElementName]

  init(
    docType: String, issuingCountry: String?, elements: [VerifiedElement], ages: [AgeResult], missing: [ElementName]
  ) {
    self.docType = docType
    self.issuingCountry = issuingCountry
    self.elements = elements
    self.ages = ages
    self.missing = missing
  }

  /// The value of an element under exactly this name space.
  package func value(of element: String, in nameSpace: String) -> ElementValue? {
    elements.first { $0.name.nameSpace == nameSpace && $0.name.element == element }?.value
  }
}

/// A name space and an element identifier in it.
package struct ElementName: Hashable, Sendable {
  package let nameSpace: String
  package let element: String

  package init(nameSpace: String, element: String) {
    self.nameSpace = nameSpace
    self.element = element
  }

  /// Elements first: they differ more often than name spaces, which are long besides.
  package static func == (left: ElementName, right: ElementName) -> Bool {
    left.element == right.element && left.nameSpace == right.nameSpace
  }
}

/// One element of a verified document.
package struct VerifiedElement: Sendable {
  package let name: ElementName
  package let value: ElementValue
  /// Signed by the device rather than the issuer: authorized, but the holder's own word.
  package let isDeviceSigned: Bool

  package init(name: ElementName, value: ElementValue, isDeviceSigned: Bool) {
    self.name = name
    self.value = value
    self.isDeviceSigned = isDeviceSigned
  }
}

/// What the document proves about one requested age limit.
package struct AgeResult: Equatable, Sendable {
  package let nameSpace: String
  package let limit: AgeOver
  package let answer: AgeAnswer

  package init(nameSpace: String, limit: AgeOver, answer: AgeAnswer) {
    self.nameSpace = nameSpace
    self.limit = limit
    self.answer = answer
  }
}
