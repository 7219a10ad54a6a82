import Bytes

/// What a chip says about one of its lines.
package struct LineFacts: Equatable, Sendable {
  /// Empty where it has none.
  package var name: String
  package var isUsed: Bool
  /// Who holds it; empty where the kernel does not say.
  package var consumer: String

  package init(name: String, isUsed: Bool = false, consumer: String = "") {
    self.name = name
    self.isUsed = isUsed
    self.consumer = consumer
  }
}

/// What a chip says about itself.
package struct ChipFacts: Equatable, Sendable {
  /// `/dev/gpiochip0`.
  package var path: String
  /// The kernel's: `gpiochip0`.
  package var name: String
  /// The driver's: `pinctrl-rp1`.
  package var label: String
  /// By offset.
  package var lines: [LineFacts]

  package init(path: String, name: String, label: String, lines: [LineFacts]) {
    self.path = path
    self.name = name
    self.label = label
    self.lines = lines
  }

  /// For people: `pinctrl-rp1 (gpiochip0)`.
  package var title: String { "\(label) (\(name))" }
}

/// The chips of this machine, and those that it may not open.
package struct ChipList: Equatable, Sendable {
  package var chips: [ChipFacts]
  package var denied: [String]

  package init(chips: [ChipFacts], denied: [String] = []) {
    self.chips = chips
    self.denied = denied
  }
}

/// Where a role's line is.
package struct FoundLine: Equatable, Sendable {
  package let path: String
  package let chip: String
  package let offset: UInt32
  /// Empty where it has none.
  package let name: String
  package let isUsed: Bool
  package let consumer: String

  /// For people: `pinctrl-rp1 (gpiochip0) line 17 "GPIO17"`.
  package var title: String { "\(chip) line \(offset)\(name.isEmpty ? "" : " \"\(name)\"")" }
}

/// The lines of a panel on the chips that are there.
package struct FoundLines: Equatable, Sendable {
  package var outputs: [OutputRole: FoundLine] = [:]
  package var inputs: [InputRole: FoundLine] = [:]
}

/// Finds the lines that a board's facts name. Pure: the chips are an argument.
package enum LineResolution {
  /// Throws the first fact that is wrong, roles in the order of their declaration, or two roles on one line.
  package static func find(_ settings: LineSettings, in list: ChipList) throws(PanelError) -> FoundLines {
    var found = FoundLines()
    var owners: [String: String] = [:]
    for role in OutputRole.allCases {
      guard let wish = settings.outputs[role] else { continue }
      let line = try find(wish.place, chip: wish.chip ?? settings.chip, fact: role.fact, in: list)
      try claim(line, fact: role.fact, &owners)
      found.outputs[role] = line
    }
    for role in InputRole.allCases {
      guard let wish = settings.inputs[role] else { continue }
      let line = try find(wish.place, chip: wish.chip ?? settings.chip, fact: role.fact, in: list)
      try claim(line, fact: role.fact, &owners)
      found.inputs[role] = line
    }
    return found
  }

  private static func claim(
    _ line: FoundLine, fact: String, _ owners: inout [String: String]
  ) throws(PanelError) {
    if let other = owners.updateValue(fact, forKey: "\(line.path) \(line.offset)") {
      throw .lineShared(facts: [other, fact], line: line.title)
    }
  }

  private static func find(
    _ place: LineSettings.Place, chip wanted: String, fact: String, in list: ChipList
  ) throws(PanelError) -> FoundLine {
    let candidates = list.chips.filter { $0.label == wanted || $0.name == wanted }
    guard let first = candidates.first else {
      if let path = list.denied.first { throw .chipDenied(fact: fact, path: path) }
      throw .chipMissing(fact: fact, wanted: wanted, existing: list.chips.map(\.title))
    }
    let chips = candidates.filter { holds($0, place) }
    guard chips.count < 2 else { throw .chipAmbiguous(fact: fact, wanted: wanted, chips: chips.map(\.title)) }
    guard let chip = chips.first else {
      guard candidates.count == 1 else {
        throw .chipAmbiguous(fact: fact, wanted: wanted, chips: candidates.map(\.title))
      }
      throw missing(place, fact: fact, on: first)
    }
    let offset: UInt32
    switch place {
    case .offset(let number): offset = number
    case .name(let name):
      let offsets = chip.lines.indices.filter { chip.lines[$0].name == name }.map { UInt32($0) }
      guard let only = offsets.first, offsets.count == 1 else {
        throw .lineAmbiguous(fact: fact, wanted: name, chip: chip.title, offsets: offsets)
      }
      offset = only
    }
    let line = chip.lines[Int(offset)]
    return FoundLine(
      path: chip.path, chip: chip.title, offset: offset, name: line.name, isUsed: line.isUsed, consumer: line.consumer)
  }

  private static func holds(_ chip: ChipFacts, _ place: LineSettings.Place) -> Bool {
    switch place {
    case .name(let name): !name.isEmpty && chip.lines.contains { $0.name == name }
    case .offset(let offset): offset < chip.lines.count
    }
  }

  private static func missing(_ place: LineSettings.Place, fact: String, on chip: ChipFacts) -> PanelError {
    switch place {
    case .offset(let offset):
      return .offsetTooLarge(fact: fact, wanted: offset, chip: chip.title, count: UInt32(chip.lines.count))
    case .name(let name):
      let names = Set(chip.lines.map(\.name)).subtracting([""])
      // The order of a set is no order: names that are equally near come by their bytes.
      let ranked = names.map { (distance: editDistance($0, name), name: $0) }.sorted {
        ($0.distance, $0.name) < ($1.distance, $1.name)
      }
      return .lineMissing(fact: fact, wanted: name, chip: chip.title, nearest: ranked.prefix(3).map(\.name))
    }
  }
}
