import Kernel
import Testing

@testable import Camera

/// Drives the machine with virtual time.
private struct Bench {
  var machine: CameraRecovery
  var now = ContinuousClock.now
  let begin: ContinuousClock.Instant

  init(_ change: (inout CameraSettings) -> Void = { _ in }) {
    var settings = CameraSettings(camera: .path("/dev/video0"))
    change(&settings)
    machine = CameraRecovery(settings)
    begin = now
  }

  mutating func feed(_ input: CameraRecovery.Input) -> [String] {
    machine.handle(input, at: now).map { output in
      switch output {
      case .open(let preferred, let avoided):
        (["open"] + (preferred.map { ["\($0)"] } ?? []) + avoided.map { "not \($0)" }).joined(separator: " ")
      case .close: "close"
      case .fault(let problem): problem.code
      case .recovered: "recovered"
      case .note(let text): text
      }
    }
  }

  /// Lets the time of the deadline come, and says how long it took.
  mutating func expire() -> (Duration, [String]) {
    guard let deadline = machine.deadline else { return (.zero, ["no deadline"]) }
    let waited = deadline - now
    now = deadline
    return (waited, feed(.timeout))
  }
}

private let large = FormatCandidate(.yuyv, PixelSize(1280, 720))
private let compressed = FormatCandidate(.mjpeg, PixelSize(1280, 720))

@Suite struct RecoveryTests {
  @Test("a camera that works: open, pictures, and nothing to tell")
  func good() {
    var bench = Bench()
    #expect(bench.feed(.start) == ["open"])
    #expect(bench.feed(.start) == [])
    #expect(bench.feed(.opened(large)) == [])
    for _ in 0..<100 {
      bench.now += .milliseconds(33)
      #expect(bench.feed(.picture) == [])
      #expect(bench.machine.deadline == bench.now + .seconds(2))
    }
    #expect(bench.feed(.timeout) == [])
  }

  @Test("a camera that is not there is asked for with growing pauses, two seconds at most, and told once")
  func missing() {
    var bench = Bench()
    _ = bench.feed(.start)
    let problem = CameraProblem.missing("/dev/video0", present: [])
    #expect(bench.feed(.openFailed(problem)) == ["cameraMissing"])
    var pauses: [Duration] = []
    for _ in 0..<6 {
      let (pause, outputs) = bench.expire()
      #expect(outputs == ["open"])
      pauses.append(pause)
      #expect(bench.feed(.openFailed(problem)) == [])
    }
    #expect(pauses == [.milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2), .seconds(2), .seconds(2)])
    // Another kind of trouble is told.
    #expect(bench.expire().1 == ["open"])
    #expect(bench.feed(.openFailed(.denied("/dev/video0"))) == ["cameraDenied"])
    #expect(bench.expire().1 == ["open"])
    #expect(bench.feed(.opened(large)) == [])
    #expect(bench.feed(.picture) == ["recovered"])
    // And the pauses start small again.
    #expect(bench.feed(.lost) == ["close", "cameraLost"])
    #expect(bench.expire().0 == .milliseconds(250))
  }

  @Test("without a first picture: once more the same, then another format, then from the top with more patience")
  func stepsDown() {
    var bench = Bench()
    _ = bench.feed(.start)
    _ = bench.feed(.opened(large))
    #expect(bench.expire() == (.seconds(2), ["close", "cameraSilent", "open YUYV 1280 x 720"]))
    _ = bench.feed(.opened(large))
    #expect(
      bench.expire().1 == [
        "close", "no picture in YUYV 1280 x 720, trying another format", "open not YUYV 1280 x 720",
      ])
    _ = bench.feed(.opened(compressed))
    #expect(bench.feed(.picture) == ["recovered"])
    // What worked is asked for first, and what did not is left out, after an unplug too.
    #expect(bench.feed(.lost) == ["close", "cameraLost"])
    #expect(bench.expire().1 == ["open MJPG 1280 x 720 not YUYV 1280 x 720"])
    _ = bench.feed(.opened(compressed))
    #expect(bench.expire().1 == ["close", "cameraSilent", "open MJPG 1280 x 720 not YUYV 1280 x 720"])
    _ = bench.feed(.opened(compressed))
    #expect(bench.expire().1.last == "open not YUYV 1280 x 720 not MJPG 1280 x 720")
    #expect(bench.feed(.nothingLeft) == [])
    #expect(bench.expire().1 == ["open"])
    _ = bench.feed(.opened(large))
    #expect(bench.expire().0 == .seconds(4))
  }

  @Test("silence while streaming is a fault, and the camera is opened again")
  func silence() {
    var bench = Bench()
    _ = bench.feed(.start)
    _ = bench.feed(.opened(large))
    _ = bench.feed(.picture)
    #expect(bench.expire() == (.seconds(2), ["close", "cameraSilent"]))
    #expect(bench.expire().1 == ["open YUYV 1280 x 720"])
    _ = bench.feed(.opened(large))
    #expect(bench.feed(.picture) == ["recovered"])
  }

  @Test("bad pictures are told once in a minute; ten in a row, and the camera is opened again")
  func badPictures() {
    var bench = Bench()
    _ = bench.feed(.start)
    _ = bench.feed(.opened(large))
    #expect(bench.feed(.badPicture(.marked)) == ["1 bad picture dropped; the last one: marked as damaged"])
    for _ in 0..<100 {
      for _ in 0..<6 { #expect(bench.feed(.picture) == []) }
      #expect(bench.feed(.badPicture(.inputOutput)) == [])
    }
    bench.now += .seconds(61)
    #expect(bench.feed(.badPicture(.inputOutput)) == ["101 bad pictures dropped; the last one: an I/O error"])
    // One more in the row already.
    for _ in 0..<7 { #expect(bench.feed(.badPicture(.short(3, needed: 4))) == []) }
    #expect(bench.feed(.badPicture(.inputOutput)) == ["close", "cameraBadPictures"])
    #expect(bench.feed(.badPicture(.inputOutput)) == [])
    #expect(bench.machine.badPictures == 110)
    #expect(bench.expire().1 == ["open YUYV 1280 x 720"])
  }

  @Test("bad pictures alone do not keep a silent camera alive")
  func badIsNotAlive() {
    var bench = Bench { $0.badPicturesInARow = 1000 }
    _ = bench.feed(.start)
    _ = bench.feed(.opened(large))
    let deadline = bench.machine.deadline
    for _ in 0..<50 {
      bench.now += .milliseconds(30)
      _ = bench.feed(.badPicture(.marked))
    }
    #expect(bench.machine.deadline == deadline)
  }

  @Test("a kernel that does not come back from opening is a fault of its own, and heals when it does")
  func stuck() {
    var bench = Bench()
    _ = bench.feed(.start)
    #expect(bench.expire() == (.seconds(10), ["cameraStuck"]))
    #expect(bench.machine.deadline == nil)
    #expect(bench.feed(.opened(large)) == [])
    #expect(bench.feed(.picture) == ["recovered"])
  }

  @Test("what does not fit the moment is ignored")
  func ignored() {
    var bench = Bench()
    for input in [CameraRecovery.Input.picture, .lost, .timeout, .opened(large), .nothingLeft, .badPicture(.marked)] {
      #expect(bench.feed(input) == [])
    }
    _ = bench.feed(.start)
    for input in [CameraRecovery.Input.picture, .lost, .badPicture(.marked)] { #expect(bench.feed(input) == []) }
    _ = bench.feed(.opened(large))
    #expect(bench.feed(.opened(large)) == [])
    #expect(bench.feed(.nothingLeft) == [])
  }
}
