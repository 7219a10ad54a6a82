import Bluetooth
import Crypto
import Mdoc
import Panel
import TestSupport
import Testing

@testable import ReaderCore

/// A wallet's code, and its answer to a reader that always has the same key.
private struct Visitor: Sendable {
  let code: [UInt8]
  let answer: [UInt8]

  init(readerKey: PrivateKey) throws {
    var wallet = try TestWallet()
    var reader = Site.reader(key: readerKey)
    var establishment: [UInt8]?
    for input in [.started, .code(wallet.code, capturedAt: epoch), .link(1, .started(facts))] as [Reader.Input] {
      reader.handle(input, at: epoch)
      while let output = reader.nextOutput() {
        if case .send(_, let message) = output { establishment = message }
      }
    }
    code = wallet.code
    answer = try wallet.answer(try #require(establishment), with: [0xa0])
  }
}

/// Reader and panel as they are put together, in virtual time; every call is held against the rule.
private final class Site {
  static func reader(key: PrivateKey) -> Reader {
    Reader(settings: Reader.Settings(requests: requests)) { _ throws(CryptoError) in key }
  }

  private var reader: Reader
  private var panel: PanelEngine
  private(set) var rule: RelayRule
  private(set) var trail: [String] = []
  private(set) var violation: String?
  private(set) var now = epoch
  private var isStopped = false
  private var isEvaluating = false
  private var isClockUntrusted = false
  private var deadline: ContinuousClock.Instant?
  /// Of the visitor whose code was taken.
  private var answer: [UInt8] = []
  /// What would bring the visit further.
  private var next: [Reader.Input] = []
  private let key: PrivateKey
  private let configured: Duration

  init(key: PrivateKey, pulse: Duration) {
    self.key = key
    configured = pulse
    reader = Site.reader(key: key)
    panel = PanelEngine(relayPulse: pulse)
    rule = RelayRule(configured: pulse)
    show(.starting)
  }

  var isReady: Bool { reader.isReady }
  var isRelayActive: Bool { panel.state.lines.isRelayActive }

  /// The lines are what the panel said last: they are looked at whenever it was called.
  private func check(isGrant: Bool = false) {
    if let found = rule.violation(of: panel, at: now, isGrant: isGrant) { violation = violation ?? found }
    if isStopped, isRelayActive { violation = violation ?? "active after the stop" }
  }

  private func show(_ signal: Signal, isGrant: Bool = false) {
    panel.show(signal, at: now)
    check(isGrant: isGrant)
  }

  func feed(_ input: Reader.Input, visitor: Visitor, granted: Bool) {
    trail.append("\(now - epoch) \(Site.name(of: input))")
    var opens = false
    switch input {
    case .assessed(let assessment):
      opens = assessment.isGranted && isEvaluating && !isClockUntrusted
      isEvaluating = false
    case .fault(.clockUntrusted): isClockUntrusted = true
    case .faultCleared(.clockUntrusted): isClockUntrusted = false
    case .stop:
      isStopped = true
      isEvaluating = false
    default: break
    }
    reader.handle(input, at: now)
    while let output = reader.nextOutput() {
      switch output {
      case .openRadio:
        answer = visitor.answer
        next = [.link(1, .started(facts))]
      case .send: next = [.link(1, .sent), .link(1, .progress), .link(1, .message(answer))]
      case .evaluate:
        isEvaluating = !isStopped
        next = [.assessed(assessment(granted: granted))]
      case .ready: next = []
      case .wake(let instant): deadline = instant
      case .show(let signal):
        // One decision opens once, by the signal that tells it.
        show(signal, isGrant: opens)
        opens = false
      default: break
      }
    }
    // A decision that opens and that nothing showed.
    if opens { check(isGrant: true) }
  }

  /// What a visit that goes well has next.
  func takeNext() -> Reader.Input? { next.isEmpty ? nil : next.removeFirst() }

  /// Lets time pass, or jump. A punctual loop wakes the panel at each of its deadlines while the relay is active; a late
  /// one does not.
  func pass(_ time: Duration, isPunctual: Bool) {
    let target = now + time
    while violation == nil, isPunctual, isRelayActive, let wake = panel.deadline, wake <= target {
      now = max(now, wake)
      panel.advance(to: now)
      check()
    }
    now = target
  }

  func passToDeadline(isPunctual: Bool) {
    if let deadline { pass(max(.zero, deadline - now), isPunctual: isPunctual) }
  }

  func wakePanel() {
    panel.advance(to: now)
    check()
  }

  /// Power is lost and comes back: a new process, and a relay at rest.
  func restart() {
    trail.append("\(now - epoch) restart")
    reader = Site.reader(key: key)
    panel = PanelEngine(relayPulse: configured)
    rule = RelayRule(configured: configured)
    isStopped = false
    isEvaluating = false
    isClockUntrusted = false
    next = []
    deadline = nil
    check()
    show(.starting)
  }

