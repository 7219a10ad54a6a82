import Bluetooth
import Glibc
import Kernel
import ReaderCore
import SimulatedAir

/// The radio of the simulated board: advertises, discovers and carries links over a folder of sockets.
final class SimulatedRadio: Radio {
  /// How often a link that breaks before it starts is tried again: radios lose the first one now and then.
  private static let attempts = 3

  private let folder: String
  private let loop: EventLoop
  private let limits: GATTLink.Limits
  private let handler: (RadioEvent) -> Void
  private var advertisement: Advertisement?
  private var discovery: Discovery?
  private var links: [Reader.LinkID: AirLink] = [:]
  private var attempts: [AirAddress: Int] = [:]
  private var lastID: Reader.LinkID = 0

  init(
    folder: String, messageLimit: Int, on loop: EventLoop, handler: @escaping (RadioEvent) -> Void
  ) {
    self.folder = folder
    var limits = GATTLink.Limits()
    limits.messageSize = messageLimit
    // Closing a simulated link delivers what was sent.
    limits.linger = .zero
    self.limits = limits
    self.loop = loop
    self.handler = handler
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

  func lookAgain() {
    do throws(SystemError) {
      guard try Files.facts(folder).kind == .folder else {
        throw SystemError("open", code: ENOTDIR, subject: folder)
      }
      handler(.recovered)
    } catch {
      handler(.fault(error.description))
    }
  }

  private func look(_ plan: RadioPlan) throws(AirError) {
    var own: Set<AirAddress> = []
    if let service = plan.advertise {
      let engine = GATTLink.server(mode: .centralClient, service: service, ident: plan.ident, limits: limits)
      let advertisement = try Advertisement(of: service, in: folder, on: loop) { [weak self] connection in
        self?.adopt(connection, engine: engine, mode: .centralClient)
      }
      own.insert(advertisement.address)
      self.advertisement = advertisement
    }
    if let service = plan.discover {
      let engine = GATTLink.client(mode: .peripheralServer, service: service, limits: limits)
      discovery = try Discovery(of: service, in: folder, except: own, on: loop) { [weak self] event in
        guard case .connected(let address, let connection) = event else { return }
        self?.adopt(connection, engine: engine, mode: .peripheralServer, address: address)
      }
    }
  }

  func keep(_ id: Reader.LinkID) {
    stopLooking()
    for (other, link) in links where other != id {
      link.close()
      links[other] = nil
    }
  }

  func send(_ message: [UInt8], on id: Reader.LinkID) { links[id]?.send(message) }

  func finish(_ id: Reader.LinkID) { links[id]?.end() }

  func close() {
    stopLooking()
    for link in links.values { link.close() }
    links = [:]
  }

  private func stopLooking() {
    advertisement?.stop()
    advertisement = nil
    discovery?.stop()
    discovery = nil
    attempts = [:]
  }

  private func adopt(
    _ connection: AirConnection, engine: GATTLink, mode: MdocMode, address: AirAddress? = nil
  ) {
    lastID += 1
    let id = lastID
    let link = AirLink(connection, engine: engine, on: loop)
    links[id] = link
    do throws(SystemError) {
      try link.start { [weak self] event in self?.handle(event, id: id, mode: mode, address: address) }
    } catch {
      links[id] = nil
      handler(.link(id, .ended(LinkFailure.connectFailed.code)))
    }
  }

  private func handle(_ event: AirLink.Event, id: Reader.LinkID, mode: MdocMode, address: AirAddress?) {
    switch event {
    case .started(let start):
      handler(.link(id, .started(LinkFacts(mode: mode, mtu: start.mtu, roundTrips: start.roundTrips))))
    case .message(let message): handler(.link(id, .message(message)))
    case .progress: handler(.link(id, .progress))
    case .sent: handler(.link(id, .sent))
    case .finished(let end):
      links[id] = nil
      handler(.link(id, .ended(end.code)))
      if let address { tryAgain(address) }
    }
  }

  private func tryAgain(_ address: AirAddress) {
    guard let discovery else { return }
    attempts[address, default: 1] += 1
    if attempts[address, default: 0] <= SimulatedRadio.attempts { discovery.connectAgain(to: address) }
  }
}

extension GATTLink.End {
  /// The stable reason code.
  var code: String {
    switch self {
    case .ended: "linkEnded"
    case .failed(let failure): failure.code
    }
  }
}
