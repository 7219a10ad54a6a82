import CBOR
import Crypto
import Foundation
import Mdoc
import MdocSession
import Panel
import TestSupport
import Testing

@testable import ReaderCore

private let epoch = ContinuousClock.now

private let requests = [
  ItemsRequest(
    docType: "org.iso.18013.5.1.mDL",
    nameSpaces: [
      .init(nameSpace: "org.iso.18013.5.1", elements: [.init(identifier: "family_name", intentToRetain: false)])
    ])
]

/// The machine with virtual time, and a wallet's engine at the other end where one is needed.
private final class Bench {
  var reader: Reader
  var now = epoch
  var shown: [Signal] = []
  var reports: [TransactionReport] = []
  var refused: [String] = []
  var plans: [RadioPlan] = []
  var sent: [[UInt8]] = []
  var kept: [Reader.LinkID] = []
  var finished: [Reader.LinkID] = []
  var evaluations: [Evaluation] = []
  var closes = 0
  var deadline: ContinuousClock.Instant?

  init(timeouts: ReaderTimeouts = ReaderTimeouts()) {
    reader = Reader(settings: Reader.Settings(requests: requests, timeouts: timeouts)) { curve throws(CryptoError) in
      try PrivateKey.generate(curve)
    }
  }

  var isReady: Bool { reader.isReady }

  func feed(_ input: Reader.Input) {
    reader.handle(input, at: now)
    while let output = reader.nextOutput() {
      switch output {
      case .openRadio(let plan): plans.append(plan)
      case .keep(let link): kept.append(link)
      case .send(_, let message): sent.append(message)
      case .finish(let link): finished.append(link)
      case .closeRadio: closes += 1
      case .evaluate(let evaluation): evaluations.append(evaluation)
      case .show(let signal): shown.append(signal)
      case .report(let report): reports.append(report)
      case .codeRefused(let reason): refused.append(reason)
      case .ready: break
      case .wake(let instant): deadline = instant
      }
    }
  }

  /// Lets time pass until the machine's deadline, and ticks.
  func waitForDeadline() {
    if let deadline { now = max(now, deadline) }
    feed(.tick)
  }

  func start() { feed(.started) }
}

private struct TestWallet: ~Copyable {
  let code: [UInt8]
  var session: HolderSession

  init(curve: Curve = .p256, edit: (inout DeviceEngagementDraft) -> Void = { _ in }) throws {
    let key = try PrivateKey.generate(curve)
    let uuid = try #require(ServiceUUID([UInt8](repeating: 7, count: 16)))
    var draft = DeviceEngagementDraft(
      key: key.publicKey, bluetooth: BluetoothRetrieval(peripheralServer: .init(uuid: uuid), centralClient: uuid))
    edit(&draft)
    let engagement = try DeviceEngagement(draft.encode())
    code = Array(EngagementURI(engagement: Array(engagement.encoded)).text.utf8)
    session = HolderSession(engagement: Array(engagement.encoded), key: key, at: epoch)
    while session.nextOutput() != nil {}
    session.handle(.linkStarted, at: epoch)
    while session.nextOutput() != nil {}
  }

  /// The encrypted answer to the reader's first message.
  mutating func answer(_ establishment: [UInt8], with response: [UInt8]) throws -> [UInt8] {
    session.handle(.message(establishment[...]), at: epoch)
    while session.nextOutput() != nil {}
    session.handle(.respond(response, endsSession: false), at: epoch)
    var answer: [UInt8]?
    while let output = session.nextOutput() {
      if case .send(let message) = output { answer = message }
    }
    return try #require(answer)
  }
}

private let facts = LinkFacts(mode: .peripheralServer, mtu: 515, roundTrips: 5)

private func assessment(granted: Bool) -> Assessment {
  Assessment(
    isGranted: granted, reasons: granted ? [] : ["ageTooLow(18)"], remarks: [], docType: "d", issuingCountry: "UT",
    verifying: .milliseconds(1), deciding: .zero)
}

