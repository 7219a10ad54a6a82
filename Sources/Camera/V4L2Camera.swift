import Glibc
import Kernel
import Pictures

/// A V4L2 camera: it delivers grey pictures, the newest one each time, and heals by itself.
///
/// It is opened and closed in a thread of its own, and read in the loop's. Whatever happens to the device is an event;
/// the camera is opened again with growing pauses, of two seconds at most, for as long as it takes.
package final class V4L2Camera {
  /// What the camera reports.
  package enum Event: Sendable {
    /// A picture.
    case frame(CameraFrame)
    /// It delivers nothing now; told once, until the kind of the fault changes.
    case fault(CameraProblem)
    /// It delivers again after a fault.
    case recovered
    /// The stream was started; a picture is yet to come.
    case opened(CameraFacts)
    /// For the log: bad pictures, controls that are missing, another format.
    case note(String)
  }

  /// Counts since the start.
  package struct Statistics: Equatable, Sendable {
    package init() {}

    /// Good pictures that the camera sent, those thrown away included.
    package var received = 0
    /// Pictures handed on.
    package var delivered = 0
    /// Pictures that a newer one replaced before anybody looked.
    package var replaced = 0
    /// Pictures too old to be used.
    package var stale = 0
    /// Damaged pictures and failed attempts to get one.
    package var bad = 0
    package var openings = 0
  }

  package private(set) var statistics = Statistics()
  /// Whether a picture is wanted, asked for each. While none is, the stream runs on and is watched, but nothing is copied.
  package var wantsPicture: () -> Bool = { true }
  /// The fault that is not healed yet.
  package var fault: CameraProblem? { recovery.fault }

  private let settings: CameraSettings
  private let system: any VideoSystem
  private let loop: EventLoop
  private let handler: (Event) -> Void
  private var recovery: CameraRecovery
  private var worker: CameraWorker?
  private var timer: EventLoop.Timer?
  private var camera: OpenCamera?
  private var watch: EventLoop.Watch?
  /// Pictures of this opening still to be thrown away.
  private var discards = 0
  /// The watch may never report another picture; see `watchAnew`.
  private var mayBeDeaf = false
  private var isCancelled = false

  /// A camera that is not open yet. `handler` gets the events in the loop's thread.
  package convenience init(
    _ settings: CameraSettings, on loop: EventLoop, handler: @escaping (Event) -> Void
  ) throws(SystemError) {
    try self.init(settings, on: loop, system: KernelVideo(), handler: handler)
  }

  /// With nodes from elsewhere.
  package init(
    _ settings: CameraSettings, on loop: EventLoop, system: any VideoSystem, handler: @escaping (Event) -> Void
  ) throws(SystemError) {
    self.settings = settings
    self.system = system
    self.loop = loop
    self.handler = handler
    recovery = CameraRecovery(settings)
    worker = try CameraWorker(on: loop) { [weak self] in self?.worked($0) }
    timer = loop.timer("camera") { [weak self] in
      // A loop that was held up hears of its timers first: pictures that wait already are no silence.
      self?.mayBeDeaf = true
      self?.ready([])
      self?.feed(.timeout)
    }
  }

  deinit { cancel() }

  /// Why a camera with these settings would not work, its controls included. It opens the device and starts nothing; it
  /// waits for the kernel, so that only a verb or a start may ask.
  package static func check(
    _ settings: CameraSettings, system: any VideoSystem = KernelVideo()
  ) throws(CameraProblem) -> [ControlOutcome] {
    try CameraOpening(settings: settings, system: system).check()
  }

  /// Opens the camera, and keeps it open.
  package func start() { feed(.start) }

  /// Ends it: no event comes any more. It waits until the kernel has closed the device.
  package func cancel() {
    isCancelled = true
    timer?.cancel()
    closeCamera()
    worker?.stop()
    worker = nil
  }

  // MARK: The state machine

  private func feed(_ input: CameraRecovery.Input) {
    guard !isCancelled else { return }
    let outputs = recovery.handle(input, at: .now)
    if let deadline = recovery.deadline { timer?.set(at: deadline) } else { timer?.cancel() }
    for output in outputs where !isCancelled {
      switch output {
      case .open(let preferred, let avoided):
        let opening = CameraOpening(settings: settings, system: system)
        worker?.open(opening, preferred: preferred, avoided: avoided)
      case .close: closeCamera()
      case .fault(let problem): handler(.fault(problem))
      case .recovered: handler(.recovered)
      case .note(let text): handler(.note(text))
      }
    }
  }

  private func closeCamera() {
    if let watch { loop.remove(watch) }
    watch = nil
    if let camera { worker?.close(camera.device) }
    camera = nil
  }

  private func worked(_ outcome: CameraWorker.Outcome) {
    guard !isCancelled else {
      if case .opened(let camera) = outcome { camera.device.close() }
      return
    }
    switch outcome {
    case .opened(let camera): opened(camera)
    case .nothingLeft: feed(.nothingLeft)
    case .openFailed(let problem): feed(.openFailed(problem))
    case .decoded(let image, let picture):
      guard picture.opening == statistics.openings, camera != nil else { return }
      feed(.picture)
      if !picture.isDiscarded { deliver(image, picture.captured) }
    case .undecodable(let picture):
      guard picture.opening == statistics.openings, camera != nil else { return }
      statistics.bad += 1
      feed(.badPicture(.undecodable))
    }
  }

  private func opened(_ camera: OpenCamera) {
    self.camera = camera
    statistics.openings += 1
    discards = settings.discardedPictures
    mayBeDeaf = true
    do throws(SystemError) {
      watch = try startWatch(camera)
    } catch {
      feed(.opened(camera.candidate))
      feed(.failed(error))
      return
    }
    feed(.opened(camera.candidate))
    handler(.opened(camera.facts))
    for text in camera.facts.remarks + camera.facts.controls.compactMap(\.warning) where !isCancelled {
      handler(.note(text))
    }
  }

  private func startWatch(_ camera: OpenCamera) throws(SystemError) -> EventLoop.Watch {
    try loop.watch(raw: camera.device.descriptor, for: .read) { [weak self] in self?.ready($0) }
  }

  /// A driver that has a picture at the very moment it is first watched may not note that somebody waits, and is never
  /// heard of again (v4l2loopback). Watched anew when all pictures are taken, it does.
  private func watchAnew(_ camera: OpenCamera) {
    guard mayBeDeaf, let old = watch else { return }
    mayBeDeaf = false
    loop.remove(old)
    watch = nil
    do throws(SystemError) {
      watch = try startWatch(camera)
    } catch {
      feed(.failed(error))
    }
  }

  // MARK: Pictures

  private func ready(_ readiness: EventLoop.Readiness) {
    guard let camera else { return }
    let opening = statistics.openings
    var newest: FilledBuffer?
    var count = 0
    // Not more than there are buffers: what is given back may come again at once.
    while count < camera.facts.buffers {
      let buffer: FilledBuffer
      do throws(SystemError) {
        guard let next = try camera.device.dequeue() else { break }
        buffer = next
      } catch {
        failed(error)
        break
      }
      count += 1
      if let fault = fault(of: buffer, camera.layout) {
        guard give(buffer, to: camera) else { return }
        statistics.bad += 1
        feed(.badPicture(fault))
        // That one may have been one too many.
        guard opening == statistics.openings, self.camera != nil else { return }
      } else {
        statistics.received += 1
        if let older = newest {
          statistics.replaced += 1
          guard give(older, to: camera) else { return }
        }
        newest = buffer
      }
    }
    guard opening == statistics.openings, self.camera != nil else { return }
    if count < camera.facts.buffers { watchAnew(camera) }
    guard opening == statistics.openings, self.camera != nil else { return }
    if let newest {
      use(newest, camera, allWereFull: count == camera.facts.buffers)
    } else if count == 0, readiness.contains(.failed) || readiness.contains(.hungUp) {
      // The kernel reports a failure that no call shows: without this the loop would spin.
      statistics.bad += 1
      feed(.badPicture(.inputOutput))
    }
  }

  private func failed(_ error: SystemError) {
    switch error.code {
    case ENODEV, ENXIO: feed(.lost)
    case EIO:
      statistics.bad += 1
      feed(.badPicture(.inputOutput))
    default: feed(.failed(error))
    }
  }

  private func fault(of buffer: FilledBuffer, _ layout: PictureLayout) -> PictureFault? {
    if buffer.isBad { return .marked }
    return buffer.bytes < layout.bytesNeeded ? .short(buffer.bytes, needed: layout.bytesNeeded) : nil
  }

  /// Gives a buffer back to the driver; says whether that worked.
  private func give(_ buffer: FilledBuffer, to camera: OpenCamera) -> Bool {
    do throws(SystemError) {
      try camera.device.queue(buffer)
      return true
    } catch {
      failed(error)
      return false
    }
  }

  private func use(_ buffer: FilledBuffer, _ camera: OpenCamera, allWereFull: Bool) {
    let (captured, age) = V4L2Camera.time(of: buffer)
    let isStale = allWereFull && age > settings.maximumAge
    if isStale { statistics.stale += 1 }
    let isDiscarded = discards > 0
    discards = max(0, discards - 1)
    if isStale || !wantsPicture() || (isDiscarded && !camera.layout.granted.format.isCompressed) {
      if give(buffer, to: camera) { feed(.picture) }
    } else if camera.layout.granted.format.isCompressed {
      let bytes = camera.device.withBytes(of: buffer) { [UInt8]($0) }
      let picture = CameraWorker.EncodedPicture(
        bytes: bytes, size: camera.layout.granted.size, opening: statistics.openings, captured: captured,
        isDiscarded: isDiscarded)
      // Whether it is a picture shows when it is decoded.
      if give(buffer, to: camera), worker?.decode(picture) == true { statistics.replaced += 1 }
    } else {
      let layout = camera.layout
      let result = camera.device.withBytes(of: buffer) { bytes -> Result<LumaImage, PictureFault> in
        do throws(PictureFault) { return .success(try layout.luma(in: bytes)) } catch { return .failure(error) }
      }
      guard give(buffer, to: camera) else { return }
      switch result {
      case .success(let image):
        feed(.picture)
        deliver(image, captured)
      case .failure(let fault):
        statistics.bad += 1
        feed(.badPicture(fault))
      }
    }
  }

  private func deliver(_ image: LumaImage, _ captured: ContinuousClock.Instant) {
    guard !isCancelled else { return }
    statistics.delivered += 1
    handler(.frame(CameraFrame(image: image, captured: captured)))
  }

  /// When a picture was taken, and how long ago: just now where the driver does not say, or says what cannot be.
  private static func time(of buffer: FilledBuffer) -> (ContinuousClock.Instant, age: Duration) {
    let now = ContinuousClock.now
    var clock = timespec()
    guard buffer.nanoseconds > 0, clock_gettime(CLOCK_MONOTONIC, &clock) == 0 else { return (now, .zero) }
    let age = Int64(clock.tv_sec) * 1_000_000_000 + Int64(clock.tv_nsec) - buffer.nanoseconds
    guard age > 0, age < 3_600_000_000_000 else { return (now, .zero) }
    return (now - .nanoseconds(age), .nanoseconds(age))
  }
}

/// A picture of a camera.
package struct CameraFrame: Sendable {
  package let image: LumaImage
  /// When it was taken.
  package let captured: ContinuousClock.Instant

  package init(image: LumaImage, captured: ContinuousClock.Instant) {
    self.image = image
    self.captured = captured
  }
}
