import Mdoc
import MdocVerification
import Policy
import Trust

/// `[request]`: the alternatives of a request template.
enum RequestSchema {
  /// Keys that appear only inside `[[request.document]]`, for the list of known keys.
  static func visitKeys(_ findings: SchemaFindings) {
    let scratch = SchemaFindings()
    var document = Section(table: TOMLValue.empty, path: "request.document", findings: scratch)
    _ = readDocument(&document, mayRetain: true)
    var condition = Section(table: TOMLValue.empty, path: "request.document.condition", findings: scratch)
    _ = ConditionSchema.read(&condition, nameSpaces: [])
    findings.knownKeys.formUnion(scratch.knownKeys)
  }

  /// Nil after reporting why there is none.
  static func read(_ request: inout Section, mayRetain: Bool) -> (template: RequestTemplate, demands: Demands)? {
    let problemsBefore = request.findings.errors.count
    let sections = request.sections("document")
    guard var sections, !sections.isEmpty else {
      if request.findings.errors.count == problemsBefore {
        request.report(
          "document", line: request.table?.member("document")?.line ?? request.line, "is missing",
          "add a [[request.document]] with doc_type and name_spaces")
      }
      return nil
    }
    // What follows from a document that could not be read as written is not reported on top of it.
    let documents = sections.indices.map { readDocument(&sections[$0], mayRetain: mayRetain) }.filter(\.isClean)
    do throws(RequestTemplateError) {
      let template = try RequestTemplate(documents.compactMap(\.template))
      return documents.count == sections.count ? (template, Demands(documents)) : nil
    } catch {
      for problem in error.problems where problem.kind != .noDocuments {
        report(problem, request: request, documents: documents)
      }
      return nil
    }
  }

  /// What a missing answer about revocation costs, for the doc types that have an opinion of their own.
  struct Demands {
    var signerRevocation: [String: RevocationDemand] = [:]
    var documentStatus: [String: RevocationDemand] = [:]

    init(_ documents: [Document]) {
      for document in documents {
        guard let docType = document.template?.request.docType else { continue }
        signerRevocation[docType] = document.signerRevocation
        documentStatus[docType] = document.documentStatus
      }
    }
  }

  /// A document and the places of its parts, so that a problem found later can name its line.
  struct Document {
    var template: DocumentTemplate?
    /// Whether nothing was wrong with it by itself.
    var isClean = false
    var section: Section
    var conditionLines: [Int] = []
    var elementLines: [ElementName: [Int]] = [:]
    var nameSpaceLines: [String: Int] = [:]
    var signerRevocation: RevocationDemand?
    var documentStatus: RevocationDemand?
  }

  private static func report(_ problem: RequestTemplateProblem, request: Section, documents: [Document]) {
    guard let place = problem.document, documents.indices.contains(place) else {
      request.report("document", line: request.line, problem.problem, problem.remedy)
      return
    }
    let document = documents[place]
    let section = document.section
    if let condition = problem.condition, document.conditionLines.indices.contains(condition) {
      let line = document.conditionLines[condition]
      section.report("condition[\(condition + 1)]", line: line, problem.problem, problem.remedy)
      return
    }
    switch problem.kind {
    case .duplicateDocType:
      let line = section.table?.member("doc_type")?.line ?? section.line
      section.report("doc_type", line: line, problem.problem, problem.remedy)
    case .duplicateElement(let name):
      let line = document.elementLines[name]?.last ?? section.line
      section.report("name_spaces.\"\(name.nameSpace)\"", line: line, problem.problem, problem.remedy)
    case .noElements(let nameSpace):
      let line = document.nameSpaceLines[nameSpace] ?? section.line
      section.report("name_spaces.\"\(nameSpace)\"", line: line, problem.problem, problem.remedy)
    case .tooManyAges:
      let lines = document.elementLines.filter { AgeOver(element: $0.key.element) != nil }.values.joined()
      section.report("name_spaces", line: lines.max() ?? section.line, problem.problem, problem.remedy)
    default:
      let line = section.table?.member("name_spaces")?.line ?? section.line
      section.report("name_spaces", line: line, problem.problem, problem.remedy)
    }
  }

