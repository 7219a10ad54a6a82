import Bluetooth
import Kernel
import KernelBluetooth
import Links
import ReaderCore

/// The radio of a board with a Bluetooth adapter; the same face as `SimulatedRadio`.
///
/// Trouble with the adapter is told by `health` and is looked after by itself: the service goes on.
package final class BluetoothRadio {
  private let limits: GATTLink.Limits
  private let health: (AdapterProblem?) -> Void
  private let handler: (Reader.LinkID, Reader.LinkEvent) -> Void
  private var air: BluetoothAir?
  private var links: RadioLinks<BluetoothAddress>?
  private var server: GATTLink?
  private var client: GATTLink?
  /// Links that have no number, for what came to nothing before there was one.
  private static let none: Reader.LinkID = 0

  /// - Parameters:
  ///   - messageLimit: the longest message of a wallet in bytes.
  ///   - handler: called with what happens on links.
  ///   - health: called with each problem of the adapter, and with nil when it is well.
  package init(
    _ settings: AdapterSettings, messageLimit: Int, on loop: EventLoop,
    health: @escaping (AdapterProblem?) -> Void,
    handler: @escaping (Reader.LinkID, Reader.LinkEvent) -> Void
  ) {
    var limits = GATTLink.Limits()
    limits.messageSize = messageLimit
    self.limits = limits
    self.handler = handler
    self.health = health
    links = RadioLinks(on: loop, handler: handler) { [weak self] address, mode, hadStarted, _ in
      self?.ended(address, mode, hadStarted)
    }
    air = BluetoothAir(settings, on: loop) { [weak self] in self?.handle($0) }
  }

  /// Makes the adapter ready; `health` says when it is.
  package func start() { air?.start() }

  /// Ends everything, and switches the adapter off.
  package func stop() {
    close()
    air?.stop()
  }

  /// What is known of the adapter while it can be used.
  package var facts: AdapterFacts? { air?.facts }

  /// Advertises, discovers, or both, until `close` or `keep`.
  package func open(_ plan: RadioPlan) {
    close()
    server = plan.advertise.map {
      GATTLink.server(mode: .centralClient, service: $0, ident: plan.ident, limits: limits)
    }
    client = plan.discover.map { GATTLink.client(mode: .peripheralServer, service: $0, limits: limits) }
    air?.open(advertise: plan.advertise, discover: plan.discover)
  }

  /// This link won: nobody new is let in, and every other one goes when it has proved good.
  package func keep(_ id: Reader.LinkID) {
    air?.close()
    links?.keep(id)
  }

  package func send(_ message: [UInt8], on id: Reader.LinkID) { links?.send(message, on: id) }

  /// Delivers what is waiting and ends the link.
  package func finish(_ id: Reader.LinkID) { links?.finish(id) }

  /// Ends everything at once.
  package func close() {
    air?.close()
    for address in links?.close() ?? [] { air?.release(address) }
  }

  private func handle(_ event: BluetoothAir.Event) {
    switch event {
    case .ready: health(nil)
    case .failed(let problem): health(problem)
    case .accepted(let socket, let address):
      if let server { links?.adopt(socket, engine: server, mode: .centralClient, address: address) }
    case .connected(let socket, let address):
      if let client { links?.adopt(socket, engine: client, mode: .peripheralServer, address: address) }
    case .connectFailed: handler(BluetoothRadio.none, .ended(LinkFailure.connectFailed.code))
    }
  }

  private func ended(_ address: BluetoothAddress, _ mode: MdocMode, _ hadStarted: Bool) {
    air?.release(address)
    // Radios lose the first connection now and then.
    if mode == .peripheralServer, !hadStarted { air?.retry(address) }
  }
}
