import Bytes
import CBOR
import CivilTime
import Testing

@testable import Mdoc

@Suite("Element values")
struct ElementValueTests {
  private func value(_ value: CBORValue) throws -> ElementValue { ElementValue(try decodeCBOR(value.encode())) }

  @Test("one day in its forms: a full date is a day, a date-time has one, text has none")
  func oneDay() throws {
    let day = try #require(CalendarDate("1990-03-01"))
    #expect(try value(.tag(1004, "1990-03-01")) == .date(day))
    let moment = try value(.tag(0, "1990-03-01T23:30:00-08:00"))
    // The day of the clock it was written by, not of UTC, where it was the next already.
    #expect(moment.calendarDate == day)
    #expect(try value(.tag(0, "1990-03-01T00:00:00Z")).calendarDate == day)
    #expect(try value("1990-03-01") == .string("1990-03-01"))
    #expect(try value("1990-03-01").calendarDate == nil)
  }

  @Test(
    "what is no day is unreadable, and no other day is made of it",
    arguments: [
      "2023-02-29", "1900-02-29", "2024-02-30", "2024-13-01", "2024-00-10", "2024-01-00", "2024-1-1", "24-01-01",
      "2024-01-01T00:00:00Z", "20240101", "2024-01-01 ", " 2024-01-01", "", "+2024-01-01", "2024-01-0\u{661}",
    ])
  func noDay(text: String) throws {
    #expect(try value(.tag(1004, .text(text))) == .unreadable)
  }

  @Test("leap days are days where there is one")
  func leapDays() throws {
    for text in ["2024-02-29", "2000-02-29", "0000-02-29"] {
      #expect(try value(.tag(1004, .text(text))).calendarDate?.description == text)
    }
  }

  @Test("other tags and kinds around a date are no date")
  func otherForms() throws {
    for form in [
      .tag(1, 636_249_600), .tag(100, 7364), .tag(1004, 7364), .tag(0, "1990-03-01"), .tag(1004, .bytes([1])),
      .tag(1004, .tag(1004, "1990-03-01")), .tag(24, .bytes([0xf6])),
    ] as [CBORValue] {
      #expect(try value(form) == .unreadable, "\(form)")
    }
    #expect(try value(19_900_301) == .unsigned(19_900_301))
  }

  @Test("integers keep their sign and size")
  func integers() throws {
    for (hex, expected) in [
      ("00", .unsigned(0)), ("1bffffffffffffffff", .unsigned(.max)), ("1b8000000000000000", .unsigned(1 << 63)),
      ("20", .int(-1)), ("3b7fffffffffffffff", .int(.min)), ("3b8000000000000000", .unreadable),
      ("3bffffffffffffffff", .unreadable),
    ] as [(String, ElementValue)] {
      #expect(ElementValue(try decodeCBOR(bytes(hex: hex) ?? [])) == expected)
    }
  }
}
