import Camera
import Kernel
import Pictures
import QRScan

/// What sees codes: the camera and the decoder of its pictures. Either is opened again by `lookAgain` when it could not be had.
final class Sight {
  enum Event {
    /// The bytes of a code, and when its picture was taken.
    case code([UInt8], capturedAt: ContinuousClock.Instant)
    /// Why nothing is seen; nil when all is well. Said again without having changed.
    case problem(String?)
    /// The camera has said how it is, for the first time or again.
    case settled
    /// Something for the log that stops nobody.
    case note(event: String, detail: String)
  }

  private let source: Appliance.CameraPart
  private let loop: EventLoop
  private let wantsCodes: () -> Bool
  private let handler: (Event) -> Void
  private var camera: (any Camera)?
  private var worker: DecodeWorker?
  private var pictures = PicturesUnderWay()
  /// Why the camera sees nothing, and why pictures cannot be decoded: neither is cured by the other.
  private var cameraProblem: String?
  private var decoderProblem: String?

  /// Pictures are decoded while `wantsCodes` says so.
  init(
    _ source: Appliance.CameraPart, on loop: EventLoop, wantsCodes: @escaping () -> Bool,
    handler: @escaping (Event) -> Void
  ) {
    self.source = source
    self.loop = loop
    self.wantsCodes = wantsCodes
    self.handler = handler
  }

  // MARK: Opening and closing

  func openDecoder() {
    do throws(SystemError) {
      worker = try DecodeWorker(on: loop) { [weak self] in self?.decoded($0) }
      decoderProblem = nil
    } catch {
      decoderProblem = error.description
    }
    judge()
  }

  func openCamera() {
    switch source {
    case .pictures(let folder): camera = PictureCamera(folder, on: loop) { [weak self] in self?.take($0) }
    case .v4l2(let facts):
      do throws(SystemError) {
        let wantsPicture = { [weak self] in self?.wantsPicture ?? false }
        camera = try LiveCamera(CameraSettings(facts), on: loop, wantsPicture: wantsPicture) { [weak self] in
          self?.take($0)
        }
      } catch {
        take(.fault(error.description))
      }
    }
    camera?.start()
  }

  /// Their threads wait for a library and for the kernel: one that does not come back holds up the end of the process.
  func close() {
    worker?.stop()
    camera?.cancel()
  }

  // MARK: Looking

  /// Looks at the picture that is in view now, where the camera reports changes only.
  func lookAtCurrent() {
    if let image = camera?.current, wantsCodes() { submit(image, .still) }
  }

  /// Whatever makes pictures and reads them is there, and does not keep one for ever.
  func lookAgain() {
    if worker == nil { openDecoder() }
    if camera == nil { openCamera() }
    if pictures.isOverdue(at: .now) {
      decoderProblem = "the decoder does not come back from a picture"
      judge()
    } else if decoderProblem != nil, pictures.isEmpty, let image = camera?.current {
      submit(image, .still)
    }
  }

  /// Whether pictures can be decoded again shows when one is.
  private var wantsPicture: Bool { wantsCodes() || (decoderProblem != nil && pictures.isEmpty) }

  private func take(_ event: CameraEvent) {
    switch event {
    case .frame(let image, let patience):
      if wantsPicture { submit(image, patience) }
    case .fault(let reason): settle(reason)
    case .ready: settle(nil)
    case .note(let event, let detail): handler(.note(event: event, detail: detail))
    }
  }

  private func settle(_ problem: String?) {
    cameraProblem = problem
    judge()
    handler(.settled)
  }

  private func judge() { handler(.problem(cameraProblem ?? decoderProblem)) }

  private func submit(_ image: LumaImage, _ patience: CameraPatience) {
    guard let worker else { return }
    let captured = ContinuousClock.now
    pictures.submitted(worker.submit(image, patience == .live ? .live : .still), at: captured)
  }

  private func decoded(_ result: DecodeWorker.Result) {
    guard let captured = pictures.decoded(result.picture) else { return }
    if result.failure != nil || decoderProblem != nil {
      decoderProblem = result.failure?.description
      judge()
    }
    for code in result.codes { handler(.code(code, capturedAt: captured)) }
  }
}
