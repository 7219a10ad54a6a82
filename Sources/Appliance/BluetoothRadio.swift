import Bluetooth
import Kernel
import KernelBluetooth
import Links
import ReaderCore

/// The radio of a board with a Bluetooth adapter; the same face as `SimulatedRadio`.
///
/// Trouble with the adapter is an event, and the adapter is looked after by itself: the service goes on.
final class BluetoothRadio: Radio {
  private let limits: LinkLimits
  private let usesChannels: Bool
  private let handler: (RadioEvent) -> Void
  private var air: BluetoothAir?
  private var links: RadioLinks<BluetoothAddress>?
  private var plan = RadioPlan(advertise: nil, ident: [], discover: nil)
  /// Links that have no number, for what came to nothing before there was one.
  private static let none: Reader.LinkID = 0

  /// - Parameter messageLimit: the longest message of a wallet in bytes.
  init(
    _ settings: AdapterSettings, messageLimit: Int, on loop: EventLoop, handler: @escaping (RadioEvent) -> Void
  ) {
    var limits = LinkLimits()
    limits.messageSize = messageLimit
    self.limits = limits
    usesChannels = settings.usesChannels
    self.handler = handler
    links = RadioLinks(
      on: loop, limits: limits, handler: { handler(.link($0, $1)) },
      openChannel: { [weak self] address, psm, completion in
        self?.air?.openChannel(psm, to: address, completion: completion)
      },
      reconnect: { [weak self] address, completion in self?.reconnect(address, completion) },
      onEnd: { [weak self] address, mode, mayTryAgain, isLast in
        if isLast { self?.air?.release(address) }
        // Radios lose the first connection now and then.
        if mode == .peripheralServer, mayTryAgain { self?.air?.retry(address) }
      })
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
    self.plan = plan
    air?.open(advertise: plan.advertise, discover: plan.discover, psm: plan.psm)
  }

  /// This link won: nobody new is let in, and every other one goes when it has proved good.
  func keep(_ id: Reader.LinkID) {
    links?.keep(id)
    air?.close()
  }

  func send(_ message: [UInt8], on id: Reader.LinkID) { links?.send(message, on: id) }

  /// Delivers what is waiting and ends the link.
  func finish(_ id: Reader.LinkID) { links?.finish(id) }

  /// Ends everything at once.
  func close() {
    let addresses = links?.close() ?? []
    air?.close()
    for address in addresses { air?.release(address) }
  }

  /// The adapter looks after itself: it is made ready again with growing pauses.
  func lookAgain() {}

  private func handle(_ event: BluetoothAir.Event) {
    switch event {
    case .ready: handler(.ready)
    case .failed(let problem): handler(.fault("\(problem); \(problem.remedy)"))
    case .accepted(let socket, let address): accepted(socket, address)
    case .acceptedChannel(let socket, let address):
      // The channel is for those who have read its number from us.
      if links?.isAwaited(address, .centralClient) ?? false {
        links?.adoptChannel(socket, mode: .centralClient, address: address)
      }
    case .connected(let socket, let address, let fallback): connected(socket, address, fallback)
    case .connectedChannel(let socket, let address):
      links?.adoptChannel(socket, mode: .peripheralServer, address: address)
    case .connectFailed: handler(.link(BluetoothRadio.none, .ended(LinkFailure.connectFailed.code)))
    }
  }

  private func accepted(_ socket: RecordSocket, _ address: BluetoothAddress) {
    guard let service = plan.advertise else { return }
    let engine = GATTLink.server(
      mode: .centralClient, service: service, ident: plan.ident, psm: air?.channelPSM, limits: limits)
    links?.adopt(socket, engine: engine, mode: .centralClient, address: address)
  }

  private func connected(_ socket: RecordSocket, _ address: BluetoothAddress, _ fallback: ChannelRefusal?) {
    guard let service = plan.discover else { return }
    // A channel that the code named and that was refused is not asked for again.
    let engine = GATTLink.client(
      mode: .peripheralServer, service: service, wantsChannel: usesChannels && fallback == nil, limits: limits)
    links?.adopt(socket, engine: engine, mode: .peripheralServer, address: address, fallback: fallback)
  }

  /// The channel that the code named was lost; it is not asked for again.
  private func reconnect(
    _ address: BluetoothAddress, _ completion: @escaping ((socket: RecordSocket, engine: any LinkEngine)?) -> Void
  ) {
    guard let service = plan.discover, let air else { return completion(nil) }
    let engine = GATTLink.client(mode: .peripheralServer, service: service, limits: limits)
    air.connectAgain(to: address) { completion($0.map { ($0, engine) }) }
  }
}
