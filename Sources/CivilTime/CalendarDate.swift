/// A day of the Gregorian calendar without a time zone: `full-date` of RFC 8943.
package struct CalendarDate: Comparable, Hashable, Sendable {
  package let year: Int
  /// 1 to 12.
  package let month: Int
  /// 1 to 31.
  package let day: Int

  /// Nil when there is no such day.
  package init?(year: Int, month: Int, day: Int) {
    guard (0...9999).contains(year), (1...12).contains(month), day >= 1,
      day <= CalendarDate.days(in: month, of: year)
    else { return nil }
    self.init(unchecked: (year, month, day))
  }

  private init(unchecked parts: (year: Int, month: Int, day: Int)) {
    (year, month, day) = parts
  }

  /// The day a number of days after 1970-01-01 (before, when negative).
  package init(daysSince1970 days: Int) {
    // Years counted from 1 March, so that the leap day is the last of its year: 400-year eras of 146,097 days.
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    self.init(
      unchecked: (
        yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1
      ))
  }

  /// Days since 1970-01-01.
  package var daysSince1970: Int {
    let marchYear = month <= 2 ? year - 1 : year
    let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
    let yearOfEra = marchYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  package static func < (left: CalendarDate, right: CalendarDate) -> Bool {
    (left.year, left.month, left.day) < (right.year, right.month, right.day)
  }

  /// How many whole years lie between this day of birth and `date`; negative when it is in the future.
  ///
  /// A person born on 29 February completes a year on 1 March of common years.
  package func completedYears(on date: CalendarDate) -> Int {
    let reached = (date.month, date.day) >= (month, day)
    return date.year - year - (reached ? 0 : 1)
  }

  static func days(in month: Int, of year: Int) -> Int {
    switch month {
    case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

extension CalendarDate: CustomStringConvertible {
  /// `YYYY-MM-DD`.
  package var description: String {
    let digits = String(year)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "-\(twoDigits(month))-\(twoDigits(day))"
  }

  /// The date of `YYYY-MM-DD` text with ASCII digits; nil for anything else, such as 30 February.
  package init?(_ text: String) {
    self.init(characters: Array(text.utf8)[...])
  }

  init?(characters: ArraySlice<UInt8>) {
    let start = characters.startIndex
    guard characters.count == 10, characters[start + 4] == UInt8(ascii: "-"),
      characters[start + 7] == UInt8(ascii: "-"),
      let year = number(characters[start..<start + 4]), let month = number(characters[start + 5..<start + 7]),
      let day = number(characters[start + 8..<start + 10])
    else { return nil }
    self.init(year: year, month: month, day: day)
  }
}

/// The value of one to nine ASCII digits; nil for anything else.
func number(_ digits: ArraySlice<UInt8>) -> Int? {
  guard (1...9).contains(digits.count) else { return nil }
  var value = 0
  for digit in digits {
    guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
    value = value * 10 + Int(digit - UInt8(ascii: "0"))
  }
  return value
}
