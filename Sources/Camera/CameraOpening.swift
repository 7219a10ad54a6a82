import Glibc
import Kernel

/// A camera whose stream runs.
struct OpenCamera: Sendable {
  let device: any VideoDevice
  let candidate: FormatCandidate
  let layout: PictureLayout
  let facts: CameraFacts
}

/// What is known of a camera once it is open; for logs and for `mdoc-reader camera`.
package struct CameraFacts: Equatable, Sendable {
  /// The node it was found at.
  package let node: String
  package let card: String
  package let driver: String
  package let format: PixelFormat
  package let size: PixelSize
  /// Pictures in a second, in thousandths, as the driver says; nil when it does not.
  package let rate: Int?
  package let buffers: Int
  package let controls: [ControlOutcome]
  /// What was not as asked.
  package let remarks: [String]
}

/// Finding a camera, and starting its stream. It may take as long as the kernel likes: never in the loop's thread.
struct CameraOpening {
  private struct Node {
    let path: String
    let device: any VideoDevice
    let facts: NodeFacts
    let formats: [OfferedFormat]
  }

  let settings: CameraSettings
  let system: any VideoSystem

  /// Opens and starts the camera in the first format that is granted; nil when all of them are to be avoided.
  func start(preferred: FormatCandidate?, avoided: [FormatCandidate]) throws(CameraProblem) -> OpenCamera? {
    var remarks: [String] = []
    var node = try locate(&remarks)
    let all = candidates(node)
    if let problem = CameraOpening.problem(node.path, all, node.formats) {
      node.device.close()
      throw problem
    }
    var rest = all.filter { !avoided.contains($0) }
    if rest.isEmpty {
      node.device.close()
      return nil
    }
    if let preferred, let index = rest.firstIndex(of: preferred) { rest.insert(rest.remove(at: index), at: 0) }
    var reason = ""
    for candidate in rest {
      do throws(StartFailure) {
        return try start(node, candidate, remarks)
      } catch {
        node.device.close()
        switch error {
        case .problem(let problem): throw problem
        case .notGranted(let why): reason = "\(candidate): \(why)"
        }
      }
      // Each format is asked of a node without buffers and without a format set before: some drivers want that.
      node = try reopen(node)
    }
    node.device.close()
    throw .noFormat(node.path, formats: node.formats.map(\.format), reason: reason)
  }

  /// Whether a camera with these settings is there and can be used; nothing is started.
  func check() throws(CameraProblem) -> [ControlOutcome] {
    var remarks: [String] = []
    let node = try locate(&remarks)
    defer { node.device.close() }
    if let problem = CameraOpening.problem(node.path, candidates(node), node.formats) { throw problem }
    return setControls(node.device)
  }

  private func candidates(_ node: Node) -> [FormatCandidate] {
    var limit = settings.busLimit
    if limit == nil {
      let megabits = system.usbMegabits(of: node.path) ?? (node.facts.bus.hasPrefix("usb-") ? 480 : nil)
      limit = megabits.flatMap(FormatChoice.busLimit(usbMegabits:))
    }
    return FormatChoice.candidates(
      node.formats, wanted: settings.size, preference: settings.formats, rate: settings.rate, busLimit: limit)
  }

  static func problem(
    _ path: String, _ candidates: [FormatCandidate], _ formats: [OfferedFormat]
  ) -> CameraProblem? {
    guard candidates.isEmpty else { return nil }
    let names = formats.map(\.format)
    if names.contains(where: \.isBayer) { return .rawOnly(path, formats: names) }
    return .noFormat(path, formats: names, reason: "")
  }

  // MARK: Finding it

  private func locate(_ remarks: inout [String]) throws(CameraProblem) -> Node {
    switch settings.camera {
    case .path(let path): try locate(path, &remarks)
    case .name(let name): try search { $0.card.lowercased().contains(name.lowercased()) || $0.driver == name }
    case .any: try search { _ in true }
    }
  }

  private func locate(_ path: String, _ remarks: inout [String]) throws(CameraProblem) -> Node {
    guard let resolved = system.resolve(path) else { throw .missing(path, present: cards()) }
    let node = try open(resolved, as: path)
    if node.facts.isCapture { return node }
    node.device.close()
    // The node beside it is what was meant: cameras have one for pictures and one for metadata.
    let bus = node.facts.bus
    guard !bus.isEmpty, let sibling = try? search({ $0.bus == bus }) else { throw .notCapture(path) }
    remarks.append("\(path) takes no pictures; \(sibling.path) of the same device is used")
    return sibling
  }

