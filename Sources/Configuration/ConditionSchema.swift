import Mdoc
import MdocVerification
import Policy

/// `[[request.document.condition]]`: one condition, named by the key that says what it asks.
enum ConditionSchema {
  private static let kinds = ["present", "equals", "one_of", "not_expired", "age_at_least", "driving_privilege"]

  /// Nil after reporting why there is none. A document with one name space need not name it.
  static func read(_ section: inout Section, nameSpaces: [String]) -> Condition? {
    let errorsBefore = section.findings.errors.count
    let named = section.text("name_space", example: MDLElements.nameSpace)
    let present = section.text("present", example: "portrait")
    let element = section.text("element", example: "issuing_country")
    let equals = section.value("equals")
    let oneOf = section.value("one_of")
    let notExpired = section.bool("not_expired", default: true)
    let years = section.integer("age_at_least", default: 0, range: 0...99)
    let allowsAgeInYears = section.bool("allow_age_in_years", default: true)
    let allowsBirthDate = section.bool("allow_birth_date", default: false)
    let privilege = section.text("driving_privilege", example: "B")
    let given = kinds.filter { section.table?.member($0) != nil }
    guard given.count == 1, let kind = given.first else {
      section.report(
        given.last ?? "", line: section.line,
        given.isEmpty ? "names no condition" : "names \(given.count) conditions (\(given.joined(separator: ", ")))",
        "write exactly one of \(kinds.joined(separator: ", ")) in each condition")
      return nil
    }
    refuseStrayKeys(section, kind: kind)
    if kind == "equals" || kind == "one_of", section.table?.member("element") == nil {
      section.report("element", line: section.line, "is missing", "add element = \"issuing_country\"")
    }
    if kind == "not_expired", !notExpired {
      let line = section.table?.member(kind)?.line ?? section.line
      section.report(kind, line: line, "is false, which asks nothing", "write true, or remove the condition")
    }
    guard let nameSpace = named ?? (nameSpaces.count == 1 ? nameSpaces.first : nil) else {
      if section.table?.member("name_space") == nil, nameSpaces.count > 1 {
        section.report(
          "name_space", line: section.line, "is missing, and the document has \(nameSpaces.count) name spaces",
          "add name_space = \"\(nameSpaces[0].quotable)\"")
      }
      return nil
    }
    let condition: Condition?
    switch kind {
    case "present": condition = present.map { .present(ElementName(nameSpace: nameSpace, element: $0)) }
    case "equals", "one_of":
      let values = equals.map { accepted([$0], kind, section) } ?? list(oneOf, section)
      condition = element.map { .accepted(ElementName(nameSpace: nameSpace, element: $0), values) }
    case "not_expired": condition = .notExpired(nameSpace: nameSpace)
    case "age_at_least":
      condition = AgeOver(years: years).map {
        .ageAtLeast(
          AgeLimit(
            years: $0, nameSpace: nameSpace, allowsAgeInYears: allowsAgeInYears, allowsBirthDate: allowsBirthDate))
      }
    default: condition = privilege.map { .drivingPrivilege(nameSpace: nameSpace, category: $0) }
    }
    return section.findings.errors.count == errorsBefore ? condition : nil
  }

  /// Keys that belong to another kind of condition would do nothing here.
  private static func refuseStrayKeys(_ section: Section, kind: String) {
    let owners = [
      "element": ["equals", "one_of"], "allow_age_in_years": ["age_at_least"], "allow_birth_date": ["age_at_least"],
    ]
    for (key, kinds) in owners.sorted(by: { $0.key < $1.key }) where !kinds.contains(kind) {
      guard let value = section.table?.member(key) else { continue }
      section.report(
        key, line: value.line, "does nothing beside \(kind)", "remove it; it goes with \(kinds.joined(separator: ", "))"
      )
    }
  }

  private static func list(_ value: TOMLValue?, _ section: Section) -> [AcceptedValue] {
    guard let value else { return [] }
    guard case .array(let elements) = value.content else {
      section.reportKind("one_of", value, wanted: "a list", example: "[\"AT\", \"DE\"]")
      return []
    }
    return accepted(elements, "one_of", section)
  }

  private static func accepted(_ values: [TOMLValue], _ key: String, _ section: Section) -> [AcceptedValue] {
    values.compactMap { value in
      switch value.content {
      case .string(let text): return .text(text)
      case .integer(let number): return .integer(number)
      case .double(let number): return .double(number)
      case .bool(let flag): return .bool(flag)
      case .date(let date): return .date(date)
      case .table, .array, .time:
        section.reportKind(key, value, wanted: "text, a number, true or false, or a date", example: "\"DE\"")
        return nil
      }
    }
  }
}
