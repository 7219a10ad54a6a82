import Kernel

/// Why the panel, or a line of it, cannot be had.
package enum PanelError: Error, Equatable, Sendable {
  /// No chip has this label or name.
  case chipMissing(fact: String, wanted: String, existing: [String])
  /// Several chips have this label, and not exactly one of them has the line.
  case chipAmbiguous(fact: String, wanted: String, chips: [String])
  /// The chip has no line of this name; the nearest names.
  case lineMissing(fact: String, wanted: String, chip: String, nearest: [String])
  /// Several lines of the chip have this name.
  case lineAmbiguous(fact: String, wanted: String, chip: String, offsets: [UInt32])
  /// The chip has only so many lines.
  case offsetTooLarge(fact: String, wanted: UInt32, chip: String, count: UInt32)
  /// Two roles on one line.
  case lineShared(facts: [String], line: String)
  /// Somebody else holds the line; the consumer's name is empty where the kernel has none.
  case lineBusy(fact: String, line: String, consumer: String)
  /// The relay's line is active though it was set inactive: something else drives the pin.
  case relayStuck(fact: String, line: String)
  /// The chip may not be opened.
  case chipDenied(fact: String, path: String)
  /// A call failed: the chip went away, or what the kernel says.
  case failed(fact: String, SystemError)
}

extension PanelError {
  /// The stable code.
  package var code: String {
    switch self {
    case .chipMissing: "chipMissing"
    case .chipAmbiguous: "chipAmbiguous"
    case .lineMissing: "lineMissing"
    case .lineAmbiguous: "lineAmbiguous"
    case .offsetTooLarge: "offsetTooLarge"
    case .lineShared: "lineShared"
    case .lineBusy: "lineBusy"
    case .relayStuck: "relayStuck"
    case .chipDenied: "chipDenied"
    case .failed: "lineFailed"
    }
  }

  /// Whether the board's file says something that is not so: the start is to stop, since no waiting makes it right. The
  /// others may pass: somebody lets a line go, a device comes back.
  package var isWrongFact: Bool {
    switch self {
    case .chipMissing, .chipAmbiguous, .lineMissing, .lineAmbiguous, .offsetTooLarge, .lineShared: true
    case .lineBusy, .relayStuck, .chipDenied, .failed: false
    }
  }

  /// A wrong fact that may become right by itself for a while after the start: the driver of the chip is loaded late.
  package var mayStillCome: Bool {
    if case .chipMissing = self { true } else { false }
  }

  /// What to do about it, one line.
  package var remedy: String {
    switch self {
    case .chipMissing(_, _, let existing):
      existing.isEmpty ? "this machine shows no gpiochip: check the board and its kernel" : "write one of these labels"
    case .chipAmbiguous: "write the name of the chip instead of its label"
    case .lineMissing(_, _, _, let nearest):
      nearest.isEmpty
        ? "its lines have no names: write the offset" : "write the name of a line that is there, or its offset"
    case .lineAmbiguous: "write one of these offsets"
    case .offsetTooLarge: "write the offset of a line that is there"
    case .lineShared: "give each role a line of its own"
    case .lineBusy(_, _, let consumer):
      consumer.isEmpty
        ? "switch off the bus or overlay that uses the pin, or choose another line"
        : "stop \(consumer), or choose another line"
    case .relayStuck: "look for what else drives the pin: an overlay, a program, a short"
    case .chipDenied: "let the reader's user open it: the group of the device, or a udev rule"
    case .failed: "check the board; the reader tries again by itself"
    }
  }
}

extension PanelError: CustomStringConvertible {
  /// The fact, and what is wrong: one sentence without its end.
  package var description: String {
    switch self {
    case .chipMissing(let fact, let wanted, let existing):
      "\(fact): there is no chip \(quoted(wanted)); there are \(list(existing))"
    case .chipAmbiguous(let fact, let wanted, let chips): "\(fact): several chips are \(quoted(wanted)): \(list(chips))"
    case .lineMissing(let fact, let wanted, let chip, let nearest):
      "\(fact): \(chip) has no line \(quoted(wanted))"
        + (nearest.isEmpty ? "" : "; the nearest are \(list(nearest.map(quoted)))")
    case .lineAmbiguous(let fact, let wanted, let chip, let offsets):
      "\(fact): \(chip) has several lines \(quoted(wanted)), at the offsets \(list(offsets.map(String.init)))"
    case .offsetTooLarge(let fact, let wanted, let chip, let count):
      "\(fact): \(chip) has no line \(wanted), its lines are 0 to \(Int(count) - 1)"
    case .lineShared(let facts, let line): "\(facts.joined(separator: " and ")): both are \(line)"
    case .lineBusy(let fact, let line, let consumer):
      "\(fact): \(line) is held by \(consumer.isEmpty ? "the kernel or a program without a name" : quoted(consumer))"
    case .relayStuck(let fact, let line): "\(fact): \(line) is active though it is set inactive"
    case .chipDenied(let fact, let path): "\(fact): \(path) may not be opened"
    case .failed(let fact, let error): "\(fact): \(error)"
    }
  }

  private func quoted(_ text: String) -> String {
    // Names come from the board's file and the kernel: nothing in them may end the line of a log.
    let printable = text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7f ? "?" : String($0) }
    return "\"\(printable.joined())\""
  }

  private func list(_ names: [String]) -> String { names.isEmpty ? "none" : names.joined(separator: ", ") }
}
