import Bluetooth
import Glibc
import Kernel
import Links
import ReaderCore
import SimulatedAir

/// The radio of the simulated board: advertises, discovers and carries links over a folder of sockets.
final class SimulatedRadio: Radio {
  /// How often a link that breaks before it starts is tried again: radios lose the first one now and then.
  private static let attempts = 3

  private let folder: String
  private let loop: EventLoop
  private let limits: LinkLimits
  private let usesChannels: Bool
  private let handler: (RadioEvent) -> Void
  private var advertisement: Advertisement?
  /// What was looked for last.
  private var wanted: UUID128?
  private var discovery: Discovery?
  private var links: RadioLinks<AirAddress>?
  private var attempts: [AirAddress: Int] = [:]

  init(
    folder: String, messageLimit: Int, usesChannels: Bool = true, on loop: EventLoop,
    handler: @escaping (RadioEvent) -> Void
  ) {
    self.folder = folder
    self.usesChannels = usesChannels
    var limits = LinkLimits()
    limits.messageSize = messageLimit
    // Closing a simulated link delivers what was sent.
    limits.linger = .zero
    self.limits = limits
    self.loop = loop
    self.handler = handler
    links = RadioLinks(
      on: loop, limits: limits, handler: { handler(.link($0, $1)) },
      openChannel: { [weak self] address, psm, completion in
        // Where nobody looks any more, another link was taken.
        guard let discovery = self?.discovery else { return completion(.failure(.refused)) }
        discovery.openChannel(psm, to: address, completion: completion)
      },
      reconnect: { [weak self] address, completion in
        guard let self, let service = wanted,
          let socket = try? Discovery.connect(to: address, of: service, in: folder, on: loop)
        else { return completion(nil) }
        completion((socket, GATTLink.client(mode: .peripheralServer, service: service, limits: self.limits)))
      },
      onEnd: { [weak self] address, mode, mayTryAgain, _ in
        if mode == .peripheralServer, mayTryAgain { self?.tryAgain(address) }
      })
  }

  func open(_ plan: RadioPlan) {
    close()
    do throws(AirError) {
      try look(plan)
    } catch {
      stopLooking()
      handler(.fault(error.description))
    }
  }

  func start() { lookAgain() }
  func stop() { close() }

  func lookAgain() {
    do throws(SystemError) {
      guard try Files.facts(folder).kind == .folder else {
        throw SystemError("open", code: ENOTDIR, subject: folder)
      }
      handler(.ready)
    } catch {
      handler(.fault(error.description))
    }
  }

  private func look(_ plan: RadioPlan) throws(AirError) {
    var own: Set<AirAddress> = []
    if let service = plan.advertise {
      let psm = usesChannels ? UInt16.random(in: ChannelPSM.range) : nil
      let engine = GATTLink.server(mode: .centralClient, service: service, ident: plan.ident, psm: psm, limits: limits)
      let advertisement = try Advertisement(of: service, in: folder, on: loop) { [weak self] connection in
        // Who connects has no address here.
        self?.links?.adopt(connection, engine: engine, mode: .centralClient, address: .random())
      }
      if let psm {
        try advertisement.offerChannel(psm: psm) { [weak self] channel in
          // Nor can a channel be told to be somebody's: it is a link by itself, and the other goes with the rest.
          self?.links?.adoptChannel(channel, mode: .centralClient, address: .random())
        }
      }
      own.insert(advertisement.address)
      self.advertisement = advertisement
    }
    wanted = plan.discover
    if let service = plan.discover {
      discovery = try Discovery(of: service, in: folder, except: own, on: loop) { [weak self] event in
        guard case .connected(let address, let connection) = event else { return }
        self?.found(address, connection, service, psm: plan.psm)
      }
    }
  }

  /// Connects over the channel that the code named, or over GATT.
  private func found(_ address: AirAddress, _ connection: RecordSocket, _ service: UUID128, psm: UInt16?) {
    guard let psm, usesChannels else { return adopt(connection, service, address, fallback: nil) }
    discovery?.openChannel(psm, to: address) { [weak self] result in
      // Refused because nobody looks any more.
      guard self?.discovery != nil else { return connection.close() }
      switch result {
      case .success(let channel):
        connection.close()
        self?.links?.adoptChannel(channel, mode: .peripheralServer, address: address)
      case .failure(let reason): self?.adopt(connection, service, address, fallback: reason)
      }
    }
  }

  private func adopt(_ connection: RecordSocket, _ service: UUID128, _ address: AirAddress, fallback: ChannelRefusal?) {
    let engine = GATTLink.client(
      mode: .peripheralServer, service: service, wantsChannel: usesChannels && fallback == nil, limits: limits)
    links?.adopt(connection, engine: engine, mode: .peripheralServer, address: address, fallback: fallback)
  }

  /// The other links go when this one has proved good.
  func keep(_ id: Reader.LinkID) {
    links?.keep(id)
    stopLooking()
  }

  func send(_ message: [UInt8], on id: Reader.LinkID) { links?.send(message, on: id) }

  func finish(_ id: Reader.LinkID) { links?.finish(id) }

  func close() {
    _ = links?.close()
    stopLooking()
  }

  private func stopLooking() {
    advertisement?.stop()
    advertisement = nil
    let discovery = self.discovery
    self.discovery = nil
    discovery?.stop()
    attempts = [:]
  }

  private func tryAgain(_ address: AirAddress) {
    guard let discovery else { return }
    attempts[address, default: 1] += 1
    if attempts[address, default: 0] <= SimulatedRadio.attempts { discovery.connectAgain(to: address) }
  }
}

extension LinkEnd {
  /// The stable reason code.
  var code: String {
    switch self {
    case .ended: "linkEnded"
    case .failed(let failure): failure.code
    }
  }
}
