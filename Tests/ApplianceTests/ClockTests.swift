import CivilTime
import Foundation
import Kernel
import Testing

@testable import Appliance

private let start = ContinuousClock.now
private let day: Int64 = 86_400
private let good = Release.date.adding(seconds: 10 * day)

@Suite("The clock and what it cannot say")
struct ClockTests {
  @Test("a clock before this version, decades after it, or one that goes back, is doubted; a small correction is not")
  func running() {
    var watch = ClockWatch()
    #expect(watch.doubt(about: UnixTime(seconds: 0), at: start) != nil)
    #expect(watch.doubt(about: Release.date.adding(seconds: -1), at: start) != nil)
    #expect(watch.doubt(about: Release.date.adding(seconds: ClockWatch.lifetime + 1), at: start) != nil)
    #expect(watch.bounds == nil)
    #expect(watch.doubt(about: good, at: start) == nil)
    #expect(watch.doubt(about: good.adding(seconds: -200), at: start + .seconds(60)) == nil)
    #expect(watch.doubt(about: good.adding(seconds: -3600), at: start + .seconds(120)) != nil)
    #expect(watch.doubt(about: good.adding(seconds: 130), at: start + .seconds(130)) == nil)
    // Forward is no sign of anything: a clock that was late is set right.
    #expect(watch.doubt(about: good.adding(seconds: 400 * day), at: start + .seconds(140)) == nil)
  }

  @Test("steps within the tolerance do not add up", arguments: [false, true])
  func ratchet(isSynchronized: Bool) {
    var watch = ClockWatch()
    #expect(watch.doubt(about: good, at: start, isSynchronized: isSynchronized) == nil)
    var accepted: Int64 = 0
    for step in 1...20 {
      let wall = good.adding(seconds: -299 * Int64(step))
      if watch.doubt(about: wall, at: start + .seconds(step), isSynchronized: isSynchronized) == nil { accepted += 1 }
    }
    // Behind a mark that a time server made, nobody goes. Behind another, a time server may, once.
    #expect(accepted == 1)
    #expect(watch.bounds.map { $0.latest >= good } == true)
    // Nor do they over restarts.
    var bounds = watch.bounds
    for _ in 1...5 {
      var next = ClockWatch(bounds: bounds)
      _ = next.doubt(about: good.adding(seconds: -299), at: start)
      bounds = next.bounds
    }
    #expect(bounds.map { $0.latest >= good } == true)
  }

  @Test("a time server corrects what nobody had set, in either direction, and not what a time server said")
  func corrected() {
    var watch = ClockWatch()
    #expect(watch.doubt(about: good.adding(seconds: 100 * day), at: start) == nil)
    #expect(watch.doubt(about: good, at: start + .seconds(10)) != nil)
    #expect(watch.doubt(about: good, at: start + .seconds(20), isSynchronized: true) == nil)
    #expect(watch.bounds == .init(latest: good, synchronized: good))
    #expect(watch.doubt(about: good.adding(seconds: -day), at: start + .seconds(30), isSynchronized: true) != nil)
    #expect(watch.doubt(about: good.adding(seconds: 20), at: start + .seconds(40), isSynchronized: true) == nil)
  }

  @Test("an offline start between two time servers does not make the second one's word go below the first one's")
  func offlineStart() {
    var watch = ClockWatch(bounds: .init(latest: good, synchronized: good))
    #expect(watch.doubt(about: good.adding(seconds: 60), at: start) == nil)
    #expect(watch.bounds?.synchronized == good)
    #expect(watch.doubt(about: good.adding(seconds: -30 * day), at: start + .seconds(20), isSynchronized: true) != nil)
  }

  @Test("what was kept by an earlier run is a lower bound, unless only a time server can know better")
  func known() {
    for synchronized in [nil, good] {
      let bounds = ClockWatch.Bounds(latest: good, synchronized: synchronized)
      var watch = ClockWatch(bounds: bounds)
      #expect(watch.doubt(about: good.adding(seconds: -day), at: start) != nil)
      let corrected = watch.doubt(about: good.adding(seconds: -day), at: start, isSynchronized: true)
      #expect((corrected == nil) == (synchronized == nil))
      var later = ClockWatch(bounds: bounds)
      #expect(later.doubt(about: good.adding(seconds: -299), at: start) == nil)
      #expect(later.bounds?.latest == good)
      #expect(later.doubt(about: good.adding(seconds: day), at: start + .seconds(1)) == nil)
    }
  }

  /// Files of their own, gone with the test.
  private final class Folder {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("clock-\(UUID().uuidString)").path
    var file: String { path + "/clock" }
    var sign: String { path + "/synchronized" }

    init() throws { try Files.makeFolder(path) }
    deinit { try? FileManager.default.removeItem(atPath: path) }

    func state() -> ClockState { ClockState(file: file, synchronizedFile: sign) }
    func text() throws -> String { String(decoding: try Files.read(file, limit: 1000), as: UTF8.self) }
  }

