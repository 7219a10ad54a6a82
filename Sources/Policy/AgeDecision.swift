import CivilTime
import Mdoc
import MdocVerification

extension AgeLimit {
  /// Why the limit is not proved; empty when it is.
  func refusals(of document: VerifiedDocument, localDate: CalendarDate) -> [RefusalReason] {
    let facts = AgeFacts(document, nameSpace: nameSpace)
    var reasons: [RefusalReason] = []
    switch answer(from: facts, localDate: localDate) {
    case .yes: return []
    case .no: reasons = [.ageTooLow(years)]
    case .unknown: reasons = [.ageUnknown(years)]
    case .contradictory: reasons = [.ageContradictory(years)]
    }
    if allowsBirthDate, facts.birthDate.isUnusable(on: localDate) { reasons.append(.birthDateUnusable) }
    return reasons
  }

  /// What all allowed sources say together. They agree, or say nothing; a yes beside a no is a contradiction, since
  /// the issuer signed both. A source that the site does not allow is not looked at, not even to contradict.
  func answer(from facts: AgeFacts, localDate: CalendarDate) -> AgeAnswer {
    var answers = [years.answer(from: facts.statements)]
    if allowsAgeInYears, let age = facts.ageInYears { answers.append(age >= UInt64(years.years) ? .yes : .no) }
    if allowsBirthDate, let age = facts.birthDate.age(on: localDate) { answers.append(age >= years.years ? .yes : .no) }
    if answers.contains(.contradictory) || answers.contains(.yes) && answers.contains(.no) { return .contradictory }
    return answers.first { $0 != .unknown } ?? .unknown
  }
}

/// What a document says about age, by issuer-signed elements of one name space.
struct AgeFacts {
  enum BirthDate: Equatable {
    case absent
    case day(CalendarDate)
    /// Text, a date-time or anything else than a full-date: never guessed at.
    case otherForm

    /// Completed years on calendar days; nil when there is nothing to reckon with.
    func age(on date: CalendarDate) -> Int? {
      guard case .day(let birth) = self, birth <= date else { return nil }
      return birth.completedYears(on: date)
    }

    func isUnusable(on date: CalendarDate) -> Bool {
      self != .absent && age(on: date) == nil
    }
  }

  var statements: [(AgeOver, Bool)] = []
  var ageInYears: UInt64?
  var birthDate = BirthDate.absent

  init(statements: [(AgeOver, Bool)] = [], ageInYears: UInt64? = nil, birthDate: BirthDate = .absent) {
    self.statements = statements
    self.ageInYears = ageInYears
    self.birthDate = birthDate
  }

  init(_ document: VerifiedDocument, nameSpace: String) {
    for element in document.elements where element.name.nameSpace == nameSpace && !element.isDeviceSigned {
      switch (element.name.element, element.value) {
      case (MDLElements.ageInYears, .unsigned(let years)): ageInYears = years
      case (MDLElements.birthDate, .date(let date)): birthDate = .day(date)
      case (MDLElements.birthDate, _): birthDate = .otherForm
      case (let name, .bool(let value)):
        if let statement = AgeOver(element: name) { statements.append((statement, value)) }
      default: break
      }
    }
  }
}
