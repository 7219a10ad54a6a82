import Bluetooth
import Kernel
import Links
import ReaderCore

/// The links of one transaction, whatever carries them: numbered, started, and all but one dropped.
///
/// Where both modes are offered, reader and wallet may each end up on a different one of two links that start at the
/// same time, and each would drop the other's. So a link beside the kept one stays until the kept one has brought its
/// first message; if the kept one goes before that, the other takes its place, and is sent again what was sent.
///
/// A wallet may offer an LE credit-based channel beside GATT. It is opened before anything is said on GATT; the GATT
/// connection then stays beside it, and goes on by itself where the channel does not come about, or fails before it has
/// carried anything. A channel that the code named has no connection beside it: where it fails in that way, one is made,
/// once.
final class RadioLinks<Address: Hashable> {
  /// Opens a channel to where a link goes; completes once, later.
  typealias OpenChannel = (
    Address, _ psm: UInt16, _ completion: @escaping (Result<RecordSocket, ChannelRefusal>) -> Void
  ) -> Void
  /// Connects over GATT to where a channel went; completes once, at once or later, with nil where that cannot be.
  typealias Reconnect = (
    Address, _ completion: @escaping ((socket: RecordSocket, engine: any LinkEngine)?) -> Void
  ) -> Void
  /// A link is over and closed on our side. `mayTryAgain`: it failed before it started. `isLast`: no other link goes to
  /// that address, so that the device can be let go.
  typealias OnEnd = (Address, MdocMode, _ mayTryAgain: Bool, _ isLast: Bool) -> Void

  fileprivate struct Entry {
    /// What messages go over.
    var link: MessageLink
    /// The GATT connection beside a channel.
    var carrier: MessageLink?
    let mode: MdocMode
    let address: Address
    /// Why a channel that was known beforehand is not used.
    var fallback: ChannelRefusal?
    var start: LinkStart?
    /// Something came over the link after it started.
    var hasReceived = false
    /// A channel by itself to a device that can be connected to over GATT.
    var mayReconnect = false
    /// It was a channel once that was lost.
    var hasFallenBack = false
    /// The channel was lost; GATT is being connected, and `link` is closed.
    var isReconnecting = false
  }

  private let loop: EventLoop
  private let limits: LinkLimits
  private let handler: (Reader.LinkID, Reader.LinkEvent) -> Void
  private let openChannel: OpenChannel
  private let reconnect: Reconnect
  private let onEnd: OnEnd
  private var entries: [Reader.LinkID: Entry] = [:]
  private var lastID: Reader.LinkID = 0
  /// What the reader knows the kept link by; it may be another one by now.
  private var kept: (id: Reader.LinkID, current: Reader.LinkID)?
  /// What was sent on the kept link, until something came back.
  private var unanswered: [[UInt8]]?

  /// - Parameter limits: those of channels; engines that are adopted bring their own.
  init(
    on loop: EventLoop, limits: LinkLimits, handler: @escaping (Reader.LinkID, Reader.LinkEvent) -> Void,
    openChannel: @escaping OpenChannel, reconnect: @escaping Reconnect, onEnd: @escaping OnEnd
  ) {
    self.loop = loop
    self.limits = limits
    self.handler = handler
    self.openChannel = openChannel
    self.reconnect = reconnect
    self.onEnd = onEnd
  }

  /// Takes over a connection of GATT and begins the set-up. `fallback` says why it is no channel.
  func adopt(
    _ socket: RecordSocket, engine: any LinkEngine, mode: MdocMode, address: Address, fallback: ChannelRefusal? = nil,
    mayReconnect: Bool = false
  ) {
    let link = MessageLink(socket, engine: engine, on: loop)
    lastID += 1
    let id = lastID
    entries[id] = Entry(link: link, mode: mode, address: address, fallback: fallback, mayReconnect: mayReconnect)
    guard !begin(link, id) else { return }
    entries[id] = nil
    handler(id, .ended(LinkFailure.connectFailed.code))
  }

