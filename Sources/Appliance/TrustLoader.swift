import Kernel

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

  private let side: SideThread<Mailbox>

  /// Starts the thread. `handler` gets each snapshot in the loop's thread.
  init(
    on loop: EventLoop, load: @escaping @Sendable () -> Appliance.TrustMaterial,
    handler: @escaping (Appliance.TrustMaterial) -> Void
  ) throws(SystemError) {
    side = try SideThread(
      "trust", on: loop, content: Mailbox(), end: { $0.isStopping = true },
      onDelivery: { box in
        let material = box.look { mailbox in
          defer { mailbox.material = nil }
          return mailbox.isStopping ? nil : mailbox.material
        }
        if let material { handler(material) }
      },
      work: { TrustLoader.work($0, load) })
  }

  deinit { stop() }

  /// Asks for a snapshot of how things are from now on. Several wishes become one.
  func load() { side.post { $0.isWanted = true } }

  /// Has something done in the thread. All of it is done before `stop` returns.
  func perform(_ job: @escaping @Sendable () -> Void) { side.post { $0.jobs.append(job) } }

  /// Ends the thread and waits for it. No snapshot comes any more.
  func stop() { side.stop() }

  private static func work(_ box: SideThread<Mailbox>.Box, _ load: @Sendable () -> Appliance.TrustMaterial) {
    while true {
      box.wait()
      let (jobs, isWanted, isStopping) = box.look { mailbox in
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
      box.deliver { $0.material = material }
    }
  }
}
