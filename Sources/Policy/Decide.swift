import CivilTime
import Mdoc
import MdocVerification

extension RequestTemplate {
  /// The decision on a verdict. `localDate` is the calendar date at the reader.
  ///
  /// Granted only when the verdict is verified and a verified document of one alternative fulfils all its conditions.
  /// Warnings cost nothing here: what they cost is the verification policy's matter.
  package func decision(on verdict: Verdict, localDate: CalendarDate) -> Decision {
    guard verdict.isVerified else { return .refuse(RequestTemplate.reasons(of: verdict)) }
    var reasons: [RefusalReason] = []
    for template in documents {
      for document in verdict.documents.compactMap(\.verified) where document.docType == template.request.docType {
        let refusals = template.refusals(of: document, localDate: localDate)
        if refusals.isEmpty { return .grant }
        reasons += refusals
      }
    }
    return .refuse(reasons.isEmpty ? [.documentNotAccepted] : RequestTemplate.distinct(reasons))
  }

  /// The hard findings; without any, what is missing for a verified document.
  private static func reasons(of verdict: Verdict) -> [RefusalReason] {
    let failures = verdict.allFindings.filter { $0.severity == .failure }
    guard failures.isEmpty else { return distinct(failures.map { .notVerified($0.reason) }) }
    return [verdict.documents.isEmpty ? .nothingShared : .documentNotAccepted]
  }

  private static func distinct(_ reasons: [RefusalReason]) -> [RefusalReason] {
    var seen: Set<RefusalReason> = []
    return reasons.filter { seen.insert($0).inserted }
  }
}

extension DocumentTemplate {
  /// Why a verified document is not enough; empty when it is.
  func refusals(of document: VerifiedDocument, localDate: CalendarDate) -> [RefusalReason] {
    // Counted by what was asked: the verifier drops the rest already, and this holds whatever it does.
    let asked = Set(requested)
    let isAnythingShared = document.elements.contains { element in
      asked.contains(element.name) || AgeOver(element: element.name.element) != nil
    }
    guard isAnythingShared else { return [.nothingShared] }
    return conditions.flatMap { $0.refusals(of: document, localDate: localDate) }
  }
}

extension Condition {
  /// Why the condition does not hold; empty when it does.
  func refusals(of document: VerifiedDocument, localDate: CalendarDate) -> [RefusalReason] {
    switch self {
    case .ageAtLeast(let limit): return limit.refusals(of: document, localDate: localDate)
    case .present(let name): return Condition.value(of: name, in: document) { _ in nil }
    case .accepted(let name, let values):
      return Condition.value(of: name, in: document) { value in
        let answers = values.compactMap { $0.equals(value) }
        if answers.contains(true) { return nil }
        return answers.isEmpty ? .elementUnreadable(name) : .valueNotAccepted(name)
      }
    case .notExpired(let nameSpace):
      let name = ElementName(nameSpace: nameSpace, element: MDLElements.expiryDate)
      return Condition.value(of: name, in: document) { value in
        guard let date = value.calendarDate else { return .elementUnreadable(name) }
        return date < localDate ? .documentExpired : nil
      }
    case .drivingPrivilege(let nameSpace, let category):
      let name = ElementName(nameSpace: nameSpace, element: MDLElements.drivingPrivileges)
      return Condition.value(of: name, in: document) { value in
        Condition.privilegeRefusal(value, name: name, category: category, localDate: localDate)
      }
    }
  }

  /// Judges an issuer-signed, readable value; what is missing, the device's word or unreadable is refused before that.
  private static func value(
    of name: ElementName, in document: VerifiedDocument, judge: (ElementValue) -> RefusalReason?
  ) -> [RefusalReason] {
    let given = document.elements.filter { $0.name == name }
    guard let element = given.first(where: { !$0.isDeviceSigned }) else {
      return [given.isEmpty ? .elementMissing(name) : .elementNotIssuerSigned(name)]
    }
    switch element.value {
    case .unreadable, .null: return [.elementUnreadable(name)]
    default: return judge(element.value).map { [$0] } ?? []
    }
  }

  private static func privilegeRefusal(
    _ value: ElementValue, name: ElementName, category: String, localDate: CalendarDate
  ) -> RefusalReason? {
    guard case .array(let privileges) = value else { return .elementUnreadable(name) }
    let listed = privileges.filter { $0.member("vehicle_category_code") == .string(category) }
    if listed.isEmpty { return .privilegeMissing(category: category) }
    let isValid = listed.contains { privilege in
      bound(privilege.member(MDLElements.issueDate)) { $0 <= localDate }
        && bound(privilege.member(MDLElements.expiryDate)) { localDate <= $0 }
    }
    return isValid ? nil : .privilegeNotValid(category: category)
  }

  /// An absent date bounds nothing; one that is no full-date never holds.
  private static func bound(_ value: ElementValue?, holds: (CalendarDate) -> Bool) -> Bool {
    guard let value else { return true }
    guard case .date(let date) = value else { return false }
    return holds(date)
  }
}
