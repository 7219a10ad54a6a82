import CivilTime

/// An element value as typed data, the way SDKs of the field hand it out.
///
/// Values of documents are personal data: this type has no `description` on purpose, and nothing that logs may
/// take it. CBOR that has no place here (simple values, other tags, odd map keys) is `unreadable`.
package indirect enum ElementValue: Equatable, Sendable {
  case bool(Bool)
  case string(String)
  /// A negative integer that fits 64 bits.
  case int(Int64)
  /// A non-negative integer.
  case unsigned(UInt64)
  case double(Double)
  /// Tag 1004 (RFC 8943).
  case date(CalendarDate)
  /// Tag 0 (RFC 3339).
  case dateTime(DateTime)
  case data([UInt8])
  /// In the order received; keys are text.
  case map([MapEntry])
  case array([ElementValue])
  case null
  /// Well-formed CBOR that means nothing here, such as a date that does not exist.
  case unreadable

  /// One member of a map value.
  package struct MapEntry: Equatable, Sendable {
    package let key: String
    package let value: ElementValue

    package init(key: String, value: ElementValue) {
      self.key = key
      self.value = value
    }
  }
}
