import CivilTime
import Kernel

/// The clock of the wall with what is kept about it: the file of the latest good time, and the sign of a time server.
package struct ClockState: Sendable {
  /// Where the latest good time is kept; nil for nowhere.
  private let file: String?
  /// The file that is there once a time server has set the clock.
  private let synchronizedFile: String
  private var watch: ClockWatch
  private var written: (good: ClockWatch.GoodTime, monotonic: ContinuousClock.Instant)?
  /// Why the file could not be used, for people.
  package private(set) var problem: String?

  /// How often the time is written: seldom enough for the card it is on.
  package static let interval = Duration.seconds(3600)
  private static let sizeLimit = 256

  package init(file: String?, synchronizedFile: String) {
    self.file = file
    self.synchronizedFile = synchronizedFile
    do throws(ClockStateProblem) {
      watch = ClockWatch(known: try file.flatMap(ClockState.read))
    } catch {
      watch = ClockWatch()
      problem = error.text
    }
  }

  package var latest: ClockWatch.GoodTime? { watch.latest }

  /// Whether a time server has set the clock since the system started.
  package var isSynchronized: Bool { Files.exists(synchronizedFile) }

  /// Why the clock cannot be right, for people; nil when nothing speaks against it. Once an hour the time is kept.
  package mutating func doubt(about wall: UnixTime, at monotonic: ContinuousClock.Instant) -> String? {
    if let doubt = watch.doubt(about: wall, at: monotonic, isSynchronized: isSynchronized) { return doubt }
    if let written, let latest, monotonic - written.monotonic < ClockState.interval,
      written.good.isSynchronized == latest.isSynchronized
    {
      return nil
    }
    keep(at: monotonic)
    return nil
  }

  /// The same, and nothing is written: for a look from outside.
  package mutating func doubtWithoutKeeping(about wall: UnixTime) -> String? {
    watch.doubt(about: wall, at: .now, isSynchronized: isSynchronized)
  }

  /// Writes the latest good time, so that no later start believes an earlier one.
  package mutating func keep(at monotonic: ContinuousClock.Instant = .now) {
    guard let file, let latest else { return }
    written = (latest, monotonic)
    do throws(SystemError) {
      try AtomicFile.write(ClockState.line(latest).utf8, to: file)
      problem = nil
    } catch {
      problem = "\(file): \(error.reason): the time is not kept"
    }
  }

  /// Takes the clock as it is, whatever was kept: for a technician who has looked at another clock.
  package static func accept(_ wall: UnixTime, file: String) throws(SystemError) {
    try AtomicFile.write(line(ClockWatch.GoodTime(wall, isSynchronized: false)).utf8, to: file)
  }

  private struct ClockStateProblem: Error { let text: String }

  private static func line(_ good: ClockWatch.GoodTime) -> String {
    "\(good.time) \(good.isSynchronized ? "synchronized" : "unsynchronized")\n"
  }

  /// Nil when there is no file: that is how every site begins.
  private static func read(_ file: String) throws(ClockStateProblem) -> ClockWatch.GoodTime? {
    guard Files.exists(file) else { return nil }
    let bytes: [UInt8]
    do { bytes = try Files.read(file, limit: sizeLimit) } catch {
      throw ClockStateProblem(text: "\(file): \(error.reason): earlier times are not known")
    }
    let words = String(decoding: bytes, as: UTF8.self).split { $0 == " " || $0 == "\n" }
    guard words.count == 2, let time = DateTime(String(words[0]))?.instant,
      let isSynchronized = ["synchronized": true, "unsynchronized": false][words[1]]
    else { throw ClockStateProblem(text: "\(file): no time is in it: earlier times are not known") }
    return ClockWatch.GoodTime(time, isSynchronized: isSynchronized)
  }
}
