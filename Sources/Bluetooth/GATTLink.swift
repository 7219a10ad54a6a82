import Bytes

/// One connection that carries messages in the mdoc service, as server or as client: no socket, no clock.
///
/// PDUs, messages and time go in; PDUs, messages and events come out. Parts of outgoing messages are made one at a
/// time, when the edge can send: nothing is dropped and nothing piles up in the kernel.
package struct GATTLink: Sendable {
  package typealias Instant = ContinuousClock.Instant

  package enum Role: String, Sendable {
    case server
    case client
  }

  package enum Input: Sendable {
    /// The connection is up. A client begins; a server waits.
    case connected
    /// One PDU as it arrived.
    case received(ByteView)
    /// A message to send, after `started`. Messages are sent in order.
    case send([UInt8])
    /// Send what is waiting, then State end, then finish.
    case end
    /// The connection is gone.
    case disconnected
    /// The deadline of `wake` may have come.
    case tick
  }

  package enum Output: Equatable, Sendable {
    case transmit([UInt8])
    /// State start was written: messages may flow.
    case started(LinkStart)
    case message([UInt8])
    /// A part of a message arrived, with this many bytes of data.
    case progress(Int)
    /// The last part of the oldest message is handed out.
    case sent
    /// The last output: nil when this side ended it.
    case finished(LinkFailure?)
    /// Feed `tick` then.
    case wake(at: Instant)
  }

  /// How long a request may stay unanswered.
  package static let transactionTimeout: Duration = .seconds(30)

  private enum Phase: Sendable {
    case idle
    /// Client: a request of the discovery is unanswered.
    case discovering(GATTDiscovery)
    /// Server: the other side has not written State start.
    case awaitingStart
    case open
    /// `end` was asked for: what waits goes out first.
    case closing
    case finished
  }

  package let role: Role
  private let service: MdocService
  private var server: ATTServer
  private var phase = Phase.idle
  private var handles = GATTDiscovery.Handles()
  private var reassembler: Reassembler
  private var outputs: [Output] = []
  private var waiting: [[UInt8]] = []
  private var current: Fragmenter?
  private var deadline: Instant?
  private var hasSentEnd = false

  /// ATT MTU in bytes, one for both directions of the connection.
  package private(set) var mtu = 23

  /// - Parameter messageLimit: bytes of an incoming message at most.
  package init(role: Role, service: MdocService, messageLimit: Int) {
    self.role = role
    self.service = service
    server = ATTServer(table: AttributeTable(service: role == .server ? service : nil))
    reassembler = Reassembler(limit: messageLimit)
  }

  package var isFinished: Bool {
    if case .finished = phase { return true }
    return false
  }

  /// The next thing to do, in order. With `canTransmit` false nothing is handed out that would have to be sent.
  package mutating func nextOutput(canTransmit: Bool = true) -> Output? {
    if let first = outputs.first {
      if case .transmit = first, !canTransmit { return nil }
      return outputs.removeFirst()
    }
    guard canTransmit else { return nil }
    return nextPart()
  }

  /// Whether something waits for a moment when it can be sent.
  package var wantsToTransmit: Bool {
    if case .transmit = outputs.first { return true }
    return current != nil || !waiting.isEmpty || isEndDue
  }

  private var isEndDue: Bool {
    if case .closing = phase { return !hasSentEnd }
    return false
  }

  // MARK: Sending

  private mutating func nextPart() -> Output? {
    switch phase {
    case .open, .closing: break
    default: return nil
    }
    if current == nil, !waiting.isEmpty { current = Fragmenter(waiting.removeFirst(), mtu: mtu) }
    if var fragmenter = current, let part = fragmenter.next() {
      current = fragmenter.isFinished ? nil : fragmenter
      if fragmenter.isFinished { outputs.append(.sent) }
      return .transmit(value(part, on: role == .server ? .serverToClient : .clientToServer))
    }
    guard isEndDue else { return nil }
    hasSentEnd = true
    finish(nil)
    return .transmit(value([LinkState.end], on: .state))
  }

  /// A value for the other side: a notification of a server, a write without response of a client.
  private func value(_ value: [UInt8], on characteristic: MdocService.Characteristic) -> [UInt8] {
    switch role {
    case .server: ATTPDU.notification(server.table.values[characteristic] ?? 0, value[...]).encoded
    case .client: ATTPDU.writeCommand(handles.values[characteristic] ?? 0, value[...]).encoded
    }
  }

  // MARK: What happens

  /// Feeds one event. What is left of earlier outputs stays in order.
  package mutating func handle(_ input: Input, at now: Instant) {
    if isFinished { return }
    switch input {
    case .connected: connect(at: now)
    case .received(let bytes): receive(bytes, at: now)
    case .send(let message):
      switch phase {
      case .open: waiting.append(message)
      default: break
      }
    case .end:
      switch phase {
      case .open: phase = .closing
      default: finish(nil)
      }
    case .disconnected: finish(.linkLost)
    case .tick:
      guard let deadline else { return }
      if now >= deadline { finish(.attTimeout) } else { outputs.append(.wake(at: deadline)) }
    }
  }

  private mutating func connect(at now: Instant) {
    guard case .idle = phase else { return }
    switch role {
    case .server: phase = .awaitingStart
    case .client:
      var discovery = GATTDiscovery(service: service)
      follow(discovery.start(), discovery, at: now)
    }
  }

  private mutating func follow(_ step: GATTDiscovery.Step, _ discovery: GATTDiscovery, at now: Instant) {
    if let offer = discovery.offeredMTU { agree(on: offer) }
    switch step {
    case .request(let request):
      phase = .discovering(discovery)
      outputs.append(.transmit(request.encoded))
      deadline = now + GATTLink.transactionTimeout
      outputs.append(.wake(at: now + GATTLink.transactionTimeout))
    case .done:
      handles = discovery.handles
      deadline = nil
      phase = .open
      outputs.append(.transmit(value([LinkState.start], on: .state)))
      outputs.append(.started(LinkStart(mtu: mtu, roundTrips: discovery.roundTrips)))
    case .failed(let failure): finish(failure)
    }
  }

  private mutating func agree(on offer: UInt16) {
    mtu = max(23, min(Int(offer), Int(ATTServer.offeredMTU)))
  }

  private mutating func receive(_ bytes: ByteView, at now: Instant) {
    let pdu: ATTPDU
    do {
      pdu = try ATTPDU(bytes)
    } catch {
      if ATTPDU.isRequest(error.opcode), error.opcode != 0 {
        transmit(.errorResponse(request: error.opcode, handle: error.handle, code: error.code))
      } else if case .discovering = phase {
        finish(.attViolation)
      }
      return
    }
    switch pdu {
    case .notification(let handle, let value): take(value, from: handle)
    case .indication(let handle, let value):
      transmit(.confirmation)
      take(value, from: handle)
    case .errorResponse, .exchangeMTUResponse, .findInformationResponse, .findByTypeValueResponse, .readByTypeResponse,
      .readResponse, .readBlobResponse, .readByGroupTypeResponse, .writeResponse:
      // An answer nobody asked for is ignored: a late one of a request that was given up.
      guard case .discovering(var discovery) = phase else { return }
      let step = discovery.handle(pdu)
      follow(step, discovery, at: now)
    default:
      let outcome = server.handle(pdu, mtu: mtu)
      if let response = outcome.response { transmit(response) }
      if let offer = outcome.offeredMTU { agree(on: offer) }
      if let write = outcome.write { take(write.value, writtenTo: write.handle) }
    }
  }

  /// Answers go before parts of messages that are not made yet.
  private mutating func transmit(_ pdu: ATTPDU) { outputs.append(.transmit(pdu.encoded)) }

  // MARK: Values of the other side

  private mutating func take(_ value: ByteView, from handle: UInt16) {
    guard role == .client else { return }
    switch phase {
    case .open, .closing: break
    default: return
    }
    if handle == handles.values[.state] {
      takeState(value)
    } else if handle == handles.values[.serverToClient] {
      takePart(value)
    }
  }

  private mutating func take(_ value: ByteView, writtenTo handle: UInt16) {
    if handle == server.table.values[.state] {
      takeState(value)
    } else if handle == server.table.values[.clientToServer] {
      // Whoever has not written start is not the wallet of this session.
      switch phase {
      case .open, .closing: takePart(value)
      default: break
      }
    }
  }

  private mutating func takeState(_ value: ByteView) {
    guard value.count == 1, let state = value.first else { return finish(.stateInvalid) }
    switch (state, phase) {
    case (LinkState.start, .awaitingStart):
      guard server.isSubscribed(to: .serverToClient) else { return finish(.notSubscribed) }
      phase = .open
      outputs.append(.started(LinkStart(mtu: mtu, roundTrips: 0)))
    case (LinkState.start, _): break
    case (LinkState.end, _): finish(.peerTerminated)
    default: finish(.stateInvalid)
    }
  }

  private mutating func takePart(_ value: ByteView) {
    do {
      let message = try reassembler.feed(value)
      outputs.append(.progress(value.count - 1))
      if let message { outputs.append(.message(message)) }
    } catch {
      finish(error == .messageTooLarge ? .messageTooLarge : .fragmentInvalid)
    }
  }

  private mutating func finish(_ failure: LinkFailure?) {
    phase = .finished
    deadline = nil
    waiting = []
    current = nil
    if failure == .linkLost {
      // Nobody is there to send to; what was received before still counts.
      outputs.removeAll { if case .transmit = $0 { true } else { false } }
    }
    outputs.append(.finished(failure))
  }
}

/// What is known of a link when messages may flow.
package struct LinkStart: Equatable, Sendable {
  /// ATT MTU in bytes.
  package let mtu: Int
  /// Requests this side made before it could start; 0 for a server.
  package let roundTrips: Int
}