  private static func readDocument(_ section: inout Section, mayRetain: Bool) -> Document {
    let errorsBefore = section.findings.errors.count
    let docType = section.requiredText("doc_type", example: MDLElements.docType)
    if section.table?.member("name_spaces") == nil {
      section.report("name_spaces", line: section.line, "is missing", "list the elements to ask for by name space")
    }
    let spaces = section.section("name_spaces")
    var document = Document(section: section)
    var nameSpaces: [ItemsRequest.NameSpaceRequest] = []
    if case .table(let members) = spaces.table?.content {
      for (name, value) in members {
        document.nameSpaceLines[name] = value.line
        let elements = readElements(value, nameSpace: name, in: spaces, mayRetain: mayRetain, &document)
        nameSpaces.append(ItemsRequest.NameSpaceRequest(nameSpace: name, elements: elements))
      }
    }
    var conditions: [Condition] = []
    for var condition in section.sections("condition") ?? [] {
      if let read = ConditionSchema.read(&condition, nameSpaces: nameSpaces.map(\.nameSpace)) {
        conditions.append(read)
        document.conditionLines.append(condition.line)
      }
      condition.finish()
    }
    // Absent means what [verification] says; the value given then is not looked at.
    let revocation = section.demand("signer_revocation", default: .prefer)
    let status = section.demand("document_status", default: .prefer)
    document.signerRevocation = section.table?.member("signer_revocation").map { _ in revocation }
    document.documentStatus = section.table?.member("document_status").map { _ in status }
    section.finish()
    document.section = section
    document.isClean = section.findings.errors.count == errorsBefore
    document.template = docType.map {
      DocumentTemplate(request: ItemsRequest(docType: $0, nameSpaces: nameSpaces), conditions: conditions)
    }
    return document
  }

  private static func readElements(
    _ value: TOMLValue, nameSpace: String, in spaces: Section, mayRetain: Bool, _ document: inout Document
  ) -> [ItemsRequest.ElementRequest] {
    let key = "\"\(nameSpace)\""
    guard case .array(let entries) = value.content else {
      spaces.reportKind(key, value, wanted: "a list of elements", example: "[\"family_name\", \"given_name\"]")
      return []
    }
    var elements: [ItemsRequest.ElementRequest] = []
    for entry in entries {
      guard let element = readElement(entry, key: key, in: spaces) else { continue }
      if element.intentToRetain, !mayRetain {
        spaces.report(
          key, line: entry.line, "\(element.identifier.quotable) is to be retained, but no sink is declared",
          "set request.retention_sink, or remove retain")
      }
      elements.append(element)
      let name = ElementName(nameSpace: nameSpace, element: element.identifier)
      document.elementLines[name, default: []].append(entry.line)
    }
    return elements
  }

  private static func readElement(_ entry: TOMLValue, key: String, in spaces: Section) -> ItemsRequest.ElementRequest? {
    switch entry.content {
    case .string(let text):
      return spaces.checked(text, key, line: entry.line, example: "family_name")
        .map { ItemsRequest.ElementRequest(identifier: $0, intentToRetain: false) }
    case .table:
      var section = Section(table: entry, path: spaces.fullKey(key), findings: spaces.findings)
      let name = section.requiredText("element", example: "portrait")
      let retain = section.bool("retain", default: false)
      section.finish()
      return name.map { ItemsRequest.ElementRequest(identifier: $0, intentToRetain: retain) }
    default:
      spaces.report(
        key, line: entry.line, "holds \(entry.kind), must hold element names",
        "write \"name\", or { element = \"name\", retain = true }")
      return nil
    }
  }
}
