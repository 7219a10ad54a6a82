import CBOR
import JSON

/// The facts of an inspection as lines for people: the same members as the JSON has, indented.
func factLines(_ facts: JSONValue, indent: Int = 0) -> [String] {
  guard case .object(let members) = facts else { return [String(repeating: " ", count: indent) + scalarText(facts)] }
  return members.flatMap { lines(of: $0, indent: indent) }
}

extension JSONValue {
  /// The text with every character of it visible: DEL, which JSON lets stand, is escaped too.
  var visibleText: String {
    text.split(separator: "\u{7f}", omittingEmptySubsequences: false).joined(separator: "\\u007f")
  }
}

/// Longest line that several facts share, in characters.
private let lineLength = 110

private func lines(of member: JSONValue.Member, indent: Int) -> [String] {
  let margin = String(repeating: " ", count: indent)
  let key = CBORDiagnostic.escaped(member.key)
  switch member.value {
  case .object(let members):
    if members.isEmpty { return ["\(margin)\(key): none"] }
    return ["\(margin)\(key):"] + factLines(member.value, indent: indent + 2)
  case .array(let elements):
    if elements.isEmpty { return ["\(margin)\(key): none"] }
    let isList = elements.allSatisfy(isScalar)
    let joined = "\(margin)\(key): " + elements.map(scalarText).joined(separator: ", ")
    if isList, joined.count <= lineLength { return [joined] }
    return ["\(margin)\(key):"] + elements.flatMap { entry($0, indent: indent + 2) }
  default: return ["\(margin)\(key): \(scalarText(member.value))"]
  }
}

/// One element of a list: on one line when it fits.
private func entry(_ element: JSONValue, indent: Int) -> [String] {
  let margin = String(repeating: " ", count: indent)
  guard case .object(let members) = element else { return ["\(margin)- \(scalarText(element))"] }
  if members.allSatisfy({ isScalar($0.value) }) {
    let line =
      margin + "- "
      + members.map { "\(CBORDiagnostic.escaped($0.key)) \(scalarText($0.value))" }.joined(separator: "; ")
    if line.count <= lineLength { return [line] }
  }
  var result = factLines(element, indent: indent + 2)
  if let first = result.first { result[0] = margin + "- " + first.dropFirst(indent + 2) }
  return result
}

private func isScalar(_ value: JSONValue) -> Bool {
  switch value {
  case .array, .object: false
  default: true
  }
}

private func scalarText(_ value: JSONValue) -> String {
  switch value {
  case .string(let text): CBORDiagnostic.escaped(text, keepingQuotes: true)
  case .bool(let flag): flag ? "yes" : "no"
  case .null: "none"
  default: value.text
  }
}
