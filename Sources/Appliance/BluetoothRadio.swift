import Bluetooth
import Kernel
import KernelBluetooth
import Links
import ReaderCore

/// The radio of a board with a Bluetooth adapter; the same face as `SimulatedRadio`.
///
/// Trouble with the adapter is an event, and the adapter is looked after by itself: the service goes on.
final class BluetoothRadio: Radio {
  private let limits: GATTLink.Limits
  private let handler: (RadioEvent) -> Void
  private var air: BluetoothAir?
  private var links: RadioLinks<BluetoothAddress>?
  private var server: GATTLink?
  private var client: GATTLink?
  /// Links that have no number, for what came to nothing before there was one.
  private static let none: Reader.LinkID = 0

  /// - Parameter messageLimit: the longest message of a wallet in bytes.
  init(
    _ settings: AdapterSettings, messageLimit: Int, on loop: EventLoop, handler: @escaping (RadioEvent) -> Void
  ) {
    var limits = GATTLink.Limits()
    limits.messageSize = messageLimit
    self.limits = limits
    self.handler = handler
    links = RadioLinks(on: loop, handler: { handler(.link($0, $1)) }) { [weak self] address, mode, hadStarted, _ in
      self?.ended(address, mode, hadStarted)
    }
    air = BluetoothAir(settings, on: loop) { [weak self] in self?.handle($0) }
  }

  /// Makes the adapter ready; an event says when it is.
  func start() { air?.start() }

  /// Ends everything, and switches the adapter off.
  func stop() {
    close()
    air?.stop()
  }

  /// Advertises, discovers, or both, until `close` or `keep`.
  func open(_ plan: RadioPlan) {
    close()
    server = plan.advertise.map {
      GATTLink.server(mode: .centralClient, service: $0, ident: plan.ident, limits: limits)
    }
    client = plan.discover.map { GATTLink.client(mode: .peripheralServer, service: $0, limits: limits) }
    air?.open(advertise: plan.advertise, discover: plan.discover)
  }

  /// This link won: nobody new is let in, and every other one goes when it has proved good.
  func keep(_ id: Reader.LinkID) {
    air?.close()
    links?.keep(id)
  }

  func send(_ message: [UInt8], on id: Reader.LinkID) { links?.send(message, on: id) }

  /// Delivers what is waiting and ends the link.
  func finish(_ id: Reader.LinkID) { links?.finish(id) }

  /// Ends everything at once.
  func close() {
    air?.close()
    for address in links?.close() ?? [] { air?.release(address) }
  }

  /// The adapter looks after itself: it is made ready again with growing pauses.
  func lookAgain() {}

  private func handle(_ event: BluetoothAir.Event) {
    switch event {
    case .ready: handler(.ready)
    case .failed(let problem): handler(.fault("\(problem); \(problem.remedy)"))
    case .accepted(let socket, let address):
      if let server { links?.adopt(socket, engine: server, mode: .centralClient, address: address) }
    case .connected(let socket, let address):
      if let client { links?.adopt(socket, engine: client, mode: .peripheralServer, address: address) }
    case .connectFailed: handler(.link(BluetoothRadio.none, .ended(LinkFailure.connectFailed.code)))
    }
  }

  private func ended(_ address: BluetoothAddress, _ mode: MdocMode, _ hadStarted: Bool) {
    air?.release(address)
    // Radios lose the first connection now and then.
    if mode == .peripheralServer, !hadStarted { air?.retry(address) }
  }
}
