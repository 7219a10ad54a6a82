import Kernel
import Pictures
import Synchronization

/// Decodes pictures in a thread of its own, so that the event loop never waits for it.
///
/// Pictures go in one at a time: a newer one takes the place of one that waits, none is queued. Results come back
/// through the loop, one for each picture that was decoded.
package final class DecodeWorker {
  /// How much to try for a picture.
  package enum Effort: Sendable {
    /// One attempt, in turn (`LiveAttempts`): there will be another frame soon.
    case live
    /// All attempts until one finds something: there is only this picture.
    case still
  }

  /// What came of one picture.
  package struct Result: Sendable {
    /// The number that `submit` gave.
    package let picture: UInt64
    /// The bytes of the codes that were found; nothing is known about them but that they were in a code.
    package let codes: [[UInt8]]
    /// The attempt that found them; the last one when nothing was found.
    package let attempt: Attempt
    /// How long the decoding took, changes to the picture included.
    package let duration: Duration
    /// What kept the library from working; then there are no codes.
    package let failure: SystemError?
  }

  private struct Job: Sendable {
    let picture: UInt64
    let image: LumaImage
    let effort: Effort
  }

  private struct Mailbox: Sendable {
    var job: Job?
    var results: [Result] = []
    var isStopping = false
  }

  /// What both threads see; everything else belongs to one of them.
  private final class Shared: Sendable {
    let mailbox = Mutex(Mailbox())
    let toWorker: Wakeup
    let toLoop: Wakeup

    init() throws(SystemError) {
      toWorker = try Wakeup()
      toLoop = try Wakeup()
    }
  }

  /// Pictures that were replaced before the worker came to them.
  package private(set) var droppedPictures = 0

  private let loop: EventLoop
  private let shared: Shared
  private let thread: JoinedThread
  private var watch: EventLoop.Watch?
  private var lastPicture: UInt64 = 0

  /// Starts the thread. `handler` gets the results in the loop's thread.
  package init(on loop: EventLoop, handler: @escaping (Result) -> Void) throws(SystemError) {
    self.loop = loop
    let shared = try Shared()
    self.shared = shared
    thread = try JoinedThread("qr decoder") { DecodeWorker.work(shared) }
    let isStopping = { shared.mailbox.withLock { $0.isStopping } }
    do throws(SystemError) {
      watch = try loop.watch(shared.toLoop) {
        let results = shared.mailbox.withLock { mailbox in
          defer { mailbox.results = [] }
          return mailbox.results
        }
        // The handler of one may have stopped the worker: then the others are not wanted.
        for result in results where !isStopping() { handler(result) }
      }
    } catch {
      DecodeWorker.end(shared)
      throw error
    }
  }

  deinit { stop() }

  /// Hands in a picture and gives its number. It takes the place of one that still waits.
  @discardableResult
  package func submit(_ image: LumaImage, _ effort: Effort) -> UInt64 {
    lastPicture += 1
    let job = Job(picture: lastPicture, image: image, effort: effort)
    let replaced = shared.mailbox.withLock { mailbox in
      defer { mailbox.job = job }
      return mailbox.job != nil
    }
    if replaced { droppedPictures += 1 }
    shared.toWorker.signal()
    return lastPicture
  }

  /// Ends the thread and waits for it, at most as long as one picture takes. No result comes any more.
  package func stop() {
    DecodeWorker.end(shared)
    if let watch { loop.remove(watch) }
    watch = nil
    thread.join()
  }

  private static func end(_ shared: Shared) {
    shared.mailbox.withLock {
      $0.isStopping = true
      $0.job = nil
    }
    shared.toWorker.signal()
  }

  // MARK: In the worker's thread

  private static func work(_ shared: Shared) {
    var decoder: QRDecoder?
    var attempts = LiveAttempts()
    while true {
      let (job, isStopping) = shared.mailbox.withLock { mailbox in
        defer { mailbox.job = nil }
        return (mailbox.job, mailbox.isStopping)
      }
      if isStopping { return }
      guard let job else {
        shared.toWorker.wait()
        continue
      }
      let result = decode(job, &decoder, &attempts)
      shared.mailbox.withLock { $0.results.append(result) }
      shared.toLoop.signal()
    }
  }

  private static func decode(_ job: Job, _ decoder: inout QRDecoder?, _ attempts: inout LiveAttempts) -> Result {
    let start = ContinuousClock.now
    var codes: [[UInt8]] = []
    var attempt = Attempt.asIs
    var failure: SystemError?
    do throws(SystemError) {
      let current: QRDecoder
      if let decoder { current = decoder } else { current = try QRDecoder() }
      decoder = current
      switch job.effort {
      case .live:
        attempt = attempts.next()
        codes = try current.decode(job.image, attempt)
        if !codes.isEmpty { attempts.found(by: attempt) }
      case .still:
        attempt = Attempt.still.last ?? .asIs
        if let found = try current.decodeStill(job.image) { (codes, attempt) = found }
      }
    } catch {
      failure = error
    }
    return Result(
      picture: job.picture, codes: codes, attempt: attempt, duration: ContinuousClock.now - start, failure: failure)
  }
}
