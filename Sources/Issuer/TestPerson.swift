import CBOR
import CivilTime

/// The holder of a test document: an invented person of a chosen age.
package struct TestPerson: Equatable, Sendable {
  package var familyName: String
  package var givenName: String
  package var birthDate: CalendarDate

  /// Names that nobody mistakes for a real person's; "é" so that text is not ASCII only.
  package init(birthDate: CalendarDate, familyName: String = "Spécimen", givenName: String = "Testa Fiktiva") {
    self.familyName = familyName
    self.givenName = givenName
    self.birthDate = birthDate
  }

  /// A person who completed `age` years half a year before `date`; `age` is limited to 0...120.
  package init(age: Int, on date: CalendarDate) {
    let years = min(max(age, 0), 120)
    // Half a year back, then whole years: never 29 February, and never a birthday that is about to come.
    let halfYearAgo = CalendarDate(daysSince1970: date.daysSince1970 - 183)
    let day = min(halfYearAgo.day, 28)
    self.init(
      birthDate: CalendarDate(year: max(halfYearAgo.year - years, 0), month: halfYearAgo.month, day: day) ?? halfYearAgo
    )
  }

  /// The statements `age_over_NN` that are true of this person on `date`, for each of `limits` within 0...99.
  package func ageStatements(for limits: [Int], on date: CalendarDate) -> [Element] {
    let age = birthDate.completedYears(on: date)
    return Set(limits).sorted().filter { (0...99).contains($0) }.map {
      Element("age_over_" + ($0 < 10 ? "0" : "") + String($0), .bool(age >= $0))
    }
  }
}

/// One data element on its way into a document.
package struct Element: Equatable, Sendable {
  package var identifier: String
  package var value: CBORValue

  package init(_ identifier: String, _ value: CBORValue) {
    self.identifier = identifier
    self.value = value
  }
}

/// The elements of one name space, in the order they are issued.
package struct NameSpaceContent: Equatable, Sendable {
  package var nameSpace: String
  package var elements: [Element]

  package init(_ nameSpace: String, _ elements: [Element]) {
    self.nameSpace = nameSpace
    self.elements = elements
  }
}

extension CBORValue {
  /// `full-date`: tag 1004 (RFC 8943).
  package static func fullDate(_ date: CalendarDate) -> CBORValue { .tag(1004, .text(date.description)) }

  /// `tdate`: tag 0, in UTC, without a fraction of a second.
  package static func dateTime(_ instant: UnixTime) -> CBORValue { .tag(0, .text(instant.description)) }
}
