import Camera
import Configuration
import GPIO
import Kernel
import Panel
import Pictures

/// A V4L2 camera. Pictures come by themselves, and faults heal by themselves.
final class LiveCamera: Camera {
  private var camera: V4L2Camera?

  /// - Parameter wantsPicture: asked for each picture but the first, which shows that the camera sees.
  init(
    _ settings: CameraSettings, on loop: EventLoop, wantsPicture: @escaping () -> Bool,
    handler: @escaping (CameraEvent) -> Void
  ) throws(SystemError) {
    var hasDelivered = false
    camera = try V4L2Camera(settings, on: loop) { event in
      switch event {
      case .frame(let frame):
        // The stream is said to be open before it has delivered anything.
        if !hasDelivered { handler(.ready) }
        hasDelivered = true
        handler(.frame(frame.image, .live))
      case .fault(let problem): handler(.fault("\(problem); \(problem.remedy)"))
      case .recovered: handler(.ready)
      case .opened(let facts):
        handler(
          .note(
            event: "cameraOpened",
            detail: "\(facts.node), \(facts.card), \(facts.format) \(facts.size.width)x\(facts.size.height)"))
      case .note(let text): handler(.note(event: "cameraNote", detail: text))
      }
    }
    camera?.wantsPicture = { !hasDelivered || wantsPicture() }
  }

  var current: LumaImage? { nil }

  func start() { camera?.start() }

  func cancel() {
    camera?.cancel()
    camera = nil
  }
}

/// Lamps, buzzer and relay on the lines of a gpiochip. A panel that is lost is opened again, with the relay inactive.
///
/// A chip that is not there at the start may still come: an expander whose driver is loaded late. It is a fault for
/// `patience`, and the end after that. A chip that went away later is waited for without an end.
final class LinePanel: PanelOutput {
  /// How long a chip is waited for that was never there.
  static let patience = Duration.seconds(60)

  private let settings: LineSettings
  private let patience: Duration
  private let start = ContinuousClock.now
  private let loop: EventLoop
  private let handler: (PanelEvent) -> Void
  private var panel: GPIOPanel?
  private var wanted = PanelState.off
  private var hasFault = false
  private var wasThere = false

  /// Throws only what no waiting makes right: facts of the board that are not so.
  init(
    _ settings: LineSettings, patience: Duration = LinePanel.patience, on loop: EventLoop,
    handler: @escaping (PanelEvent) -> Void
  ) throws(PanelError) {
    self.settings = settings
    self.patience = patience
    self.loop = loop
    self.handler = handler
    do throws(PanelError) {
      panel = try open()
    } catch {
      if error.isWrongFact, !error.mayStillCome { throw error }
      hasFault = true
      handler(.fault("\(error); \(error.remedy)"))
    }
  }

  func show(_ state: PanelState) {
    wanted = state
    panel?.apply(state)
  }

  func lookAgain() {
    guard hasFault, panel == nil else { return }
    do throws(PanelError) {
      panel = try open()
    } catch {
      if !wasThere, error.isWrongFact, !error.mayStillCome || ContinuousClock.now - start > patience {
        return handler(.hopeless(error))
      }
      // Another reason than before may be the one that helps.
      return handler(.fault("\(error); \(error.remedy)"))
    }
    hasFault = false
    panel?.apply(wanted)
    handler(.recovered)
  }

  func close() {
    panel?.close()
    panel = nil
  }

  private func open() throws(PanelError) -> GPIOPanel {
    let panel = try GPIOPanel(settings, on: loop) { [weak self] in self?.take($0) }
    wasThere = true
    return panel
  }

  private func take(_ event: GPIOPanel.Event) {
    switch event {
    case .unavailable(let error):
      panel = nil
      hasFault = true
      handler(.fault("\(error); \(error.remedy)"))
    case .lampsUnavailable(let errors):
      handler(.note(event: "lampsUnavailable", detail: errors.map { "\($0)" }.joined(separator: "; ")))
    case .lampsRestored: handler(.note(event: "lampsRestored", detail: "all lamps are there again"))
    case .input(let role, let isActive): handler(.input(name: role.rawValue, isActive: isActive))
    }
  }
}

extension CameraSettings {
  package init(_ facts: Configuration.CameraFacts) {
    self.init(camera: CameraSelector(facts.device ?? ""))
    size = PixelSize(facts.width, facts.height)
    rate = facts.rate
    if !facts.formats.isEmpty {
      formats = facts.formats.map { format in
        switch format {
        case .yuyv: .yuyv
        case .nv12: .nv12
        case .grey: .grey
        case .mjpeg: .mjpeg
        }
      }
    }
    exposure = facts.exposure
    focus = facts.focus
    gain = facts.gain
  }
}

extension LineSettings {
  package init(_ facts: PanelFacts) {
    var outputs: [OutputRole: Output] = [:]
    var inputs: [InputRole: Input] = [:]
    for (role, line) in facts.lines {
      let place: Place =
        switch line.place {
        case .name(let name): .name(name)
        case .offset(let offset): .offset(UInt32(offset))
        }
      if let output = OutputRole(rawValue: role.rawValue) {
        outputs[output] = Output(place, isActiveLow: line.isActiveLow)
      } else if let input = InputRole(rawValue: role.rawValue) {
        inputs[input] = Input(
          place, isActiveLow: line.isActiveLow, bias: Bias(rawValue: line.bias.rawValue) ?? .asIs)
      }
    }
    self.init(
      chip: facts.chip, outputs: outputs, inputs: inputs,
      busyLamp: LampPolicy(rawValue: facts.busyLamp.rawValue) ?? .goOn)
  }
}
