import Kernel
import Pictures

/// The thread in which a camera is opened and closed, which may take the kernel a while, and in which JPEG pictures are
/// decoded. Of the pictures the newest wins; nothing else is ever left out.
final class CameraWorker {
  /// What came of a job.
  enum Outcome: Sendable {
    case opened(OpenCamera)
    /// All formats were to be avoided.
    case nothingLeft
    case openFailed(CameraProblem)
    case decoded(LumaImage, EncodedPicture)
    case undecodable(EncodedPicture)
  }

  /// A compressed picture, copied out of its buffer.
  struct EncodedPicture: Sendable {
    let bytes: [UInt8]
    let size: PixelSize
    /// Which opening it is of.
    let opening: Int
    let captured: ContinuousClock.Instant
    /// Whether only its soundness matters: it is thrown away.
    let isDiscarded: Bool
  }

  private enum Job: Sendable {
    case open(CameraOpening, preferred: FormatCandidate?, avoided: [FormatCandidate])
    case close(any VideoDevice)
  }

  private struct Mailbox: Sendable {
    var jobs: [Job] = []
    var picture: EncodedPicture?
    var outcomes: [Outcome] = []
    var isStopping = false
  }

  private typealias Side = SideThread<Mailbox>

  private let side: Side

  /// Starts the thread. `handler` gets the outcomes in the loop's thread.
  init(on loop: EventLoop, handler: @escaping (Outcome) -> Void) throws(SystemError) {
    side = try Side(
      "camera", on: loop, content: Mailbox(),
      end: {
        $0.isStopping = true
        $0.picture = nil
        // What is open is closed, but nothing is opened any more.
        $0.jobs.removeAll { if case .open = $0 { true } else { false } }
      },
      onDelivery: { for outcome in CameraWorker.takeOutcomes($0) { handler(outcome) } }, work: CameraWorker.work)
  }

  deinit { stop() }

  func open(_ opening: CameraOpening, preferred: FormatCandidate?, avoided: [FormatCandidate]) {
    post(.open(opening, preferred: preferred, avoided: avoided))
  }

  func close(_ device: any VideoDevice) { post(.close(device)) }

  /// Takes the place of a picture that still waits, and says whether there was one.
  func decode(_ picture: EncodedPicture) -> Bool {
    side.post { mailbox in
      defer { mailbox.picture = picture }
      return mailbox.picture != nil
    }
  }

  /// Ends the thread after what was asked of it is done. What it opened and nobody took is closed.
  func stop() {
    side.stop()
    for case .opened(let camera) in CameraWorker.takeOutcomes(side.box) { camera.device.close() }
  }

  private func post(_ job: Job) { side.post { $0.jobs.append(job) } }

  private static func takeOutcomes(_ box: Side.Box) -> [Outcome] {
    box.look { mailbox in
      defer { mailbox.outcomes = [] }
      return mailbox.outcomes
    }
  }

  // MARK: In the worker's thread

  private static func work(_ box: Side.Box) {
    var decoder: JPEGConverter?
    while true {
      let (job, picture, isStopping) = box.look { mailbox -> (Job?, EncodedPicture?, Bool) in
        if !mailbox.jobs.isEmpty { return (mailbox.jobs.removeFirst(), nil, mailbox.isStopping) }
        defer { mailbox.picture = nil }
        return (nil, mailbox.picture, mailbox.isStopping)
      }
      var outcome: Outcome?
      switch (job, picture) {
      case (.open(let opening, let preferred, let avoided)?, _): outcome = open(opening, preferred, avoided)
      case (.close(let device)?, _): device.close()
      case (nil, let picture?): outcome = decode(picture, &decoder)
      case (nil, nil):
        if isStopping { return }
        box.wait()
      }
      if let outcome { box.deliver { $0.outcomes.append(outcome) } }
    }
  }

  private static func open(
    _ opening: CameraOpening, _ preferred: FormatCandidate?, _ avoided: [FormatCandidate]
  ) -> Outcome {
    do throws(CameraProblem) {
      let camera = try opening.start(preferred: preferred, avoided: avoided)
      return camera.map { .opened($0) } ?? .nothingLeft
    } catch {
      return .openFailed(error)
    }
  }

  private static func decode(_ picture: EncodedPicture, _ decoder: inout JPEGConverter?) -> Outcome {
    if decoder == nil { decoder = try? JPEGConverter() }
    do throws(PictureFault) {
      switch decoder {
      case .some(let decoder): return .decoded(try decoder.luma(picture.bytes, size: picture.size), picture)
      case .none: return .undecodable(picture)
      }
    } catch {
      return .undecodable(picture)
    }
  }
}
