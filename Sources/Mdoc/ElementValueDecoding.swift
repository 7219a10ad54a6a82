import CBOR
import CivilTime

extension ElementValue {
  /// The value of an element as received.
  package init(_ item: CBORItem) {
    switch item.kind {
    case .unsigned: self = .unsigned(item.uint ?? 0)
    case .negative: self = item.int.map(ElementValue.int) ?? .unreadable
    case .bytes: self = .data(Array(item.bytes ?? []))
    case .text: self = .string(item.text ?? "")
    case .array: self = .array(item.elements.map { $0.map(ElementValue.init) } ?? [])
    case .map: self = ElementValue.readMap(item)
    case .tag: self = ElementValue.readTag(item)
    case .float: self = item.double.map(ElementValue.double) ?? .unreadable
    case .simple:
      if let value = item.bool { self = .bool(value) } else { self = item.isNull ? .null : .unreadable }
    }
  }

  private static func readMap(_ item: CBORItem) -> ElementValue {
    guard let entries = item.entries else { return .unreadable }
    var members: [MapEntry] = []
    for (key, value) in entries {
      guard let name = key.text else { return .unreadable }
      members.append(MapEntry(key: name, value: ElementValue(value)))
    }
    return .map(members)
  }

  private static func readTag(_ item: CBORItem) -> ElementValue {
    guard let content = item.tagged else { return .unreadable }
    switch item.tagNumber {
    case 0: return content.text.flatMap { DateTime($0) }.map(ElementValue.dateTime) ?? .unreadable
    case 1004: return content.text.flatMap { CalendarDate($0) }.map(ElementValue.date) ?? .unreadable
    default: return .unreadable
    }
  }

  /// The calendar day of a full-date, or of a date-time at its own offset; nil for other kinds.
  package var calendarDate: CalendarDate? {
    switch self {
    case .date(let date): date
    case .dateTime(let moment): moment.localDate
    default: nil
    }
  }

  /// The value under a key of a map; nil when there is none or this is no map.
  package func member(_ key: String) -> ElementValue? {
    guard case .map(let entries) = self else { return nil }
    return entries.first { $0.key == key }?.value
  }
}
