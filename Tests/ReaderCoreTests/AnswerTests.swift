import CBOR
import Crypto
import Mdoc
import Panel
import Testing

@testable import ReaderCore

@Suite("Answers at the reader")
struct AnswerTests {
  @Test("an answer that does not decrypt is told to the wallet by status 10, and leaves nothing behind")
  func damagedAnswer() throws {
    var wallet = try TestWallet()
    let bench = Bench()
    bench.start()
    bench.feed(.code(wallet.code, capturedAt: epoch))
    bench.feed(.link(1, .started(facts)))
    var answer = try wallet.answer(try #require(bench.sent.first), with: [0xa0])
    answer[answer.count - 1] ^= 1
    bench.feed(.link(1, .message(answer)))
    #expect(bench.sent.dropFirst().map { $0 } == [SessionData(status: 10).encode()])
    #expect(bench.finished == [1] && bench.evaluations.isEmpty && bench.shown.last == .incomplete)
    #expect(bench.reports.map(\.reasons) == [["decryptionFailed"]])
    let failedAt = bench.now
    bench.waitForDeadline()
    #expect(bench.isReady && bench.now - failedAt <= .seconds(1))
    // The right answer comes too late.
    answer[answer.count - 1] ^= 1
    bench.feed(.link(1, .message(answer)))
    #expect(bench.evaluations.isEmpty && bench.reports.count == 1)
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
}
