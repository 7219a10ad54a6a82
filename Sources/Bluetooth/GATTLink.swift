import Bytes

/// One connection of the mdoc GATT transport, as server or as client, for reader and wallet alike: no socket, no
/// clock. PDUs and messages go in, PDUs and messages come out.
///
/// The side is chosen once; after that both behave the same: `started` says that messages may flow, `finished` that
/// nothing more will. A server never asks its peer for anything, so its PDUs are responses, notifications and
/// confirmations only, and it serves nobody before State start: with several connections the first to start wins.
package struct GATTLink: Sendable {
  package typealias Instant = ContinuousClock.Instant

  private enum Phase {
    case awaitingConnection
    case settingUp(deadline: Instant)
    /// A channel carries the messages: the peer's requests are answered still, and nothing is waited for.
    case standingBy
    case open
    /// Sending the rest; `deadline` moves on with each PDU.
    case ending(deadline: Instant)
    /// State end was handed out.
    case lingering(deadline: Instant)
    case closed
  }

  private struct Client {
    var requests = ATTClient()
    var setup: ClientSetup
    var handles: ClientSetup.Handles?
  }

  /// A PDU that goes before data.
  private enum Control {
    case request([UInt8])
    case response([UInt8])
    case confirmation
    case start([UInt8])
    case end([UInt8])
  }

  private enum Channel {
    case state
    case data
  }

  /// What goes on Client2Server or Server2Client.
  private enum Outgoing {
    case message(Fragmenter)
    case value([UInt8])
  }

  private let limits: Limits
  /// Nil on the server side.
  private var client: Client?
  private var server: ATTServer
  private var mtu = ATTMTU()
  private var phase = Phase.awaitingConnection
  private var reassembler: Reassembler
  private var outgoing: [Outgoing] = []
  private var control: [Control] = []
  private var events = EventQueue()
  private var announced: Instant?
  private var hasSeenStart = false
  private var answered = 0
  /// Why a channel that was offered is not used.
  private var fallback: ChannelRefusal?

  /// The side that was connected to and serves the mdoc service. `ident` is what mdoc central client mode shows (16
  /// bytes); the other mode has none. `psm` is the channel that is offered beside it; nil for none.
  package static func server(
    mode: MdocMode, service: UUID128, ident: [UInt8] = [], psm: UInt16? = nil, limits: Limits = Limits()
  ) -> GATTLink {
    GATTLink(nil, AttributeTable(mode: mode, service: service, ident: ident, psm: psm), limits)
  }

  /// The side that connected and uses the mdoc service. `ident` is what the peer must show in mdoc central client
  /// mode; nil in the other mode, which has none. With `wantsChannel`, a channel of the server is told of before
  /// anything else.
  package static func client(
    mode: MdocMode, service: UUID128, ident: [UInt8]? = nil, wantsChannel: Bool = false, limits: Limits = Limits()
  ) -> GATTLink {
    let setup = ClientSetup(
      mode: mode, service: service, ident: ident, offer: limits.mtuOffer, wantsChannel: wantsChannel)
    return GATTLink(Client(setup: setup), AttributeTable(), limits)
  }

  private init(_ client: Client?, _ table: AttributeTable, _ limits: Limits) {
    self.limits = limits
    self.client = client
    server = ATTServer(table, offer: limits.mtuOffer)
    reassembler = Reassembler(limit: limits.messageSize)
  }

  /// Feeds one event. Drain `nextOutput` after it. An input that has no meaning in a phase changes nothing.
  package mutating func handle(_ input: Input, at now: Instant) {
    switch (input, phase) {
    case (_, .closed): break
    case (.connected, .awaitingConnection): connect(at: now)
    case (.received(let bytes), .settingUp), (.received(let bytes), .standingBy), (.received(let bytes), .open),
      (.received(let bytes), .ending), (.received(let bytes), .lingering):
      receive(bytes, at: now)
    case (.send(let message), .awaitingConnection), (.send(let message), .settingUp), (.send(let message), .open):
      outgoing.append(.message(Fragmenter(message)))
    case (.channelOpened, .settingUp): phase = .standingBy
    case (.channelRefused(let reason), .settingUp), (.channelRefused(let reason), .standingBy):
      goOn(without: reason, at: now)
    case (.sendValue(let value), .open): outgoing.append(.value(value))
    case (.end, .open):
      phase = .ending(deadline: now + limits.stall)
      events.dropMessages()
    case (.end, .awaitingConnection), (.end, .settingUp), (.end, .standingBy): finish(.ended)
    case (.disconnected, _), (.closedByPeer, _): disconnect()
    case (.tick, _): tick(at: now)
    default: break
    }
  }

  /// The next thing to do; nil when there is nothing for now.
  ///
  /// PDUs are made when they are asked for, so nothing piles up: pass false for `canTransmit` while the connection
  /// takes no more, and call again when it does. What is not sent does not hold up the other outputs.
  package mutating func nextOutput(at now: Instant, canTransmit: Bool) -> Output? {
    if canTransmit, let pdu = nextControl(at: now) { return .transmit(pdu) }
    if let event = events.takeFirst() {
      if case .finished = event { control = [] }
      return event
    }
    if canTransmit, let pdu = nextPart(at: now) { return .transmit(pdu) }
    if canTransmit, case .ending = phase, outgoing.isEmpty {
      sayEnd(at: now)
      return nextOutput(at: now, canTransmit: canTransmit)
    }
    return nextWake()
  }

  /// ATT requests that were answered so far, by whoever serves.
  package var roundTrips: Int { client?.requests.roundTrips ?? answered }

  // MARK: Time

  private var deadline: Instant? {
    switch phase {
    case .settingUp(let deadline): min(deadline, client?.requests.deadline ?? deadline)
    case .ending(let deadline), .lingering(let deadline): deadline
    case .awaitingConnection, .standingBy, .open, .closed: nil
    }
  }

  private mutating func nextWake() -> Output? {
    let due = deadline
    guard due != announced else { return nil }
    announced = due
    return due.map { .wake(at: $0) }
  }

  private mutating func tick(at now: Instant) {
    announced = nil
    guard let deadline, now >= deadline else { return }
    switch phase {
    case .settingUp:
      let isOverdue = client?.requests.deadline.map { now >= $0 } ?? false
      finish(.failed(isOverdue ? .attTimeout : .setupTimeout))
    default: finish(.ended)
    }
  }

  // MARK: Outputs

  private mutating func nextControl(at now: Instant) -> [UInt8]? {
    guard !control.isEmpty else { return nil }
    switch control.removeFirst() {
    case .request(let pdu), .response(let pdu), .end(let pdu): return pdu
    case .confirmation: return ATTPDU.confirmation.encoded
    case .start(let pdu):
      if case .settingUp = phase { open() }
      return pdu
    }
  }

  private mutating func nextPart(at now: Instant) -> [UInt8]? {
    switch phase {
    case .open: break
    case .ending: phase = .ending(deadline: now + limits.stall)
    default: return nil
    }
    guard !outgoing.isEmpty, var pdu = header(of: .data) else { return nil }
    switch outgoing[0] {
    case .value(let value):
      outgoing.removeFirst()
      pdu.append(contentsOf: value.prefix(mtu.value - 3))
    case .message(var fragmenter):
      guard let part = fragmenter.nextPart(limit: min(mtu.valueLimit, limits.valueLength)) else { return nil }
      if part.isLast {
        outgoing.removeFirst()
        events.append(.messageSent)
      } else {
        outgoing[0] = .message(fragmenter)
      }
      pdu.reserveCapacity(pdu.count + 1 + part.data.count)
      pdu.append(part.prefix)
      pdu.append(contentsOf: part.data)
    }
    return pdu
  }

  private mutating func sayEnd(at now: Instant) {
    if let pdu = endPDU { control.append(.end(pdu)) }
    phase = .lingering(deadline: now + limits.linger)
    if limits.linger == .zero { finish(.ended) }
  }

  private var endPDU: [UInt8]? {
    guard client != nil || server.isSubscribed(to: .state) else { return nil }
    return header(of: .state).map { $0 + [StateValue.end] }
  }

  /// Opcode and handle in front of a value: a write command as client, a notification as server.
  private func header(of channel: Channel) -> [UInt8]? {
    switch (client, channel) {
    case (nil, .state): server.value(of: .state).map { [ATTPDU.Opcode.notification] + $0.wire }
    case (nil, .data): server.value(of: .serverToClient).map { [ATTPDU.Opcode.notification] + $0.wire }
    case (let client?, .state): client.handles.map { [ATTPDU.Opcode.writeCommand] + $0.state.wire }
    case (let client?, .data): client.handles.map { [ATTPDU.Opcode.writeCommand] + $0.clientToServer.wire }
    }
  }

  private mutating func finish(_ end: End) {
    phase = .closed
    outgoing = []
    // Answers and State end may still go out; what we would ask or start may not.
    control.removeAll {
      switch $0 {
      case .request, .start, .confirmation: true
      case .response, .end: false
      }
    }
    reassembler = Reassembler(limit: limits.messageSize)
    events.dropMessages()
    events.append(.finished(end))
  }

  /// Ends a link over something the peer did; a peer that has started is told so by State end.
  private mutating func fail(_ failure: LinkFailure) {
    if case .open = phase, let pdu = endPDU { control.append(.end(pdu)) }
    finish(.failed(failure))
  }

  // MARK: Set-up

  private mutating func connect(at now: Instant) {
    setUp(at: now)
    if let first = client?.setup.first { request(first, at: now) }
  }

  private mutating func setUp(at now: Instant) {
    phase = .settingUp(deadline: now + (limits.setup ?? (client == nil ? .seconds(30) : .seconds(10))))
  }

  /// The set-up of GATT where a channel left it.
  private mutating func goOn(without reason: ChannelRefusal, at now: Instant) {
    fallback = reason
    if case .standingBy = phase { setUp(at: now) }
    if let step = client?.setup.refuseChannel(reason) { take(step, at: now) }
    startWhenReady()
  }

  private mutating func request(_ pdu: ATTPDU, at now: Instant) {
    if let bytes = client?.requests.request(pdu, at: now) { control.append(.request(bytes)) }
  }

  private mutating func open() {
    phase = .open
    let fallback = fallback ?? client?.setup.fallback
    events.append(
      .started(Start(transport: .gatt, mtu: mtu.value, roundTrips: roundTrips, fallback: fallback)))
  }

  private mutating func advance(_ answer: ATTPDU?, _ code: ATTErrorCode? = nil, at now: Instant) {
    guard case .settingUp = phase, let step = client?.setup.advance(answer, refusedWith: code) else { return }
    take(step, at: now)
  }

  private mutating func take(_ step: ClientSetup.Step, at now: Instant) {
    switch step {
    case .request(let pdu): request(pdu, at: now)
    case .channel(let psm):
      events.append(.channelOffered(psm: psm))
    case .failed(let failure): finish(.failed(failure))
    case .done(let handles):
      client?.handles = handles
      control.append(.start(ATTPDU.writeCommand(handles.state, [StateValue.start]).encoded))
    }
  }

  // MARK: What the peer sends

  private mutating func receive(_ bytes: ByteView, at now: Instant) {
    guard let opcode = bytes.first else { return }
    guard bytes.count <= max(limits.mtuOffer, ATTMTU.floor) else { return fail(.attInvalid) }
    switch ATTPDU.purpose(of: opcode) {
    case .request, .command: serve(bytes)
    case .response:
      switch client?.requests.receive(bytes) {
      case .answer(let pdu):
        if case .exchangeMTUResponse(let peer) = pdu { mtu.exchange(own: limits.mtuOffer, peer: peer) }
        advance(pdu, at: now)
      case .refused(let code): advance(nil, code, at: now)
      case .invalid: fail(.attInvalid)
      case .unexpected, nil: break
      }
    case .notification, .indication: takeNotice(bytes)
    case .confirmation: break
    }
  }

  private mutating func serve(_ bytes: ByteView) {
    let outcome = server.handle(bytes, mtu: mtu)
    if let response = outcome.response {
      // A peer that asks again before it can have our answer breaks the protocol, and must not fill our memory.
      guard !control.contains(where: { if case .response = $0 { true } else { false } }) else {
        return fail(.attInvalid)
      }
      control.append(.response(response.encoded))
      answered += 1
    }
    switch outcome.event {
    case .mtuOffered(let peer): mtu.exchange(own: limits.mtuOffer, peer: peer)
    case .written(.state, let value): takeState(value)
    case .written(.clientToServer, let value): takePart(value)
    case .subscribed(.serverToClient, false):
      // The last thing some phones do; nothing can be sent to them any more.
      if case .open = phase { leave() }
    case .subscribed: startWhenReady()
    case .written, nil: break
    }
  }

  private mutating func takeNotice(_ bytes: ByteView) {
    let handle: AttributeHandle
    let value: ByteView
    switch try? ATTPDU(bytes) {
    case .notification(let source, let content): (handle, value) = (source, content)
    case .indication(let source, let content):
      guard !control.contains(where: { if case .confirmation = $0 { true } else { false } }) else {
        return fail(.attInvalid)
      }
      control.append(.confirmation)
      (handle, value) = (source, content)
    case .other: return
    default: return fail(.attInvalid)
    }
    guard let handles = client?.handles else { return }
    if handle == handles.state { takeState(value) }
    if handle == handles.serverToClient { takePart(value) }
  }

  private mutating func takeState(_ value: ByteView) {
    // State is for messages on GATT; it says nothing about a channel.
    if case .standingBy = phase {
      hasSeenStart = hasSeenStart || Array(value) == [StateValue.start]
      return
    }
    switch (value.count, value.first) {
    case (1, StateValue.start?):
      hasSeenStart = true
      startWhenReady()
    case (1, StateValue.end?): leave()
    default: fail(.stateInvalid)
    }
  }

  /// The server's start: State start was written and notifications of Server2Client are on, in whatever order.
  private mutating func startWhenReady() {
    guard client == nil, case .settingUp = phase, hasSeenStart, server.isSubscribed(to: .serverToClient) else { return }
    open()
  }

  private mutating func disconnect() {
    control = []
    switch phase {
    case .ending, .lingering: finish(.ended)
    default: finish(.failed(.linkLost))
    }
  }

  /// The peer wants no more: the end we asked for, or one we did not.
  private mutating func leave() {
    switch phase {
    case .ending, .lingering: finish(.ended)
    default: finish(.failed(.peerTerminated))
    }
  }

  private mutating func takePart(_ value: ByteView) {
    // Before State start nobody is served, and after our end nobody listens.
    guard case .open = phase else { return }
    do {
      let before = reassembler.byteCount
      let message = try reassembler.receive(value)
      let count = message?.count ?? reassembler.byteCount
      if count > before { events.append(.messageProgress(byteCount: count)) }
      if let message { events.append(.message(message)) }
    } catch Reassembler.Violation.messageTooLarge {
      fail(.messageTooLarge)
    } catch {
      fail(.fragmentInvalid)
    }
  }
}
