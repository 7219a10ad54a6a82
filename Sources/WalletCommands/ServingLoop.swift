import CivilTime
import Commands
import Glibc
import HTTPServer
import Kernel
import Web

/// What an issuer and a verifier on this machine have in common: a server in a loop, a clock, and an end.
final class ServingLoop {
  /// Their host is a name, for certificates are for names.
  static let host = "localhost"

  /// The rules of who serves; until there are some, nobody is served.
  var answer: (WebCall) -> WebAnswer = { _ in WebAnswer(status: 503) }
  private let loop: EventLoop
  private let server: HTTPServer
  private let instant: UnixTime?
  private var timer: EventLoop.Timer?

  /// Such as `http://localhost:8080`.
  var origin: String { "http://\(ServingLoop.host):\(server.port)" }
  var now: UnixTime { instant ?? UnixTime(seconds: WallClock.now().seconds) }

  /// Where its own rules are found while the server is being made.
  private final class Rules {
    weak var owner: ServingLoop?
  }

  init(_ arguments: Arguments) throws {
    instant = arguments.has("--now") ? try DocumentOptions.instant(arguments) : nil
    loop = try EventLoop()
    let port = try ServeCommand.port(arguments)
    let rules = Rules()
    do throws(HTTPServerFailure) {
      server = try HTTPServer(loop: loop, port: port) { call in rules.owner?.answer(call) ?? WebAnswer(status: 503) }
    } catch {
      throw CommandError.failure("serve", "\(error)", hint: "choose another --port, or none for any that is free")
    }
    rules.owner = self
  }

  /// Serves until `stop`, or until somebody interrupts it.
  func run() throws {
    let signals = try SignalWatch([SIGINT, SIGTERM], on: loop) { [loop] _ in loop.stop() }
    defer { signals.cancel() }
    try loop.run()
    server.close()
  }

  /// Does something later, when the answer that is being made has gone out; what was to be done before is left.
  func perform(after delay: Duration, _ action: @escaping () -> Void) {
    timer = loop.timer("serve", handler: action)
    timer?.set(after: delay)
  }

  func stop() { loop.stop() }
}