  /// Takes over a channel: that of a GATT connection to the same device in the same mode, or one by itself.
  func adoptChannel(_ socket: RecordSocket, mode: MdocMode, address: Address) {
    if let (id, _) = awaited(address, mode) {
      moveToChannel(socket, id)
    } else {
      let engine = L2CAPLink(mtu: socket.sendLimit, limits: limits)
      adopt(socket, engine: engine, mode: mode, address: address, mayReconnect: mode == .peripheralServer)
    }
  }

  /// Whether a GATT connection to a device has not started, so that a channel may take its place.
  func isAwaited(_ address: Address, _ mode: MdocMode) -> Bool { awaited(address, mode) != nil }

  private func awaited(_ address: Address, _ mode: MdocMode) -> (key: Reader.LinkID, value: Entry)? {
    entries.first {
      $0.value.address == address && $0.value.mode == mode && $0.value.start == nil && $0.value.carrier == nil
    }
  }

  private func begin(_ link: MessageLink, _ id: Reader.LinkID) -> Bool {
    do throws(SystemError) {
      // Kept by the entry, so that it must not be kept by its own handler.
      try link.start { [weak self, weak link] event in
        guard let self, let link else { return }
        if entries[id]?.link === link { handle(event, id) } else { handleCarrier(event, link, id) }
      }
      return true
    } catch {
      link.close()
      return false
    }
  }

  /// This link won. Others that have a connection go when it has proved good.
  func keep(_ id: Reader.LinkID) {
    kept = (id, id)
    unanswered = []
  }

  func send(_ message: [UInt8], on id: Reader.LinkID) {
    unanswered?.append(message)
    entries[current(id)]?.link.send(message)
  }

  /// Delivers what is waiting and ends the link.
  func finish(_ id: Reader.LinkID) {
    dropOthers(than: current(id))
    guard let entry = entries[current(id)] else { return }
    if entry.isReconnecting { handle(.finished(.ended), current(id)) } else { entry.link.end() }
  }

  /// Ends all at once; gives where they went.
  func close() -> [Address] {
    let addresses = entries.values.map(\.address)
    for entry in entries.values { entry.close() }
    entries = [:]
    kept = nil
    unanswered = nil
    return addresses
  }

  private func current(_ id: Reader.LinkID) -> Reader.LinkID { kept?.id == id ? kept?.current ?? id : id }

  private func dropOthers(than id: Reader.LinkID) {
    unanswered = nil
    for (other, entry) in entries where other != id { drop(other, entry) }
  }

  private func drop(_ id: Reader.LinkID, _ entry: Entry) {
    entries[id] = nil
    entry.close()
    onEnd(entry.address, entry.mode, false, isLast(entry.address))
  }

  /// Several links may go over one connection to a device, which must not be broken off for one of them.
  private func isLast(_ address: Address) -> Bool { !entries.values.contains { $0.address == address } }

  // MARK: Channels

  private func offered(_ psm: UInt16, _ id: Reader.LinkID) {
    guard let entry = entries[id] else { return }
    openChannel(entry.address, psm) { [weak self] result in
      // The transaction may be over, and the number another one's: numbers are never used twice.
      guard let self, let entry = entries[id], entry.start == nil, entry.carrier == nil else { return }
      switch result {
      case .success(let socket): moveToChannel(socket, id)
      case .failure(let reason): entry.link.channelRefused(reason)
      }
    }
  }

  /// Messages go over a channel from now on; the GATT connection stands by.
  private func moveToChannel(_ socket: RecordSocket, _ id: Reader.LinkID) {
    guard let carrier = entries[id]?.link else { return }
    let engine = L2CAPLink(mtu: socket.sendLimit, roundTrips: carrier.roundTrips, limits: limits)
    let link = MessageLink(socket, engine: engine, on: loop)
    entries[id]?.link = link
    entries[id]?.carrier = carrier
    carrier.channelOpened()
    guard !begin(link, id), entries[id] != nil else { return }
    _ = goBack(id)
  }

