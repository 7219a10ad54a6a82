import Mdoc

@testable import MdocVerification

let mdl = MDLElements.nameSpace

func element(
  _ name: String, _ value: ElementValue, in nameSpace: String = mdl, isDeviceSigned: Bool = false
) -> VerifiedElement {
  VerifiedElement(
    name: ElementName(nameSpace: nameSpace, element: name), value: value, isDeviceSigned: isDeviceSigned)
}

func document(_ elements: [VerifiedElement], docType: String = MDLElements.docType) -> VerifiedDocument {
  VerifiedDocument(docType: docType, issuingCountry: "UT", elements: elements, ages: [], missing: [])
}

func verdict(_ documents: [VerifiedDocument], findings: [Finding] = []) -> Verdict {
  Verdict(
    documents: documents.map { DocumentVerdict(docType: $0.docType, findings: [], verified: $0) }, findings: findings)
}

func rejected(_ reasons: [Reason], severity: Finding.Severity = .failure) -> DocumentVerdict {
  DocumentVerdict(
    docType: MDLElements.docType, findings: reasons.map { Finding(severity, $0, document: 0) }, verified: nil)
}

func request(_ elements: [String], in nameSpace: String = mdl, docType: String = MDLElements.docType) -> ItemsRequest {
  ItemsRequest(
    docType: docType,
    nameSpaces: [
      ItemsRequest.NameSpaceRequest(
        nameSpace: nameSpace,
        elements: elements.map { ItemsRequest.ElementRequest(identifier: $0, intentToRetain: false) })
    ])
}
