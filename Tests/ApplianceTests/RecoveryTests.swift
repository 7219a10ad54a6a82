import CivilTime
import Crypto
import Foundation
import Issuer
import Kernel
import Panel
import Policy
import Synchronization
import TestSupport
import Testing
import Trust

@testable import Appliance

@Suite("Faults of the appliance")
struct RecoveryTests {
  @Test("what is wrong at the start is named, and the reader serves by itself once it is well")
  func recovery() throws {
    let folder = NSTemporaryDirectory() + "mdoc-faults-\(UInt64.random(in: 0 ... .max))"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    var random = SplitMix64(state: 1)
    let root = try Certificate(
      TestIssue(.mdl, age: 30, now: .wallClock()).makeAuthority(random: &random).certificate)
    let isProvisioned = Atomic(false)
    let appliance = try Appliance(
      Appliance.Parts(
        template: .standard, camera: .pictures(folder + "/pictures"), radio: .air(folder + "/air"),
        panel: .terminal(descriptor: open("/dev/null", O_WRONLY)), events: .file(folder + "/events"))
    ) {
      Appliance.TrustMaterial(
        anchors: isProvisioned.load(ordering: .relaxed) ? [TrustAnchor(root, source: "test")] : [], signers: [],
        problems: [])
    }
    var wasReady = false
    appliance.onReady = {
      wasReady = true
      appliance.stop()
    }
    let repair = appliance.loop.timer("repair") {
      for name in ["pictures", "air"] {
        try? FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
      }
      isProvisioned.store(true, ordering: .relaxed)
    }
    repair.set(after: .milliseconds(100))
    let watchdog = appliance.loop.timer("watchdog") { appliance.stop() }
    watchdog.set(after: .seconds(20))
    try appliance.run()
    #expect(wasReady)
    let events = try String(contentsOfFile: folder + "/events", encoding: .utf8)
    for name in ["trustEmpty", "cameraUnavailable", "radioUnavailable"] {
      #expect(events.components(separatedBy: #""event":"fault","reasons":["\#(name)"]"#).count == 2, "\(events)")
      #expect(events.contains(#""event":"faultCleared","reasons":["\#(name)"]"#), "\(events)")
    }
  }

  @Test("devices that answer at once do not make a reader ready that trusts nobody yet")
  func readyAfterTrust() throws {
    let folder = NSTemporaryDirectory() + "mdoc-order-\(UInt64.random(in: 0 ... .max))"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for name in ["pictures", "air"] {
      try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
    }
    let appliance = try Appliance(
      Appliance.Parts(
        template: .standard, camera: .pictures(folder + "/pictures"), radio: .air(folder + "/air"),
        panel: .terminal(descriptor: open("/dev/null", O_WRONLY)), events: .file(folder + "/events"))
    ) { Appliance.TrustMaterial(anchors: [], signers: [], problems: []) }
    var signals: [Signal] = []
    appliance.onPanel = { if signals.last != $0.signal { signals.append($0.signal) } }
    appliance.loop.timer("end") { appliance.stop() }.set(after: .milliseconds(50))
    try appliance.run()
    #expect(signals == [.starting, .fault, .off])
    let events = try String(contentsOfFile: folder + "/events", encoding: .utf8)
    #expect(!events.contains(#""event":"ready""#), "\(events)")
  }

  @Test("a picture is answered for while newer ones wait; a decoder that does not come back is noticed")
  func pictures() {
    let start = ContinuousClock.now
    var pictures = PicturesUnderWay()
    // The decoder works on 1; 2 waits and is replaced by 3.
    for number: UInt64 in 1...3 { pictures.submitted(number, at: start + .milliseconds(66 * Int(number))) }
    #expect(pictures.decoded(1) == start + .milliseconds(66))
    #expect(pictures.decoded(3) == start + .milliseconds(198))
    #expect(pictures.isEmpty && pictures.decoded(2) == nil)
    pictures.submitted(4, at: start)
    #expect(!pictures.isOverdue(at: start + PicturesUnderWay.patience))
    #expect(pictures.isOverdue(at: start + PicturesUnderWay.patience + .milliseconds(1)))
    _ = pictures.decoded(4)
    #expect(!pictures.isOverdue(at: start + .seconds(60)))
  }

  @Test("an event is not written where it would have to wait, or where nobody reads any more")
  func slowReader() throws {
    var ends: [CInt] = [-1, -1]
    #expect(pipe(&ends) == 0)
    #expect(EventLog.takes(ends[1]))
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    let page = [UInt8](repeating: 0, count: 4096)
    while write(ends[1], page, page.count) > 0 {}
    #expect(!EventLog.takes(ends[1]))
    var rest = page
    #expect(read(ends[0], &rest, rest.count) == 4096)
    #expect(EventLog.takes(ends[1]))
    close(ends[0])
    #expect(!EventLog.takes(ends[1]))
    close(ends[1])
  }
}
