import Bytes
import CivilTime
import Commands
import Glibc
import HTTPServer
import JSON
import Kernel
import OpenID4VCI
import Web

/// An issuer on this machine: shows an offer, issues to whoever takes it, and says what wallets said of what they got.
final class IssuerServer {
  private let options: IssuerOptions
  private let console: Console
  private let arguments: Arguments
  private let shape: CodeShape
  private let instant: UnixTime?
  private let loop: EventLoop
  private var server: HTTPServer?
  private var service: IssuerService?
  private var heard: [String: String] = [:]
  private var closing: EventLoop.Timer?
  private var hasFailed = false

  init(_ arguments: Arguments, console: Console) throws {
    self.arguments = arguments
    self.console = console
    options = try IssuerOptions(arguments)
    shape = try CodeShape(arguments)
    instant = arguments.has("--now") ? try DocumentOptions.instant(arguments) : nil
    loop = try EventLoop()
    let port = try ServeCommand.port(arguments)
    let server: HTTPServer
    do throws(HTTPServerFailure) {
      server = try HTTPServer(loop: loop, port: port) { [weak self] call in
        self?.answer(call) ?? WebAnswer(status: 503)
      }
    } catch {
      throw CommandError.failure("serve", "\(error)", hint: "choose another --port, or none for any that is free")
    }
    self.server = server
    guard let identifier = WebAddress("http://localhost:\(server.port)" + options.path) else {
      throw CommandError.usage("--path", "no path", hint: "write it like /tenant/1")
    }
    let service = try IssuerService(
      options.authority, identifier: identifier, documents: options.contents, settings: options.settings)
    service.deviations = options.deviations
    self.service = service
  }

  private var now: UnixTime { instant ?? UnixTime(seconds: WallClock.now().seconds) }

  /// Serves until it is stopped, or with `--once` until a wallet has said what it makes of a credential; 0 when every one that
  /// was spoken of was accepted.
  func run() throws -> Int32 {
    let signals = try SignalWatch([SIGINT, SIGTERM], on: loop) { [loop] _ in loop.stop() }
    defer { signals.cancel() }
    try offer()
    try loop.run()
    server?.close()
    return hasFailed ? 1 : 0
  }

  private func offer() throws {
    guard let made = service?.makeOffer(by: options.grant, at: now) else { return }
    let text = options.showsReference ? made.byReference : made.byValue
    if arguments.has("--json") {
      console.data(
        JSONValue.object([
          "event": "offering", "offer": .string(text), "transactionCode": made.transactionCode.map(JSONValue.string),
        ]).text)
    } else {
      console.data(text)
      if let code = made.transactionCode { console.data("transaction code: \(code)") }
    }
    try shape.show(text, arguments: arguments, console: console)
  }

  private func answer(_ call: WebCall) -> WebAnswer {
    guard let service else { return WebAnswer(status: 503) }
    let answer = service.handle(call, at: now)
    for (id, event) in service.notifications.sorted(by: { $0.key < $1.key }) {
      guard let event, heard.updateValue(event, forKey: id) != event else { continue }
      hasFailed = hasFailed || event != "credential_accepted"
      console.data(
        arguments.has("--json") ? (["event": "notified", "of": .string(event)] as JSONValue).text : event)
    }
    if arguments.has("--once"), !heard.isEmpty {
      // The answer to this call has still to go out; and a wallet that wants not all, or not all at once, is waited for a little.
      closing = closing ?? loop.timer("end") { [loop] in loop.stop() }
      closing?.set(after: heard.count < options.contents.count ? .seconds(3) : .milliseconds(200))
    }
    return answer
  }
}
