/// An instant of the civil clock (UTC without leap seconds), for validity dates. Timeouts use monotonic time.
package struct UnixTime: Comparable, Hashable, Sendable {
  /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
  package var seconds: Int64
  /// Nanoseconds after `seconds`, 0 to 999,999,999.
  package var nanoseconds: Int32

  package init(seconds: Int64, nanoseconds: Int32 = 0) {
    precondition((0..<1_000_000_000).contains(nanoseconds))
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  package static func < (left: UnixTime, right: UnixTime) -> Bool {
    (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
  }

  /// The instant `count` seconds later (earlier when negative); saturates at the ends of 64 bits.
  package func adding(seconds count: Int64) -> UnixTime {
    let (sum, overflow) = seconds.addingReportingOverflow(count)
    return UnixTime(seconds: overflow ? (count < 0 ? .min : .max) : sum, nanoseconds: nanoseconds)
  }

  /// The calendar date at this instant, at an offset from UTC in seconds (east is positive).
  package func date(offsetSeconds: Int = 0) -> CalendarDate {
    CalendarDate(daysSince1970: Int(adding(seconds: Int64(offsetSeconds)).seconds.flooredQuotient(86_400)))
  }
}

extension Int64 {
  func flooredQuotient(_ divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}

extension UnixTime: CustomStringConvertible {
  /// RFC 3339 text in UTC, whole seconds: `2026-06-01T12:00:00Z`.
  package var description: String {
    let day = seconds.flooredQuotient(86_400)
    let rest = Int(seconds - day * 86_400)
    return
      "\(CalendarDate(daysSince1970: Int(day)))T\(twoDigits(rest / 3600)):\(twoDigits(rest / 60 % 60)):\(twoDigits(rest % 60))Z"
  }
}

func twoDigits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
