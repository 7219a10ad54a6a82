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
  @Test("a clock before this version, or one that goes back, is doubted; a small correction is not")
  func running() {
    var watch = ClockWatch()
    #expect(watch.doubt(about: UnixTime(seconds: 0), at: start) != nil)
    #expect(watch.doubt(about: Release.date.adding(seconds: -1), at: start) != nil)
    #expect(watch.latest == nil)
    #expect(watch.doubt(about: good, at: start) == nil)
    #expect(watch.doubt(about: good.adding(seconds: -200), at: start + .seconds(60)) == nil)
    #expect(watch.doubt(about: good.adding(seconds: -3600), at: start + .seconds(120)) != nil)
    #expect(watch.doubt(about: good.adding(seconds: 130), at: start + .seconds(130)) == nil)
    // Forward is no sign of anything: a clock that was late is set right.
    #expect(watch.doubt(about: good.adding(seconds: 400 * day), at: start + .seconds(140)) == nil)
  }

  @Test("a time server corrects what nobody had set, in either direction, and not what a time server said")
  func corrected() {
    var watch = ClockWatch()
    #expect(watch.doubt(about: good.adding(seconds: 100 * day), at: start) == nil)
    #expect(watch.doubt(about: good, at: start + .seconds(10)) != nil)
    #expect(watch.doubt(about: good, at: start + .seconds(20), isSynchronized: true) == nil)
    #expect(watch.latest == .init(good, isSynchronized: true))
    #expect(watch.doubt(about: good.adding(seconds: -day), at: start + .seconds(30), isSynchronized: true) != nil)
    #expect(watch.doubt(about: good.adding(seconds: 20), at: start + .seconds(40), isSynchronized: true) == nil)
  }

  @Test("what was kept by an earlier run is a lower bound, unless only a time server can know better")
  func known() {
    for isSynchronized in [false, true] {
      let kept = ClockWatch.GoodTime(good, isSynchronized: isSynchronized)
      var watch = ClockWatch(known: kept)
      #expect(watch.latest == kept)
      #expect(watch.doubt(about: good.adding(seconds: -day), at: start) != nil)
      let corrected = watch.doubt(about: good.adding(seconds: -day), at: start, isSynchronized: true)
      #expect((corrected == nil) == !isSynchronized)
      var later = ClockWatch(known: kept)
      #expect(later.doubt(about: good.adding(seconds: -299), at: start) == nil)
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

  @Test("the time is kept at once, then once an hour and at the end, and never a doubtful one")
  func kept() throws {
    let folder = try Folder()
    var state = folder.state()
    #expect(state.problem == nil && state.latest == nil)
    #expect(state.doubt(about: UnixTime(seconds: 5), at: start) != nil)
    #expect(!Files.exists(folder.file))
    #expect(state.doubt(about: good, at: start) == nil)
    #expect(try folder.text() == "\(good) unsynchronized\n")
    #expect(state.doubt(about: good.adding(seconds: 3000), at: start + .seconds(3000)) == nil)
    #expect(try folder.text() == "\(good) unsynchronized\n")
    #expect(state.doubt(about: good.adding(seconds: 3700), at: start + .seconds(3700)) == nil)
    #expect(try folder.text() == "\(good.adding(seconds: 3700)) unsynchronized\n")
    // A time server's word is worth writing at once.
    try AtomicFile.write([], to: folder.sign)
    #expect(state.doubt(about: good.adding(seconds: 3800), at: start + .seconds(3800)) == nil)
    #expect(try folder.text() == "\(good.adding(seconds: 3800)) synchronized\n")
    #expect(state.doubt(about: good.adding(seconds: 3900), at: start + .seconds(3900)) == nil)
    #expect(state.doubt(about: good, at: start + .seconds(3910)) != nil)
    state.keep()
    #expect(try folder.text() == "\(good.adding(seconds: 3900)) synchronized\n")
  }

  @Test("the next start does not believe an earlier time, until it is accepted")
  func restarted() throws {
    let folder = try Folder()
    var first = folder.state()
    #expect(first.doubt(about: good, at: start) == nil)
    var second = folder.state()
    #expect(second.doubt(about: good.adding(seconds: -day), at: start) != nil)
    #expect(second.doubtWithoutKeeping(about: good.adding(seconds: -day)) != nil)
    try ClockState.accept(good.adding(seconds: -day), file: folder.file)
    var third = folder.state()
    #expect(third.doubt(about: good.adding(seconds: -day), at: start) == nil)
  }

  @Test(
    "a file that holds no time is named and replaced", arguments: ["", "nonsense", "2026-13-01T00:00:00Z synchronized"])
  func damaged(text: String) throws {
    let folder = try Folder()
    try AtomicFile.write(text.utf8, to: folder.file)
    var state = folder.state()
    #expect(state.problem?.contains("no time is in it") == true)
    #expect(state.doubt(about: good, at: start) == nil)
    #expect(state.problem == nil)
    #expect(try folder.text() == "\(good) unsynchronized\n")
  }

  @Test("a folder that is not there is named, and the reader goes on")
  func nowhere() throws {
    let folder = try Folder()
    var state = ClockState(file: folder.path + "/none/clock", synchronizedFile: folder.sign)
    #expect(state.problem == nil)
    #expect(state.doubt(about: good, at: start) == nil)
    #expect(state.problem?.contains("the time is not kept") == true)
  }
}
