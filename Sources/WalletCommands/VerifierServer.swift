import CivilTime
import Commands
import Crypto
import Glibc
import HTTPServer
import Issuer
import JSON
import Kernel
import MdocVerification
import OpenID4VP
import Wallet
import Web

/// A verifier on this machine: shows an address, takes the answer to it, says what it makes of it, and asks again.
final class VerifierServer {
  /// Its host is a name, for certificates are for names.
  private static let host = "localhost"

  private let options: VerifierOptions
  private let console: Console
  private let arguments: Arguments
  private let shape: CodeShape
  private let instant: UnixTime?
  private let loop: EventLoop
  private var server: HTTPServer?
  private var service: VerifierService?
  private var invitation: VerifierService.Invitation?
  private var closing: EventLoop.Timer?
  private var allVerified = true

  init(_ arguments: Arguments, console: Console) throws {
    self.arguments = arguments
    self.console = console
    options = try VerifierOptions(arguments)
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
    service = VerifierService(
      origin: "http://\(VerifierServer.host):\(server.port)", credential: try credential(), verifier: options.verifier)
  }

  private var now: UnixTime { instant ?? UnixTime(seconds: WallClock.now().seconds) }

  /// A key and certificate of its own, under a root that nobody knows but who is given it.
  private func credential() throws -> VerifierCredential {
    var random = SystemRandomNumberGenerator()
    let authority = try IssuerAuthority(
      commonName: "Test Verifier CA", notBefore: now.adding(seconds: -86_400), random: &random)
    let name = options.order.deviation == .otherName ? "other.example" : VerifierServer.host
    let signer = try authority.makeSigner(
      commonName: "Test Verifier", notBefore: now.adding(seconds: -3600), notAfter: now.adding(seconds: 30 * 86_400),
      purposes: [.readerAuthentication], random: &random
    ) { draft in draft[.subjectAltName] = .subjectAltName(dnsName: name) }
    if let path = options.rootPath { try AtomicFile.write(authority.pem.utf8, to: path) }
    return VerifierCredential(key: signer.key, chain: [try Certificate(signer.certificate)])
  }

  /// Serves until it is stopped, or with `--once` until one wallet has answered; 0 when every answer was verified.
  func run() throws -> Int32 {
    let signals = try SignalWatch([SIGINT, SIGTERM], on: loop) { [loop] _ in loop.stop() }
    defer { signals.cancel() }
    try invite()
    try loop.run()
    server?.close()
    return allVerified ? 0 : 1
  }

  private func invite() throws {
    guard let service else { return }
    let invitation: VerifierService.Invitation
    do throws(CredentialFault) {
      invitation = try service.begin(options.order, now: now)
    } catch {
      throw CommandError.failure("serve", error.rawValue, hint: "choose another --client")
    }
    self.invitation = invitation
    if arguments.has("--json") {
      console.data((["event": "asking", "address": .string(invitation.address)] as JSONValue).text)
    } else {
      console.data(invitation.address)
    }
    try shape.show(invitation.address, arguments: arguments, console: console)
  }

  private func answer(_ call: WebCall) -> WebAnswer {
    guard let service else { return WebAnswer(status: 503) }
    let answer = service.handle(call, at: now)
    if let invitation, let outcome = service.outcome(of: invitation.id), !outcome.isPending {
      self.invitation = nil
      report(outcome)
      // The answer to this call has still to go out.
      closing = loop.timer("next") { [weak self] in self?.goOn() }
      closing?.set(after: .milliseconds(arguments.has("--once") ? 200 : 0))
    }
    return answer
  }

  private func goOn() {
    guard !arguments.has("--once") else { return loop.stop() }
    do { try invite() } catch {
      console.remark("\(error)")
      loop.stop()
    }
  }

  private func report(_ outcome: VerifierTransaction.Outcome) {
    let report = OnlineAnswerReport(outcome, showsValues: options.showsValues)
    allVerified = allVerified && report.isVerified
    if arguments.has("--json") {
      console.data(report.json.text)
    } else {
      for line in report.lines { console.data(line) }
    }
  }
}
