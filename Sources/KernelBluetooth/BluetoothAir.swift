import Bluetooth
import Glibc
import Kernel
import Links

/// The air as one adapter reaches it: advertises, discovers and connects for one transaction after the other.
///
/// Both at once where the adapter can, in turns where it cannot. It scans or connects, never both: some controllers
/// fail when asked for that. It belongs to the thread of its loop.
package final class BluetoothAir {
  package enum Event {
    /// The adapter can be used.
    case ready(AdapterFacts)
    /// It cannot. It is tried again until `ready`; links that were open are lost by themselves.
    case failed(AdapterProblem)
    /// A device connected to what we advertise.
    case accepted(RecordSocket, BluetoothAddress)
    /// A device opened the channel of `channelPSM`.
    case acceptedChannel(RecordSocket, BluetoothAddress)
    /// We connected to a device that advertises what we look for; why not to the channel that was known beforehand.
    case connected(RecordSocket, BluetoothAddress, fallback: ChannelRefusal?)
    /// We opened the channel that was known beforehand.
    case connectedChannel(RecordSocket, BluetoothAddress)
    /// A device was heard, and no connection came about.
    case connectFailed(BluetoothAddress, SystemError)
  }

  private enum Turn {
    case both
    case advertising
    case scanning
  }

  /// A connection to a device that is known already.
  private struct Opening {
    var connector: L2CAPConnector?
    var timer: EventLoop.Timer?
    let completion: (Result<RecordSocket, ChannelRefusal>) -> Void
  }

  /// A link that was closed is kept by the kernel for 2 s; the phone should know sooner, once all is delivered.
  private static let farewell = Duration.milliseconds(200)
  /// How long a fresh link has the radio to itself.
  private static let quiet = Duration.milliseconds(700)
  /// Where both modes are offered, how long the wallet may connect to us before we connect to it. Otherwise each would
  /// stop advertising to connect to the other, and neither be found.
  private static let courtesy = Duration.milliseconds(250)
  /// Where both modes are offered, one attempt to connect: meanwhile the kernel does not advertise.
  private static let shortLimit = Duration.milliseconds(1500)

  private let loop: EventLoop
  private let handler: (Event) -> Void
  private var adapter: Adapter?
  private let settings: AdapterSettings
  private var advertised: UUID128?
  private var wanted: UUID128?
  /// The channel of the wanted device, where that is known before it is heard.
  private var wantedPSM: UInt16?
  private var turn = Turn.both
  private var isActiveScan = true
  private var isScanning = false
  /// As far as we know: a connection ends it.
  private var isAdvertising = false
  /// Somebody has connected under this plan.
  private var hasAccepted = false
  private var quietUntil = ContinuousClock.now
  /// Grows with each change of plan: an answer to an earlier one is not acted upon.
  private var plan: UInt64 = 0
  private var acquaintances = Acquaintances()
  private var listener: L2CAPListener?
  private var channelListener: L2CAPListener?
  private var connector: L2CAPConnector?
  private var openings: [BluetoothAddress: Opening] = [:]
  private var turnTimer: EventLoop.Timer?
  private var resumeTimer: EventLoop.Timer?
  private var farewells: [BluetoothAddress: EventLoop.Timer] = [:]

  package init(_ settings: AdapterSettings, on loop: EventLoop, handler: @escaping (Event) -> Void) {
    self.loop = loop
    self.settings = settings
    self.handler = handler
    adapter = Adapter(settings, on: loop) { [weak self] in self?.handle($0) }
    turnTimer = loop.timer("radio turn") { [weak self] in self?.takeTurns() }
    resumeTimer = loop.timer("radio resume") { [weak self] in self?.resume() }
  }

  /// Makes the adapter ready; `ready` or `failed` follows.
  package func start() { adapter?.start() }

  /// Ends everything.
  package func stop() {
    close()
    adapter?.stop()
  }

  /// What is known of the adapter while it can be used.
  package var facts: AdapterFacts? { adapter?.facts }

  /// Is reachable under one service and looks for another, until `close`. `psm` is the channel of the other, where that
  /// is known beforehand.
  package func open(advertise: UUID128?, discover: UUID128?, psm: UInt16? = nil) {
    close()
    advertised = advertise
    wanted = discover
    wantedPSM = settings.usesChannels ? psm : nil
    begin()
  }

  /// The channel that whoever connects to us may open; nil while there is none.
  package var channelPSM: UInt16? { channelListener.flatMap { $0.isListening ? $0.psm : nil } }

  /// Opens a channel to a device that is connected, within a limit. `completion` is called once: later, or when the plan
  /// ends, or another connection to the device is asked for, before.
  package func openChannel(
    _ psm: UInt16, to address: BluetoothAddress,
    completion: @escaping (Result<RecordSocket, ChannelRefusal>) -> Void
  ) {
    open(.psm(psm), to: address, limit: settings.channelLimit, completion: completion)
  }

  /// Connects over GATT to a device whose channel is lost, heard or not; `completion` as that of `openChannel`, with nil
  /// where no connection came about.
  package func connectAgain(to address: BluetoothAddress, completion: @escaping (RecordSocket?) -> Void) {
    farewells.removeValue(forKey: address)?.cancel()
    open(.att, to: address, limit: settings.connectLimit) { completion(try? $0.get()) }
  }

  private func open(
    _ channel: L2CAPChannel, to address: BluetoothAddress, limit: Duration,
    completion: @escaping (Result<RecordSocket, ChannelRefusal>) -> Void
  ) {
    opened(address, .failure(.refused))
    let options = L2CAPOptions(adapter: ownAddress, receiveBuffer: settings.receiveBuffer)
    var opening = Opening(completion: completion)
    do throws(SystemError) {
      opening.connector = try L2CAPConnector(to: address, channel: channel, options, limit: limit, on: loop) {
        [weak self] result in
        self?.opened(address, result.mapError(ChannelRefusal.init))
      }
    } catch {
      // Not from inside the call: the caller may be in the middle of something.
      let refusal = ChannelRefusal(error)
      opening.timer = loop.timer("channel") { [weak self] in self?.opened(address, .failure(refusal)) }
      opening.timer?.set(after: .zero)
    }
    openings[address] = opening
  }

  private func opened(_ address: BluetoothAddress, _ result: Result<RecordSocket, ChannelRefusal>) {
    guard let opening = openings.removeValue(forKey: address) else { return }
    opening.connector?.cancel()
    opening.timer?.cancel()
    opening.completion(result)
  }

  private func stopOpening() { for address in openings.keys { opened(address, .failure(.refused)) } }

  /// Stops advertising, discovering and connecting. Links that were handed on stay.
  package func close() {
    plan += 1
    turnTimer?.cancel()
    resumeTimer?.cancel()
    stopConnections()
    acquaintances = Acquaintances()
    stopOpening()
    let wasAdvertising = advertised != nil
    advertised = nil
    wanted = nil
    isAdvertising = false
    hasAccepted = false
    quietUntil = .now
    guard facts != nil else { return }
    stopScanning()
    if wasAdvertising { adapter?.send(.removeAdvertising(instance: 1)) { _ in } }
  }

  private func stopConnections() {
    connector?.cancel()
    connector = nil
    listener?.stop()
    listener = nil
    channelListener?.stop()
    channelListener = nil
  }

  /// This device's link came to nothing: connect again when it is heard again, three times at most.
  package func retry(_ address: BluetoothAddress) {
    guard wanted != nil, acquaintances.fail(address) else { return }
    resume(after: .zero)
  }

  /// A link was closed on our side: the device is told so soon, and the radio is free again.
  package func release(_ address: BluetoothAddress, after delay: Duration = BluetoothAir.farewell) {
    let timer = loop.timer("farewell") { [weak self] in
      guard let self else { return }
      farewells[address] = nil
      adapter?.send(.disconnect(address)) { _ in }
    }
    farewells[address]?.cancel()
    farewells[address] = timer
    timer.set(after: delay)
  }

  // MARK: The plan

  private func begin() {
    // A device that was taken when the adapter failed is nobody's any more.
    acquaintances = Acquaintances()
    guard let facts, advertised != nil || wanted != nil else { return }
    let plan = plan
    isActiveScan =
      !facts.states.contains(.advertisingAndPassiveScan) || facts.states.contains(.advertisingAndActiveScan)
    let isAlternating = advertised != nil && wanted != nil && !facts.doesBothModes
    turn = isAlternating ? .advertising : .both
    isAdvertising = false
    if advertised != nil, wanted != nil { quietUntil = .now + BluetoothAir.courtesy }
    if isAlternating { turnTimer?.set(after: settings.turn) }
    if advertised != nil {
      do throws(SystemError) {
        let options = L2CAPOptions(adapter: ownAddress, receiveBuffer: settings.receiveBuffer)
        listener = try L2CAPListener(.att, options, on: loop) { [weak self] socket, address in
          self?.accepted(socket, address)
        }
      } catch {
        adapter?.fail(.system(error))
        return
      }
      if settings.usesChannels { listenForChannels() }
    }
    adapter?.renewAddress { [weak self] result in
      guard let self, self.plan == plan else { return }
      // Refused while something is going on still: then the address stays for this once.
      if case .failure(let failure) = result, !failure.isRefusal { return report(failure) }
      startTurn()
    }
  }

  /// A kernel without such channels is no fault: nothing is offered then.
  private func listenForChannels() {
    let options = L2CAPOptions(adapter: ownAddress, receiveBuffer: settings.receiveBuffer)
    channelListener = try? L2CAPListener(.psm(0), options, on: loop) { [weak self] socket, address in
      self?.handler(.acceptedChannel(socket, address))
    }
    if let psm = channelPSM, !ChannelPSM.range.contains(psm) {
      channelListener?.stop()
      channelListener = nil
    }
  }

  /// With several adapters, sockets are bound to ours.
  private var ownAddress: BluetoothAddress? {
    guard let facts, facts.present.count > 1, facts.information.address.value != 0 else { return nil }
    return facts.information.address
  }

  private func startTurn() {
    let plan = plan
    guard let service = advertised, turn != .scanning, !isAdvertising else { return startScanning() }
    isAdvertising = true
    adapter?.advertise(service) { [weak self] result in
      guard let self, self.plan == plan else { return }
      switch result {
      case .success: startScanning()
      // Not beside a connection, as it seems: when that is over.
      case .failure(let failure) where failure.isRefusal && hasAccepted:
        isAdvertising = false
        startScanning()
      case .failure(let failure): report(failure)
      }
    }
  }

  private func startScanning() {
    guard wanted != nil, turn != .advertising, connector == nil, !isScanning else { return }
    let plan = plan
    isScanning = true
    adapter?.scan(true, isActive: isActiveScan) { [weak self] result in
      guard let self, self.plan == plan else { return }
      guard case .failure(let failure) = result else { return }
      isScanning = false
      // Not while it advertises, then: in turns.
      if failure.isRefusal, turn == .both, advertised != nil {
        turn = .advertising
        turnTimer?.set(after: settings.turn)
      } else if failure.isRefusal {
        // Scanning already, as it seems, or busy: looked at again.
        resume(after: .milliseconds(500))
      } else {
        report(failure)
      }
    }
  }

  private func stopScanning(completion: @escaping () -> Void = {}) {
    guard isScanning else { return completion() }
    isScanning = false
    adapter?.scan(false) { _ in completion() }
  }

  /// One mode leaves the radio to the other.
  private func takeTurns() {
    guard advertised != nil, wanted != nil, turn != .both else { return }
    turnTimer?.set(after: settings.turn)
    // A connection that is being made is not broken off for this.
    guard connector == nil else { return }
    let plan = plan
    if turn == .advertising {
      turn = .scanning
      isAdvertising = false
      adapter?.send(.removeAdvertising(instance: 1)) { [weak self] _ in
        guard let self, self.plan == plan else { return }
        startScanning()
      }
    } else {
      turn = .advertising
      stopScanning { [weak self] in
        guard let self, self.plan == plan else { return }
        startTurn()
      }
    }
  }

  /// Goes on with what a connection interrupted; a fresh link has the radio to itself for a while.
  private func resume(after delay: Duration) {
    guard advertised != nil || wanted != nil else { return }
    resumeTimer?.set(at: max(.now + delay, quietUntil))
  }

  private func resume() { if facts != nil, connector == nil { startTurn() } }

  private func report(_ failure: CommandFailure) {
    guard let adapter else { return }
    adapter.fail(adapter.problem(failure))
  }

  // MARK: What happens

  private func handle(_ event: Adapter.Event) {
    switch event {
    case .ready(let facts):
      isScanning = false
      let before = plan
      handler(.ready(facts))
      // A transaction that waited for the adapter, unless it has just been opened.
      if plan == before { begin() }
    case .failed(let problem):
      plan += 1
      isScanning = false
      turnTimer?.cancel()
      resumeTimer?.cancel()
      stopConnections()
      stopOpening()
      handler(.failed(problem))
    case .heard(let advertisements): hear(advertisements)
    case .disconnected:
      // The controller stopped advertising for that connection, and the kernel may have stopped the scan.
      isAdvertising = false
      resume(after: .milliseconds(50))
    case .scanDisturbed:
      guard wanted != nil, connector == nil else { return }
      isScanning = false
      resume(after: .milliseconds(50))
    }
  }

  private func hear(_ advertisements: [HCIEvent.Advertisement]) {
    guard let wanted, connector == nil, ContinuousClock.now >= quietUntil else { return }
    for advertisement in advertisements where advertisement.isConnectable && advertisement.data.offers(wanted) {
      if acquaintances.mayConnect(to: advertisement.address) { return connect(to: advertisement.address) }
    }
  }

  private func connect(to address: BluetoothAddress) {
    let plan = plan
    let limit = advertised == nil ? settings.connectLimit : min(settings.connectLimit, BluetoothAir.shortLimit)
    acquaintances.take(address)
    farewells.removeValue(forKey: address)?.cancel()
    // Where the kernel takes no defaults, for this device alone.
    if facts?.hasFastConnections == false {
      adapter?.send(.loadConnectionParameters(address, settings.parameters)) { _ in }
    }
    stopScanning { [weak self] in
      guard let self, self.plan == plan else { return }
      let channel = acquaintances.refusal(of: address) == nil ? wantedPSM.map(L2CAPChannel.psm) ?? .att : .att
      let options = L2CAPOptions(adapter: ownAddress, receiveBuffer: settings.receiveBuffer)
      do throws(SystemError) {
        connector = try L2CAPConnector(to: address, channel: channel, options, limit: limit, on: loop) {
          [weak self] result in
          self?.connected(address, channel, result)
        }
      } catch {
        connected(address, channel, .failure(error))
      }
    }
  }

  private func connected(
    _ address: BluetoothAddress, _ channel: L2CAPChannel, _ result: Result<RecordSocket, SystemError>
  ) {
    connector = nil
    switch (result, channel) {
    case (.success(let socket), .att):
      // The set-up goes first; then others are looked for too, since this one may have nothing to say.
      keepQuiet()
      handler(.connected(socket, address, fallback: acquaintances.refusal(of: address)))
    case (.success(let socket), .psm):
      keepQuiet()
      handler(.connectedChannel(socket, address))
    case (.failure(let error), .psm):
      // The connection may be up: GATT is tried on it at once, and this attempt does not count.
      acquaintances.refuseChannel(of: address, ChannelRefusal(error))
      connect(to: address)
    case (.failure(let error), .att):
      _ = acquaintances.fail(address)
      resume(after: .milliseconds(100))
      handler(.connectFailed(address, error))
    }
  }

  private func accepted(_ socket: RecordSocket, _ address: BluetoothAddress) {
    farewells.removeValue(forKey: address)?.cancel()
    // The controller has stopped advertising; others get their chance when this one has had its own.
    isAdvertising = false
    hasAccepted = true
    keepQuiet()
    handler(.accepted(socket, address))
  }

  private func keepQuiet() {
    quietUntil = .now + BluetoothAir.quiet
    resume(after: .zero)
  }
}

extension ChannelRefusal {
  init(_ error: SystemError) { self = error.code == ETIMEDOUT ? .timeout : .refused }
}

extension CommandFailure {
  /// The adapter lives, and does not want this now.
  var isRefusal: Bool { if case .refused = self { true } else { false } }
}
