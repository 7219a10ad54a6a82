import Bluetooth
import CivilTime
import Configuration
import Crypto
import Issuer
import Mdoc
import MdocSession
import MdocVerification
import Panel
import Policy
import ReaderCore
import TestSupport
import Testing
import Trust
import Wallet

@testable import Appliance

/// One visit in virtual time, with every part of the reader that needs no kernel and a wallet made of the same parts: the
/// machine, its panel, the link, the session, verification and policy. Between the two links is an air that may do
/// something to one of the records.
final class VirtualVisit {
  typealias Instant = ContinuousClock.Instant

  /// What carries the session, and who serves.
  enum Way: CaseIterable {
    case peripheralServer
    case centralClient
    case channel

    var mode: MdocMode { self == .centralClient ? .centralClient : .peripheralServer }
  }

  /// What many visits have in common: a site, and a wallet's document.
  struct Site {
    static let text = """
      board = "simulated"
      [[request.document]]
      doc_type = "org.iso.18013.5.1.mDL"
      [request.document.name_spaces]
      "org.iso.18013.5.1" = ["family_name", "birth_date", "issuing_country", "age_over_18"]
      [[request.document.condition]]
      age_at_least = 18
      """
    let template: RequestTemplate
    let assessor: Assessor
    let answer: HolderAnswer
    let deviceKey: PrivateKey
    /// Neither too early nor too late for the document.
    let time = UnixTime(seconds: 1_790_000_000)

    init(age: Int) throws {
      var random = SplitMix64(state: 5)
      let configuration = try ReaderConfiguration(text: Site.text)
      template = configuration.template
      let issued = try TestIssue(.mdl, age: age, now: time).issue(random: &random)
      let root = try Certificate(issued.trusted.certificate)
      assessor = Assessor(
        verifier: Verifier(
          anchors: [TrustAnchor(root, source: "test")], policy: configuration.verification), template: template)
      answer = HolderAnswer(documents: [StoredCredential(credential: issued.credential, method: .signature)])
      deviceKey = try .make(.p256, random: &random)
    }
  }

  /// What came of it.
  struct Course {
    var reports: [TransactionReport] = []
    /// How many records went over the air, in both directions.
    var records = 0
    /// The answers that the wallet gave, in plain.
    var answers: [[UInt8]] = []
    /// The answers that the reader judged.
    var judged: [[UInt8]] = []
    var pulses = 0
    /// From the report to ready again; nil where it did not get there.
    var readyAfter: Duration?
    var total = Duration.zero
    /// Whether the reader's key of this session is gone by then.
    var hasForgotten = false
    var isRelayActive = false
  }

  private enum Alarm: Hashable { case reader, panel, ours, theirs, wallet }
  private enum Side { case reader, wallet }
  private enum Record {
    case bytes([UInt8], to: Side)
    case closed(Side)
  }

  private let site: Site
  private let way: Way
  private let fault: (AirFault, at: Int)?
  private var random: SplitMix64
  private let settings: Reader.Settings
  private var reader: Reader
  private var panel = PanelEngine(relayPulse: .milliseconds(100))
  private var session: HolderSession
  private var ours: (any LinkEngine)?
  private var theirs: (any LinkEngine)?
  private let code: [UInt8]
  private let uuid: UUID128
  private let key = WeakKey()

  private var course = Course()
  private var now = ContinuousClock.now
  private var began: Instant?
  private var ended: Instant?
  private var alarms: [Alarm: Instant] = [:]
  private var air: [Record] = []
  private var held: Record?
  private var isWalletSilent = false
  private var pending: [Reader.Input] = []
  private var isDraining = false
  private var isReadyAgain = false
  private var wasRelayActive = false

  /// The reader keeps its key; we only look whether it still does.
  private final class WeakKey {
    weak var key: PrivateKey?
  }

  static let timeouts = ReaderTimeouts(
    connect: .seconds(20), idle: .seconds(15), response: .seconds(30), total: .seconds(60))
  static let display = Duration.milliseconds(500)

  init(_ site: Site, _ way: Way, fault: (AirFault, at: Int)? = nil, seed: UInt64 = 1) throws {
    self.site = site
    self.way = way
    self.fault = fault
    random = SplitMix64(state: seed)
    uuid = try #require(UUID128([UInt8](repeating: 7, count: 16)))
    let bluetooth = BluetoothRetrieval(
      peripheralServer: way == .centralClient ? nil : .init(uuid: uuid),
      centralClient: way == .centralClient ? uuid : nil)
    let engagement = DeviceEngagementDraft(key: site.deviceKey.publicKey, bluetooth: bluetooth).encode()
    code = Array(EngagementURI(engagement: engagement).text.utf8)
    session = HolderSession(engagement: engagement, key: site.deviceKey, at: now)
    settings = Reader.Settings(
      requests: site.template.itemsRequests, timeouts: VirtualVisit.timeouts, display: VirtualVisit.display)
    let key = self.key
    reader = Reader(settings: settings) { curve throws(CryptoError) in
      let made = try PrivateKey.generate(curve)
      key.key = made
      return made
    }
  }