  @Test(
    "the time is kept once it has lasted, then once an hour and at the end, a time server's at once, a doubtful one never"
  )
  func kept() throws {
    let folder = try Folder()
    var state = folder.state()
    #expect(state.problem == nil && state.bounds == nil)
    #expect(state.doubt(about: UnixTime(seconds: 5), at: start) != nil)
    #expect(state.doubt(about: good, at: start) == nil)
    state.keepAtEnd(at: start + .seconds(1))
    #expect(!Files.exists(folder.file))
    #expect(state.doubt(about: good.adding(seconds: 601), at: start + .seconds(601)) == nil)
    #expect(try folder.text() == "latest \(good.adding(seconds: 601))\n")
    #expect(state.doubt(about: good.adding(seconds: 4000), at: start + .seconds(4000)) == nil)
    #expect(try folder.text() == "latest \(good.adding(seconds: 601))\n")
    #expect(state.doubt(about: good.adding(seconds: 4202), at: start + .seconds(4202)) == nil)
    #expect(try folder.text() == "latest \(good.adding(seconds: 4202))\n")
    try AtomicFile.write([], to: folder.sign)
    let vouched = good.adding(seconds: 4300)
    #expect(state.doubt(about: vouched, at: start + .seconds(4300)) == nil)
    #expect(try folder.text() == "latest \(vouched)\nsynchronized \(vouched)\n")
    let last = good.adding(seconds: 4400)
    #expect(state.doubt(about: last, at: start + .seconds(4400)) == nil)
    #expect(state.doubt(about: good, at: start + .seconds(4410)) != nil)
    state.keepAtEnd(at: start + .seconds(4420))
    #expect(try folder.text() == "latest \(last)\nsynchronized \(last)\n")
  }

  @Test("an accepted clock heals a reader that runs, which does not write its own idea over it")
  func accepted() throws {
    let folder = try Folder()
    try ClockState.accept(good, file: folder.file)
    for isDoubtedFirst in [true, false] {
      var state = folder.state()
      let glitch = good.adding(seconds: 1000 * day)
      #expect(state.doubt(about: glitch, at: start) == nil)
      #expect(state.doubt(about: glitch.adding(seconds: 700), at: start + .seconds(700)) == nil)
      let right = good.adding(seconds: 800)
      if isDoubtedFirst { #expect(state.doubt(about: right, at: start + .seconds(800)) != nil) }
      try ClockState.accept(right, file: folder.file)
      #expect(state.doubt(about: right.adding(seconds: 2), at: start + .seconds(802)) == nil)
      state.keepAtEnd(at: start + .seconds(803))
      #expect(
        try folder.text().contains("latest \(right)") || folder.text().contains("latest \(right.adding(seconds: 2))"))
      try ClockState.accept(good, file: folder.file)
    }
    // Nor at the end, where nothing was doubted.
    var state = folder.state()
    #expect(state.doubt(about: good.adding(seconds: 2000 * day), at: start) == nil)
    #expect(state.doubt(about: good.adding(seconds: 2000 * day + 700), at: start + .seconds(700)) == nil)
    try ClockState.accept(good, file: folder.file)
    state.keepAtEnd(at: start + .seconds(701))
    #expect(try folder.text() == "latest \(good)\nsynchronized \(good)\n")
  }

  @Test("the next start does not believe an earlier time, until it is accepted")
  func restarted() throws {
    let folder = try Folder()
    try ClockState.accept(good, file: folder.file)
    var second = folder.state()
    #expect(second.doubt(about: good.adding(seconds: -day), at: start) != nil)
    #expect(second.doubtWithoutKeeping(about: good.adding(seconds: -day)) != nil)
    try ClockState.accept(good.adding(seconds: -day), file: folder.file)
    var third = folder.state()
    #expect(third.doubt(about: good.adding(seconds: -day), at: start) == nil)
  }

  @Test(
    "a file that holds no times is a doubt until a time server or a technician vouches",
    arguments: [
      "", "nonsense", "latest 2026-13-01T00:00:00Z", "synchronized 2026-12-01T00:00:00Z", "latest", "latest x y",
    ])
  func damaged(text: String) throws {
    let folder = try Folder()
    try AtomicFile.write(text.utf8, to: folder.file)
    var state = folder.state()
    #expect(state.problem?.contains("it is damaged") == true)
    #expect(state.doubt(about: good, at: start)?.contains("earlier times are not known") == true)
    state.keepAtEnd(at: start + .seconds(7000))
    #expect(try folder.text() == text)
    if text.isEmpty {
      try ClockState.accept(good, file: folder.file)
    } else {
      try AtomicFile.write([], to: folder.sign)
    }
    #expect(state.doubt(about: good.adding(seconds: 5), at: start + .seconds(5)) == nil)
    #expect(state.problem == nil)
    #expect(try folder.text().hasPrefix("latest 20"))
  }

  @Test("a folder that is not there is named, and the reader goes on")
  func nowhere() throws {
    let folder = try Folder()
    var state = ClockState(file: folder.path + "/none/clock", synchronizedFile: folder.sign)
    #expect(state.problem == nil)
    #expect(state.doubt(about: good, at: start) == nil)
    #expect(state.doubt(about: good.adding(seconds: 601), at: start + .seconds(601)) == nil)
    #expect(state.problem?.contains("the time is not kept") == true)
  }
}
