import Mdoc
import MdocVerification

/// What a site asks for: one document, or several as alternatives of which any one is enough.
package struct RequestTemplate: Equatable, Sendable {
  /// In the order of preference; each doc type once.
  package let documents: [DocumentTemplate]

  /// Refuses what no reader should send or could ever grant; all problems are listed, not only the first.
  package init(_ documents: [DocumentTemplate]) throws(RequestTemplateError) {
    let problems = RequestTemplate.problems(in: documents)
    guard problems.isEmpty else { throw RequestTemplateError(problems: problems) }
    self.documents = documents
  }

  private init(unchecked documents: [DocumentTemplate]) {
    self.documents = documents
  }

  /// A mobile driving licence: family name, given name, date of birth; nothing is kept.
  package static let standard = RequestTemplate(
    unchecked: [
      DocumentTemplate(
        request: ItemsRequest(
          docType: MDLElements.docType,
          nameSpaces: [
            ItemsRequest.NameSpaceRequest(
              nameSpace: MDLElements.nameSpace,
              elements: ["family_name", "given_name", "birth_date"].map {
                ItemsRequest.ElementRequest(identifier: $0, intentToRetain: false)
              })
          ]),
        conditions: [])
    ])

  /// What is sent: one request for each document.
  package var itemsRequests: [ItemsRequest] { documents.map(\.request) }

  /// Whether any element is asked for with the intent to keep it.
  package var retainsAnything: Bool { documents.contains { !$0.retained.isEmpty } }
}

/// One alternative: what is asked of a document, and what it must fulfil.
package struct DocumentTemplate: Equatable, Sendable {
  /// What is sent.
  package let request: ItemsRequest
  /// All must hold. Without conditions, a verified document that shares at least one element is enough.
  package let conditions: [Condition]

  package init(request: ItemsRequest, conditions: [Condition]) {
    self.request = request
    self.conditions = conditions
  }

  /// The elements asked for with the intent to keep them.
  package var retained: [ElementName] {
    request.nameSpaces.flatMap { nameSpace in
      nameSpace.elements.filter(\.intentToRetain).map {
        ElementName(nameSpace: nameSpace.nameSpace, element: $0.identifier)
      }
    }
  }

  /// All elements asked for, in order.
  package var requested: [ElementName] {
    request.nameSpaces.flatMap { nameSpace in
      nameSpace.elements.map { ElementName(nameSpace: nameSpace.nameSpace, element: $0.identifier) }
    }
  }
}
