import Bluetooth
import Bytes
import Kernel
import Links
import Mdoc
import SimulatedAir

/// The wallet on the simulated air: advertises, looks for the reader, or both at once. The first link that reaches
/// State start is the session's; the others and the search end then. In both modes at once it is the first one that
/// carries a message: each side starts the link it is the client of, so both may start at the same moment, and only the
/// reader's message says which one it took.
final class HolderRadio {
  enum Event {
    /// Something a technician may want to know.
    case remark(String)
    case started(MdocMode, LinkStart)
    case message(ByteView)
    /// The reader said State end.
    case endedByReader
    /// The link is gone without a word.
    case lost
    /// Everything is closed. The last event.
    case closed
  }

  private let loop: EventLoop
  private let air: String
  private let bluetooth: BluetoothRetrieval
  private let ident: [UInt8]
  private let mtu: Int
  /// The channel that is offered beside GATT; nil where none is offered or used.
  private let psm: UInt16?
  private let quirks: Quirks
  private let patience: Duration
  private var handler: ((Event) -> Void)?
  private var advertisement: Advertisement?
  private var discovery: Discovery?
  /// Links that have not started.
  private var candidates: [HolderLink] = []
  /// Links that have started while the reader's choice is not known.
  private var started: [ObjectIdentifier: LinkStart] = [:]
  private var active: HolderLink?
  /// Whether a message was begun over the session's link and not sent to its end.
  var hasUnsentMessage: Bool { active?.isSending ?? wasSending }
  private var wasSending = false
  private var isClosing = false
  private var failures: [AirAddress: Int] = [:]
  private var lingering: EventLoop.Timer?

  /// - Parameters:
  ///   - ident: what a reader must show in mdoc central client mode.
  ///   - psm: the channel that is offered beside GATT; with any, one of the reader is used as well.
  ///   - patience: how long the `lingering` quirk keeps a link open.
  init(
    loop: EventLoop, air: String, bluetooth: BluetoothRetrieval, ident: [UInt8], mtu: Int, psm: UInt16? = nil,
    quirks: Quirks, patience: Duration
  ) {
    self.loop = loop
    self.air = air
    self.bluetooth = bluetooth
    self.ident = ident
    self.mtu = mtu
    self.psm = psm
    self.quirks = quirks
    self.patience = patience
  }

  /// Goes on the air. The folder is made when it is not there, so that wallet and reader may start in any order.
  func start(_ handler: @escaping (Event) -> Void) throws {
    self.handler = handler
    try Files.makeFolder(air)
    if let service = bluetooth.peripheralServer?.uuid {
      advertisement = try Advertisement(of: service, in: air, on: loop) { [weak self] connection in
        self?.serve(service, over: connection)
      }
      if let psm {
        try advertisement?.offerChannel(psm: psm) { [weak self] in
          self?.adoptChannel($0, .peripheralServer, roundTrips: 0)
        }
      }
    }
    if let service = bluetooth.centralClient {
      // In both modes at once the UUID is the same: our own advertisement is not the reader.
      let own = advertisement.map { [$0.address] } ?? []
      discovery = try Discovery(of: service, in: air, except: Set(own), on: loop) { [weak self] event in
        self?.found(event, service)
      }
    }
  }

  /// Sends a message over the session's link.
  func send(_ message: [UInt8], _ disturbance: HolderConversation.Disturbance?) {
    switch disturbance {
    case .dropAfter(let percent): active?.send(message, dropAfter: message.count * percent / 100)
    case .invalidFragment: active?.sendValue([7] + message.prefix(19))
    // Short parts are a matter of the link's limits, set when it was made.
    case .shortFragments, nil: active?.send(message)
    }
  }

  /// Says State end in place of a message.
  func sendEnd() { active?.end() }

  /// Delivers what is still to send and closes everything; `closed` follows.
  func close() {
    guard !isClosing else { return }
    isClosing = true
    stopSearching()
    guard let active else { return finish() }
    guard quirks.contains(.lingering) else { return active.end() }
    lingering = loop.timer("lingering") { [weak self] in self?.active?.end() }
    lingering?.set(after: patience)
  }

  // MARK: Connections

  private var limits: LinkLimits {
    var limits = LinkLimits()
    limits.mtuOffer = mtu
    limits.setup = patience
    // Closing a simulated link delivers what was sent.
    limits.linger = .zero
    if quirks.contains(.shortFragments) {
      limits.valueLength = max(2, (mtu - 3) / 2)
      limits.pieceLength = limits.valueLength
    }
    // Small enough to stop within any answer.
    if quirks.contains(.earlyDisconnect) { limits.pieceLength = 64 }
    return limits
  }

