import CivilTime
import Commands
import Crypto
import Issuer
import JSON
import Kernel
import MdocVerification
import OpenID4VP
import Wallet
import Web

/// A verifier on this machine: shows an address, takes the answer to it, says what it makes of it, and asks again.
final class VerifierServer {
  private let options: VerifierOptions
  private let console: Console
  private let arguments: Arguments
  private let shape: CodeShape
  private let serving: ServingLoop
  private let service: VerifierService
  private var invitation: VerifierService.Invitation?
  private var allVerified = true

  init(_ arguments: Arguments, console: Console) throws {
    self.arguments = arguments
    self.console = console
    options = try VerifierOptions(arguments)
    shape = try CodeShape(arguments)
    serving = try ServingLoop(arguments)
    service = VerifierService(
      origin: serving.origin, credential: try VerifierServer.credential(options, now: serving.now),
      verifier: options.verifier)
    serving.answer = { [weak self] call in self?.answer(call) ?? WebAnswer(status: 503) }
  }

  /// A key and certificate of its own, under a root that nobody knows but who is given it.
  private static func credential(_ options: VerifierOptions, now: UnixTime) throws -> VerifierCredential {
    var random = RandomSource()
    let authority = try IssuerAuthority(
      commonName: "Test Verifier CA", notBefore: now.adding(seconds: -86_400), random: &random)
    let name = options.order.deviation == .otherName ? "other.example" : ServingLoop.host
    let signer = try authority.makeSigner(
      commonName: "Test Verifier", notBefore: now.adding(seconds: -3600), notAfter: now.adding(seconds: 30 * 86_400),
      purposes: [.readerAuthentication], random: &random
    ) { draft in draft[.subjectAltName] = .subjectAltName(dnsName: name) }
    if let path = options.rootPath { try AtomicFile.write(authority.pem.utf8, to: path) }
    return VerifierCredential(key: signer.key, chain: [try Certificate(signer.certificate)])
  }

  /// Serves until it is stopped, or with `--once` until one wallet has answered; 0 when every answer was verified.
  func run() throws -> Int32 {
    try invite()
    try serving.run()
    return allVerified ? 0 : 1
  }

  private func invite() throws {
    let invitation: VerifierService.Invitation
    do throws(CredentialFault) {
      invitation = try service.begin(options.order, now: serving.now)
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
    let answer = service.handle(call, at: serving.now)
    if let invitation, let outcome = service.outcome(of: invitation.id), !outcome.isPending {
      self.invitation = nil
      report(outcome)
      // The answer to this call has still to go out.
      serving.perform(after: .milliseconds(arguments.has("--once") ? 200 : 0)) { [weak self] in self?.goOn() }
    }
    return answer
  }

  private func goOn() {
    guard !arguments.has("--once") else { return serving.stop() }
    do { try invite() } catch {
      console.remark("\(error)")
      serving.stop()
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
