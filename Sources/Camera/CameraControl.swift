/// A control of a camera, by its number. Names changed in Linux 5.16 and differ between drivers; numbers do not.
package struct ControlID: Hashable, Sendable, CustomStringConvertible {
  package let number: UInt32

  package init(_ number: UInt32) { self.number = number }

  package static let gain = ControlID(0x0098_0913)
  package static let automaticGain = ControlID(0x0098_0912)
  package static let analogueGain = ControlID(0x009e_0903)
  package static let exposure = ControlID(0x0098_0911)
  package static let exposureMode = ControlID(0x009a_0901)
  package static let exposureTime = ControlID(0x009a_0902)
  package static let focus = ControlID(0x009a_090a)
  package static let automaticFocus = ControlID(0x009a_090c)

  /// Names as `v4l2-ctl` shows them, old and new, and numbers such as `0x009a090a`; nil for others.
  package init?(_ text: String) {
    let name = text.lowercased()
    if let known = ControlID.names.first(where: { $0.name == name || $0.alias == name }) {
      self.init(known.number)
    } else if name.hasPrefix("0x"), let number = UInt32(name.dropFirst(2), radix: 16), number > 0 {
      self.init(number)
    } else {
      return nil
    }
  }

  /// The name, or the number in hexadecimal.
  package var description: String {
    ControlID.names.first { $0.number == number }?.name
      ?? "0x" + String(repeating: "0", count: max(0, 8 - String(number, radix: 16).count)) + String(number, radix: 16)
  }

  /// The names that `init(_:)` takes, for help and error messages.
  package static var knownNames: [String] { names.map(\.name) }

  private static let names: [(number: UInt32, name: String, alias: String)] = [
    (0x0098_0900, "brightness", ""), (0x0098_0901, "contrast", ""), (0x0098_0902, "saturation", ""),
    (0x0098_0903, "hue", ""), (0x0098_090c, "white_balance_automatic", "white_balance_temperature_auto"),
    (0x0098_0910, "gamma", ""), (0x0098_0911, "exposure", ""), (0x0098_0912, "gain_automatic", "autogain"),
    (0x0098_0913, "gain", ""), (0x0098_0914, "horizontal_flip", ""), (0x0098_0915, "vertical_flip", ""),
    (0x0098_0918, "power_line_frequency", ""), (0x0098_091a, "white_balance_temperature", ""),
    (0x0098_091b, "sharpness", ""), (0x0098_091c, "backlight_compensation", ""),
    (0x009a_0901, "auto_exposure", "exposure_auto"), (0x009a_0902, "exposure_time_absolute", "exposure_absolute"),
    (0x009a_0903, "exposure_dynamic_framerate", "exposure_auto_priority"), (0x009a_0908, "pan_absolute", ""),
    (0x009a_0909, "tilt_absolute", ""), (0x009a_090a, "focus_absolute", ""),
    (0x009a_090c, "focus_automatic_continuous", "focus_auto"), (0x009a_090d, "zoom_absolute", ""),
    (0x009e_0903, "analogue_gain", ""),
  ]
}

/// A control and the value it is to have.
package struct ControlSetting: Equatable, Sendable {
  package let id: ControlID
  package let value: Int

  package init(_ id: ControlID, _ value: Int) {
    self.id = id
    self.value = value
  }
}

/// What a camera says about one of its controls.
package struct ControlFacts: Equatable, Sendable {
  package let id: ControlID
  /// The driver's own name for it.
  package let name: String
  package let range: ClosedRange<Int>
  package let step: Int
  /// Whether it takes a number at all.
  package let isSettable: Bool

  package init(_ id: ControlID, name: String, range: ClosedRange<Int>, step: Int = 1, isSettable: Bool = true) {
    self.id = id
    self.name = name
    self.range = range
    self.step = step
    self.isSettable = isSettable
  }
}

/// What came of setting a control.
package enum ControlOutcome: Equatable, Sendable {
  /// It was set, and reads back so.
  case set(ControlID, Int)
  /// The camera has no such control.
  case missing(ControlID)
  /// It has it, and takes no such value.
  case refused(ControlID, Int, range: ClosedRange<Int>, reason: String)
  /// It took it, and made something else of it.
  case differs(ControlID, Int, actual: Int)

  /// A sentence for the log; nil when all is well.
  package var warning: String? {
    switch self {
    case .set: nil
    case .missing(let id): "the camera has no control \(id)"
    case .refused(let id, let value, let range, let reason):
      "control \(id): \(value) was refused (\(range.lowerBound) to \(range.upperBound)): \(reason)"
    case .differs(let id, let value, let actual): "control \(id): asked for \(value), it is \(actual)"
    }
  }
}

/// A step of setting a camera up.
struct PlannedControl: Equatable {
  /// The first of these that the camera has is set.
  let choices: [ControlID]
  let value: Int
  /// Whether it goes without saying where the camera lacks it: an automatic that is not there need not be stopped.
  let isOptional: Bool

  /// The steps in their order: an automatic is stopped before what it governs is set.
  static func plan(_ settings: CameraSettings) -> [PlannedControl] {
    var plan: [PlannedControl] = []
    func stop(_ id: ControlID, _ value: Int) {
      plan.append(PlannedControl(choices: [id], value: value, isOptional: true))
    }
    if let exposure = settings.exposure {
      stop(.exposureMode, 1)
      plan.append(PlannedControl(choices: [.exposureTime, .exposure], value: exposure, isOptional: false))
    }
    if let focus = settings.focus {
      stop(.automaticFocus, 0)
      plan.append(PlannedControl(choices: [.focus], value: focus, isOptional: false))
    }
    if let gain = settings.gain {
      stop(.automaticGain, 0)
      plan.append(PlannedControl(choices: [.gain, .analogueGain], value: gain, isOptional: false))
    }
    return plan
      + settings.controls.map { PlannedControl(choices: [$0.id], value: $0.value, isOptional: false) }
  }
}
