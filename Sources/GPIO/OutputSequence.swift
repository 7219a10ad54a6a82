import Panel

/// In which order lines change, and whether they do.
///
/// Lines that are set in one call are a group. The relay is a group of its own: it goes inactive before anything else
/// changes, and active after everything else has. It goes active only after it was told to be inactive once: a panel
/// that is opened in the middle of a pulse does not begin with one.
package struct OutputSequence: Equatable, Sendable {
  /// One call: levels for all lines of the group, in its order.
  package struct Step: Equatable, Sendable {
    package let group: Int
    package let levels: [Bool]
  }

  /// The roles of each group.
  package let groups: [[OutputRole]]
  /// What each group was last told; inactive at the beginning.
  private var levels: [[Bool]]
  private var isRelayArmed = false

  /// - Parameter groups: each role once; the relay alone.
  package init(_ groups: [[OutputRole]]) {
    self.groups = groups
    levels = groups.map { $0.map { _ in false } }
  }

  /// The calls that bring the lines from where they are to these levels; none when they are there.
  package mutating func steps(to lines: PanelLines) -> [Step] {
    if !lines.isRelayActive { isRelayArmed = true }
    var first: [Step] = []
    var middle: [Step] = []
    var last: [Step] = []
    for (index, roles) in groups.enumerated() {
      let wanted = roles.map { lines[$0] && ($0 != .relay || isRelayArmed) }
      guard wanted != levels[index] else { continue }
      levels[index] = wanted
      let step = Step(group: index, levels: wanted)
      if roles != [.relay] {
        middle.append(step)
      } else if wanted == [true] {
        last.append(step)
      } else {
        first.append(step)
      }
    }
    return first + middle + last
  }

  /// Whether the relay was last told to be active.
  package var isRelayActive: Bool {
    zip(groups, levels).contains { roles, levels in roles == [.relay] && levels == [true] }
  }

  /// The group's lines were requested anew: they are inactive.
  package mutating func reset(_ group: Int) { levels[group] = groups[group].map { _ in false } }
}

extension PanelLines {
  /// The level of one line.
  package subscript(_ role: OutputRole) -> Bool {
    switch role {
    case .green: isGreenLit
    case .red: isRedLit
    case .blue: isBlueLit
    case .buzzer: isBuzzerOn
    case .relay: isRelayActive
    }
  }
}
