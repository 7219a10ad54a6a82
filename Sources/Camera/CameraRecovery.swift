import Kernel

/// When a camera is opened, given up and opened again. It knows no device and no clock.
///
/// Feed what happened with `handle`, do what comes back, and call again with `.timeout` when `deadline` has passed.
struct CameraRecovery {
  /// What happened.
  enum Input: Equatable {
    case start
    /// The stream runs, in this format.
    case opened(FormatCandidate)
    case openFailed(CameraProblem)
    /// Every format was to be avoided.
    case nothingLeft
    case picture
    case badPicture(PictureFault)
    /// The device is gone.
    case lost
    /// A call failed in a way that only opening anew can cure.
    case failed(SystemError)
    case timeout
  }

  /// What is to be done.
  enum Output: Equatable {
    /// Open and start the camera: `preferred` if it offers it, none of `avoided`.
    case open(preferred: FormatCandidate?, avoided: [FormatCandidate])
    case close
    case fault(CameraProblem)
    case recovered
    case note(String)
  }

  private enum Phase: Equatable {
    case idle
    case opening
    case awaitingFirst(FormatCandidate)
    case streaming(FormatCandidate)
    case waiting
  }

  /// When `.timeout` is due; nil for never.
  private(set) var deadline: ContinuousClock.Instant?
  /// The fault that was told and not yet taken back.
  private(set) var fault: CameraProblem?
  /// Bad buffers since the beginning.
  private(set) var badPictures = 0

  private let settings: CameraSettings
  private let subject: String
  private var phase = Phase.idle
  private var failures = 0
  private var badInARow = 0
  /// The format that delivered last.
  private var remembered: FormatCandidate?
  /// Formats that never delivered, in two openings each.
  private var avoided: [FormatCandidate] = []
  /// The format whose first opening delivered nothing.
  private var onTrial: FormatCandidate?
  private var firstPictureDeadline: Duration
  private var notedBad: (count: Int, at: ContinuousClock.Instant)?

  init(_ settings: CameraSettings) {
    self.settings = settings
    subject = settings.camera.description
    firstPictureDeadline = settings.firstPictureDeadline
  }

  mutating func handle(_ input: Input, at now: ContinuousClock.Instant) -> [Output] {
    switch (input, phase) {
    case (.start, .idle):
      return open(at: now)
    case (.opened(let candidate), .opening):
      phase = .awaitingFirst(candidate)
      badInARow = 0
      deadline = now + firstPictureDeadline
      return []
    case (.openFailed(let problem), .opening):
      return tell(problem) + retry(at: now)
    case (.nothingLeft, .opening):
      // From the top again, and with more patience: it may only be slow.
      avoided = []
      onTrial = nil
      firstPictureDeadline = min(firstPictureDeadline * 2, settings.firstPictureDeadline * 4)
      return retry(at: now)
    case (.picture, .awaitingFirst(let candidate)), (.picture, .streaming(let candidate)):
      return picture(candidate, at: now)
    case (.badPicture(let bad), .awaitingFirst), (.badPicture(let bad), .streaming):
      return badPicture(bad, at: now)
    case (.lost, .awaitingFirst), (.lost, .streaming):
      return [.close] + tell(.lost(subject)) + retry(at: now)
    case (.failed(let error), .awaitingFirst), (.failed(let error), .streaming):
      return [.close] + tell(.failed(subject, error)) + retry(at: now)
    case (.timeout, _):
      return timeout(at: now)
    default:
      return []
    }
  }

  private mutating func timeout(at now: ContinuousClock.Instant) -> [Output] {
    guard let deadline, now >= deadline else { return [] }
    switch phase {
    case .idle: return []
    case .waiting: return open(at: now)
    case .opening:
      // Nothing can be done but wait for the kernel.
      self.deadline = nil
      return tell(.stuck(subject))
    case .awaitingFirst(let candidate): return [.close] + firstPictureMissing(candidate) + open(at: now)
    case .streaming:
      return [.close] + tell(.silent(subject, after: settings.silenceDeadline)) + retry(at: now)
    }
  }

  private mutating func picture(_ candidate: FormatCandidate, at now: ContinuousClock.Instant) -> [Output] {
    badInARow = 0
    deadline = now + settings.silenceDeadline
    guard phase != .streaming(candidate) else { return [] }
    phase = .streaming(candidate)
    failures = 0
    remembered = candidate
    onTrial = nil
    guard fault != nil else { return [] }
    fault = nil
    return [.recovered]
  }

  private mutating func badPicture(_ bad: PictureFault, at now: ContinuousClock.Instant) -> [Output] {
    badPictures += 1
    badInARow += 1
    var outputs: [Output] = []
    // The first is told at once, those after it once in a minute.
    if notedBad.map({ now - $0.at >= .seconds(60) }) ?? true {
      let count = badPictures - (notedBad?.count ?? 0)
      outputs.append(.note("\(count) bad \(count == 1 ? "picture" : "pictures") dropped; the last one: \(bad)"))
      notedBad = (badPictures, now)
    }
    guard badInARow >= settings.badPicturesInARow else { return outputs }
    return outputs + [.close] + tell(.badPictures(subject, badInARow)) + retry(at: now)
  }

  /// Once, the same again: some drivers need it. The second time, something smaller.
  private mutating func firstPictureMissing(_ candidate: FormatCandidate) -> [Output] {
    let outputs = tell(.silent(subject, after: firstPictureDeadline))
    guard onTrial == candidate else {
      onTrial = candidate
      return outputs
    }
    onTrial = nil
    if remembered == candidate { remembered = nil }
    avoided.append(candidate)
    return outputs + [.note("no picture in \(candidate), trying another format")]
  }

  private mutating func open(at now: ContinuousClock.Instant) -> [Output] {
    phase = .opening
    deadline = now + settings.openDeadline
    return [.open(preferred: onTrial ?? remembered, avoided: avoided)]
  }

  private mutating func retry(at now: ContinuousClock.Instant) -> [Output] {
    phase = .waiting
    let delay = settings.retryDelay * (1 << min(failures, 10))
    deadline = now + min(delay, settings.longestRetryDelay)
    failures += 1
    return []
  }

  /// A fault is told once, until its kind changes.
  private mutating func tell(_ problem: CameraProblem) -> [Output] {
    guard problem.code != fault?.code else { return [] }
    fault = problem
    return [.fault(problem)]
  }
}
