import Foundation
import Kernel
import Pictures
import Testing

@testable import Camera

/// A camera on a loop with scripted nodes that send a picture every two milliseconds.
private final class Rig {
  let loop: EventLoop
  let system: ScriptedSystem
  var events: [String] = []
  var frames: [LumaImage] = []
  var facts: [CameraFacts] = []
  private(set) var camera: V4L2Camera?
  private var clock: EventLoop.Timer?
  private var until: (() -> Bool)?

  init(_ system: ScriptedSystem, _ selector: CameraSelector = .any, _ change: (inout CameraSettings) -> Void = { _ in })
    throws
  {
    loop = try EventLoop()
    self.system = system
    var settings = CameraSettings(camera: selector)
    settings.size = PixelSize(8, 4)
    settings.firstPictureDeadline = .milliseconds(200)
    settings.silenceDeadline = .seconds(5)
    settings.retryDelay = .milliseconds(5)
    settings.longestRetryDelay = .milliseconds(20)
    settings.discardedPictures = 0
    change(&settings)
    camera = try V4L2Camera(settings, on: loop, system: system) { [weak self] in self?.heard($0) }
    clock = loop.timer("pictures") { [weak self] in
      guard let self else { return }
      for path in system.nodes() { system.state.withLock { $0.nodes[path] }?.ring() }
      clock?.set(after: .milliseconds(2))
    }
    clock?.set(after: .zero)
    camera?.start()
  }

  deinit { camera?.cancel() }

  private func heard(_ event: V4L2Camera.Event) {
    switch event {
    case .frame(let frame):
      frames.append(frame.image)
      if events.last != "frames" { events.append("frames") }
    case .fault(let problem): events.append(problem.code)
    case .recovered: events.append("recovered")
    case .opened(let opened):
      facts.append(opened)
      events.append("opened \(opened.format) \(opened.size)")
    case .note(let text): events.append("note: \(text)")
    }
    if until?() == true { loop.stop() }
  }

  /// Turns until a condition holds after an event; says whether it came to that.
  func turn(for limit: Duration = .seconds(10), until condition: @escaping () -> Bool) throws -> Bool {
    until = condition
    defer { until = nil }
    if condition() { return true }
    return try loop.run(until: .now + limit)
  }

  func frames(_ count: Int) throws -> Bool {
    let wanted = frames.count + count
    return try turn { self.frames.count >= wanted }
  }

  func cancel() { camera?.cancel() }
}

private func sized(_ format: PixelFormat, _ sizes: (Int, Int)...) -> OfferedFormat {
  OfferedFormat(format, .discrete(sizes.map { PixelSize($0.0, $0.1) }))
}

@Suite struct CameraTests {
  @Test("pictures come, the first ones are thrown away, and an end is an end")
  func plain() throws {
    let node = ScriptedNode("/dev/video0")
    let rig = try Rig(ScriptedSystem([node])) { $0.discardedPictures = 3 }
    #expect(try rig.frames(5))
    #expect(rig.events == ["opened GREY 8 x 4", "frames"])
    // Three are thrown away; a slow machine may be handed a newer one than the fourth.
    #expect((rig.frames.first?.pixels.first ?? 0) >= 4)
    rig.cancel()
    let count = rig.events.count
    _ = try rig.loop.run(until: .now + .milliseconds(30))
    #expect(rig.events.count == count)
    #expect(node.calls == ["open", "format GREY 8 x 4", "start 4", "close"])
    #expect(rig.loop.watchCount == 0)
  }

  @Test("a driver that does not note that somebody waits, because a picture is there already, is heard of all the same")
  func deaf() throws {
    let node = ScriptedNode("/dev/video0")
    node.change { $0.isDeafAtFirst = true }
    let rig = try Rig(ScriptedSystem([node])) {
      $0.firstPictureDeadline = .seconds(30)
      $0.silenceDeadline = .seconds(30)
    }
    #expect(try rig.turn(for: .seconds(10)) { rig.frames.count >= 5 })
    rig.cancel()
    #expect(rig.loop.watchCount == 0)
  }

