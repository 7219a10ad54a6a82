import CivilTime
import Kernel

/// The clock of the wall with what is kept about it: the file of the lower bounds, and the sign of a time server.
package struct ClockState: Sendable {
  /// Where the bounds are kept; nil for nowhere.
  private let file: String?
  /// The file that is there once a time server has set the clock.
  private let synchronizedFile: String
  private var watch = ClockWatch()
  /// What the file said when it was last read or written.
  private var kept: ClockWatch.Bounds?
  private var isSynchronizedKept = false
  /// When this began, and when the file was last written.
  private var began: ContinuousClock.Instant?
  private var written: ContinuousClock.Instant?
  /// Why the file could not be used, for people.
  package private(set) var problem: String?
  /// Whether there is a file that cannot be read: then no earlier time is known, which is no sign that there was none.
  private var isUnreadable = false

  /// How often the bounds are written: seldom enough for the card they are on.
  package static let interval = Duration.seconds(3600)
  /// How long a time has to last before it is written without a time server's word: a glitch does not.
  package static let probation = Duration.seconds(600)
  private static let sizeLimit = 256

  package init(file: String?, synchronizedFile: String) {
    self.file = file
    self.synchronizedFile = synchronizedFile
    readFile()
  }

  package var bounds: ClockWatch.Bounds? { watch.bounds }

  /// Whether a time server has set the clock since the system started.
  package var isSynchronized: Bool { Files.exists(synchronizedFile) }

  /// Why the clock cannot be right, for people; nil when nothing speaks against it. Once an hour the bounds are kept.
  package mutating func doubt(about wall: UnixTime, at now: ContinuousClock.Instant) -> String? {
    began = began ?? now
    let isSynchronized = isSynchronized
    var doubt = judge(wall, at: now, isSynchronized: isSynchronized)
    if doubt != nil, isFileChanged {
      // A technician has accepted the clock meanwhile.
      readFile()
      doubt = judge(wall, at: now, isSynchronized: isSynchronized)
    }
    if let doubt { return doubt }
    let isDue = (written ?? began).map { now - $0 >= (written == nil ? ClockState.probation : ClockState.interval) }
    if isSynchronized != isSynchronizedKept || isDue == true { keep(isSynchronized: isSynchronized, at: now) }
    return nil
  }

  /// The same, and nothing is written: for a look from outside.
  package mutating func doubtWithoutKeeping(about wall: UnixTime) -> String? {
    judge(wall, at: .now, isSynchronized: isSynchronized)
  }

  private mutating func judge(_ wall: UnixTime, at now: ContinuousClock.Instant, isSynchronized: Bool) -> String? {
    if isUnreadable, !isSynchronized { return problem ?? "earlier times are not known" }
    return watch.doubt(about: wall, at: now, isSynchronized: isSynchronized)
  }

  /// Writes the bounds at the end of the service, unless what they say has not lasted.
  package mutating func keepAtEnd(at now: ContinuousClock.Instant = .now) {
    guard written != nil || began.map({ now - $0 >= ClockState.probation }) == true else { return }
    keep(isSynchronized: isSynchronizedKept, at: now)
  }

  private mutating func keep(isSynchronized: Bool, at now: ContinuousClock.Instant) {
    guard let file, let bounds = watch.bounds else { return }
    written = now
    isSynchronizedKept = isSynchronized
    // What was accepted meanwhile counts, not what this process thought before.
    if isFileChanged { return readFile() }
    do throws(SystemError) {
      try AtomicFile.write(ClockState.text(bounds).utf8, to: file)
      kept = bounds
      problem = nil
      isUnreadable = false
    } catch {
      problem = "\(file): \(error.reason): the time is not kept"
    }
  }

  /// Takes the clock as it is, whatever was kept: a technician who has looked at another clock vouches for it.
  package static func accept(_ wall: UnixTime, file: String) throws(SystemError) {
    try AtomicFile.write(text(ClockWatch.Bounds(latest: wall, synchronized: wall)).utf8, to: file)
  }

  // MARK: The file

  private static func text(_ bounds: ClockWatch.Bounds) -> String {
    "latest \(bounds.latest)\n" + (bounds.synchronized.map { "synchronized \($0)\n" } ?? "")
  }

  private var isFileChanged: Bool {
    guard let file, case .success(let bounds?) = ClockState.read(file) else { return false }
    return bounds != kept.map(ClockState.wholeSeconds)
  }

  private static func wholeSeconds(_ bounds: ClockWatch.Bounds) -> ClockWatch.Bounds {
    ClockWatch.Bounds(
      latest: UnixTime(seconds: bounds.latest.seconds),
      synchronized: bounds.synchronized.map { UnixTime(seconds: $0.seconds) })
  }

  private mutating func readFile() {
    guard let file else { return }
    switch ClockState.read(file) {
    case .success(let bounds):
      kept = bounds
      watch = ClockWatch(bounds: bounds)
      problem = nil
      isUnreadable = false
    case .failure(let fault):
      problem = fault.text
      isUnreadable = true
    }
  }

  private struct FileFault: Error { let text: String }

  /// Nil when there is no file: that is how every site begins.
  private static func read(_ file: String) -> Result<ClockWatch.Bounds?, FileFault> {
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try Files.read(file, limit: sizeLimit)
    } catch {
      if error.name == "ENOENT" { return .success(nil) }
      return .failure(FileFault(text: "\(file): \(error.reason): earlier times are not known"))
    }
    var times: [Substring: UnixTime] = [:]
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count == 2, ["latest", "synchronized"].contains(words[0]), times[words[0]] == nil,
        let time = DateTime(String(words[1]))?.instant
      else { return .failure(FileFault(text: "\(file): it is damaged: earlier times are not known")) }
      times[words[0]] = time
    }
    guard let latest = times["latest"] else {
      return .failure(FileFault(text: "\(file): it is damaged: earlier times are not known"))
    }
    return .success(ClockWatch.Bounds(latest: latest, synchronized: times["synchronized"]))
  }
}
