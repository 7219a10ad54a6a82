import Kernel
import Synchronization

/// Loads certificates and lists in a thread of its own, so that no visitor waits for it. A list of a million entries takes
/// seconds to read; what comes of it is one snapshot.
final class TrustLoader {
  private struct Mailbox: Sendable {
    var isWanted = false
    var isStopping = false
    /// What is to be done beside, such as writing notes.
    var jobs: [@Sendable () -> Void] = []
    var material: Appliance.TrustMaterial?
  }

  /// What both threads see.
  private final class Shared: Sendable {
    let mailbox = Mutex(Mailbox())
    let toWorker: Wakeup
    let toLoop: Wakeup

    init() throws(SystemError) {
      toWorker = try Wakeup()
      toLoop = try Wakeup()
    }
  }

  private let loop: EventLoop
  private let shared: Shared
  private let thread: JoinedThread
  private var watch: EventLoop.Watch?

  /// Starts the thread. `handler` gets each snapshot in the loop's thread.
  init(
    on loop: EventLoop, load: @escaping @Sendable () -> Appliance.TrustMaterial,
    handler: @escaping (Appliance.TrustMaterial) -> Void
  ) throws(SystemError) {
    self.loop = loop
    let shared = try Shared()
    self.shared = shared
    thread = try JoinedThread("trust") { TrustLoader.work(shared, load) }
    do throws(SystemError) {
      watch = try loop.watch(shared.toLoop) {
        let material = shared.mailbox.withLock { mailbox in
          defer { mailbox.material = nil }
          return mailbox.isStopping ? nil : mailbox.material
        }
        if let material { handler(material) }
      }
    } catch {
      TrustLoader.end(shared)
      throw error
    }
  }

  deinit { stop() }

  /// Asks for a snapshot of how things are from now on. Several wishes become one.
  func load() {
    shared.mailbox.withLock { $0.isWanted = true }
    shared.toWorker.signal()
  }

  /// Has something done in the thread. All of it is done before `stop` returns.
  func perform(_ job: @escaping @Sendable () -> Void) {
    shared.mailbox.withLock { $0.jobs.append(job) }
    shared.toWorker.signal()
  }

  /// Ends the thread and waits for it. No snapshot comes any more.
  func stop() {
    TrustLoader.end(shared)
    if let watch { loop.remove(watch) }
    watch = nil
    thread.join()
  }

  private static func end(_ shared: Shared) {
    shared.mailbox.withLock { $0.isStopping = true }
    shared.toWorker.signal()
  }

  private static func work(_ shared: Shared, _ load: @Sendable () -> Appliance.TrustMaterial) {
    while true {
      shared.toWorker.wait()
      let (jobs, isWanted, isStopping) = shared.mailbox.withLock { mailbox in
        defer {
          mailbox.jobs = []
          mailbox.isWanted = false
        }
        return (mailbox.jobs, mailbox.isWanted, mailbox.isStopping)
      }
      for job in jobs { job() }
      if isStopping { return }
      guard isWanted else { continue }
      let material = load()
      shared.mailbox.withLock { $0.material = material }
      shared.toLoop.signal()
    }
  }
}
