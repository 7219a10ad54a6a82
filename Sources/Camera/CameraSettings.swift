/// Which camera.
package enum CameraSelector: Equatable, Sendable {
  /// The first one that can be used.
  case any
  /// A node or a link to one, such as `/dev/v4l/by-id/...`; looked up anew at each opening.
  case path(String)
  /// A part of the card's name, whatever the case, or the driver's whole name.
  case name(String)

  /// A text that begins with `/` is a path, an empty one means any, all others are names.
  package init(_ text: String) {
    if text.isEmpty { self = .any } else { self = text.hasPrefix("/") ? .path(text) : .name(text) }
  }
}

extension CameraSelector: CustomStringConvertible {
  package var description: String {
    switch self {
    case .any: "any camera"
    case .path(let path): path
    case .name(let name): "camera '\(name)'"
    }
  }
}

/// How a camera is found, set up and watched.
package struct CameraSettings: Equatable, Sendable {
  package var camera = CameraSelector.any
  /// The wanted size; the nearest that the camera has is taken.
  package var size = PixelSize(1280, 720)
  /// Pictures in a second that are wanted, 1 to 240. The camera may give fewer.
  package var rate = 30
  /// Formats that may be used, the best first.
  package var formats = PixelFormat.preferred
  /// Bytes in a second that the camera's bus carries; nil: taken from the speed of the USB link, no limit elsewhere.
  package var busLimit: Int?

  /// Exposure time in units of 100 us (in the driver's own unit where the camera has only the old control); nil leaves
  /// the camera as it is.
  package var exposure: Int?
  /// Focus distance in the camera's own unit; nil leaves the camera as it is.
  package var focus: Int?
  /// In the camera's own unit; nil leaves the camera as it is.
  package var gain: Int?
  /// Others, in this order, after those above.
  package var controls: [ControlSetting] = []

  /// Pictures thrown away after each opening, while the exposure settles.
  package var discardedPictures = 3
  /// Buffers asked of the driver, 2 to 16.
  package var bufferCount = 4
  /// From the start of the stream to the first picture.
  package var firstPictureDeadline = Duration.seconds(2)
  /// From one picture to the next.
  package var silenceDeadline = Duration.seconds(2)
  /// From the attempt to open until it is called stuck.
  package var openDeadline = Duration.seconds(10)
  /// Bad buffers without a good one between them after which the camera is opened anew.
  package var badPicturesInARow = 10
  /// Before the first attempt to open again; doubled with each failure.
  package var retryDelay = Duration.milliseconds(250)
  /// The longest of these delays.
  package var longestRetryDelay = Duration.seconds(2)
  /// The age above which a picture is not used when all buffers were full, that is after nobody looked for a while.
  package var maximumAge = Duration.milliseconds(500)

  package init(camera: CameraSelector = .any) { self.camera = camera }
}
