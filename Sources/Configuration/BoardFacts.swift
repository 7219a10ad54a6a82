/// What a board is made of: `board/<name>/board.toml`.
///
/// Facts, not wishes: which device is which part. What the site wants is in the configuration.
package struct BoardFacts: Equatable, Sendable {
  /// What sees the codes.
  package enum Camera: Equatable, Sendable {
    /// A folder of pictures, the newest wins. The configuration names the folder.
    case pictures
    case v4l2(CameraFacts)
  }

  /// What carries the sessions.
  package enum Radio: Equatable, Sendable {
    /// A folder of sockets. The configuration names the folder.
    case air
    /// A controller of the kernel by its name, `hci0`.
    case bluetooth(adapter: String)
  }

  /// What people see and hear, and the door.
  package enum Panel: Equatable, Sendable {
    /// One line of text for each change.
    case terminal
    case gpio(PanelFacts)
  }

  /// For people: what the board is.
  package let name: String
  package let camera: Camera
  package let radio: Radio
  /// Whether LE credit-based channels are used where a wallet has them; else GATT alone.
  package let usesL2CAP: Bool
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
    let camera = BoardFacts.readCamera(&top)
    let (radio, usesL2CAP) = BoardFacts.readRadio(&top)
    let panel = BoardFacts.readPanel(&top)
    top.finish()
    guard findings.errors.isEmpty, let name, let camera, let radio, let panel else {
      throw ConfigurationErrors(findings.errors)
    }
    self.name = name
    self.camera = camera
    self.radio = radio
    self.usesL2CAP = usesL2CAP
    self.panel = panel
  }

  private static func readCamera(_ top: inout Section) -> Camera? {
    var section = top.section("camera")
    defer { section.finish() }
    switch kind(of: "camera", among: ["pictures", "v4l2"], &section) {
    case "pictures": return .pictures
    case "v4l2": return .v4l2(CameraFacts(&section))
    default: return skip(&section)
    }
  }

  private static func readRadio(_ top: inout Section) -> (Radio?, usesL2CAP: Bool) {
    var section = top.section("radio")
    defer { section.finish() }
    let radio: Radio?
    switch kind(of: "radio", among: ["air", "bluetooth"], &section) {
    case "air": radio = .air
    case "bluetooth": radio = readAdapter(&section).map(Radio.bluetooth)
    default: return (skip(&section), true)
    }
    return (radio, section.bool("l2cap", default: true))
  }

  private static func readPanel(_ top: inout Section) -> Panel? {
    var section = top.section("panel")
    defer { section.finish() }
    switch kind(of: "panel", among: ["terminal", "gpio"], &section) {
    case "terminal": return .terminal
    case "gpio": return PanelFacts(&section).map(Panel.gpio)
    default: return skip(&section)
    }
  }

  private static func kind(of part: String, among kinds: [String], _ section: inout Section) -> String? {
    guard let text = section.requiredText("kind", example: kinds[0]) else { return nil }
    if kinds.contains(text) { return text }
    let names = kinds.map { "\"\($0)\"" }.joined(separator: ", ")
    let line = section.table?.member("kind")?.line ?? section.line
    section.report("kind", line: line, "\"\(text.quotable)\" is no \(part) kind", "write \(names)")
    return nil
  }

  /// Without a kind nobody knows which of the other keys are right: only the kind is complained about.
  private static func skip<Part>(_ section: inout Section) -> Part? {
    guard case .table(let members) = section.table?.content else { return nil }
    for (key, _) in members where section.table?.member("kind") != nil { _ = section.value(key) }
    return nil
  }

  private static func readAdapter(_ section: inout Section) -> String? {
    let standard = "hci0"
    guard section.table?.member("adapter") != nil else {
      _ = section.value("adapter")
      return standard
    }
    guard let text = section.text("adapter", example: standard) else { return nil }
    guard text.hasPrefix("hci"), let number = UInt16(text.dropFirst(3)), "hci\(number)" == text else {
      let line = section.table?.member("adapter")?.line ?? section.line
      section.report(
        "adapter", line: line, "\"\(text.quotable)\" is no adapter name",
        "write the kernel's name, for example \"hci0\" (mdoc-reader bluetooth lists them)")
      return nil
    }
    return text
  }
}
