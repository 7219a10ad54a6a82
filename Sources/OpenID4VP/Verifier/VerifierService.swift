import Bytes
import CivilTime
import Crypto
import JOSE
import JSON
import MdocVerification
import Web

/// The rules of a small real verifier (OpenID4VP 1.0 by direct post; ISO/IEC 18013-7 Annex B): requests go out, each under an
/// address of its own, answers come in, once each. Who carries them is another's business.
///
/// | call | what |
/// | --- | --- |
/// | GET or POST `/request/ID` | the request object |
/// | POST `/response/ID` | the answer, or the wallet's refusal |
/// | GET `/done/CODE` | where the holder's browser goes on |
package final class VerifierService {
  /// How long a wallet may take.
  package static let lifetimeSeconds: Int64 = 600
  /// Most transactions that are kept; the oldest goes first.
  package static let most = 1000

  /// Such as `https://verifier.example`, without a slash at its end.
  package let origin: String
  private let credential: VerifierCredential?
  private let verifier: Verifier
  private var transactions: [VerifierTransaction] = []

  /// - Parameters:
  ///   - credential: nil for a verifier that signs nothing.
  ///   - verifier: whom documents are believed of.
  package init(origin: String, credential: VerifierCredential?, verifier: Verifier) {
    self.origin = origin
    self.credential = credential
    self.verifier = verifier
  }

  /// A question that a wallet can be started with.
  package struct Invitation: Equatable, Sendable {
    package let id: String
    /// `openid4vp://?…`: for a link or a QR code.
    package let address: String
  }

  /// Asks something.
  ///
  /// - Throws: `noCertificate` where the order wants a signed request and nothing is there to sign with; `otherHost` for an origin
  ///   that is no web address.
  package func begin(_ order: VerifierOrder, now: UnixTime) throws(CredentialFault) -> Invitation {
    let id = Base64.url.encode(randomBytes(16))
    let responseURI = origin + "/response/" + id
    let leaf = credential?.chain.first
    var clientID: String
    switch (order.client, order.form) {
    case (.redirectURI, _): clientID = "redirect_uri:" + responseURI
    case (.x509SANDNS, let form):
      guard let address = WebAddress(origin) else { throw .otherHost }
      clientID = (form == .final ? "x509_san_dns:" : "") + address.hostName
    case (.x509Hash, _):
      guard let leaf else { throw .noCertificate }
      let named = order.deviation == .otherHash ? digest(.sha256, leaf.fingerprint) : leaf.fingerprint
      clientID = "x509_hash:" + Base64.url.encode(named)
    }
    if order.deviation == .unknownPrefix { clientID = "did:" + clientID }
    guard order.client == .redirectURI || leaf != nil else { throw .noCertificate }
    let key = order.responseMode == .directPostJWT ? try? PrivateKey.generate(.p256) : nil
    let transaction = VerifierTransaction(
      id: id, order: order, clientID: clientID, responseURI: responseURI, nonce: Base64.url.encode(randomBytes(24)),
      state: Base64.url.encode(randomBytes(16)), encryptionKey: key,
      ends: now.adding(seconds: VerifierService.lifetimeSeconds), outcome: .pending)
    transactions.removeAll { $0.ends < now }
    if transactions.count >= VerifierService.most { transactions.removeFirst() }
    transactions.append(transaction)
    return Invitation(id: id, address: address(of: transaction))
  }

  /// How a transaction stands; nil for one that is not known any more.
  package func outcome(of id: String) -> VerifierTransaction.Outcome? {
    transactions.first { $0.id == id }?.outcome
  }

  private func address(of transaction: VerifierTransaction) -> String {
    let scheme = transaction.order.form == .annexB ? "mdoc-openid4vp" : "openid4vp"
    if transaction.order.client == .redirectURI {
      var fields: FormFields = [:]
      for member in VerifierRequest(transaction, now: transaction.ends).claims.members ?? [] {
        fields.append(member.key, member.value.string ?? member.value.text)
      }
      return scheme + "://?" + fields.text
    }
    let isPost = transaction.order.fetchesByPost || transaction.order.deviation == .noWalletNonce
    var host = origin
    if transaction.order.deviation == .requestOnAnotherHost { host = "http://localhost:1" }
    let fields: FormFields = [
      "client_id": transaction.clientID, "request_uri": host + "/request/" + transaction.id,
      "request_uri_method": isPost ? "post" : nil,
    ]
    return scheme + "://?" + fields.text
  }

  // MARK: Calls

  package func handle(_ call: WebCall, at now: UnixTime) -> WebAnswer {
    let parts = call.path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
    guard parts.count == 2 else { return WebAnswer(status: 404) }
    guard parts[0] != "done" else { return WebAnswer(status: 200, headers: [text], body: Array("Done.\n".utf8)) }
    guard let place = transactions.firstIndex(where: { $0.id == parts[1] && now < $0.ends }) else {
      return failure(.transactionUnknown, status: 404)
    }
    switch (parts[0], call.method) {
    case ("request", _): return request(transactions[place], call, now)
    case ("response", .post): return respond(to: call, at: place, now)
    default: return WebAnswer(status: 404)
    }
  }

  private var text: WebHeader { WebHeader("Content-Type", "text/plain; charset=utf-8") }

  private func request(_ transaction: VerifierTransaction, _ call: WebCall, _ now: UnixTime) -> WebAnswer {
    let deviation = transaction.order.deviation
    switch deviation {
    case .requestMissing: return WebAnswer(status: 404)
    case .hugeRequest:
      return object(String(repeating: "a", count: PresentationExchange.sizeLimit + 1))
    case .pageInsteadOfRequest:
      return WebAnswer(
        status: 200, headers: [WebHeader("Content-Type", "text/html")], body: Array("<html></html>".utf8))
    default: break
    }
    guard let credential else { return WebAnswer(status: 404) }
    let walletNonce = call.method == .post && deviation != .noWalletNonce ? call.form?["wallet_nonce"] : nil
    guard
      let signed = VerifierRequest(transaction, now: now).signed(by: credential, walletNonce: walletNonce)
    else { return WebAnswer(status: 500) }
    var answer = object(signed)
    if deviation == .otherMediaType { answer.headers = [WebHeader("Content-Type", "application/jwt")] }
    return answer
  }

  private func object(_ text: String) -> WebAnswer {
    WebAnswer(
      status: 200, headers: [WebHeader("Content-Type", RequestObject.mediaType)], body: Array(text.utf8))
  }

  private func respond(to call: WebCall, at place: Int, _ now: UnixTime) -> WebAnswer {
    let transaction = transactions[place]
    guard case .pending = transaction.outcome else { return failure(.transactionUsed, status: 400) }
    if transaction.order.deviation == .serverError { return WebAnswer(status: 500) }
    guard let form = call.form else { return failure(.formMalformed, status: 400) }
    do throws(ResponseFault) {
      switch try transaction.read(form) {
      case .refusal(let error): transactions[place].outcome = .refused(error)
      case .parts(let parts, let walletNonce):
        transactions[place].outcome = .answered(
          verifier.verify(parts, mdocGeneratedNonce: walletNonce, of: transaction, now: now))
      }
    } catch {
      // What was posted by whoever knew the address does not use the transaction up: the wallet may still answer.
      if error != .stateMismatch { transactions[place].outcome = .invalid(error) }
      return failure(error, status: 400)
    }
    return acknowledged(transaction)
  }

  private func acknowledged(_ transaction: VerifierTransaction) -> WebAnswer {
    switch transaction.order.deviation {
    case .refusesAnswer: return failure(.tokenMalformed, status: 400)
    case .redirectsAnswer: return WebAnswer(status: 302, headers: [WebHeader("Location", "http://localhost:1/")])
    case .garbledAnswer: return json(status: 200, "[]")
    default: break
    }
    guard transaction.order.redirects else { return json(status: 200, "{}") }
    let code = Base64.url.encode(randomBytes(16))
    return json(status: 200, JSONValue.object(["redirect_uri": .string(origin + "/done/" + code)]).text)
  }

  private func failure(_ fault: ResponseFault, status: Int) -> WebAnswer {
    json(
      status: status,
      JSONValue.object(["error": "invalid_request", "error_description": .string(fault.code)]).text)
  }

  private func json(status: Int, _ text: String) -> WebAnswer {
    WebAnswer(
      status: status,
      headers: [WebHeader("Content-Type", "application/json"), WebHeader("Cache-Control", "no-store")],
      body: Array(text.utf8))
  }
}