  /// Runs to the end: until the reader is ready again, or nothing is left that could bring it there.
  func run() -> Course {
    drainWallet()
    feed(.started)
    isReadyAgain = false
    began = now
    feed(.code(code, capturedAt: now))
    var steps = 0
    while !isReadyAgain, steps < 100_000 {
      steps += 1
      if !air.isEmpty { deliver(air.removeFirst()) } else if !wait() { break }
    }
    // A pulse ends by itself.
    while let end = panel.deadline, panel.state.lines.isRelayActive {
      now = max(now, end)
      panel.advance(to: now)
    }
    course.isRelayActive = panel.state.lines.isRelayActive
    course.hasForgotten = key.key == nil && ours == nil
    return course
  }

  /// Lets time pass to the next thing that somebody waits for; false where nobody does.
  private func wait() -> Bool {
    if let late = held {
      held = nil
      pass(late)
      return true
    }
    guard let (alarm, instant) = alarms.min(by: { $0.value < $1.value }) else { return false }
    alarms[alarm] = nil
    now = max(now, instant)
    switch alarm {
    case .reader: feed(.tick)
    case .panel:
      panel.advance(to: now)
      applyPanel()
    case .ours:
      ours?.handle(.tick, at: now)
      drainOurs()
    case .theirs:
      theirs?.handle(.tick, at: now)
      drainTheirs()
    case .wallet:
      session.handle(.tick, at: now)
      drainWallet()
    }
    return true
  }

  // MARK: The air

  private func deliver(_ record: Record) {
    course.records += 1
    guard let (fault, number) = fault, course.records == number else { return passAlong(record) }
    switch fault {
    case .vanished:
      air = []
      loseWallet()
      ours?.handle(.disconnected, at: now)
      drainOurs()
    case .silent: loseWallet()
    case .lost: break
    case .doubled:
      pass(record)
      pass(record)
    case .reordered: held = record
    default:
      if let unexpected = fault.unexpected {
        pass(.bytes(unexpected, to: .reader))
        pass(record)
      } else if case .bytes(let bytes, let side) = record {
        pass(.bytes(fault.change(bytes, random: &random), to: side))
      } else {
        pass(record)
      }
    }
  }

  /// Passes a record on, and behind it the one that was held back for it.
  private func passAlong(_ record: Record) {
    pass(record)
    guard let late = held, VirtualVisit.side(record) == VirtualVisit.side(late) else { return }
    held = nil
    pass(late)
  }

  private static func side(_ record: Record) -> Side {
    switch record {
    case .bytes(_, let side), .closed(let side): side
    }
  }

  private func loseWallet() {
    isWalletSilent = true
    theirs = nil
    alarms[.theirs] = nil
    alarms[.wallet] = nil
  }

  private func pass(_ record: Record) {
    switch record {
    case .bytes(let bytes, .reader):
      guard !isWalletSilent || fault?.0 != .silent else { return }
      ours?.handle(.received(bytes[...]), at: now)
      drainOurs()
    case .bytes(let bytes, .wallet):
      theirs?.handle(.received(bytes[...]), at: now)
      drainTheirs()
    case .closed(.reader):
      ours?.handle(.closedByPeer, at: now)
      drainOurs()
    case .closed(.wallet):
      theirs?.handle(.closedByPeer, at: now)
      drainTheirs()
    }
  }

  // MARK: The wallet

  private func drainTheirs() {
    while let output = theirs?.nextOutput(at: now) {
      switch output {
      case .transmit(let bytes): if !isWalletSilent { air.append(.bytes(bytes, to: .reader)) }
      case .started: tell(.linkStarted)
      case .message(let message): tell(.message(message[...]))
      case .wake(let instant): alarms[.theirs] = instant
      case .finished:
        theirs = nil
        alarms[.theirs] = nil
        air.append(.closed(.reader))
        tell(.linkEnded)
      case .messageProgress, .messageSent, .channelOffered: break
      }
    }
  }

  private func tell(_ input: HolderSession.Input) {
    session.handle(input, at: now)
    drainWallet()
  }

