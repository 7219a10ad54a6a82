import Bytes
import CivilTime
import Commands
import Crypto
import Glibc
import Issuer
import Kernel
import Mdoc
import Pictures
import Wallet

/// Visitors for a reader in another process, one after the other, some of them with a fault.
final class SoakVisitors {
  enum Faults {
    /// One visitor in five has the next one of all the quirks there are; the reader shows outcomes for a moment only.
    case oneInFive
    /// Everybody has one that ends the transaction without an answer; the reader shows outcomes for its usual time.
    case all

    private static let failing: [Quirk] = [.earlyDisconnect, .corruptTag, .endState, .invalidFragment, .sessionNotCBOR]

    func quirk(of visitor: Int) -> Quirk? {
      switch self {
      case .oneInFive: visitor.isMultiple(of: 5) ? Quirk.allCases[visitor / 5 % Quirk.allCases.count] : nil
      case .all: Faults.failing[visitor % Faults.failing.count]
      }
    }

    /// How long the reader shows an outcome, in milliseconds.
    var display: Int { self == .oneInFive ? 1 : 2000 }
  }

  /// At most that from the picture to ready again, or the soak is over.
  private static let patience = Duration.seconds(20)
  private static let sampleInterval = 250
  /// How long a code is shown to a reader that does not answer: less than it waits for a link.
  private static let glance = Duration.milliseconds(300)

  private let folder: String
  private let count: Int
  private let faults: Faults
  private let loop: EventLoop
  private let documents: [StoredCredential]
  private let process: ChildProcess
  private let output: Int32
  private var line: [UInt8] = []
  private var record: SoakRecord
  private var number = 0
  private var quirk: Quirk?
  private var shownAt = ContinuousClock.now
  private var failedAt: ContinuousClock.Instant?
  private var session: ProximityPresentationSession?
  /// Those that have not heard yet that their reader is gone.
  private var leaving: [Int: ProximityPresentationSession] = [:]
  private var watchdog: EventLoop.Timer?
  private var glance: EventLoop.Timer?
  private var failure: (any Error)?

  /// Starts the reader in a folder that is there and empty.
  init(in folder: String, count: Int, faults: Faults, program: String) throws {
    self.folder = folder
    self.count = count
    self.faults = faults
    loop = try EventLoop()
    record = SoakRecord(count: count)
    for name in ["pictures", "air"] { try Files.makeFolder("\(folder)/\(name)") }
    var random = RandomSource()
    let issued = try TestIssue(.mdl, age: 30, now: UnixTime.wallClock()).issue(random: &random)
    documents = [StoredCredential(credential: issued.credential, method: .signature)]
    try AtomicFile.write(issued.trusted.certificate, to: folder + "/root.der")
    let ends = try makePipe()
    output = ends.reading
    process = try ChildProcess(program, ["serve", folder, "\(faults.display)"], output: .open(ends.writing))
    close(ends.writing)
  }

  /// Sends all of them.
  func run() throws -> SoakRecord {
    _ = try loop.watch(raw: output, for: .read) { [unowned self] _ in readOutput() }
    watchdog = loop.timer("watchdog") { [unowned self] in
      stop(SoakError("nothing came of visitor \(number) (\(quirk?.rawValue ?? "no fault"))"))
    }
    glance = loop.timer("glance") { [unowned self] in putAway() }
    watchdog?.set(after: SoakVisitors.patience)
    try loop.run()
    let status = process.end()
    if let failure { throw failure }
    if status != 0 { record.surprises.append("the reader ended with \(status)") }
    return record
  }

  private func stop(_ error: (any Error)? = nil) {
    failure = failure ?? error
    loop.stop()
  }

  private func readOutput() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let read = Glibc.read(output, &bytes, bytes.count)
    guard read > 0 else { return stop(SoakError("the reader has ended")) }
    for byte in bytes.prefix(read) {
      guard byte == UInt8(ascii: "\n") else {
        line.append(byte)
        continue
      }
      let words = String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
      line = []
      do { try take(words) } catch { return stop(error) }
    }
  }

  private func take(_ words: [String]) throws {
    switch words.first {
    case "report": reported(words.dropFirst().joined(separator: " "))
    case "ready":
      // The one that is said before the first visitor has no report.
      if number > 0 { try leave() }
      guard number < count else { return stop() }
      try arrive()
    default: break
    }
  }

  private func reported(_ outcome: String) {
    let spent = ContinuousClock.now - shownAt
    failedAt = outcome.hasPrefix("failed") ? .now : nil
    record.outcomes[quirk?.rawValue ?? "(no fault)", default: [:]][outcome, default: 0] += 1
    let isGranted = outcome.hasPrefix("granted")
    if let quirk {
      if isGranted && !SoakVisitors.isHarmless(quirk) {
        record.surprises.append("visitor \(number): \(quirk.rawValue) was granted")
      }
    } else if isGranted {
      let (seconds, attoseconds) = spent.components
      record.latencies.append((number, Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000)))
    } else {
      record.surprises.append("visitor \(number) without a fault: \(outcome)")
    }
  }

  /// Whether a reader may admit somebody whose wallet does this.
  private static func isHarmless(_ quirk: Quirk) -> Bool {
    let text = quirk.expectation
    return text.hasPrefix("accepted") || text.contains("dropped") && quirk != .docTypeMismatch
      || quirk == .repeatedCounter
  }

  private func leave() throws {
    if let failedAt {
      let (seconds, attoseconds) = (ContinuousClock.now - failedAt).components
      record.recoveries.append(Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
    }
    if let session {
      self.session = nil
      leaving[number] = session
      session.terminate()
    }
    if number.isMultiple(of: SoakVisitors.sampleInterval) || number == count {
      record.samples.append(try SoakRecord.Sample(of: process.id, visitor: number))
    }
  }

  private func arrive() throws {
    number += 1
    watchdog?.set(after: SoakVisitors.patience)
    let visitor = number
    quirk = faults.quirk(of: visitor)
    var offer = ProximityPresentationSession.Offer()
    offer.mode = ProximityPresentationSession.Mode.allCases[visitor % 3]
    offer.usesL2CAP = visitor % 2 == 0
    offer.mtu = [515, 185, 23][visitor / 3 % 3]
    offer.timeout = .seconds(2)
    let session = try ProximityPresentationSession(
      loop: loop, air: folder + "/air", documents: documents, offer: offer,
      quirks: quirk.map { Quirks($0) } ?? Quirks())
    self.session = session
    try session.open { [unowned self, unowned session] event in
      switch event {
      case .requestReceived(let request): session.sendResponse(request.documents.map { _ in true })
      case .ended:
        leaving[visitor] = nil
        if number == visitor { self.session = nil }
      case .linked: putAway()
      case .remark: break
      }
    }
    guard let picture = QRCode(session.engagement.text)?.pixels(moduleSize: 4) else { throw SoakError("no code") }
    let image = try LumaImage(width: picture.side, height: picture.side, pixels: picture.grey)
    shownAt = .now
    try PictureFile.write(image, to: folder + "/pictures/code.png")
    glance?.set(after: SoakVisitors.glance)
  }

  /// Takes the phone from the camera. A reader that has found nobody looks at the same code again: it would wait for the visitor
  /// before while the next one stands there.
  private func putAway() {
    glance?.cancel()
    unlink(folder + "/pictures/code.png")
  }
}
