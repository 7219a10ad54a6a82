import Bluetooth
import Kernel

/// What the adapter was found to be and to do.
package struct AdapterReport: Sendable {
  /// Nil when it could not be made ready.
  package fileprivate(set) var facts: AdapterFacts?
  /// The last trouble, when it could not be made ready or failed during the test.
  package fileprivate(set) var problem: AdapterProblem?
  /// Whether it advertised, and why not; nil when it was not tried.
  package fileprivate(set) var advertising: Result<Bool, CommandFailure>?
  /// Whether it listened, and why not; nil when it was not tried.
  package fileprivate(set) var listening: Result<Bool, CommandFailure>?
  /// Whether it did both at once.
  package fileprivate(set) var didBoth = false
  /// Different devices and all advertisements that were heard.
  package fileprivate(set) var devices: Set<BluetoothAddress> = []
  package fileprivate(set) var advertisements = 0

  package var isUsable: Bool {
    guard problem == nil, case .success? = advertising, case .success? = listening else { return false }
    return true
  }
}

/// Makes the adapter ready as the service would, advertises a service of its own, listens, and tells what came of it.
///
/// It switches the adapter off and on, so it is not for an adapter that a running service uses: that one is refused
/// as held.
package final class AdapterTest {
  private let loop: EventLoop
  private let time: Duration
  private var adapter: Adapter?
  private var report = AdapterReport()
  private var timer: EventLoop.Timer?

  /// - Parameter time: how long to listen.
  /// - Throws: when there is no event loop to be had; everything else is in the report.
  package static func run(_ settings: AdapterSettings, listeningFor time: Duration) throws(SystemError) -> AdapterReport
  {
    let test = AdapterTest(try EventLoop(), time)
    return try test.run(settings)
  }

  private init(_ loop: EventLoop, _ time: Duration) {
    self.loop = loop
    self.time = time
  }

  private func run(_ settings: AdapterSettings) throws(SystemError) -> AdapterReport {
    let adapter = Adapter(settings, on: loop) { [weak self] in self?.handle($0) }
    self.adapter = adapter
    timer = loop.timer("listening") { [weak self] in self?.loop.stop() }
    adapter.start()
    // Power takes 10 s at most, twice, and each of the other commands 3 s; in truth it takes less than one.
    _ = try loop.run(until: .now + .seconds(30) + time)
    adapter.stop()
    return report
  }

  private func handle(_ event: Adapter.Event) {
    switch event {
    case .ready(let facts):
      report.facts = facts
      report.problem = nil
      advertise()
    case .failed(let problem):
      report.problem = problem
      loop.stop()
    case .heard(let heard):
      report.advertisements += heard.count
      report.devices.formUnion(heard.map(\.address))
    case .disconnected, .scanDisturbed: break
    }
  }

  private func advertise() {
    let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
    guard let service = UUID128(bytes) else { return }
    adapter?.renewAddress { [weak self] _ in
      self?.adapter?.advertise(service) { [weak self] result in
        self?.report.advertising = result.map { _ in true }
        self?.listen(whileAdvertising: true)
      }
    }
  }

  private func listen(whileAdvertising: Bool) {
    adapter?.scan(true) { [weak self] result in
      guard let self else { return }
      if case .failure(let failure) = result, failure.isRefusal, whileAdvertising {
        adapter?.send(.removeAdvertising(instance: 1)) { [weak self] _ in self?.listen(whileAdvertising: false) }
        return
      }
      report.listening = result.map { _ in true }
      report.didBoth = whileAdvertising && report.isUsable
      timer?.set(after: time)
    }
  }
}
