/// A V4L2 camera as a fact of the board.
package struct CameraFacts: Equatable, Sendable {
  /// A pixel format by the name people know; the order of a list is the order of preference.
  package enum Format: String, CaseIterable, Sendable {
    case yuyv = "YUYV"
    case nv12 = "NV12"
    case grey = "GREY"
    case mjpeg = "MJPEG"
  }

  /// A path that stays the same from boot to boot (`/dev/v4l/by-id/...`), or a part of the camera's name; nil for the
  /// first camera that can be used.
  package var device: String?
  /// Pixels asked for; the driver may give something else.
  package var width = 1280
  package var height = 720
  /// Frames a second asked for.
  package var rate = 15
  /// Empty for all that the reader knows, cheapest first.
  package var formats: [Format] = []
  /// Fixed exposure in units of 100 microseconds; nil leaves it to the camera.
  package var exposure: Int?
  /// Fixed focus in the camera's own steps; nil leaves it to the camera.
  package var focus: Int?
  /// Fixed gain in the camera's own steps; nil leaves it to the camera.
  package var gain: Int?

  package init() {}

  init(_ section: inout Section) {
    device = section.text("device", example: "/dev/v4l/by-id/usb-...-video-index0")
    width = section.integer("width", default: width, range: 160...4096)
    height = section.integer("height", default: height, range: 120...4096)
    rate = section.integer("rate", default: rate, range: 1...120)
    if let formats = CameraFacts.readFormats(&section) { self.formats = formats }
    exposure = section.optionalInteger("exposure", example: 150, range: 1...100_000)
    focus = section.optionalInteger("focus", example: 120, range: 0...65_535)
    gain = section.optionalInteger("gain", example: 32, range: 0...65_535)
  }

  private static func readFormats(_ section: inout Section) -> [Format]? {
    guard let value = section.value("formats") else { return nil }
    let names = Format.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
    guard case .array(let elements) = value.content, !elements.isEmpty else {
      section.report("formats", line: value.line, "must be a list of formats", "write for example formats = [\(names)]")
      return nil
    }
    var formats: [Format] = []
    for element in elements {
      guard case .string(let text) = element.content, let format = Format(rawValue: text) else {
        section.report("formats", line: element.line, "an entry is no format known here", "write some of \(names)")
        continue
      }
      if formats.contains(format) {
        section.report("formats", line: element.line, "\"\(text)\" is there twice", "remove one")
      }
      formats.append(format)
    }
    return formats
  }
}

extension Section {
  /// A whole number that may be left out.
  mutating func optionalInteger(_ key: String, example: Int, range: ClosedRange<Int>) -> Int? {
    guard table?.member(key) != nil else {
      _ = value(key)
      return nil
    }
    return integer(key, default: example, range: range)
  }
}
