import GPIO
import Kernel
import Panel
import Pictures
import ReaderCore
import TerminalPanel

/// What sees codes. A camera that fails says so and looks for a cure by itself; it never ends the service.
protocol Camera: AnyObject {
  func start()
  /// Ends it: no event comes any more.
  func cancel()
  /// The picture that is in view now, for a camera that reports changes only.
  var current: LumaImage? { get }
}

enum CameraEvent {
  /// Another picture, and how much work it is worth.
  case frame(LumaImage, CameraPatience)
  /// Nothing is seen until `ready`; the sentence says why.
  case fault(String)
  /// It sees, for the first time or again.
  case ready
  /// Something for the log that stops nobody.
  case note(event: String, detail: String)
}

/// Whether another picture follows by itself.
enum CameraPatience {
  case live
  case still
}

/// What carries sessions: advertises, discovers, connects. The same for sockets in a folder and for a controller.
protocol Radio: AnyObject {
  func start()
  /// Ends the service of this radio.
  func stop()
  /// Advertises, discovers, or both, until `close` or `keep`. What fails is reported as an event.
  func open(_ plan: RadioPlan)
  /// This link won: every other one goes, and nobody new is let in.
  func keep(_ id: Reader.LinkID)
  func send(_ message: [UInt8], on id: Reader.LinkID)
  /// Delivers what is waiting and ends the link.
  func finish(_ id: Reader.LinkID)
  /// Ends everything at once.
  func close()
  /// Called now and then while a fault stands: is it well again?
  func lookAgain()
}

enum RadioEvent {
  case link(Reader.LinkID, Reader.LinkEvent)
  /// No session is possible until `ready`; the sentence says why.
  case fault(String)
  /// Sessions are possible, for the first time or again.
  case ready
}

/// What people see and hear, and the door.
protocol PanelOutput: AnyObject {
  /// Puts every line where the state has it.
  func show(_ state: PanelState)
  /// Called now and then while a fault stands.
  func lookAgain()
  /// Puts every line to its inactive level and lets it go.
  func close()
}

enum PanelEvent {
  /// Lines cannot be driven until `recovered`; the sentence says why.
  case fault(String)
  case recovered
  /// It was never there, and what the board's file says of it is not so: no use in waiting longer.
  case hopeless(PanelError)
  /// Something for the log that stops nobody.
  case note(event: String, detail: String)
  /// An input of the board: what it is, and whether it is active now.
  case input(name: String, isActive: Bool)
}

/// The panel in the terminal, where nothing can fail that would matter.
final class TerminalOutput: PanelOutput {
  private var terminal: TerminalPanel

  init(descriptor: CInt) { terminal = TerminalPanel(descriptor: descriptor) }

  func show(_ state: PanelState) { terminal.show(state) }
  func lookAgain() {}
  func close() {}
}

/// The simulated camera: the newest picture of a folder, looked for again when the folder is gone.
final class PictureCamera: Camera {
  private let folder: String
  private let loop: EventLoop
  private let handler: (CameraEvent) -> Void
  private var pictures: PictureFolder?
  private var timer: EventLoop.Timer?
  private var hasFault = false

  init(_ folder: String, on loop: EventLoop, handler: @escaping (CameraEvent) -> Void) {
    self.folder = folder
    self.loop = loop
    self.handler = handler
    timer = loop.timer("pictures") { [weak self] in self?.open() }
  }

  func start() { open() }

  var current: LumaImage? { pictures?.current?.image }

  func cancel() {
    pictures?.cancel()
    timer?.cancel()
  }

  private func open() {
    do throws(SystemError) {
      pictures = try PictureFolder(folder, on: loop) { [weak self] in self?.take($0) }
      hasFault = false
      handler(.ready)
    } catch {
      fail(error.description)
    }
  }

  private func take(_ event: PictureFolder.Event) {
    switch event {
    case .frame(let frame): handler(.frame(frame.image, .still))
    case .skipped(let error): handler(.note(event: "pictureSkipped", detail: error.description))
    case .folderGone:
      pictures = nil
      fail("\(folder): the folder is gone")
    }
  }

  private func fail(_ reason: String) {
    if !hasFault { handler(.fault(reason)) }
    hasFault = true
    timer?.set(after: Appliance.recoveryInterval)
  }
}
