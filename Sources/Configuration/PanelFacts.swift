/// Which line of a gpiochip is which lamp, the relay, a button.
package struct PanelFacts: Equatable, Sendable {
  /// What a line is for. The raw value is the key in the file.
  package enum Role: String, CaseIterable, Sendable {
    case green
    case red
    case blue
    case buzzer
    case relay
    case button
    case doorContact = "door_contact"

    package var isInput: Bool { self == .button || self == .doorContact }
  }

  package enum Bias: String, CaseIterable, Sendable {
    /// As the hardware or the boot configuration left it.
    case asIs = "as_is"
    case none
    case pullUp = "pull_up"
    case pullDown = "pull_down"
  }

  /// How a line is found on its chip.
  package enum Place: Hashable, Sendable {
    case name(String)
    case offset(Int)
  }

  /// What to do while somebody else holds a lamp or the buzzer; a relay or an input that cannot be had is a fault.
  package enum BusyLamp: String, CaseIterable, Sendable {
    /// Go on without it and try again now and then: the door works.
    case goOn = "go_on"
    /// Do not serve.
    case refuse
  }

  package struct Line: Equatable, Sendable {
    package let place: Place
    /// Whether the low level is the active one.
    package let isActiveLow: Bool
    /// For inputs.
    package let bias: Bias
  }

  /// The chip's label (`gpiodetect` prints it in brackets): the same whatever number the kernel gives it.
  package let chip: String
  package let lines: [Role: Line]
  package let busyLamp: BusyLamp

  init?(_ section: inout Section) {
    let chip = section.requiredText("chip", example: "pinctrl-bcm2711")
    busyLamp = section.choice("busy_lamp", default: BusyLamp.goOn)
    var table = section.section("lines")
    var lines: [Role: Line] = [:]
    var owners: [Place: Role] = [:]
    for role in Role.allCases {
      let line = table.table?.member(role.rawValue)?.line ?? table.line
      guard let read = PanelFacts.readLine(role, &table) else { continue }
      if let owner = owners.updateValue(role, forKey: read.place) {
        table.report(
          role.rawValue, line: line, "is the line that \(owner.rawValue) has already", "give each its own line")
      }
      lines[role] = read
    }
    if lines.isEmpty, table.findings.errors.isEmpty {
      section.report(
        "lines", line: section.line, "names no line", "add for example [panel.lines] and green = { line = \"GPIO17\" }")
    }
    table.finish()
    guard let chip else { return nil }
    self.chip = chip
    self.lines = lines
  }

  private static func readLine(_ role: Role, _ table: inout Section) -> Line? {
    guard table.table?.member(role.rawValue) != nil else {
      _ = table.value(role.rawValue)
      return nil
    }
    var section = table.section(role.rawValue)
    defer { section.finish() }
    guard section.table != nil else { return nil }
    let name = section.text("line", example: "GPIO17")
    let offset = section.optionalInteger("offset", example: 17, range: 0...1023)
    let level = section.choice("active", default: Level.high)
    let bias = role.isInput ? section.choice("bias", default: Bias.asIs) : .asIs
    let place: Place
    switch (name, offset) {
    case (let name?, nil): place = .name(name)
    case (nil, let offset?): place = .offset(offset)
    default:
      section.report(
        "", line: section.line, name == nil ? "names no line" : "names the line twice",
        "write line = \"GPIO17\" (gpioinfo lists the names), or offset = 17")
      return nil
    }
    return Line(place: place, isActiveLow: level == .low, bias: bias)
  }

  private enum Level: String, CaseIterable {
    case high
    case low
  }
}
