import Bluetooth
import Kernel
import Links
import ReaderCore

/// The links of one transaction, whatever carries them: numbered, started, and all but one dropped.
///
/// Where both modes are offered, reader and wallet may each end up on a different one of two links that start at the
/// same time, and each would drop the other's. So a link beside the kept one stays until the kept one has brought its
/// first message; if the kept one goes before that, the other takes its place, and is sent again what was sent.
final class RadioLinks<Address: Hashable> {
  private struct Entry {
    let link: MessageLink
    let mode: MdocMode
    let address: Address
    var start: GATTLink.Start?
  }

  private let loop: EventLoop
  private let handler: (Reader.LinkID, Reader.LinkEvent) -> Void
  /// A link is over and closed on our side; whether it had started.
  private let onEnd: (Address, MdocMode, _ hadStarted: Bool, GATTLink.End) -> Void
  private var entries: [Reader.LinkID: Entry] = [:]
  private var lastID: Reader.LinkID = 0
  /// What the reader knows the kept link by; it may be another one by now.
  private var kept: (id: Reader.LinkID, current: Reader.LinkID)?
  /// What was sent on the kept link, until something came back.
  private var unanswered: [[UInt8]]?

  init(
    on loop: EventLoop, handler: @escaping (Reader.LinkID, Reader.LinkEvent) -> Void,
    onEnd: @escaping (Address, MdocMode, Bool, GATTLink.End) -> Void
  ) {
    self.loop = loop
    self.handler = handler
    self.onEnd = onEnd
  }

  /// Takes over a connection and begins the set-up.
  func adopt(_ socket: RecordSocket, engine: any LinkEngine, mode: MdocMode, address: Address) {
    lastID += 1
    let id = lastID
    let link = MessageLink(socket, engine: engine, on: loop)
    entries[id] = Entry(link: link, mode: mode, address: address)
    do throws(SystemError) {
      try link.start { [weak self] event in self?.handle(event, id) }
    } catch {
      entries[id] = nil
      link.close()
      handler(id, .ended(LinkFailure.connectFailed.code))
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
    entries[current(id)]?.link.end()
  }

  /// Ends all at once; gives where they went.
  func close() -> [Address] {
    let addresses = entries.values.map(\.address)
    for entry in entries.values { entry.link.close() }
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
    entry.link.close()
    onEnd(entry.address, entry.mode, true, .ended)
  }

  private func handle(_ event: MessageLink.Event, _ id: Reader.LinkID) {
    if let kept, kept.current != id {
      // The other link waits; nobody has asked anything on it.
      switch event {
      case .started(let start): entries[id]?.start = start
      case .finished(let end): forget(id, end)
      case .message, .progress, .sent: break
      }
      return
    }
    let known = kept?.id ?? id
    switch event {
    case .started(let start):
      entries[id]?.start = start
      guard let mode = entries[id]?.mode else { return }
      handler(known, .started(LinkFacts(mode: mode, mtu: start.mtu, roundTrips: start.roundTrips)))
    case .message(let message):
      if kept != nil { dropOthers(than: id) }
      handler(known, .message(message))
    case .progress: handler(known, .progress)
    case .sent: handler(known, .sent)
    case .finished(let end):
      forget(id, end)
      if let kept, isReplaced(kept.id, by: end) { return }
      handler(known, .ended(end.code))
    }
  }

  private func forget(_ id: Reader.LinkID, _ end: GATTLink.End) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    onEnd(entry.address, entry.mode, entry.start != nil, end)
  }

  /// The kept link is gone before anything came back: another one that has started goes on in its place.
  private func isReplaced(_ id: Reader.LinkID, by end: GATTLink.End) -> Bool {
    guard case .failed = end, let messages = unanswered,
      let (other, entry) = entries.filter({ $0.value.start != nil }).min(by: { $0.key < $1.key })
    else { return false }
    kept = (id, other)
    for message in messages { entry.link.send(message) }
    return true
  }
}