  private static func name(of input: Reader.Input) -> String {
    switch input {
    case .code: "code"
    case .link(let link, .message(let bytes)): "link \(link) message of \(bytes.count)"
    case .assessed(let assessment): "assessed \(assessment.isGranted)"
    default: "\(input)"
    }
  }
}

@Suite("The relay, through reader and panel")
struct RelayTests {
  private static let sequencesPerSeed = 100 / min(TestStride.step, 10)
  private static let steps = 100
  private static let key = Result { try PrivateKey.generate(.p256) }
  /// More than the codes that a reader remembers.
  private static let visitors = Result { try (0..<40).map { _ in try Visitor(readerKey: key.get()) } }

  @Test(
    "whatever happens, in any order and at any time, it is active only in a bounded pulse after a decision that opens",
    arguments: 1...20 as ClosedRange<UInt64>)
  func property(seed: UInt64) throws {
    var random = SplitMix64(state: seed)
    let key = try RelayTests.key.get()
    let visitors = try RelayTests.visitors.get()
    var pulses = 0
    for sequence in 0..<RelayTests.sequencesPerSeed {
      let pulse = Duration.milliseconds(
        [0, 100, 700, 2_000, 10_000, 3_600_000].randomElement(using: &random) ?? 700)
      let site = Site(key: key, pulse: pulse)
      site.feed(.started, visitor: visitors[0], granted: false)
      for _ in 0..<RelayTests.steps {
        step(site, visitors, &pulses, &random)
        if site.violation != nil { break }
      }
      pulses += site.rule.pulses
      // Left alone it comes to rest.
      site.pass(.seconds(100_000), isPunctual: false)
      site.wakePanel()
      #expect(!site.isRelayActive)
      let violation = site.violation
      let trail = site.trail.suffix(30)
      #expect(violation == nil, "seed \(seed), sequence \(sequence), pulse \(pulse): \(trail)")
      if violation != nil { return }
    }
    // What never opens proves nothing.
    #expect(pulses > RelayTests.sequencesPerSeed, "\(pulses)")
    print("relay: seed \(seed): \(RelayTests.sequencesPerSeed) sequences of \(RelayTests.steps), \(pulses) pulses")
  }

  /// Some time, then something: mostly what brings the visit further, else anything at all.
  private func step(_ site: Site, _ visitors: [Visitor], _ pulses: inout Int, _ random: inout SplitMix64) {
    let isPunctual = Int.random(in: 0..<3, using: &random) > 0
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<40: break
    case 40..<80: site.pass(.milliseconds(Int.random(in: 0...400, using: &random)), isPunctual: isPunctual)
    case 80..<92: site.pass(.milliseconds(Int.random(in: 0...12_000, using: &random)), isPunctual: isPunctual)
    case 92..<95: site.passToDeadline(isPunctual: isPunctual)
    case 95..<96: site.pass(.seconds(Int.random(in: 0...100_000, using: &random)), isPunctual: isPunctual)
    default: site.pass(.milliseconds(-Int.random(in: 0...15_000, using: &random)), isPunctual: isPunctual)
    }
    guard let visitor = visitors.randomElement(using: &random) else { return }
    let granted = Int.random(in: 0..<4, using: &random) > 0
    func feed(_ input: Reader.Input) { site.feed(input, visitor: visitor, granted: granted) }
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<70:
      if site.isReady { return feed(.code(visitor.code, capturedAt: site.now)) }
      if let next = site.takeNext() { return feed(next) }
      site.passToDeadline(isPunctual: isPunctual)
      feed(.tick)
    case 70..<74: feed(.tick)
    case 74..<80: site.wakePanel()
    case 80..<84: feed(.assessed(assessment(granted: true)))
    case 84..<87: feed(.code(visitor.code, capturedAt: site.now))
    case 87..<88: feed(.fault(Fault.allCases.randomElement(using: &random) ?? .trustEmpty))
    case 88..<95: feed(.faultCleared(Fault.allCases.randomElement(using: &random) ?? .trustEmpty))
    case 95..<97:
      let link = UInt64.random(in: 1...2, using: &random)
      let events: [Reader.LinkEvent] = [
        .started(facts), .sent, .progress, .message(visitor.answer), .message([0xff]), .ended("linkLost"),
      ]
      feed(.link(link, events.randomElement(using: &random) ?? .sent))
    case 97: feed(.started)
    case 98: if Bool.random(using: &random) { feed(.stop) }
    default:
      pulses += site.rule.pulses
      site.restart()
      feed(.started)
    }
  }
}