  private func serve(_ service: UUID128, over connection: RecordSocket) {
    let link = GATTLink.server(mode: .peripheralServer, service: service, psm: psm, limits: limits)
    adopt(link, .peripheralServer, connection, from: nil)
  }

  private func found(_ event: Discovery.Event, _ service: UUID128) {
    switch event {
    case .connected(let address, let connection):
      let link = GATTLink.client(
        mode: .centralClient, service: service, ident: ident, wantsChannel: psm != nil, limits: limits)
      adopt(link, .centralClient, connection, from: address)
    case .skipped: break
    case .folderGone: handler?(.remark("the air is gone: \(air)"))
    }
  }

  private func adoptChannel(_ channel: RecordSocket, _ mode: MdocMode, roundTrips: Int) {
    adopt(L2CAPLink(mtu: channel.sendLimit, roundTrips: roundTrips, limits: limits), mode, channel, from: nil)
  }

  /// Opens the reader's channel beside a link of GATT, which stays until the session's link is chosen.
  private func openChannel(_ psm: UInt16, beside link: HolderLink, at address: AirAddress?) {
    guard let discovery, let address else { return link.channelRefused(.refused) }
    discovery.openChannel(psm, to: address) { [weak self, weak link] result in
      guard let self, let link, candidates.contains(where: { $0 === link }) else { return }
      switch result {
      case .success(let channel):
        link.channelOpened()
        adoptChannel(channel, link.mode, roundTrips: link.roundTrips)
      case .failure(let reason):
        handler?(.remark("no channel to the reader: \(reason.code)"))
        link.channelRefused(reason)
      }
    }
  }

  private func adopt(
    _ engine: any LinkEngine, _ mode: MdocMode, _ connection: RecordSocket, from address: AirAddress?
  ) {
    let link = HolderLink(
      engine, mode: mode, over: connection, on: loop, suppressesStart: quirks.contains(.noStart),
      ignoresEnd: quirks.contains(.lingering))
    candidates.append(link)
    do throws(SystemError) {
      // The link is held by this radio, so it may not be held by its own handler.
      try link.start { [weak self, weak link] event in
        guard let link else { return }
        self?.take(event, of: link, from: address)
      }
    } catch {
      forget(link)
      handler?(.remark("link: \(error)"))
    }
  }

  private func take(_ event: HolderLink.Event, of link: HolderLink, from address: AirAddress?) {
    switch event {
    case .channelOffered(let psm): openChannel(psm, beside: link, at: address)
    case .started(let start):
      guard active == nil else { return link.close() }
      if bluetooth.peripheralServer != nil, bluetooth.centralClient != nil {
        started[ObjectIdentifier(link)] = start
      } else {
        choose(link, start)
      }
    case .message(let message):
      if active == nil, let start = started[ObjectIdentifier(link)] { choose(link, start) }
      if link === active { handler?(.message(message[...])) }
    case .finished(let end):
      if link === active { return activeFinished(end) }
      forget(link)
      candidateFinished(end, from: address)
    }
  }

  private func choose(_ link: HolderLink, _ start: LinkStart) {
    active = link
    stopSearching(except: link)
    handler?(.started(link.mode, start))
  }

  private func activeFinished(_ end: LinkEnd) {
    wasSending = active?.isSending ?? false
    active = nil
    switch end {
    case _ where isClosing: break
    case .failed(.peerTerminated): handler?(.endedByReader)
    case .failed(let failure):
      if failure != .linkLost { handler?(.remark("link: \(failure.code)")) }
      handler?(.lost)
    // State end in place of an answer.
    case .ended: handler?(.lost)
    }
    finish()
  }

  private func candidateFinished(_ end: LinkEnd, from address: AirAddress?) {
    guard active == nil, !isClosing, case .failed(let failure) = end else { return }
    // A device that connects and goes away, as any does that looks around, is none of our business.
    guard let address else { return }
    handler?(.remark("a reader was left alone: \(failure.code)"))
    let count = failures[address, default: 0] + 1
    failures[address] = count
    if failure == .linkLost, count < 3 { discovery?.connectAgain(to: address) }
  }

  private func forget(_ link: HolderLink) {
    candidates.removeAll { $0 === link }
    started[ObjectIdentifier(link)] = nil
  }

  private func stopSearching(except kept: HolderLink? = nil) {
    // First, so that a channel that is answered for now is nobody's.
    let others = candidates.filter { $0 !== kept }
    candidates = []
    started = [:]
    advertisement?.stop()
    discovery?.stop()
    for link in others { link.close() }
  }

  private func finish() {
    lingering?.cancel()
    let handler = self.handler
    self.handler = nil
    handler?(.closed)
  }
}
