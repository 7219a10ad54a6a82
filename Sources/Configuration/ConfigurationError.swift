/// One thing that is wrong with a configuration or board file. The edge adds the file's name.
package struct ConfigurationError: Error, Hashable, Sendable {
  /// From 1; 0 where no line is to blame, such as for something missing at the top level.
  package let line: Int
  /// The full key, such as `timeouts.connect_seconds` or `request.document[1].doc_type`; empty for a syntax error.
  package let key: String
  /// What is wrong.
  package let problem: String
  /// One line that says what to do.
  package let remedy: String

  package init(line: Int, key: String, problem: String, remedy: String) {
    self.line = line
    self.key = key
    self.problem = problem
    self.remedy = remedy
  }

  /// Where it is and what is wrong: `reader.toml:12: timeouts.connect_seconds: must be …`.
  package func description(in file: String) -> String {
    "\(line > 0 ? "\(file):\(line)" : file): \(key.isEmpty ? "" : "\(key): ")\(problem)"
  }
}

/// Everything that is wrong with a file, by line: at least one problem.
package struct ConfigurationErrors: Error, Equatable, Sendable {
  package let errors: [ConfigurationError]

  init(_ errors: [ConfigurationError]) {
    self.errors = errors.sorted { ($0.line, $0.key) < ($1.line, $1.key) }
  }
}

extension String {
  /// Text of a file as part of a message: one line, printable, not too long.
  var quotable: String {
    var scalars = String.UnicodeScalarView()
    for scalar in unicodeScalars.prefix(80) {
      scalars.append(scalar.properties.generalCategory == .control ? "?" : scalar)
    }
    return String(scalars)
  }
}
