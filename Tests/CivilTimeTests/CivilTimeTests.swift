import Foundation
import Testing

@testable import CivilTime

@Suite("Calendar dates")
struct CalendarDateTests {
  @Test("days since 1970 are those of Foundation's calendar, from year 1600 to 2500")
  func days() {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(secondsFromGMT: 0)!
    for days in stride(from: -135_140, through: 193_600, by: 97) {
      let parts = calendar.dateComponents(
        [.year, .month, .day], from: Date(timeIntervalSince1970: Double(days) * 86_400))
      let date = CalendarDate(daysSince1970: days)
      #expect(date.year == parts.year && date.month == parts.month && date.day == parts.day)
      #expect(date.daysSince1970 == days)
    }
  }

  @Test(
    "a day that is none is nil",
    arguments: [
      "2026-02-30", "2025-02-29", "1900-02-29", "2026-13-01", "2026-00-10", "2026-01-00", "2026-04-31", "2026-1-01",
      "26-01-01", "2026-01-01 ", "２０２６-01-01", "", "2026/01/01",
    ])
  func none(text: String) {
    #expect(CalendarDate(text) == nil)
  }

  @Test(
    "leap days exist where they do, and text comes back",
    arguments: ["2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31"])
  func text(text: String) throws {
    #expect(try #require(CalendarDate(text)).description == text)
  }

  @Test(
    "years complete on the birthday; on 1 March for 29 February in common years",
    arguments: [
      ("2008-11-30", "2026-11-29", 17), ("2008-11-30", "2026-11-30", 18), ("2004-02-29", "2022-02-28", 17),
      ("2004-02-29", "2022-03-01", 18), ("2004-02-29", "2024-02-29", 20), ("2027-01-01", "2026-11-30", -1),
    ])
  func ages(birth: String, today: String, years: Int) throws {
    #expect(try #require(CalendarDate(birth)).completedYears(on: try #require(CalendarDate(today))) == years)
  }
}

@Suite("RFC 3339 date-times")
struct DateTimeTests {
  @Test(
    "instants are right, offsets applied, fractions kept",
    arguments: [
      ("1970-01-01T00:00:00Z", 0, 0, false), ("2026-06-01T12:00:00Z", 1_780_315_200, 0, false),
      ("2026-06-01T14:00:00+02:00", 1_780_315_200, 0, false), ("2026-06-01T05:30:00-06:30", 1_780_315_200, 0, false),
      ("2026-06-01T12:00:00.5Z", 1_780_315_200, 500_000_000, true),
      ("2026-06-01T12:00:00.123456789Z", 1_780_315_200, 123_456_789, true), ("1969-12-31T23:59:59Z", -1, 0, false),
    ])
  func instants(text: String, seconds: Int64, nanoseconds: Int32, hasFraction: Bool) throws {
    let date = try #require(DateTime(text))
    #expect(date.instant == UnixTime(seconds: seconds, nanoseconds: nanoseconds))
    #expect(date.hasFraction == hasFraction)
    #expect(DateTime(characters: Array("T\(text)Z".utf8).dropFirst().dropLast()) == date)
  }

  @Test(
    "what is no date-time is nil",
    arguments: [
      "2026-06-01", "2026-06-01T12:00:00", "2026-06-01t12:00:00Z", "2026-06-01T12:00:00z", "2026-06-01T24:00:00Z",
      "2026-06-01T12:60:00Z", "2026-06-01T12:00:60Z", "2026-02-30T12:00:00Z", "2026-06-01T12:00:00.Z",
      "2026-06-01T12:00:00.1234567890Z", "2026-06-01T12:00:00+2:00", "2026-06-01T12:00:00+24:00",
      "2026-06-01T12:00:00 Z", "2026-06-01T12:00:00Z ", "",
    ])
  func refused(text: String) {
    #expect(DateTime(text) == nil)
    #expect(DateTime(characters: Array("T\(text)Z".utf8).dropFirst().dropLast()) == nil)
  }

  @Test("the written date counts at its own offset")
  func localDate() throws {
    let date = try #require(DateTime("2026-06-01T00:30:00+02:00"))
    #expect(date.localDate.description == "2026-06-01" && date.instant.date().description == "2026-05-31")
  }

  @Test("text of an instant is UTC with whole seconds, and sums saturate")
  func unixTime() {
    #expect(UnixTime(seconds: 1_780_315_200).description == "2026-06-01T12:00:00Z")
    #expect(UnixTime(seconds: -1).description == "1969-12-31T23:59:59Z")
    #expect(UnixTime(seconds: .max).adding(seconds: 1).seconds == .max)
    #expect(UnixTime(seconds: .min).adding(seconds: -1).seconds == .min)
  }
}
