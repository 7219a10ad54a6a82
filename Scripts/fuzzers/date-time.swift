// seed: 2024-02-29T23:59:59Z
// seed: 2020-10-01T13:30:02.123456789+05:30
// seed: 1899-12-31
// options: -max_len=64
import CivilTime

func fuzz(_ input: [UInt8]) {
  let text = String(decoding: input, as: UTF8.self)
  if let date = CalendarDate(text) { expect(CalendarDate("\(date)") == date, "a date is stable") }
  if let dateTime = DateTime(text) {
    expect((-86_400...86_400).contains(dateTime.offsetSeconds), "an offset is less than a day")
    _ = dateTime.localDate
  }
}