  @Test("the metadata node before the capture node is passed over, by name, by path and by chance")
  func metadataNode() throws {
    for selector in [CameraSelector.any, .name("UVC cam"), .name("uvcvideo"), .path("/dev/video0"), .path("/dev/cam")] {
      let metadata = ScriptedNode(
        "/dev/video0", card: "UVC Camera", driver: "uvcvideo", bus: "usb-1", isCapture: false, [])
      let capture = ScriptedNode("/dev/video1", card: "UVC Camera", driver: "uvcvideo", bus: "usb-1")
      let rig = try Rig(ScriptedSystem([metadata, capture], links: ["/dev/cam": "/dev/video0"]), selector)
      #expect(try rig.frames(1), "\(selector)")
      #expect(rig.facts.first?.node == "/dev/video1")
      if case .path(let path) = selector {
        #expect(rig.events.contains("note: \(path) takes no pictures; /dev/video1 of the same device is used"))
      }
    }
  }

  @Test("a node for metadata alone is no camera, and says so")
  func metadataOnly() throws {
    let rig = try Rig(ScriptedSystem([ScriptedNode("/dev/video0", isCapture: false, [])]), .path("/dev/video0"))
    #expect(try rig.turn { rig.events == ["cameraNotCapture"] })
  }

  @Test("a sensor that gives only raw data is refused with the remedy")
  func rawOnly() throws {
    let bayer = try #require(PixelFormat("pRAA"))
    let node = ScriptedNode("/dev/video0", card: "unicam", [sized(bayer, (4608, 2592))])
    for selector in [CameraSelector.any, .name("unicam"), .path("/dev/video0")] {
      let rig = try Rig(ScriptedSystem([node]), selector)
      #expect(try rig.turn { rig.events == ["cameraRawOnly"] })
      #expect(rig.camera?.fault?.reason == "gives only raw sensor data (pRAA)")
      #expect(rig.camera?.fault?.remedy.contains("USB camera") == true)
      #expect(rig.camera?.fault?.remedy.contains("libcamera") == true)
    }
    // With a usable camera beside it, any camera means that one.
    let rig = try Rig(ScriptedSystem([node, ScriptedNode("/dev/video1")]))
    #expect(try rig.frames(1))
  }