@Suite("The reader's state machine")
struct ReaderTests {
  @Test("a visitor goes from code to signal and the machine is ready again", arguments: [true, false])
  func wholeTransaction(granted: Bool) throws {
    var wallet = try TestWallet()
    let bench = Bench()
    bench.start()
    #expect(bench.shown == [.ready])
    bench.feed(.code(wallet.code, capturedAt: epoch))
    let plan = try #require(bench.plans.first)
    #expect(plan.advertise == plan.discover && plan.ident.count == 16)
    bench.feed(.link(1, .started(facts)))
    #expect(bench.kept == [1])
    let answer = try wallet.answer(try #require(bench.sent.first), with: [0xa0])
    bench.now += .milliseconds(20)
    bench.feed(.link(1, .sent))
    bench.now += .seconds(3)
    bench.feed(.link(1, .progress))
    bench.now += .milliseconds(40)
    bench.feed(.link(1, .message(answer)))
    let evaluation = try #require(bench.evaluations.first)
    #expect(evaluation.response == [0xa0] && evaluation.readerKey != nil && evaluation.requested == requests)
    #expect(bench.finished == [1])
    bench.feed(.assessed(assessment(granted: granted)))
    #expect(bench.shown == [.ready, .reading, .processing, granted ? .granted : .denied])
    let report = try #require(bench.reports.first)
    #expect(report.outcome == (granted ? .granted : .refused) && report.link == facts)
    #expect(report.spans[.request] == .milliseconds(20) && report.spans[.consent] == .seconds(3))
    #expect(report.spans[.transfer] == .milliseconds(40) && report.spans[.verify] == .milliseconds(1))
    bench.waitForDeadline()
    #expect(bench.shown.last == .ready && bench.isReady)
  }

  @Test("an answer without a document is an answer: the link goes, nothing waits, and the next visitor is served")
  func emptyAnswer() throws {
    var wallet = try TestWallet()
    let bench = Bench()
    bench.start()
    bench.feed(.code(wallet.code, capturedAt: epoch))
    bench.feed(.link(1, .started(facts)))
    let empty = DeviceResponseDraft().encode()
    let answer = try wallet.answer(try #require(bench.sent.first), with: empty)
    bench.feed(.link(1, .message(answer)))
    #expect(bench.evaluations.map(\.response) == [empty] && bench.finished == [1])
    // What a wallet says afterwards, or that it leaves, is nobody's failure any more.
    bench.feed(.link(1, .message(SessionData(status: 20).encode())))
    bench.feed(.link(1, .ended("linkLost")))
    bench.feed(.assessed(assessment(granted: false)))
    #expect(bench.shown == [.ready, .reading, .processing, .denied] && bench.reports.map(\.outcome) == [.refused])
    let decidedAt = bench.now
    bench.waitForDeadline()
    #expect(bench.isReady && bench.now - decidedAt == .seconds(2))
    let next = try TestWallet()
    bench.feed(.code(next.code, capturedAt: bench.now))
    #expect(bench.plans.count == 2)
  }

  @Test("a link that goes after the whole answer changes nothing, one that goes a part earlier fails the visit")
  func lastPart() throws {
    for isComplete in [true, false] {
      var wallet = try TestWallet()
      let bench = Bench()
      bench.start()
      bench.feed(.code(wallet.code, capturedAt: epoch))
      bench.feed(.link(1, .started(facts)))
      let answer = try wallet.answer(try #require(bench.sent.first), with: [0xa0])
      bench.feed(.link(1, .progress))
      if isComplete { bench.feed(.link(1, .message(answer))) }
      bench.feed(.link(1, .ended("linkLost")))
      if isComplete { bench.feed(.assessed(assessment(granted: true))) }
      #expect(bench.shown.last == (isComplete ? .granted : .incomplete))
      #expect(bench.reports.map(\.reasons) == [isComplete ? [] : ["linkLost"]])
      #expect(bench.evaluations.count == (isComplete ? 1 : 0))
    }
  }

  @Test(
    "an engagement with members of later editions and of others makes a session like any", arguments: ["1.0", "1.1"])
  func laterEngagement(version: String) throws {
    var wallet = try TestWallet { draft in
      draft.version = version
      draft.extraMembers = [
        .init(5, .array(["org.iso.18013.5.1.mDL"])), .init(6, .map([.init(2, true)])), .init(-70_001, "vendor"),
        .init("x", .null),
      ]
    }
    let bench = Bench()
    bench.start()
    bench.feed(.code(wallet.code, capturedAt: epoch))
    bench.feed(.link(1, .started(facts)))
    let answer = try wallet.answer(try #require(bench.sent.first), with: [0xa0])
    bench.feed(.link(1, .message(answer)))
    #expect(bench.evaluations.map(\.response) == [[0xa0]])
  }

  @Test("a second code during a transaction is ignored, and a used one is not used again")
  func oneCodeAtATime() throws {
    let first = try TestWallet()
    let second = try TestWallet()
    let bench = Bench()
    bench.start()
    bench.feed(.code(first.code, capturedAt: epoch))
    bench.feed(.code(second.code, capturedAt: epoch))
    bench.feed(.link(1, .started(facts)))
    bench.feed(.code(second.code, capturedAt: epoch))
    #expect(bench.plans.count == 1)
    bench.feed(.link(1, .ended("linkLost")))
    #expect(bench.reports.first?.reasons == ["linkLost"] && bench.shown.last == .incomplete)
    bench.waitForDeadline()
    #expect(bench.isReady)
    bench.feed(.code(first.code, capturedAt: epoch))
    #expect(bench.plans.count == 1, "the code of a session that had begun")
    bench.feed(.code(second.code, capturedAt: epoch))
    #expect(bench.plans.count == 2)
  }

  @Test(
    "nobody comes: the code may be tried again, with the reason of the last attempt", arguments: ["", "serviceMissing"])
  func nobodyComes(failure: String) throws {
    let wallet = try TestWallet()
    let bench = Bench()
    bench.start()
    bench.feed(.code(wallet.code, capturedAt: epoch))
    if !failure.isEmpty { bench.feed(.link(1, .ended(failure))) }
    bench.waitForDeadline()
    #expect(bench.now - epoch == .seconds(20))
    #expect(bench.reports.first?.reasons == [failure.isEmpty ? "peerNotFound" : failure])
    bench.waitForDeadline()
    bench.feed(.code(wallet.code, capturedAt: epoch))
    #expect(bench.plans.count == 2)
  }

  @Test("each phase has its own deadline, and ready follows within a second")
  func deadlines() throws {
    let timeouts = ReaderTimeouts(connect: .seconds(9), idle: .seconds(4), response: .seconds(30), total: .seconds(60))
    for (events, seconds) in [
      ([], 4), ([.sent], 30), ([.sent, .progress], 4),
    ] as [([Reader.LinkEvent], Int)] {
      let wallet = try TestWallet()
      let bench = Bench(timeouts: timeouts)
      bench.start()
      bench.feed(.code(wallet.code, capturedAt: epoch))
      bench.feed(.link(1, .started(facts)))
      for event in events { bench.feed(.link(1, event)) }
      bench.waitForDeadline()
      #expect(bench.now - epoch == .seconds(seconds))
      #expect(bench.reports.first?.reasons == ["timeout"])
      let failedAt = bench.now
      bench.waitForDeadline()
      #expect(bench.isReady && bench.now - failedAt <= .seconds(1))
    }
  }

  @Test("a drip of parts does not outlast the total")
  func drip() throws {
    let wallet = try TestWallet()
    let bench = Bench(timeouts: ReaderTimeouts(idle: .seconds(5), total: .seconds(60)))
    bench.start()
    bench.feed(.code(wallet.code, capturedAt: epoch))
    bench.feed(.link(1, .started(facts)))
    for _ in 0..<100 where bench.reports.isEmpty {
      bench.now += .seconds(1)
      bench.feed(.link(1, .progress))
      bench.feed(.tick)
    }
    #expect(bench.now - epoch == .seconds(60))
    #expect(bench.reports.first?.reasons == ["timeout"])
  }

  @Test("events of links that did not win change nothing")
  func otherLinks() throws {
    let wallet = try TestWallet()
    let bench = Bench()
    bench.start()
    bench.feed(.code(wallet.code, capturedAt: epoch))
    bench.feed(.link(2, .started(facts)))
    bench.feed(.link(1, .started(facts)))
    bench.feed(.link(1, .message([0xff])))
    bench.feed(.link(1, .ended("linkLost")))
    #expect(bench.kept == [2] && bench.reports.isEmpty)
  }

  @Test(
    "what is no engagement is refused once; only what was meant for a reader is signalled",
    arguments: [
      ("https://example.com", Signal.ready), ("mdoc:", .incomplete), ("mdoc:!!", .incomplete), ("mdoc:oA", .incomplete),
    ])
  func refusedCodes(text: String, signal: Signal) {
    let bench = Bench()
    bench.start()
    bench.feed(.code(Array(text.utf8), capturedAt: epoch))
    #expect(bench.refused.count == 1 && bench.shown.last == signal && bench.reports.isEmpty)
    bench.waitForDeadline()
    #expect(bench.isReady)
    bench.feed(.code(Array(text.utf8), capturedAt: epoch))
    #expect(bench.refused.count == 1)
  }

  @Test("a fault is shown, blocks the next visitor and clears; a transaction under way ends by itself")
  func faults() throws {
    let wallet = try TestWallet()
    let bench = Bench()
    bench.feed(.fault("trustEmpty"))
    bench.start()
    #expect(bench.shown.allSatisfy { $0 == .fault } && !bench.isReady)
    bench.feed(.code(wallet.code, capturedAt: epoch))
    #expect(bench.plans.isEmpty)
    bench.feed(.faultCleared("trustEmpty"))
    #expect(bench.isReady)
    bench.feed(.code(wallet.code, capturedAt: epoch))
    bench.feed(.fault("cameraUnavailable"))
    #expect(bench.shown.last == .reading)
    bench.waitForDeadline()
    bench.waitForDeadline()
    #expect(bench.shown.last == .fault && !bench.isReady)
  }

  @Test("stop ends a session with a word to the wallet, and everything is dark")
  func stop() throws {
    let wallet = try TestWallet()
    let bench = Bench()
    bench.start()
    bench.feed(.code(wallet.code, capturedAt: epoch))
    bench.feed(.link(1, .started(facts)))
    let before = bench.sent.count
    bench.feed(.stop)
    #expect(bench.sent.count == before + 1 && bench.closes == 1 && bench.shown.last == .off)
    #expect(bench.reports.first?.reasons == ["stopped"])
    bench.feed(.code(wallet.code, capturedAt: epoch))
    #expect(bench.plans.count == 1)
  }

  @Test("random events never grant without an assessment that does", arguments: 0..<40)
  func randomEvents(seed: UInt64) throws {
    var generator = SplitMix64(state: seed)
    let wallets = [try TestWallet().code, try TestWallet().code]
    let bench = Bench()
    bench.start()
    var grants = 0
    for _ in 0..<200 {
      let evaluated = bench.evaluations.count
      switch Int.random(in: 0..<11, using: &generator) {
      case 0: bench.feed(.code(wallets[Int.random(in: 0...1, using: &generator)], capturedAt: bench.now))
      case 1: bench.feed(.link(UInt64.random(in: 1...3, using: &generator), .started(facts)))
      case 2: bench.feed(.link(UInt64.random(in: 1...3, using: &generator), .message([0xa0])))
      case 3: bench.feed(.link(1, .ended("linkLost")))
      case 4: bench.feed(.link(1, .progress))
      case 5: bench.feed(.assessed(assessment(granted: true)))
      case 6: bench.feed(.fault("x"))
      case 7: bench.feed(.faultCleared("x"))
      case 8: bench.feed(.link(2, .sent))
      default: bench.waitForDeadline()
      }
      // No message of these decrypts, so that nothing may ever be evaluated, nor granted.
      #expect(bench.evaluations.count == evaluated && evaluated == 0)
      grants += bench.shown.filter { $0 == .granted }.count
    }
    #expect(grants == 0, "seed \(seed)")
  }
}