  /// The first matching node that can be used; else the reason why the best of them cannot.
  private func search(_ matches: (NodeFacts) -> Bool) throws(CameraProblem) -> Node {
    var problem: CameraProblem?
    for path in system.nodes() {
      let node: Node
      do throws(CameraProblem) {
        node = try open(path, as: path)
      } catch {
        // A node that nobody may ask for its name may be the one.
        problem = problem ?? error
        continue
      }
      guard matches(node.facts) else {
        node.device.close()
        continue
      }
      let found: CameraProblem? =
        node.facts.isCapture
        ? CameraOpening.problem(path, candidates(node), node.formats) : .notCapture(path)
      guard let found else { return node }
      node.device.close()
      // A raw sensor says more than the metadata node beside it.
      if case .notCapture? = problem { problem = found } else { problem = problem ?? found }
    }
    throw problem ?? .missing(settings.camera.description, present: cards())
  }

  private func open(_ path: String, as subject: String) throws(CameraProblem) -> Node {
    do throws(SystemError) {
      let device = try system.open(path)
      do throws(SystemError) {
        let facts = try device.facts()
        return Node(
          path: path, device: device, facts: facts, formats: facts.isCapture ? try device.formats() : [])
      } catch {
        device.close()
        throw error
      }
    } catch {
      throw problem(error, subject, node: path)
    }
  }

  private func reopen(_ node: Node) throws(CameraProblem) -> Node { try open(node.path, as: node.path) }

  private func problem(_ error: SystemError, _ subject: String, node: String) -> CameraProblem {
    switch error.code {
    case EACCES, EPERM: .denied(subject)
    case EBUSY: .busy(subject, holder: system.holder(of: node))
    case ENOENT, ENODEV, ENXIO: .missing(subject, present: cards(but: node))
    case ENOTTY: .notCapture(subject)
    default: .failed(subject, error)
    }
  }

  /// The cameras that are there, for somebody who looks for another one.
  private func cards(but missing: String? = nil) -> [String] {
    var cards: [String] = []
    for path in system.nodes() where path != missing {
      guard let device = try? system.open(path) else { continue }
      if let facts = try? device.facts(), facts.isCapture { cards.append("\(facts.card) (\(path))") }
      device.close()
    }
    return cards
  }

  // MARK: Starting it

  private enum StartFailure: Error {
    /// Another format may do.
    case notGranted(String)
    case problem(CameraProblem)
  }

  private func start(
    _ node: Node, _ candidate: FormatCandidate, _ remarks: [String]
  ) throws(StartFailure) -> OpenCamera {
    let device = node.device
    var remarks = remarks
    let granted = try call(node) { () throws(SystemError) in try device.setFormat(candidate) }
    let layout: PictureLayout
    do throws(LayoutFault) {
      layout = try PictureLayout(granted)
    } catch {
      throw .notGranted("\(error)")
    }
    if granted.size != candidate.size || granted.format != candidate.format {
      remarks.append("asked for \(candidate), got \(granted.format) \(granted.size)")
    }
    let rate = device.setRate(settings.rate)
    let outcomes = setControls(device)
    let buffers = try call(node) { () throws(SystemError) in try device.start(buffers: settings.bufferCount) }
    let facts = CameraFacts(
      node: node.path, card: node.facts.card, driver: node.facts.driver, format: granted.format, size: granted.size,
      rate: rate, buffers: buffers, controls: outcomes, remarks: remarks)
    return OpenCamera(device: device, candidate: candidate, layout: layout, facts: facts)
  }

  private func call<Value>(
    _ node: Node, _ body: () throws(SystemError) -> Value
  ) throws(StartFailure) -> Value {
    do throws(SystemError) {
      return try body()
    } catch {
      switch error.code {
      case EBUSY, ENODEV, ENXIO, EACCES: throw .problem(problem(error, settings.camera.description, node: node.path))
      // ENOSPC: the bus has no room for so much; EINVAL: not in this format.
      default: throw .notGranted("\(error.call): \(error.reason)")
      }
    }
  }

  /// Sets what the settings name, reads it back, and says what came of it.
  private func setControls(_ device: any VideoDevice) -> [ControlOutcome] {
    PlannedControl.plan(settings).compactMap { step in
      guard let id = step.choices.first(where: { device.control($0)?.isSettable == true }),
        let facts = device.control(id)
      else { return step.isOptional ? nil : step.choices.first.map { .missing($0) } }
      do throws(SystemError) {
        try device.set(id, to: step.value)
        let actual = try device.value(of: id)
        return actual == step.value ? .set(id, actual) : .differs(id, step.value, actual: actual)
      } catch {
        return .refused(id, step.value, range: facts.range, reason: error.reason)
      }
    }
  }
}
