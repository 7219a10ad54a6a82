import CivilTime
import Configuration
import Crypto
import Foundation
import Kernel
import ListCache
import Panel
import Pictures
import Policy
import ReaderCore
import Testing
import Trust
import TrustStore
import Wallet
import WalletCommands

@testable import Appliance

/// The whole reader on a simulated board of its own, in the thread of the test, with one visitor after another.
final class ApplianceHarness {
  /// What has to come of a visitor.
  struct Expectation {
    var outcome: TransactionReport.Outcome
    /// Something one of the reasons contains; empty for none.
    var reason = ""
    /// Something one of the remarks contains; empty for none.
    var remark = ""

    static let granted = Expectation(outcome: .granted)
    static func refused(_ reason: String) -> Expectation { Expectation(outcome: .refused, reason: reason) }
    static func failed(_ reason: String) -> Expectation { Expectation(outcome: .failed, reason: reason) }
    static func granted(remark: String) -> Expectation { Expectation(outcome: .granted, remark: remark) }
  }

  struct Visitor {
    let title: String
    let expectation: Expectation
    /// Comes to the reader: gives the text of the code to show.
    let arrive: (ApplianceHarness) throws -> String
  }

  /// From the end of a transaction to ready again, display included, at most.
  static let readyAgain = Duration.seconds(1)

  let folder: String
  var pictures: String { folder + "/pictures" }
  var air: String { folder + "/air" }
  var anchor: String { folder + "/anchor.pem" }
  private(set) var reports: [TransactionReport] = []
  private var relayPulses = 0
  private var isRelayActive = false
  private var endedAt: ContinuousClock.Instant?
  /// Of the cache of lists; nil for a reader without one.
  var listsPart = Appliance.ListsPart()
  /// As the board has it.
  var usesL2CAP = true
  private var current: Visitor?

  init() throws {
    folder = NSTemporaryDirectory() + "mdoc-\(UInt64.random(in: 0 ... .max))"
    for name in ["pictures", "air"] {
      try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  static let template = """
    board = "simulated"
    [[request.document]]
    doc_type = "org.iso.18013.5.1.mDL"
    [request.document.name_spaces]
    "org.iso.18013.5.1" = ["family_name", "issuing_country", "age_over_18", "portrait"]
    """

  /// Serves the visitors in order; records an issue for each that does not come out as expected.
  ///
  /// - Parameter noticing: how long the reader has to notice what a visitor's coming has changed, before the code is shown.
  func serve(
    _ visitors: [Visitor], timeouts: ReaderTimeouts = ReaderTimeouts(), patience: Duration = .seconds(40),
    noticing: Duration = .zero
  ) throws {
    var parts = Appliance.Parts(
      template: try ReaderConfiguration(text: ApplianceHarness.template).template, timeouts: timeouts,
      signals: .init(display: .milliseconds(60), relayPulse: .milliseconds(100), hasBuzzer: false),
      camera: .pictures(pictures), radio: .air(air), usesL2CAP: usesL2CAP,
      panel: .terminal(descriptor: open("/dev/null", O_WRONLY)),
      events: .file(folder + "/events.jsonl"), statusFile: folder + "/status.json")
    parts.lists = listsPart
    let cached = listsPart.folder.map { CachedListReader(ListCache(folder: $0)) }
    let appliance = try Appliance(parts) { [anchor] in
      let bytes = (try? Files.read(anchor, limit: 65_536)) ?? []
      let certificates = (try? CertificateInput.certificates(in: bytes)) ?? []
      let lists = cached?.load() ?? CachedLists()
      var material = Appliance.TrustMaterial(
        anchors: certificates.map { TrustAnchor($0, source: "test") }, signers: [], problems: lists.problems,
        revocation: RevocationLists(lists.revocation), statuses: lists.statuses)
      material.lists = lists.entries
      return material
    }
    var rest = visitors[...]
    let watchdog = appliance.loop.timer("watchdog") {
      Issue.record("nothing came of \(self.current?.title ?? "the start")")
      appliance.stop()
    }
    // The first visitor brings the issuer's root: nobody is trusted before.
    if let first = rest.popFirst() { try show(arrive(first)) }
    appliance.onPanel = { state in
      if state.lines.isRelayActive, !self.isRelayActive { self.relayPulses += 1 }
      self.isRelayActive = state.lines.isRelayActive
    }
    appliance.onReport = { report in
      self.endedAt = .now
      self.judge(report)
    }
    var shown = ""
    var showing: EventLoop.Timer?
    showing = appliance.loop.timer("showing") {
      do { try self.show(shown) } catch { Issue.record("\(error)") }
    }
    let next = appliance.loop.timer("next") {
      guard let visitor = rest.popFirst() else { return appliance.stop() }
      do {
        let text = try self.arrive(visitor)
        shown = text
        showing?.set(after: noticing)
      } catch {
        Issue.record("\(visitor.title): \(error)")
        appliance.stop()
      }
      watchdog.set(after: patience)
    }
    appliance.onReady = {
      guard let endedAt = self.endedAt else { return }
      #expect(.now - endedAt < ApplianceHarness.readyAgain, "\(self.current?.title ?? "") to ready again")
      self.endedAt = nil
      #expect(self.relayPulses == (self.reports.last?.outcome == .granted ? 1 : 0), "\(self.current?.title ?? "")")
      // The relay's pulse may outlast the display; it ends by itself before the next visitor.
      next.set(after: .milliseconds(80))
    }
    watchdog.set(after: patience)
    try appliance.run()
    #expect(reports.count == visitors.count)
    #expect(!isRelayActive)
  }

  private func arrive(_ visitor: Visitor) throws -> String {
    current = visitor
    relayPulses = 0
    return try visitor.arrive(self)
  }

  private func show(_ text: String) throws {
    let code = try #require(QRCode(text))
    let picture = code.pixels(moduleSize: 5, quietZone: 4, inverse: reports.count.isMultiple(of: 3))
    let image = try LumaImage(width: picture.side, height: picture.side, pixels: picture.grey)
    try PictureFile.write(image, to: pictures + "/code.png")
  }

  private func judge(_ report: TransactionReport) {
    reports.append(report)
    guard let visitor = current else { return }
    let expected = visitor.expectation
    let facts = "\(visitor.title): \(report.outcome.rawValue) \(report.reasons) \(report.remarks)"
    #expect(report.outcome == expected.outcome, "\(facts)")
    if expected.reason.isEmpty {
      #expect(report.reasons.isEmpty, "\(facts)")
    } else {
      #expect(report.reasons.contains { $0.contains(expected.reason) }, "\(facts), wanted \(expected.reason)")
    }
    if !expected.remark.isEmpty {
      #expect(report.remarks.contains { $0.contains(expected.remark) }, "\(facts), wanted \(expected.remark)")
    }
    // The signal follows the report, so that no pulse of this visitor has begun yet.
    #expect(relayPulses == 0, "\(facts)")
  }
}
