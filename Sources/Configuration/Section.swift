import Bytes

/// Collects every problem of one file, and every key that its schema knows.
final class SchemaFindings {
  var errors: [ConfigurationError] = []
  /// Full keys, without indices: `request.document.doc_type`.
  var knownKeys: Set<String> = []
}

/// One table of a file, read key by key; what was not read at the end is unknown.
struct Section {
  let findings: SchemaFindings
  /// The full key of the table with indices; empty for the root.
  let path: String
  /// Nil where the file has no such table.
  let table: TOMLValue?
  private var known: [String] = []

  init(root: TOMLValue, findings: SchemaFindings) {
    self.init(table: root, path: "", findings: findings)
  }

  init(table: TOMLValue?, path: String, findings: SchemaFindings) {
    self.table = table
    self.path = path
    self.findings = findings
  }

  /// Where the table begins; 0 for the root and where there is none.
  var line: Int { path.isEmpty ? 0 : table?.line ?? 0 }

  /// The key with its path; the path itself for an empty key.
  func fullKey(_ key: String) -> String { path.isEmpty ? key : key.isEmpty ? path : "\(path).\(key)" }

  func report(_ key: String, line: Int, _ problem: String, _ remedy: String) {
    findings.errors.append(
      ConfigurationError(line: line, key: fullKey(key).quotable, problem: problem, remedy: remedy))
  }

  func reportKind(_ key: String, _ value: TOMLValue, wanted: String, example: String) {
    report(key, line: value.line, "is \(value.kind), must be \(wanted)", "write for example \(key) = \(example)")
  }

  /// The value of a key, which is known from now on.
  mutating func value(_ key: String) -> TOMLValue? {
    known.append(key)
    findings.knownKeys.insert(Section.withoutIndices(fullKey(key)))
    return table?.member(key)
  }

  /// A table inside this one; absent and of the wrong kind read as empty.
  mutating func section(_ key: String) -> Section {
    let value = value(key)
    guard let value else { return Section(table: nil, path: fullKey(key), findings: findings) }
    guard case .table = value.content else {
      report(key, line: value.line, "is \(value.kind), must be a table", "write [\(fullKey(key))] on a line of its own")
      return Section(table: nil, path: fullKey(key), findings: findings)
    }
    return Section(table: value, path: fullKey(key), findings: findings)
  }

  /// An array of tables, written `[[path.key]]`; nil where it is absent or wrong.
  mutating func sections(_ key: String) -> [Section]? {
    guard let value = value(key) else { return nil }
    let remedy = "write [[\(Section.withoutIndices(fullKey(key)))]] above each"
    guard case .array(let elements) = value.content else {
      report(key, line: value.line, "is \(value.kind), must be a list of tables", remedy)
      return nil
    }
    var sections: [Section] = []
    for (index, element) in elements.enumerated() {
      guard case .table = element.content else {
        report("\(key)[\(index + 1)]", line: element.line, "is \(element.kind), must be a table", remedy)
        continue
      }
      sections.append(Section(table: element, path: "\(fullKey(key))[\(index + 1)]", findings: findings))
    }
    return sections
  }

  /// Reports every key that nobody asked for, with the nearest one that exists.
  func finish() {
    guard case .table(let members) = table?.content else { return }
    for (key, value) in members where !known.contains(key) {
      // A file of tens of thousands of keys is no mistake of typing: the first hundred problems say enough.
      if findings.errors.count >= 100 { return }
      report(key, line: value.line, "unknown key", Section.suggestion(for: key, among: known))
    }
  }

  static func suggestion(for key: String, among known: [String]) -> String {
    let ranked = known.map { (name: $0, distance: editDistance(key, $0)) }.min { $0.distance < $1.distance }
    if let ranked, ranked.distance <= max(2, ranked.name.count / 2) { return "did you mean \(ranked.name)?" }
    return known.isEmpty ? "remove it" : "known here: \(known.joined(separator: ", "))"
  }

  private static func withoutIndices(_ key: String) -> String {
    var isInside = false
    return String(
      key.filter { character in
        if character == "[" { isInside = true }
        defer { if character == "]" { isInside = false } }
        return !isInside
      })
  }
}
