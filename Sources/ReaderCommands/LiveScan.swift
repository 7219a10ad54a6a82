import Camera
import Commands
import Kernel
import Pictures
import QRScan

/// A camera and a decoder for a while, on a loop of their own: what the verbs `camera` and `scan` share.
final class LiveScan {
  /// Where the camera is, and what it is to do.
  static let options = [
    CommandOption("--seconds", "N", "how long to look, 1 to 3600"),
    CommandOption("--size", "WIDTHxHEIGHT", "the wanted size, such as 640x480; 1280x720 unless told otherwise"),
  ]

  private(set) var facts: CameraFacts?
  /// The newest picture.
  private(set) var picture: LumaImage?
  /// From the first picture to the last one.
  private(set) var streaming = Duration.zero
  private(set) var frames = 0
  /// From when a picture was taken until it was here; the median.
  var age: Duration { ages.isEmpty ? .zero : ages.sorted()[ages.count / 2] }
  /// The time of the decoder for a picture; the median.
  var decoding: Duration { decodings.isEmpty ? .zero : decodings.sorted()[decodings.count / 2] }
  /// Pictures in which a code was found.
  private(set) var finds = 0
  private(set) var codes: Set<[UInt8]> = []
  private(set) var lastProblem: CameraProblem?
  var statistics: V4L2Camera.Statistics { camera?.statistics ?? .init() }

  private let loop: EventLoop
  private let console: Console
  private var camera: V4L2Camera?
  private var worker: DecodeWorker?
  private var first: ContinuousClock.Instant?
  private var ages: [Duration] = []
  private var decodings: [Duration] = []
  /// Whether the codes found are enough.
  private let isEnough: ([[UInt8]]) -> Bool

  init(
    _ settings: CameraSettings, console: Console, until isEnough: @escaping ([[UInt8]]) -> Bool = { _ in false }
  ) throws {
    loop = try EventLoop()
    self.console = console
    self.isEnough = isEnough
    worker = try DecodeWorker(on: loop) { [weak self] in self?.decoded($0) }
    camera = try V4L2Camera(settings, on: loop) { [weak self] in self?.heard($0) }
  }

  static func settings(_ device: String?, _ arguments: Arguments) throws(CommandError) -> CameraSettings {
    var settings = CameraSettings(camera: CameraSelector(device ?? ""))
    if let text = arguments["--size"] {
      let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
      guard sides.count == 2, sides.allSatisfy({ (1...LumaImage.maximumSide).contains($0) }) else {
        throw CommandError.usage("--size \(quoted(text))", "not a size in pixels", hint: "write --size 1280x720")
      }
      settings.size = PixelSize(sides[0], sides[1])
    }
    return settings
  }

  /// Looks for so long, or until the codes are enough, or until it is clear that there is no camera; says what is wrong
  /// with the camera when it sent nothing.
  func run(seconds: Int) throws {
    camera?.start()
    _ = try loop.run(until: .now + .seconds(seconds))
    // The statistics stay readable: only the device goes.
    camera?.cancel()
    worker?.stop()
    guard frames == 0 else { return }
    guard let problem = lastProblem else {
      throw CommandError.failure("camera", "no picture in \(seconds) s", hint: "give it more time with --seconds")
    }
    throw CommandError.failure(problem.subject, "\(problem.reason) (\(problem.code))", hint: problem.remedy)
  }

  private func heard(_ event: V4L2Camera.Event) {
    switch event {
    case .frame(let frame):
      let now = ContinuousClock.now
      first = first ?? now
      streaming = now - (first ?? now)
      frames += 1
      ages.append(now - frame.captured)
      picture = frame.image
      worker?.submit(frame.image, .live)
    case .opened(let opened): facts = opened
    case .fault(let problem):
      lastProblem = problem
      console.remark("\(problem.code): \(problem)")
      // A camera that cannot be opened now will hardly be better in some seconds; a silent one may be.
      if frames == 0 {
        switch problem {
        case .silent, .lost, .badPictures, .stuck: break
        default: loop.stop()
        }
      }
    case .recovered: console.remark("recovered")
    case .note(let text): console.remark(text)
    }
  }

  private func decoded(_ result: DecodeWorker.Result) {
    decodings.append(result.duration)
    guard !result.codes.isEmpty else { return }
    finds += 1
    codes.formUnion(result.codes)
    if isEnough(result.codes) { loop.stop() }
  }
}

extension CameraFacts {
  /// `HD Webcam (uvcvideo) at /dev/video0`.
  var title: String { "\(card) (\(driver)) at \(node)" }

  /// `YUYV 1280 x 720, up to 30.0 a second`.
  var stream: String { "\(format) \(size)" + (rate.map { ", up to \(LiveScan.thousandths($0)) a second" } ?? "") }
}

extension LiveScan {
  /// With one digit.
  static func thousandths(_ value: Int) -> String { "\(value / 1000).\(value % 1000 / 100)" }

  /// Pictures in a second, in thousandths.
  var rate: Int {
    let (seconds, attoseconds) = streaming.components
    let microseconds = Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000)
    return frames > 1 && microseconds > 0 ? (frames - 1) * 1_000_000_000 / microseconds : 0
  }
}
