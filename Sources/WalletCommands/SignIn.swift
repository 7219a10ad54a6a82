import Bytes
import Commands
import HTTPServer
import Kernel
import Web

/// How somebody signs in with an issuer: the wallet shows an address, and gets back the one that the server sent the browser to.
final class SignIn {
  /// Where that one comes from.
  enum Way: String, CaseIterable {
    /// A server on this machine, where the browser is sent.
    case wait
    /// It is pasted.
    case paste
    /// The wallet asks the address itself, for issuers with whom nobody has to sign in.
    case auto
  }

  static let option = CommandOption(
    "--sign-in", "HOW",
    "wait for the browser (default), paste the address it was sent to, or auto: no browser, for test issuers")

  /// Where servers send the browser.
  let redirectAddress: String
  private let way: Way
  private let patience: Duration
  private let exchange: WebExchange
  private let console: Console
  private let loop: EventLoop
  private let landing = Landing()
  private var server: HTTPServer?

  /// Where the browser arrives.
  private final class Landing {
    var query: FormFields?

    func answer(_ call: WebCall) -> WebAnswer {
      guard call.method == .get, call.path == "/callback" else { return WebAnswer(status: 404) }
      query = query ?? call.query
      let page = "You can close this page: the wallet goes on by itself.\n"
      return WebAnswer(
        status: 200, headers: [WebHeader("Content-Type", "text/plain; charset=utf-8")], body: Array(page.utf8))
    }
  }

  /// - Parameter patience: how long somebody may take to sign in.
  init(_ way: Way, patience: Duration, exchange: WebExchange, console: Console) throws {
    self.way = way
    self.patience = patience
    self.exchange = exchange
    self.console = console
    loop = try EventLoop()
    guard way == .wait else {
      redirectAddress = "http://127.0.0.1/callback"
      return
    }
    let server = try HTTPServer(loop: loop, port: 0) { [landing] call in landing.answer(call) }
    self.server = server
    redirectAddress = server.origin + "/callback"
  }

  /// The address that the browser was sent to. Throws when nobody signed in.
  func authorize(_ address: WebAddress) throws -> String {
    switch way {
    case .paste:
      console.remark("Sign in at: \(address.text)")
      console.remark("Then paste the address that the browser was sent to:")
      return Consent.line(console.input, limit: WebAddress.longest).filter { !$0.isWhitespace }
    case .auto:
      let answer = try exchange(.get(address, accept: "text/html"))
      guard (300..<400).contains(answer.status), let place = answer[header: "Location"] else { throw NobodySignedIn() }
      return place
    case .wait: return try wait(at: address)
    }
  }

  struct NobodySignedIn: Error {}

  private func wait(at address: WebAddress) throws -> String {
    console.remark("Sign in at: \(address.text)")
    let deadline = ContinuousClock.now + patience
    while landing.query == nil {
      guard ContinuousClock.now < deadline else { throw NobodySignedIn() }
      try loop.turn(until: deadline)
    }
    // The page has still to reach the browser.
    let end = ContinuousClock.now + .milliseconds(100)
    while ContinuousClock.now < end { try loop.turn(until: end) }
    server?.close()
    return redirectAddress + "?" + (landing.query?.text ?? "")
  }
}
