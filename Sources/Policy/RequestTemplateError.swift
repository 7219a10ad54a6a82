import Mdoc
import MdocVerification

/// Everything that is wrong with a request template.
package struct RequestTemplateError: Error, Equatable, Sendable {
  package let problems: [RequestTemplateProblem]
}

/// One thing that is wrong with a request template, and where.
package struct RequestTemplateProblem: Equatable, Sendable {
  /// What is wrong, with the names it is about.
  package enum Kind: Equatable, Sendable {
    case noDocuments
    /// Asked for twice: a request names each doc type once.
    case duplicateDocType(String)
    case noNameSpaces
    case noElements(nameSpace: String)
    case duplicateNameSpace(String)
    case duplicateElement(ElementName)
    /// More than two, which no conforming request carries.
    case tooManyAges([String])
    /// A condition looks at an element that is not asked for, so it could never hold.
    case elementNotRequested(ElementName)
    /// No requested element could ever prove the age.
    case ageCannotBeProved(AgeOver)
    /// A condition that accepts no value.
    case noAcceptedValues(ElementName)
    case emptyName
  }

  package let kind: Kind
  /// Index of the document; nil where the whole template is meant.
  package let document: Int?
  /// Index of the condition in its document, where one is to blame.
  package let condition: Int?

  package init(_ kind: Kind, document: Int? = nil, condition: Int? = nil) {
    self.kind = kind
    self.document = document
    self.condition = condition
  }

  /// What is wrong, in words.
  package var problem: String {
    switch kind {
    case .noDocuments: "no document is asked for"
    case .duplicateDocType(let docType): "doc type \(docType) is asked for twice"
    case .noNameSpaces: "no name space is asked for"
    case .noElements(let nameSpace): "no element of \(nameSpace) is asked for"
    case .duplicateNameSpace(let nameSpace): "name space \(nameSpace) is listed twice"
    case .duplicateElement(let name): "\(name.element) of \(name.nameSpace) is listed twice"
    case .tooManyAges(let elements):
      "\(elements.count) age elements in one request (\(elements.joined(separator: ", "))), at most 2 are allowed"
    case .elementNotRequested(let name): "\(name.element) of \(name.nameSpace) is not requested, so this never holds"
    case .ageCannotBeProved(let limit): "no requested element can prove an age of \(limit.years)"
    case .noAcceptedValues(let name): "no value of \(name.element) is accepted, so this never holds"
    case .emptyName: "a name is empty"
    }
  }

  /// What to do about it.
  package var remedy: String {
    switch kind {
    case .noDocuments: "add a [[request.document]]"
    case .duplicateDocType: "put all its elements into one document"
    case .noNameSpaces, .noElements: "list the elements to ask for"
    case .duplicateNameSpace: "put its elements into one list"
    case .duplicateElement: "keep one of them"
    case .tooManyAges: "ask only for the limits that the conditions need"
    case .elementNotRequested(let name): "add \(name.element) to the elements, or remove the condition"
    case .ageCannotBeProved(let limit): "request \(limit.element), or allow another source that is requested"
    case .noAcceptedValues: "list at least one value, or use present"
    case .emptyName: "write the name, or remove the entry"
    }
  }
}

extension RequestTemplate {
  /// Checks alternatives without making a template of them.
  package static func problems(in documents: [DocumentTemplate]) -> [RequestTemplateProblem] {
    guard !documents.isEmpty else { return [RequestTemplateProblem(.noDocuments)] }
    var seen: Set<String> = []
    return documents.enumerated().flatMap { place, document in
      var kinds: [RequestTemplateProblem.Kind] = []
      if !seen.insert(document.request.docType).inserted { kinds.append(.duplicateDocType(document.request.docType)) }
      kinds += document.requestProblems
      return kinds.map { RequestTemplateProblem($0, document: place) }
        + document.conditions.enumerated().flatMap { index, condition in
          document.problems(of: condition).map { RequestTemplateProblem($0, document: place, condition: index) }
        }
    }
  }
}

extension DocumentTemplate {
  fileprivate var requestProblems: [RequestTemplateProblem.Kind] {
    var kinds: [RequestTemplateProblem.Kind] = []
    if request.docType.isEmpty { kinds.append(.emptyName) }
    if request.nameSpaces.isEmpty { kinds.append(.noNameSpaces) }
    var nameSpaces: Set<String> = []
    for nameSpace in request.nameSpaces {
      if nameSpace.nameSpace.isEmpty { kinds.append(.emptyName) }
      if !nameSpaces.insert(nameSpace.nameSpace).inserted { kinds.append(.duplicateNameSpace(nameSpace.nameSpace)) }
      if nameSpace.elements.isEmpty { kinds.append(.noElements(nameSpace: nameSpace.nameSpace)) }
    }
    var names: Set<ElementName> = []
    for name in requested {
      if name.element.isEmpty { kinds.append(.emptyName) }
      if !names.insert(name).inserted { kinds.append(.duplicateElement(name)) }
    }
    let ages = requested.map(\.element).filter { AgeOver(element: $0) != nil }
    if ages.count > 2 { kinds.append(.tooManyAges(ages)) }
    return kinds
  }

  fileprivate func problems(of condition: Condition) -> [RequestTemplateProblem.Kind] {
    if case .ageAtLeast(let limit) = condition {
      let isPossible = requested.contains { $0.nameSpace == limit.nameSpace && limit.canBeProved(by: $0.element) }
      return isPossible ? [] : [.ageCannotBeProved(limit.years)]
    }
    guard let element = condition.element else { return [] }
    let name = ElementName(nameSpace: condition.nameSpace, element: element)
    var kinds: [RequestTemplateProblem.Kind] = []
    if !requested.contains(name) { kinds.append(.elementNotRequested(name)) }
    if case .accepted(_, let values) = condition, values.isEmpty { kinds.append(.noAcceptedValues(name)) }
    return kinds
  }
}
