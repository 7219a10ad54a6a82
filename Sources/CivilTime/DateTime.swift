/// RFC 3339 date-time text, strict: ASCII digits, a real date, capital `T` and `Z`, no leap second.
package struct DateTime: Hashable, Sendable {
  /// The instant it names, its offset applied.
  package let instant: UnixTime
  /// Whether a fraction of a second was written; conforming documents have none.
  package let hasFraction: Bool
  /// Seconds east of UTC as written; 0 for `Z`.
  package let offsetSeconds: Int

  /// The date as it was written, at its own offset.
  package var localDate: CalendarDate { instant.date(offsetSeconds: offsetSeconds) }

  /// Nil when the text is not an RFC 3339 date-time. A fraction of up to 9 digits and any offset are accepted.
  package init?(_ text: String) { self.init(characters: Array(text.utf8)[...]) }

  /// The same from the characters of the text in UTF-8.
  package init?(characters: ArraySlice<UInt8>) {
    let start = characters.startIndex
    guard characters.count >= 20, let date = CalendarDate(characters: characters[start..<start + 10]),
      characters[start + 10] == UInt8(ascii: "T"), characters[start + 13] == UInt8(ascii: ":"),
      characters[start + 16] == UInt8(ascii: ":"),
      let hour = number(characters[start + 11..<start + 13]), hour < 24,
      let minute = number(characters[start + 14..<start + 16]), minute < 60,
      let second = number(characters[start + 17..<start + 19]), second < 60
    else { return nil }
    var rest = characters[(start + 19)...]
    var nanoseconds = 0
    hasFraction = rest.first == UInt8(ascii: ".")
    if hasFraction {
      rest = rest.dropFirst()
      let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      guard let fraction = number(digits) else { return nil }
      nanoseconds = (digits.count..<9).reduce(fraction) { value, _ in value * 10 }
      rest = rest.dropFirst(digits.count)
    }
    guard let offset = DateTime.offset(rest) else { return nil }
    offsetSeconds = offset
    let local = Int64(date.daysSince1970) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
    instant = UnixTime(seconds: local - Int64(offset), nanoseconds: Int32(nanoseconds))
  }

  private static func offset(_ text: ArraySlice<UInt8>) -> Int? {
    if text.elementsEqual([UInt8(ascii: "Z")]) { return 0 }
    let start = text.startIndex
    guard text.count == 6, text[start + 3] == UInt8(ascii: ":"),
      text[start] == UInt8(ascii: "+") || text[start] == UInt8(ascii: "-"),
      let hours = number(text[start + 1..<start + 3]), hours < 24,
      let minutes = number(text[start + 4..<start + 6]), minutes < 60
    else { return nil }
    let seconds = hours * 3600 + minutes * 60
    return text[start] == UInt8(ascii: "-") ? -seconds : seconds
  }
}
