import CivilTime
import Crypto
import Foundation
import Issuer
import Kernel
import Policy
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
    var isProvisioned = false
    let appliance = try Appliance(
      Appliance.Parts(
        template: .standard, camera: .pictures(folder + "/pictures"), radio: .air(folder + "/air"),
        panel: .terminal(descriptor: open("/dev/null", O_WRONLY)), events: .file(folder + "/events"))
    ) {
      Appliance.TrustMaterial(
        anchors: isProvisioned ? [TrustAnchor(root, source: "test")] : [], signers: [], problems: [])
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
      isProvisioned = true
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

  @Test("a clock before this version, or one that goes back, is doubted; a small correction is not")
  func clock() {
    let start = ContinuousClock.now
    var watch = ClockWatch()
    #expect(watch.doubt(about: UnixTime(seconds: 0), at: start) != nil)
    let now = Release.date.adding(seconds: 86_400)
    #expect(watch.doubt(about: now, at: start) == nil)
    #expect(watch.doubt(about: now.adding(seconds: -200), at: start + .seconds(60)) == nil)
    #expect(watch.doubt(about: now.adding(seconds: -3600), at: start + .seconds(120)) != nil)
    #expect(watch.doubt(about: now.adding(seconds: 130), at: start + .seconds(130)) == nil)
  }
}
