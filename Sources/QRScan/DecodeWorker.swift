import Kernel
import Pictures

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

  private typealias Side = SideThread<Mailbox>

  /// Pictures that were replaced before the worker came to them.
  package private(set) var droppedPictures = 0

  private let side: Side
  private var lastPicture: UInt64 = 0

  /// Starts the thread. `handler` gets the results in the loop's thread.
  package init(on loop: EventLoop, handler: @escaping (Result) -> Void) throws(SystemError) {
    side = try Side(
      "qr decoder", on: loop, content: Mailbox(),
      end: {
        $0.isStopping = true
        $0.job = nil
      },
      onDelivery: { box in
        let results = box.look { mailbox in
          defer { mailbox.results = [] }
          return mailbox.results
        }
        // The handler of one may have stopped the worker: then the others are not wanted.
        for result in results where !box.look({ $0.isStopping }) { handler(result) }
      },
      work: DecodeWorker.work)
  }

  deinit { stop() }

  /// Hands in a picture and gives its number. It takes the place of one that still waits.
  @discardableResult
  package func submit(_ image: LumaImage, _ effort: Effort) -> UInt64 {
    lastPicture += 1
    let job = Job(picture: lastPicture, image: image, effort: effort)
    let replaced = side.post { mailbox in
      defer { mailbox.job = job }
      return mailbox.job != nil
    }
    if replaced { droppedPictures += 1 }
    return lastPicture
  }

  /// Ends the thread and waits for it, at most as long as one picture takes. No result comes any more.
  package func stop() { side.stop() }

  // MARK: In the worker's thread

  private static func work(_ box: Side.Box) {
    var decoder: QRDecoder?
    var attempts = LiveAttempts()
    while true {
      let (job, isStopping) = box.look { mailbox in
        defer { mailbox.job = nil }
        return (mailbox.job, mailbox.isStopping)
      }
      if isStopping { return }
      guard let job else {
        box.wait()
        continue
      }
      let result = decode(job, &decoder, &attempts)
      box.deliver { $0.results.append(result) }
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
