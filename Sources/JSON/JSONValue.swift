internal import CJansson

/// A JSON document: events, status, and the `--json` output of the verbs. Jansson writes and reads it.
package indirect enum JSONValue: Equatable, Sendable {
  case string(String)
  case integer(Int)
  case double(Double)
  case bool(Bool)
  case null
  case array([JSONValue])
  /// In this order.
  case object([Member])

  /// A key and its value.
  package struct Member: Equatable, Sendable {
    package let key: String
    package let value: JSONValue

    package init(_ key: String, _ value: JSONValue) {
      self.key = key
      self.value = value
    }
  }

  /// An object without the members whose value is nil.
  package static func object(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
    .object(members.compactMap { key, value in value.map { Member(key, $0) } })
  }

  /// One line of JSON without its end (RFC 8259), all of it printable ASCII.
  package var text: String {
    let document = made()
    defer { json_decref(document) }
    // Flags: compact, ASCII only, and top-level values of any kind; 15 digits are all a duration needs.
    let flags = Int(JSON_COMPACT) | Int(JSON_ENSURE_ASCII) | Int(JSON_ENCODE_ANY) | 15 << 11
    guard let characters = json_dumps(document, flags) else { return "null" }
    defer { free(characters) }
    return String(cString: characters)
  }

  /// A new reference to the library's value. Numbers that JSON cannot hold become null.
  private func made() -> UnsafeMutablePointer<json_t>? {
    switch self {
    case .string(let content):
      // The library takes the length, so that NUL bytes are content.
      let bytes = Array(content.utf8).map { CChar(bitPattern: $0) }
      return json_stringn(bytes, bytes.count) ?? json_null()
    case .integer(let number): return json_integer(json_int_t(number))
    case .double(let number): return json_real(number) ?? json_null()
    case .bool(let flag): return flag ? json_true() : json_false()
    case .null: return json_null()
    case .array(let elements):
      let array = json_array()
      for element in elements { json_array_append_new(array, element.made()) }
      return array
    case .object(let members):
      let object = json_object()
      for member in members { json_object_set_new(object, member.key, member.value.made()) }
      return object
    }
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral
{
  package init(stringLiteral value: String) { self = .string(value) }
  package init(integerLiteral value: Int) { self = .integer(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(elements.map(Member.init)) }
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}
