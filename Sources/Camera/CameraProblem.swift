import Kernel

/// Why a camera does not work: a stable code, a sentence, and what to do.
package enum CameraProblem: Error, Equatable, Sendable {
  /// Nothing is there under this name. `present` are the cameras that are there.
  case missing(String, present: [String])
  /// It may not be opened by this user.
  case denied(String)
  /// Somebody else uses it. `holder` says who, where that can be seen.
  case busy(String, holder: String?)
  /// A device, but none that takes pictures by streaming.
  case notCapture(String)
  /// A sensor that gives raw data only.
  case rawOnly(String, formats: [PixelFormat])
  /// None of its formats can be used, or none was granted.
  case noFormat(String, formats: [PixelFormat], reason: String)
  /// It was opened and sends no pictures; not in any format either, when `isEverywhere`.
  case silent(String, after: Duration)
  /// It went away.
  case lost(String)
  /// Many bad buffers in a row.
  case badPictures(String, Int)
  /// The kernel does not come back from opening it.
  case stuck(String)
  /// A call failed for another reason.
  case failed(String, SystemError)

  /// The stable code: in events, logs and the README.
  package var code: String {
    switch self {
    case .missing: "cameraMissing"
    case .denied: "cameraDenied"
    case .busy: "cameraBusy"
    case .notCapture: "cameraNotCapture"
    case .rawOnly: "cameraRawOnly"
    case .noFormat: "cameraNoFormat"
    case .silent: "cameraSilent"
    case .lost: "cameraLost"
    case .badPictures: "cameraBadPictures"
    case .stuck: "cameraStuck"
    case .failed: "cameraFailed"
    }
  }

  /// The camera it is about: a path, or what was looked for.
  package var subject: String {
    switch self {
    case .missing(let subject, _), .denied(let subject), .busy(let subject, _), .notCapture(let subject),
      .rawOnly(let subject, _), .noFormat(let subject, _, _), .silent(let subject, _), .lost(let subject),
      .badPictures(let subject, _), .stuck(let subject), .failed(let subject, _):
      subject
    }
  }

  /// Why, without the subject.
  package var reason: String {
    switch self {
    case .missing(_, let present):
      present.isEmpty ? "not there, and no other camera is" : "not there; there is \(present.joined(separator: ", "))"
    case .denied: "no permission to open it"
    case .busy(_, let holder): "in use" + (holder.map { " by \($0)" } ?? " by another program")
    case .notCapture: "takes no pictures (a node for metadata, output or coding)"
    case .rawOnly(_, let formats):
      "gives only raw sensor data (\(formats.map(\.description).joined(separator: ", ")))"
    case .noFormat(_, let formats, let reason):
      (formats.isEmpty ? "offers no format" : "offers \(formats.map(\.description).joined(separator: ", "))")
        + (reason.isEmpty ? "" : ": \(reason)")
    case .silent(_, let after): "sent no picture for \(after)"
    case .lost: "was unplugged or its driver gave up"
    case .badPictures(_, let count): "sent \(count) damaged pictures in a row"
    case .stuck: "the kernel does not come back from opening it"
    case .failed(_, let error): "\(error.call): \(error.reason)"
    }
  }

  /// What to do.
  package var remedy: String {
    switch self {
    case .missing: "plug it in, or correct the camera in the board file; mdoc-reader camera --list shows what is there"
    case .denied: "run as a member of the group video"
    case .busy: "end the other program"
    case .notCapture: "choose the node that captures; mdoc-reader camera --list shows it"
    case .rawOnly:
      "this sensor works through libcamera only: use a USB camera, or a bridge from libcamera to v4l2loopback"
    case .noFormat: "use a camera with one of \(PixelFormat.preferred.map(\.description).joined(separator: ", "))"
    case .silent: "try another port or cable, or a smaller picture"
    case .lost: "check plug, cable and power"
    case .badPictures: "check cable and power, or try a smaller picture"
    case .stuck: "unplug the camera, or restart the machine"
    case .failed: "see the kernel's log (dmesg)"
    }
  }
}

extension CameraProblem: CustomStringConvertible {
  /// A sentence: which camera, and why.
  package var description: String { "\(subject): \(reason)" }
}
