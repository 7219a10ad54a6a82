import Crypto
import Foundation
import Mdoc
import MdocSession
import Panel
import TestSupport
import Testing

@testable import ReaderCore

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

  @Test("where another link takes over, the request and its answer have their whole time again")
  func takenOver() throws {
    let wallet = try TestWallet()
    let bench = Bench(timeouts: ReaderTimeouts(idle: .seconds(15), response: .seconds(120), total: .seconds(600)))
    bench.start()
    bench.feed(.code(wallet.code, capturedAt: epoch))
    bench.feed(.link(1, .started(facts)))
    bench.feed(.link(1, .sent))
    bench.now += .seconds(10)
    bench.feed(.link(1, .progress))
    bench.now += .seconds(14)
    bench.feed(.link(1, .started(facts)))
    #expect(bench.deadline == bench.now + .seconds(15))
    bench.now += .seconds(14)
    bench.feed(.link(1, .sent))
    #expect(bench.deadline == bench.now + .seconds(120))
    bench.now += .seconds(119)
    bench.feed(.tick)
    #expect(bench.reports.isEmpty)
    bench.feed(.link(1, .progress))
    bench.feed(.link(1, .ended("linkLost")))
    let report = try #require(bench.reports.first)
    #expect(report.spans[.request] == .seconds(14) && report.spans[.consent] == .seconds(119))
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
    bench.feed(.fault(.trustEmpty))
    bench.start()
    #expect(bench.shown.allSatisfy { $0 == .fault } && !bench.isReady)
    bench.feed(.code(wallet.code, capturedAt: epoch))
    #expect(bench.plans.isEmpty)
    bench.feed(.faultCleared(.trustEmpty))
    #expect(bench.isReady)
    bench.feed(.code(wallet.code, capturedAt: epoch))
    bench.feed(.fault(.cameraUnavailable))
    #expect(bench.shown.last == .reading)
    bench.waitForDeadline()
    bench.waitForDeadline()
    #expect(bench.shown.last == .fault && !bench.isReady)
  }

  @Test("a fault that clears before everything is set up does not make the reader ready")
  func faultBeforeTheStart() throws {
    let wallet = try TestWallet()
    let bench = Bench()
    bench.feed(.fault(.cameraUnavailable))
    bench.feed(.faultCleared(.cameraUnavailable))
    #expect(bench.shown == [.fault, .starting] && !bench.isReady)
    bench.feed(.code(wallet.code, capturedAt: epoch))
    #expect(bench.plans.isEmpty)
    bench.start()
    #expect(bench.shown == [.fault, .starting, .ready] && bench.isReady)
  }

  @Test("nobody is granted by a clock that became doubtful during the transaction")
  func clockDuringTransaction() throws {
    var wallet = try TestWallet()
    let bench = Bench()
    bench.start()
    bench.feed(.code(wallet.code, capturedAt: epoch))
    bench.feed(.link(1, .started(facts)))
    let answer = try wallet.answer(try #require(bench.sent.first), with: [0xa0])
    bench.feed(.link(1, .message(answer)))
    #expect(bench.evaluations.count == 1)
    bench.feed(.fault(.clockUntrusted))
    bench.feed(.assessed(assessment(granted: true)))
    #expect(bench.shown == [.ready, .reading, .processing, .incomplete])
    #expect(bench.reports.map(\.outcome) == [.failed] && bench.reports.first?.reasons == ["clockUntrusted"])
    bench.waitForDeadline()
    #expect(bench.shown.last == .clockUntrusted && !bench.isReady)
  }

  @Test("a clock that cannot be right has a signal of its own for as long as it is not")
  func doubtfulClock() {
    let bench = Bench()
    bench.start()
    bench.feed(.fault(.radioUnavailable))
    bench.feed(.fault(.clockUntrusted))
    #expect(bench.shown == [.ready, .fault, .clockUntrusted])
    bench.feed(.faultCleared(.clockUntrusted))
    #expect(bench.shown.last == .fault && !bench.isReady)
    bench.feed(.faultCleared(.radioUnavailable))
    #expect(bench.shown.last == .ready && bench.isReady)
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
      case 6: bench.feed(.fault(.radioUnavailable))
      case 7: bench.feed(.faultCleared(.radioUnavailable))
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