  @Test("a format is asked of a fresh node without buffers; a driver that wants one full reopen gets it")
  func freshFormat() throws {
    let node = ScriptedNode("/dev/video0")
    node.change { $0.picture = { _, _ in nil } }
    let rig = try Rig(ScriptedSystem([node]))
    #expect(try rig.turn { rig.events.contains("cameraSilent") })
    node.change { $0.picture = { ScriptedNode.grey($0, $1) } }
    #expect(try rig.turn { rig.events.last == "frames" })
    #expect(rig.events == ["opened GREY 8 x 4", "cameraSilent", "opened GREY 8 x 4", "recovered", "frames"])
    let openings = node.calls.split(separator: "open").map(Array.init)
    #expect(openings.first == ["format GREY 8 x 4", "start 4", "close"])
    #expect(
      openings.allSatisfy { $0.filter { $0.hasPrefix("format") }.count == 1 && $0.first?.hasPrefix("format") == true })
  }

  @Test("a camera that delivers only below a byte rate is stepped down to what works, which is remembered")
  func byteRate() throws {
    let sizes = [(1280, 720), (640, 480), (320, 240)].map { PixelSize($0.0, $0.1) }
    let node = ScriptedNode("/dev/video0", [OfferedFormat(.yuyv, .discrete(sizes))]) { $0.byteRate = 5_000_000 }
    let system = ScriptedSystem([node])
    let rig = try Rig(system, .path("/dev/video0")) { $0.size = PixelSize(1280, 720) }
    #expect(try rig.turn { rig.events.last == "frames" })
    #expect(
      rig.events == [
        "opened YUYV 1280 x 720", "cameraSilent", "opened YUYV 1280 x 720",
        "note: no picture in YUYV 1280 x 720, trying another format", "opened YUYV 640 x 480", "opened YUYV 640 x 480",
        "note: no picture in YUYV 640 x 480, trying another format", "opened YUYV 320 x 240", "recovered", "frames",
      ])
    system.unplug(node)
    #expect(try rig.turn { rig.events.last == "cameraMissing" })
    system.plug(node)
    #expect(try rig.turn { rig.events.last == "frames" })
    #expect(rig.events.suffix(5) == ["cameraLost", "cameraMissing", "opened YUYV 320 x 240", "recovered", "frames"])
  }

  @Test("a bus without room for a format is no reason to give up")
  func noSpace() throws {
    let node = ScriptedNode("/dev/video0", [sized(.yuyv, (64, 48)), sized(.grey, (64, 48))])
    node.change { $0.startFailure = ENOSPC }
    let rig = try Rig(ScriptedSystem([node]), .path("/dev/video0"))
    #expect(try rig.turn { rig.events == ["cameraNoFormat"] })
    #expect(rig.camera?.fault?.reason.contains("VIDIOC_STREAMON: No space left on device") == true)
    #expect(node.calls.filter { $0.hasPrefix("format") }.prefix(2) == ["format YUYV 64 x 48", "format GREY 64 x 48"])
    node.change { $0.startFailure = nil }
    #expect(try rig.frames(1))
  }

  @Test("what S_FMT returned counts, not what was asked for")
  func granted() throws {
    let node = ScriptedNode("/dev/video0", [sized(.yuyv, (1280, 720))]) {
      $0.grant = { _ in GrantedFormat(.yuyv, PixelSize(6, 2), bytesPerLine: 16, imageBytes: 32) }
    }
    let rig = try Rig(ScriptedSystem([node]))
    #expect(try rig.frames(1))
    #expect(rig.frames.first?.width == 6 && rig.frames.first?.height == 2)
    #expect(rig.events.contains("note: asked for YUYV 1280 x 720, got YUYV 6 x 2"))
  }

  @Test("an I/O error on every seventh dequeue costs that picture and nothing else")
  func everySeventh() throws {
    let node = ScriptedNode("/dev/video0") { $0.dequeueFailure = { $0 % 7 == 0 ? EIO : nil } }
    let rig = try Rig(ScriptedSystem([node]))
    #expect(try rig.frames(60))
    #expect(
      rig.events == [
        "opened GREY 8 x 4", "frames", "note: 1 bad picture dropped; the last one: an I/O error", "frames",
      ])
    let statistics = try #require(rig.camera?.statistics)
    #expect(statistics.bad >= 9)
    #expect(statistics.openings == 1)
  }

  @Test("damaged and short pictures are dropped and counted; ten in a row, and the camera is opened again")
  func damaged() throws {
    let node = ScriptedNode("/dev/video0") {
      $0.picture = { format, number in
        let (bytes, _) = ScriptedNode.grey(format, number)
        // From the 21st to the 30th, all in a row.
        if (21...30).contains(number) { return (bytes, true) }
        return number % 5 == 0 ? (Array(bytes.dropLast()), false) : (bytes, false)
      }
    }
    let rig = try Rig(ScriptedSystem([node]))
    #expect(try rig.turn { rig.events.contains("recovered") })
    #expect(rig.events.contains("note: 1 bad picture dropped; the last one: too short (31 of 32 bytes)"))
    #expect(rig.events.contains("cameraBadPictures"))
    #expect(rig.frames.allSatisfy { $0.pixels.count == 32 && !(21...30).contains($0.pixels[0]) })
    #expect(rig.camera?.statistics.openings == 2)
  }

  @Test("a persistent I/O error does not make the loop spin, and ends in opening again")
  func persistent() throws {
    let node = ScriptedNode("/dev/video0") { $0.dequeueFailure = { $0 > 5 && $0 <= 15 ? EIO : nil } }
    let rig = try Rig(ScriptedSystem([node]))
    #expect(try rig.turn { rig.events.contains("recovered") })
    #expect(rig.events.contains("cameraBadPictures"))
  }

  @Test("a link is followed at each opening, so that a swap of the numbers does no harm")
  func swappedLink() throws {
    let one = ScriptedNode("/dev/video0", card: "door")
    let other = ScriptedNode("/dev/video1", card: "office")
    let link = "/dev/v4l/by-id/usb-door-video-index0"
    let system = ScriptedSystem([one, other], links: [link: "/dev/video0"])
    let rig = try Rig(system, .path(link))
    #expect(try rig.frames(1))
    system.unplug(one)
    let again = ScriptedNode("/dev/video2", card: "door")
    system.plug(again)
    system.link(link, to: "/dev/video2")
    #expect(try rig.turn { rig.facts.count == 2 && rig.events.last == "frames" })
    #expect(rig.facts.map(\.node) == ["/dev/video0", "/dev/video2"])
    #expect(rig.facts.map(\.card) == ["door", "door"])
    #expect(other.calls.isEmpty)
  }

  @Test("unplugged and plugged in again: lost, missing, recovered")
  func replug() throws {
    let node = ScriptedNode("/dev/video0", card: "door")
    let system = ScriptedSystem([node, ScriptedNode("/dev/video7", card: "office")])
    let rig = try Rig(system, .name("door"))
    #expect(try rig.frames(3))
    system.unplug(node)
    #expect(try rig.turn { rig.events.last == "cameraMissing" })
    #expect(rig.camera?.fault == .missing("camera 'door'", present: ["office (/dev/video7)"]))
    system.plug(node)
    #expect(try rig.turn { rig.events.last == "frames" })
    #expect(
      rig.events == [
        "opened GREY 8 x 4", "frames", "cameraLost", "cameraMissing", "opened GREY 8 x 4", "recovered", "frames",
      ])
  }

  @Test(
    "why a camera cannot be opened has a code each",
    arguments: [
      (EACCES, "cameraDenied"), (EBUSY, "cameraBusy"), (ENODEV, "cameraMissing"), (ENOTTY, "cameraNotCapture"),
      (EIO, "cameraFailed"),
    ])
  func openFailures(code: CInt, expected: String) throws {
    let rig = try Rig(ScriptedSystem([ScriptedNode("/dev/video0") { $0.openFailure = code }]), .path("/dev/video0"))
    #expect(try rig.turn { !rig.events.isEmpty })
    #expect(rig.events == [expected])
    if code == EBUSY { #expect(rig.camera?.fault?.reason == "in use by somebody") }
  }

  @Test("only the newest picture is used; those before it are given back")
  func newest() throws {
    let node = ScriptedNode("/dev/video0")
    let rig = try Rig(ScriptedSystem([node]))
    #expect(try rig.frames(3))
    let before = try #require(rig.camera?.statistics)
    for _ in 0..<3 { node.ring() }
    #expect(try rig.frames(1))
    let after = try #require(rig.camera?.statistics)
    #expect(after.replaced - before.replaced >= 2)
    // The picture is a number that counts up.
    let last = try #require(rig.frames.last?.pixels.first)
    #expect(Int(last) == after.received)
  }

  @Test("pictures that waited in full buffers for long are not used")
  func stale() throws {
    let node = ScriptedNode("/dev/video0")
    let rig = try Rig(ScriptedSystem([node])) { $0.maximumAge = .milliseconds(100) }
    #expect(try rig.frames(1))
    node.change { $0.age = .seconds(3) }
    for _ in 0..<8 { node.ring() }
    let count = rig.frames.count
    _ = try rig.loop.run(until: .now + .milliseconds(1))
    #expect(rig.camera?.statistics.stale ?? 0 >= 1)
    #expect(rig.frames.count - count <= 1)
  }

  @Test("while nobody wants pictures the stream is watched all the same")
  func notWatching() throws {
    let node = ScriptedNode("/dev/video0")
    let system = ScriptedSystem([node])
    let rig = try Rig(system, .path("/dev/video0")) { $0.silenceDeadline = .milliseconds(150) }
    #expect(try rig.frames(1))
    var isWanted = false
    rig.camera?.wantsPicture = { isWanted }
    let count = rig.frames.count
    _ = try rig.loop.run(until: .now + .milliseconds(400))
    #expect(rig.frames.count == count)
    #expect(!rig.events.contains("cameraSilent"))
    isWanted = true
    #expect(try rig.frames(1))
    isWanted = false
    system.unplug(node)
    #expect(try rig.turn { rig.events.contains("cameraMissing") })
  }

  @Test("controls are set by number, read back, and named when they are not there, at each opening")
  func controls() throws {
    func facts(_ id: ControlID, _ range: ClosedRange<Int>) -> ControlFacts {
      // The names of Linux 5.16: nobody looks at them.
      ControlFacts(id, name: "Focus, Automatic Continuous", range: range)
    }
    let node = ScriptedNode("/dev/video0") { state in
      state.controls = [
        ControlID.automaticFocus.number: (facts(.automaticFocus, 0...1), 1),
        ControlID.focus.number: (facts(.focus, 0...250), 0),
        ControlID.gain.number: (facts(.gain, 0...10), 0),
      ]
    }
    let system = ScriptedSystem([node])
    let rig = try Rig(system, .path("/dev/video0")) { settings in
      settings.focus = 40
      settings.gain = 11
      settings.exposure = 100
    }
    #expect(try rig.frames(1))
    #expect(
      rig.facts.first?.controls == [
        .missing(.exposureTime), .set(.automaticFocus, 0), .set(.focus, 40),
        .refused(.gain, 11, range: 0...10, reason: "Numerical result out of range"),
      ])
    #expect(rig.events.contains("note: the camera has no control exposure_time_absolute"))
    #expect(rig.events.contains("note: control gain: 11 was refused (0 to 10): Numerical result out of range"))
    // Somebody turns the automatic on again, and the camera is plugged in anew.
    node.change { state in
      state.rounding = 25
      state.controls[ControlID.automaticFocus.number]?.value = 1
      state.controls[ControlID.focus.number]?.value = 0
    }
    system.unplug(node)
    #expect(try rig.turn { rig.events.last == "cameraMissing" })
    system.plug(node)
    #expect(try rig.turn { rig.facts.count == 2 && rig.events.last == "frames" })
    #expect(rig.events.contains("note: control focus_absolute: asked for 40, it is 25"))
    #expect(node.state.withLock { $0.controls[ControlID.automaticFocus.number]?.value } == 0)
  }

  @Test("a check opens and starts nothing")
  func check() throws {
    let node = ScriptedNode("/dev/video0")
    #expect(try V4L2Camera.check(CameraSettings(camera: .path("/dev/video0")), system: ScriptedSystem([node])) == [])
    #expect(node.calls == ["open", "close"])
    #expect(throws: CameraProblem.missing("/dev/video9", present: ["Scripted (/dev/video0)"])) {
      _ = try V4L2Camera.check(CameraSettings(camera: .path("/dev/video9")), system: ScriptedSystem([node]))
    }
  }

  @Test("a handler may end the camera, whatever the event")
  func cancelInHandler() throws {
    let node = ScriptedNode("/dev/video0")
    let loop = try EventLoop()
    for wanted in ["opened", "frame", "fault"] {
      if wanted == "fault" { node.change { $0.openFailure = EBUSY } }
      var camera: V4L2Camera?
      var count = 0
      camera = try V4L2Camera(CameraSettings(camera: .path("/dev/video0")), on: loop, system: ScriptedSystem([node])) {
        event in
        switch (event, wanted) {
        case (.opened, "opened"), (.frame, "frame"), (.fault, "fault"):
          count += 1
          camera?.cancel()
        default: break
        }
      }
      let clock = loop.timer("ring") { for _ in 0..<4 { node.ring() } }
      camera?.start()
      for _ in 0..<20 {
        clock.set(after: .milliseconds(1))
        _ = try loop.run(until: .now + .milliseconds(5))
      }
      #expect(count == 1, "\(wanted)")
      #expect(loop.watchCount == 0)
      camera = nil
    }
  }

  @Test("five hundred starts and ends leave no descriptor")
  func restarts() throws {
    let loop = try EventLoop()
    let system = ScriptedSystem([ScriptedNode("/dev/video0")])
    let before = try ProcessFacts.openDescriptors()
    for _ in 0..<500 {
      let camera = try V4L2Camera(CameraSettings(), on: loop, system: system) { _ in }
      camera.start()
      camera.cancel()
    }
    #expect(loop.watchCount == 0)
    // Other tests run beside this one.
    #expect(try ProcessFacts.openDescriptors() - before < 300)
  }
}
