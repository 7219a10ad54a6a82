import CivilTime
import Mdoc
import MdocVerification
import Testing

@testable import Policy

/// The whole truth table of age conditions.
@Suite("Age conditions") struct AgeTests {
  /// A statement: nothing, or a number with its value.
  static let statements: [(AgeOver, Bool)?] =
    [nil]
    + [0, 17, 18, 20, 21, 22, 25, 99].flatMap { years in [(years, true), (years, false)] }
    .map { (AgeOver(years: $0.0)!, $0.1) }

  static let limits = [0, 18, 21, 99]

  /// What one statement says, written apart from the product: TRUE above proves, FALSE below disproves.
  private func says(_ statement: (AgeOver, Bool)?, limit: Int) -> Int {
    guard let (age, value) = statement else { return 0 }
    if value { return age.years >= limit ? 1 : 0 }
    return age.years <= limit ? -1 : 0
  }

  private func combined(_ votes: [Int]) -> AgeAnswer {
    switch (votes.contains(1), votes.contains(-1)) {
    case (true, true): .contradictory
    case (true, false): .yes
    case (false, true): .no
    case (false, false): .unknown
    }
  }

  @Test("two statements, age in years and birth date give the answer of the table", arguments: limits)
  func table(limit: Int) {
    let today = CalendarDate(year: 2026, month: 6, day: 1)!
    let ages: [UInt64?] = [nil, 0, 17, 18, 20, 21, 98, 99, 200, .max]
    let births: [(AgeFacts.BirthDate, Int?)] = [
      (.absent, nil), (.otherForm, nil), (.day(CalendarDate(year: 2005, month: 6, day: 1)!), 21),
      (.day(CalendarDate(year: 2005, month: 6, day: 2)!), 20), (.day(CalendarDate(year: 2008, month: 6, day: 1)!), 18),
      (.day(CalendarDate(year: 2008, month: 6, day: 2)!), 17), (.day(CalendarDate(year: 2026, month: 6, day: 1)!), 0),
      (.day(CalendarDate(year: 2026, month: 6, day: 2)!), nil), (.day(CalendarDate(year: 1927, month: 6, day: 1)!), 99),
    ]
    var rows = 0
    for first in AgeTests.statements {
      for second in AgeTests.statements {
        for age in ages {
          for (birth, years) in births {
            for allowed in 0..<4 {
              let inYears = allowed & 1 != 0
              let byBirth = allowed & 2 != 0
              let rule = AgeLimit(
                years: AgeOver(years: limit)!, nameSpace: "n", allowsAgeInYears: inYears, allowsBirthDate: byBirth)
              let facts = AgeFacts(
                statements: [first, second].compactMap { $0 }, ageInYears: age, birthDate: birth)
              var votes = [says(first, limit: limit), says(second, limit: limit)]
              if inYears, let age { votes.append(age >= limit ? 1 : -1) }
              if byBirth, let years { votes.append(years >= limit ? 1 : -1) }
              if rule.answer(from: facts, localDate: today) != combined(votes) {
                Issue.record("limit \(limit), \(facts), allowed \(allowed): expected \(combined(votes))")
              }
              rows += 1
            }
          }
        }
      }
    }
    #expect(rows == 17 * 17 * 10 * 9 * 4)
  }

  @Test(
    "the answers a field case lists",
    arguments: [
      (21, 25, true, AgeAnswer.yes), (21, 18, false, .no), (21, 18, true, .unknown), (21, 25, false, .unknown),
      (23, 25, true, .yes), (21, 21, true, .yes), (21, 21, false, .no),
    ])
  func fieldCase(limit: Int, years: Int, value: Bool, answer: AgeAnswer) throws {
    let rule = AgeLimit(years: try #require(AgeOver(years: limit)), nameSpace: "n")
    let facts = AgeFacts(statements: [(try #require(AgeOver(years: years)), value)])
    #expect(rule.answer(from: facts, localDate: CalendarDate(daysSince1970: 20_000)) == answer)
  }

  @Test(
    "a birthday on 29 February is completed on 1 March of common years",
    arguments: [
      ("2026-02-28", false), ("2026-03-01", true), ("2028-02-29", true), ("2028-02-28", true), ("2025-12-31", false),
    ])
  func leapDay(date: String, isAdult: Bool) throws {
    var rule = AgeLimit(years: try #require(AgeOver(years: 18)), nameSpace: "n")
    rule.allowsBirthDate = true
    let facts = AgeFacts(birthDate: .day(try #require(CalendarDate("2008-02-29"))))
    #expect(rule.answer(from: facts, localDate: try #require(CalendarDate(date))) == (isAdult ? .yes : .no))
  }

  @Test("statements of another kind, name space or spelling, and those of the device, say nothing")
  func noStatement() throws {
    let today = CalendarDate(daysSince1970: 20_000)
    let limit = AgeLimit(years: try #require(AgeOver(years: 18)), nameSpace: mdl)
    let silent: [VerifiedElement] = [
      element("age_over_18", .string("true")), element("age_over_18", .unsigned(1)),
      element("age_over_018", .bool(true)), element("Age_over_18", .bool(true)), element("age_over_100", .bool(true)),
      element("age_over_18", .bool(true), in: "org.iso.18013.5.1.aamva"),
      element("age_over_18", .bool(true), isDeviceSigned: true), element("age_in_years", .string("20")),
      element("age_in_years", .unsigned(20), isDeviceSigned: true), element("age_birth_year", .unsigned(1980)),
    ]
    for element in silent {
      #expect(limit.refusals(of: document([element]), localDate: today) == [.ageUnknown(limit.years)])
    }
    #expect(limit.refusals(of: document([element("age_over_18", .bool(true))]), localDate: today).isEmpty)
  }

  @Test("birth_date in another form, or in the future, is unusable and leaves the age unknown")
  func birthDateForms() throws {
    let years = try #require(AgeOver(years: 18))
    let today = try #require(CalendarDate("2026-06-01"))
    let limit = AgeLimit(years: years, nameSpace: mdl, allowsBirthDate: true)
    let dateTime = try #require(DateTime("1980-01-01T00:00:00Z"))
    let forms: [ElementValue] = [
      .dateTime(dateTime), .string("1980-01-01"), .unreadable, .null, .unsigned(1980),
      .date(try #require(CalendarDate("2026-06-02"))),
    ]
    for form in forms {
      let reasons = limit.refusals(of: document([element("birth_date", form)]), localDate: today)
      #expect(reasons == [.ageUnknown(years), .birthDateUnusable])
    }
    let given = document([element("birth_date", .date(try #require(CalendarDate("1980-01-01"))))])
    #expect(limit.refusals(of: given, localDate: today).isEmpty)
    let forbidden = AgeLimit(years: years, nameSpace: mdl)
    #expect(forbidden.refusals(of: given, localDate: today) == [.ageUnknown(years)])
  }
}