  private func drainWallet() {
    var requests: [[UInt8]] = []
    while let output = session.nextOutput() {
      switch output {
      case .send(let message): theirs?.handle(.send(message), at: now)
      case .request(let request): requests.append(request)
      case .wake(let instant): alarms[.wallet] = instant
      case .finished:
        alarms[.wallet] = nil
        theirs?.handle(.end, at: now)
      }
    }
    for request in requests { answer(request) }
    drainTheirs()
  }

  private func answer(_ request: [UInt8]) {
    guard let transcript = session.transcript, let asked = try? DeviceRequest(request) else {
      Issue.record("the wallet was asked something it cannot read")
      return
    }
    let requests = asked.documents.map(\.itemsRequest)
    let context = HolderAnswer.Context(transcript: transcript.encoded, readerKey: session.eReaderKey)
    do {
      let answer = try site.answer.response(to: requests, isGranted: requests.map { _ in true }, in: context)
      course.answers.append(answer)
      tell(.respond(answer, endsSession: false))
    } catch {
      Issue.record("\(error)")
    }
  }

  // MARK: The reader

  private func feed(_ input: Reader.Input) {
    pending.append(input)
    guard !isDraining else { return }
    isDraining = true
    defer { isDraining = false }
    while !pending.isEmpty {
      reader.handle(pending.removeFirst(), at: now)
      while let output = reader.nextOutput() { perform(output) }
    }
  }

  private func perform(_ output: Reader.Output) {
    switch output {
    case .openRadio(let plan): connect(plan)
    case .keep: break
    case .send(_, let message):
      ours?.handle(.send(message), at: now)
      drainOurs()
    case .finish:
      ours?.handle(.end, at: now)
      drainOurs()
    case .closeRadio: closeRadio()
    case .evaluate(let evaluation):
      course.judged.append(evaluation.response)
      pending.append(.assessed(site.assessor.assess(evaluation, at: site.time, utcOffsetSeconds: 0).0))
    case .show(let signal):
      panel.show(signal, at: now)
      applyPanel()
    case .report(let report):
      course.reports.append(report)
      ended = now
    case .codeRefused(let reason): Issue.record("\(reason)")
    case .ready:
      isReadyAgain = true
      if let began, let ended {
        course.readyAfter = now - ended
        course.total = now - began
      }
    case .wake(let instant): alarms[.reader] = instant
    }
  }

  private func applyPanel() {
    if panel.state.lines.isRelayActive, !wasRelayActive { course.pulses += 1 }
    wasRelayActive = panel.state.lines.isRelayActive
    alarms[.panel] = panel.deadline
  }

  private func connect(_ plan: RadioPlan) {
    var limits = LinkLimits()
    limits.messageSize = settings.messageSize
    // Small values, so that there is much to go wrong.
    limits.mtuOffer = 23
    switch way {
    case .peripheralServer:
      ours = GATTLink.client(mode: .peripheralServer, service: uuid, limits: limits)
      theirs = GATTLink.server(mode: .peripheralServer, service: uuid, limits: limits)
    case .centralClient:
      ours = GATTLink.server(mode: .centralClient, service: uuid, ident: plan.ident, limits: limits)
      theirs = GATTLink.client(mode: .centralClient, service: uuid, ident: plan.ident, limits: limits)
    case .channel:
      ours = L2CAPLink(mtu: 23, limits: limits)
      theirs = L2CAPLink(mtu: 23, limits: limits)
    }
    theirs?.handle(.connected, at: now)
    drainTheirs()
    ours?.handle(.connected, at: now)
    drainOurs()
  }

  private func closeRadio() {
    guard ours != nil else { return }
    ours = nil
    alarms[.ours] = nil
    air.append(.closed(.wallet))
  }

  private func drainOurs() {
    while let output = ours?.nextOutput(at: now) {
      switch output {
      case .transmit(let bytes): air.append(.bytes(bytes, to: .wallet))
      case .started(let start):
        feed(
          .link(
            1,
            .started(
              LinkFacts(mode: way.mode, transport: start.transport, mtu: start.mtu, roundTrips: start.roundTrips))))
      case .messageProgress: feed(.link(1, .progress))
      case .message(let message): feed(.link(1, .message(message)))
      case .messageSent: feed(.link(1, .sent))
      case .wake(let instant): alarms[.ours] = instant
      case .finished(let end):
        ours = nil
        alarms[.ours] = nil
        air.append(.closed(.wallet))
        feed(.link(1, .ended(end.code)))
      case .channelOffered: break
      }
    }
  }
}
