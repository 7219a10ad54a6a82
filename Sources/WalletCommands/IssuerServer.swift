import Bytes
import Commands
import JSON
import OpenID4VCI
import Web

/// An issuer on this machine: shows an offer, issues to whoever takes it, and says what wallets said of what they got.
final class IssuerServer {
  private let options: IssuerOptions
  private let console: Console
  private let arguments: Arguments
  private let shape: CodeShape
  private let serving: ServingLoop
  private let service: IssuerService
  private var heard: [String: String] = [:]
  private var hasFailed = false

  init(_ arguments: Arguments, console: Console) throws {
    self.arguments = arguments
    self.console = console
    options = try IssuerOptions(arguments)
    shape = try CodeShape(arguments)
    serving = try ServingLoop(arguments)
    guard let identifier = WebAddress(serving.origin + options.path) else {
      throw CommandError.usage("--path", "no path", hint: "write it like /tenant/1")
    }
    service = try IssuerService(
      options.authority, identifier: identifier, documents: options.contents, settings: options.settings)
    service.deviations = options.deviations
    serving.answer = { [weak self] call in self?.answer(call) ?? WebAnswer(status: 503) }
  }

  /// Serves until it is stopped, or with `--once` until a wallet has said what it makes of a credential; 0 when every one that
  /// was spoken of was accepted.
  func run() throws -> Int32 {
    try offer()
    try serving.run()
    return hasFailed ? 1 : 0
  }

  private func offer() throws {
    let made = service.makeOffer(by: options.grant, at: serving.now)
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
    let answer = service.handle(call, at: serving.now)
    for (id, event) in service.notifications.sorted(by: { $0.key < $1.key }) {
      guard let event, heard.updateValue(event, forKey: id) != event else { continue }
      hasFailed = hasFailed || event != "credential_accepted"
      console.data(
        arguments.has("--json") ? (["event": "notified", "of": .string(event)] as JSONValue).text : event)
    }
    if arguments.has("--once"), !heard.isEmpty {
      // The answer to this call has still to go out; and a wallet that wants not all, or not all at once, is waited for a little.
      serving.perform(after: heard.count < options.contents.count ? .seconds(3) : .milliseconds(200)) { [serving] in
        serving.stop()
      }
    }
    return answer
  }
}