  /// The channel failed before anything came over it: GATT goes on, and is sent what was sent, if the phone is there
  /// still. One that closed the channel wants no more.
  private func goBack(_ id: Reader.LinkID) -> Bool {
    guard let entry = entries[id], let carrier = entry.carrier, !entry.hasReceived else { return false }
    entries[id]?.link = carrier
    entries[id]?.carrier = nil
    entries[id]?.start = nil
    carrier.channelRefused(.lost)
    if kept?.current == id { for message in unanswered ?? [] { carrier.send(message) } }
    return true
  }

  /// The same for a channel that has no GATT connection beside it, where nobody else can go on.
  private func connectAnew(_ id: Reader.LinkID) -> Bool {
    guard let entry = entries[id], entry.mayReconnect, !entry.hasReceived, kept == nil || kept?.current == id,
      !entries.contains(where: { $0.key != id && $0.value.start != nil })
    else { return false }
    entries[id]?.mayReconnect = false
    entries[id]?.hasFallenBack = true
    entries[id]?.isReconnecting = true
    entries[id]?.start = nil
    entries[id]?.fallback = .lost
    reconnect(entry.address) { [weak self] connection in
      guard let self, entries[id]?.isReconnecting ?? false else { return }
      entries[id]?.isReconnecting = false
      guard let connection else { return handle(.finished(.failed(.linkLost)), id) }
      let link = MessageLink(connection.socket, engine: connection.engine, on: loop)
      entries[id]?.link = link
      guard begin(link, id) else { return handle(.finished(.failed(.linkLost)), id) }
      if kept?.current == id { for message in unanswered ?? [] { link.send(message) } }
    }
    return true
  }

  private func handleCarrier(_ event: MessageLink.Event, _ link: MessageLink, _ id: Reader.LinkID) {
    // It carries nothing: what becomes of the channel is what counts.
    if case .finished = event, entries[id]?.carrier === link { entries[id]?.carrier = nil }
  }

  // MARK: What happens

  private func handle(_ event: MessageLink.Event, _ id: Reader.LinkID) {
    switch event {
    case .channelOffered(let psm): return offered(psm, id)
    case .started(let start): entries[id]?.start = start
    case .message, .progress: entries[id]?.hasReceived = true
    case .finished(.failed(.linkLost)): if goBack(id) || connectAnew(id) { return }
    case .sent, .finished: break
    }
    if let kept, kept.current != id {
      // The other link waits; nobody has asked anything on it.
      if case .finished = event { forget(id) }
      return
    }
    let known = kept?.id ?? id
    switch event {
    case .channelOffered: break
    case .started: if let facts = entries[id]?.facts { handler(known, .started(facts)) }
    case .message(let message):
      if kept != nil { dropOthers(than: id) }
      handler(known, .message(message))
    case .progress: handler(known, .progress)
    case .sent: handler(known, .sent)
    case .finished(let end):
      forget(id)
      if let kept, isReplaced(kept.id, by: end) { return }
      handler(known, .ended(end.code))
    }
  }

  private func forget(_ id: Reader.LinkID) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    entry.close()
    onEnd(entry.address, entry.mode, entry.start == nil && !entry.hasFallenBack, isLast(entry.address))
  }

  /// The kept link is gone before anything came back: another one that has started goes on in its place.
  private func isReplaced(_ id: Reader.LinkID, by end: LinkEnd) -> Bool {
    guard case .failed = end, let messages = unanswered,
      let (other, entry) = entries.filter({ $0.value.start != nil }).min(by: { $0.key < $1.key })
    else { return false }
    kept = (id, other)
    if let facts = entry.facts { handler(id, .started(facts)) }
    for message in messages { entry.link.send(message) }
    return true
  }
}

extension RadioLinks.Entry {
  fileprivate func close() {
    link.close()
    carrier?.close()
  }

  /// Nil before it has started.
  fileprivate var facts: LinkFacts? {
    start.map {
      LinkFacts(
        mode: mode, transport: $0.transport, mtu: $0.mtu, roundTrips: $0.roundTrips, fallback: $0.fallback ?? fallback)
    }
  }
}
