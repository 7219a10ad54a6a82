/// What a board is made of: `board/<name>/board.toml`.
///
/// Kinds that this version has no edge for are refused by name.
package struct BoardFacts: Equatable, Sendable {
  /// What sees the codes.
  package enum Camera: String, CaseIterable, Sendable {
    /// A folder of pictures, the newest wins.
    case pictures
  }

  /// What carries the sessions.
  package enum Radio: String, CaseIterable, Sendable {
    /// A folder of sockets.
    case air
  }

  /// What people see and hear, and the door.
  package enum Panel: String, CaseIterable, Sendable {
    /// One line of text for each change.
    case terminal
  }

  /// For people: what the board is.
  package let name: String
  package let camera: Camera
  package let radio: Radio
  package let panel: Panel

  /// Reads and checks the whole text; throws all problems, not only the first.
  package init(text: String) throws(ConfigurationErrors) {
    try self.init(bytes: Array(text.utf8))
  }

  /// As `init(text:)`; what is no UTF-8 is refused as no TOML.
  package init(bytes: [UInt8]) throws(ConfigurationErrors) {
    let root = try TOMLText.parse(bytes)
    let findings = SchemaFindings()
    var top = Section(root: root, findings: findings)
    let name = top.requiredText("name", example: "simulated")
    let camera: Camera? = BoardFacts.kind("camera", later: ["v4l2"], &top)
    let radio: Radio? = BoardFacts.kind("radio", later: ["bluetooth"], &top)
    let panel: Panel? = BoardFacts.kind("panel", later: ["gpio"], &top)
    top.finish()
    guard findings.errors.isEmpty, let name, let camera, let radio, let panel else {
      throw ConfigurationErrors(findings.errors)
    }
    self.name = name
    self.camera = camera
    self.radio = radio
    self.panel = panel
  }

  /// The `kind` of a part; the same rules for all three.
  private static func kind<Kind: RawRepresentable & CaseIterable>(
    _ part: String, later: [String], _ top: inout Section
  ) -> Kind? where Kind.RawValue == String {
    var section = top.section(part)
    defer { section.finish() }
    let names = Kind.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
    guard let text = section.requiredText("kind", example: Kind.allCases.first?.rawValue ?? "") else { return nil }
    if let kind = Kind(rawValue: text) { return kind }
    let line = section.table?.member("kind")?.line ?? section.line
    if later.contains(text) {
      section.report("kind", line: line, "\"\(text)\" is not built yet in this version", "use \(names)")
    } else {
      section.report("kind", line: line, "\"\(text.quotable)\" is no \(part) kind", "write \(names)")
    }
    return nil
  }
}
