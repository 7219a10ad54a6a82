import Bluetooth
import Bytes
import Crypto
import Kernel
import Links
import Mdoc
import MdocSession
import SimulatedAir

/// A reader made of the engines and nothing else: one session over the simulated air.
final class TestReader {
  /// What came of it.
  struct Result {
    var mode: MdocMode?
    var mtu = 0
    var response: [UInt8]?
    var outcome: SessionOutcome?
    var linkEnd: GATTLink.End?
    /// From the reader's end of the session to the end of the link.
    var goodbye: Duration?
    let transcript: SessionTranscript
    let key: PrivateKey
  }

  /// How the reader behaves.
  enum Manner {
    case proper
    /// Waits for the wallet to close, up to the second that an engine allows by itself.
    case patient
    /// Shows an Ident of another engagement.
    case wrongIdent
    /// Closes the connection as soon as it has the answer.
    case hangsUp
  }

  /// Closing a simulated link delivers what was sent.
  private let limits: GATTLink.Limits

  private let loop: EventLoop
  private let air: String
  private let manner: Manner
  private let engagement: DeviceEngagement
  private var session: ReaderSession
  private var result: Result
  private var advertisement: Advertisement?
  private var discovery: Discovery?
  private var links: [ObjectIdentifier: MessageLink] = [:]
  private var active: ObjectIdentifier?
  private var endedAt: ContinuousClock.Instant?
  private var timers: [EventLoop.Timer] = []

  init(engagement text: String, air: String, request: [UInt8], manner: Manner = .proper) throws {
    loop = try EventLoop()
    self.air = air
    self.manner = manner
    var limits = GATTLink.Limits()
    if manner != .patient { limits.linger = .zero }
    self.limits = limits
    engagement = try DeviceEngagement(try EngagementURI(text).engagement)
    let key = try PrivateKey.generate(engagement.eDeviceKey.curve)
    session = try ReaderSession(
      engagement: engagement, ephemeralKey: key, request: request,
      limits: SessionLimits(link: .seconds(5), message: .seconds(5)), at: .now)
    result = Result(transcript: session.transcript, key: key)
  }

  /// Turns until the session is over, or for ten seconds.
  func run() throws -> Result {
    let bluetooth = try engagement.requiredBluetooth()
    if let service = bluetooth.centralClient {
      var ident = engagement.bleIdent
      if manner == .wrongIdent { ident[0] ^= 1 }
      let limits = limits
      advertisement = try Advertisement(of: service, in: air, on: loop) { [weak self] in
        self?.adopt(
          $0, .server(mode: .centralClient, service: service, ident: ident, limits: limits), .centralClient)
      }
    }
    if let service = bluetooth.peripheralServer?.uuid {
      let limits = limits
      let own = advertisement.map { Set([$0.address]) } ?? []
      discovery = try Discovery(of: service, in: air, except: own, on: loop) { [weak self] event in
        guard case .connected(_, let connection) = event else { return }
        self?.adopt(
          connection, .client(mode: .peripheralServer, service: service, limits: limits), .peripheralServer)
      }
    }
    drainSession()
    let ticks = loop.timer("tick") {}
    timers.append(ticks)
    _ = try loop.run(until: .now + .seconds(10))
    advertisement?.stop()
    discovery?.stop()
    for link in links.values { link.close() }
    return result
  }

  private func adopt(_ connection: RecordSocket, _ engine: GATTLink, _ mode: MdocMode) {
    let id = ObjectIdentifier(connection)
    let link = MessageLink(connection, engine: engine, on: loop)
    links[id] = link
    try? link.start { [weak self] in self?.take($0, id, mode) }
  }

  private func take(_ event: MessageLink.Event, _ id: ObjectIdentifier, _ mode: MdocMode) {
    switch event {
    case .started(let start):
      guard active == nil else { return }
      active = id
      result.mode = mode
      result.mtu = start.mtu
      feedSession(.linkStarted)
    case .message(let message): feedSession(.message(message[...]))
    case .progress, .sent, .channelOffered: break
    case .finished(let end):
      links[id] = nil
      guard id == active else { return }
      result.linkEnd = end
      result.goodbye = endedAt.map { .now - $0 }
      if result.outcome == nil { feedSession(.linkEnded) }
      loop.stop()
    }
  }

  private func feedSession(_ input: ReaderSession.Input) {
    session.handle(input, at: .now)
    drainSession()
  }

  private func drainSession() {
    while let output = session.nextOutput() {
      switch output {
      case .send(let message): if let active { links[active]?.send(message) }
      case .response(let response):
        result.response = response
        if manner == .hangsUp, let active {
          links[active]?.close()
          loop.stop()
          return
        }
      case .wake(let instant):
        let timer = loop.timer("session") { [weak self] in self?.feedSession(.tick) }
        timers.append(timer)
        timer.set(at: instant)
      case .finished(let outcome):
        result.outcome = outcome
        endedAt = .now
        if let active, let link = links[active] { link.end() } else { loop.stop() }
      }
    }
  }
}
