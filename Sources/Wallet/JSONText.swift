/// A JSON document that is written, never read: the `--json` output of the verbs.
package indirect enum JSONText: Sendable {
  case string(String)
  case integer(Int)
  case bool(Bool)
  case null
  case array([JSONText])
  /// In this order.
  case object([Member])

  package struct Member: Sendable {
    package let key: String
    package let value: JSONText

    package init(_ key: String, _ value: JSONText) {
      self.key = key
      self.value = value
    }
  }

  /// One line of JSON without its end; RFC 8259, all of it printable ASCII.
  package var text: String {
    switch self {
    case .string(let content): JSONText.quote(content)
    case .integer(let number): String(number)
    case .bool(let flag): flag ? "true" : "false"
    case .null: "null"
    case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { JSONText.quote($0.key) + ":" + $0.value.text }.joined(separator: ",") + "}"
    }
  }

  private static func quote(_ content: String) -> String {
    var result = "\""
    for unit in content.utf16 {
      switch unit {
      case 0x22: result += "\\\""
      case 0x5c: result += "\\\\"
      case 0x20...0x7e: result.unicodeScalars.append(Unicode.Scalar(UInt8(unit)))
      default:
        let digits = String(unit, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }
    }
    return result + "\""
  }
}

extension JSONText: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral
{
  package init(stringLiteral value: String) { self = .string(value) }
  package init(integerLiteral value: Int) { self = .integer(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(dictionaryLiteral elements: (String, JSONText)...) { self = .object(elements.map(Member.init)) }
  package init(arrayLiteral elements: JSONText...) { self = .array(elements) }
}
