internal import CTOML
import CivilTime

/// A parsed TOML value and where it stands.
struct TOMLValue {
  enum Content {
    /// In the order of the file.
    case table([(key: String, value: TOMLValue)])
    case array([TOMLValue])
    case string(String)
    case integer(Int64)
    case double(Double)
    case bool(Bool)
    case date(CalendarDate)
    case time
  }

  let content: Content
  /// Of the key in a table, of the value in an array; from 1.
  let line: Int
  let column: Int

  /// The kind in words.
  var kind: String {
    switch content {
    case .table: "a table"
    case .array: "a list"
    case .string: "text"
    case .integer: "a whole number"
    case .double: "a fraction"
    case .bool: "true or false"
    case .date: "a date"
    case .time: "a time"
    }
  }

  func member(_ key: String) -> TOMLValue? {
    guard case .table(let members) = content else { return nil }
    return members.first { $0.key == key }?.value
  }
}

/// A place and a message, as the parser gives them.
private struct ParserFailure: Error {
  let line: Int
  let message: String
}

/// TOML text as values.
enum TOMLText {
  static func parse(_ text: some StringProtocol) throws(ConfigurationErrors) -> TOMLValue {
    try parse(Array(text.utf8))
  }

  /// The root table. Refuses text that is too large, too deep or no TOML, with one error.
  static func parse(_ bytes: [UInt8]) throws(ConfigurationErrors) -> TOMLValue {
    guard bytes.count <= TOMLShape.maximumSize else {
      throw refused(
        0, "is larger than \(TOMLShape.maximumSize >> 10) KiB", "this is no configuration file of this program")
    }
    let shape = TOMLShape(bytes)
    if let line = shape.tooDeepLine {
      throw refused(line, "nests deeper than \(TOMLShape.maximumDepth) levels", "no key of this program needs that")
    }
    do throws(ParserFailure) {
      return try parseUnbounded(bytes)
    } catch {
      guard error.message.contains("cannot redefine existing") else {
        throw refused(error.line, "not valid TOML: \(error.message.quotable)", "correct the line, or the one before it")
      }
      throw duplicate(at: error.line, in: bytes, shape: shape)
    }
  }

  private static func refused(_ line: Int, _ problem: String, _ remedy: String) -> ConfigurationErrors {
    ConfigurationErrors([ConfigurationError(line: line, key: "", problem: problem, remedy: remedy)])
  }

  /// A key that stands twice, with both lines where the first can be found: the text before the second is valid.
  private static func duplicate(at line: Int, in bytes: [UInt8], shape: TOMLShape) -> ConfigurationErrors {
    let path = path(at: line, shape: shape)
    let before = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).prefix(max(0, line - 1))
    var first: Int?
    if !path.isEmpty, let root = try? parseUnbounded(Array(before.joined(separator: [UInt8(ascii: "\n")]))) {
      first = firstLine(of: path[...], in: root)
    }
    return ConfigurationErrors([
      ConfigurationError(
        line: line, key: path.joined(separator: ".").quotable,
        problem: first.map { "set twice, in line \($0) and in line \(line)" } ?? "set twice, again in line \(line)",
        remedy: "keep one of them")
    ])
  }

  /// The full path of the key that a statement sets: its header and its own name, read by the parser itself.
  private static func path(at line: Int, shape: TOMLShape) -> [String] {
    guard let statement = shape.statements.last(where: { $0.line <= line }) else { return [] }
    let header = shape.statements.last { $0.isHeader && $0.line < statement.line }?.name ?? ""
    let text = statement.isHeader ? statement.name : "\(header)\n\(statement.name) = 0"
    var node = try? parseUnbounded(Array(text.utf8))
    var path: [String] = []
    while let current = node {
      switch current.content {
      case .table(let members):
        if let member = members.first { path.append(member.key) }
        node = members.first?.value
      case .array(let elements): node = elements.first
      default: node = nil
      }
    }
    return path
  }

  private static func firstLine(of path: ArraySlice<String>, in node: TOMLValue) -> Int? {
    if case .array(let elements) = node.content, let last = elements.last { return firstLine(of: path, in: last) }
    guard let key = path.first, let member = node.member(key) else { return nil }
    return path.count == 1 ? member.line : firstLine(of: path.dropFirst(), in: member) ?? member.line
  }

  private static func parseUnbounded(_ bytes: [UInt8]) throws(ParserFailure) -> TOMLValue {
    var error = ctoml_error()
    // The parser copies what it keeps: the buffer is needed for the call only.
    let document = bytes.withUnsafeBytes { buffer in
      ctoml_parse(buffer.bindMemory(to: CChar.self).baseAddress, buffer.count, &error)
    }
    guard let document else {
      let message = withUnsafeBytes(of: error.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      throw ParserFailure(line: Int(error.line), message: message)
    }
    // Ours from here on; every text is copied out below before it goes.
    defer { ctoml_free(document) }
    let entries = (0..<ctoml_count(document)).map { ctoml_at(document, $0) }
    guard !entries.isEmpty else { throw ParserFailure(line: 0, message: "empty document") }
    var children = [[Int]](repeating: [], count: entries.count)
    for index in entries.indices.dropFirst() { children[Int(entries[index].parent)].append(index) }
    return value(at: 0, entries, children)
  }

  private static func value(at index: Int, _ entries: [ctoml_entry], _ children: [[Int]]) -> TOMLValue {
    let entry = entries[index]
    let content: TOMLValue.Content
    switch ctoml_kind(UInt32(bitPattern: entry.kind)) {
    case CTOML_TABLE:
      let members = children[index].map { child in
        (key: text(entries[child].key, entries[child].key_length), value: value(at: child, entries, children))
      }
      content = .table(members.sorted { ($0.value.line, $0.value.column) < ($1.value.line, $1.value.column) })
    case CTOML_ARRAY: content = .array(children[index].map { value(at: $0, entries, children) })
    case CTOML_STRING: content = .string(text(entry.text, entry.text_length))
    case CTOML_INTEGER: content = .integer(entry.integer)
    case CTOML_FLOAT: content = .double(entry.number)
    case CTOML_BOOLEAN: content = .bool(entry.integer != 0)
    case CTOML_DATE:
      let (year, rest) = Int(clamping: entry.integer).quotientAndRemainder(dividingBy: 10_000)
      content = CalendarDate(year: year, month: rest / 100, day: rest % 100).map(TOMLValue.Content.date) ?? .time
    default: content = .time
    }
    return TOMLValue(content: content, line: Int(entry.line), column: Int(entry.column))
  }

  /// Copies a text of the document, which is alive while this runs.
  private static func text(_ pointer: UnsafePointer<CChar>?, _ length: Int) -> String {
    guard let pointer else { return "" }
    return String(decoding: UnsafeRawBufferPointer(start: pointer, count: length), as: UTF8.self)
  }
}
