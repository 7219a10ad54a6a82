import Bytes
import Crypto
import JOSE
import JSON
import Trust
import Web

/// One claim while it runs: the token, the proofs of possession, and what the issuer published about its roots. Used once.
final class ClaimConversation {
  let claim: CredentialClaim
  let offer: DiscoveredOffer
  /// Nil until there is one.
  var token: AccessToken?
  /// Nil while no server demands proofs of possession.
  var possession: Possession?
  /// Texts that no error may repeat.
  var secrets: [String] = []
  /// Nil until somebody asked.
  var publishedRoots: Result<[TrustAnchor], IssuanceError>?
  /// What is left of the caller's patience.
  var patience: Duration

  init(_ claim: CredentialClaim, _ offer: DiscoveredOffer) {
    self.claim = claim
    self.offer = offer
    patience = claim.options.patience
    if let code = offer.offer.preAuthorizedCode?.code { secrets.append(code) }
    if offer.server.dpopAlgorithms.contains(DPoPProof.algorithm) { possession = Possession() }
  }

  /// What an access token is and allows.
  struct AccessToken {
    let value: String
    let isBoundToKey: Bool
    /// What the server granted; empty when it says nothing.
    let details: [AuthorizationDetail]
  }

  /// The key that tokens are bound to, made with the first proof, and the servers' nonces by host.
  struct Possession {
    var key: PrivateKey?
    var nonces: [String: String] = [:]
  }

  /// Whether the wallet says who it is: not to servers that let anonymous holders of a pre-authorized code in.
  var clientID: String? {
    offer.grant == .preAuthorizedCode && offer.server.allowsAnonymousPreAuthorized ? nil : claim.options.clientID
  }

  /// A text that nobody can guess.
  func unguessable(_ bytes: Int = 32) -> String { Base64.url.encode(claim.random(bytes)) }

  // MARK: Requests

  /// Sends a request with the token, if it goes with one, and with a proof of possession where that is due. When the server wants
  /// its nonce in the proof, or a proof at all, the request is sent once more (RFC 9449, sections 8 and 9).
  func answer(
    to request: WebRequest, _ dialogue: ServerDialogue, size: Int = IssuanceLimits.answerSize,
    token: AccessToken? = nil
  ) throws(IssuanceError) -> WebAnswer {
    let first = try send(request, dialogue, size: size, token: token)
    guard let refusal = Refusal(first) else { return first }
    switch IssuanceErrorCode(rawValue: refusal.code) {
    case .useDPoPNonce:
      guard first[header: DPoPProof.nonceHeaderName] != nil, possession != nil || token == nil else { return first }
    case .invalidDPoPProof:
      // A server that never said it wants proofs: it gets one, if this is where tokens are made.
      guard possession == nil, token == nil else { return first }
    default: return first
    }
    if possession == nil { possession = Possession() }
    note(first, from: request.address)
    return try send(request, dialogue, size: size, token: token)
  }

  private func send(
    _ request: WebRequest, _ dialogue: ServerDialogue, size: Int, token: AccessToken?
  ) throws(IssuanceError) -> WebAnswer {
    var request = request
    if let token {
      let scheme = token.isBoundToKey ? "DPoP" : "Bearer"
      request.headers.append(WebHeader("Authorization", "\(scheme) \(token.value)"))
    }
    if possession != nil, token?.isBoundToKey ?? true {
      request.headers.append(WebHeader(DPoPProof.headerName, try proof(for: request, token: token?.value, dialogue)))
    }
    let answer = try dialogue.answer(to: request, size: size)
    note(answer, from: request.address)
    return answer
  }

  private func proof(
    for request: WebRequest, token: String?, _ dialogue: ServerDialogue
  ) throws(IssuanceError) -> String {
    do {
      let key: PrivateKey
      if let known = possession?.key { key = known } else { key = try PrivateKey.generate(.p256) }
      possession?.key = key
      return try DPoPProof.make(
        key, for: request, token: token, nonce: possession?.nonces[request.address.host],
        identifier: unguessable(16), at: claim.now())
    } catch {
      throw IssuanceError(.wallet, dialogue.step, .cryptography)
    }
  }

  /// Keeps a server's nonce for the next proof.
  private func note(_ answer: WebAnswer, from address: WebAddress) {
    guard possession != nil, let nonce = answer[header: DPoPProof.nonceHeaderName],
      nonce.utf8.count <= IssuanceLimits.opaqueText
    else { return }
    possession?.nonces[address.host] = nonce
  }

  // MARK: Waiting

  /// Waits before a poll.
  ///
  /// - Throws: `stillPending` when that would be longer than the caller's patience.
  func wait(seconds: Int, _ dialogue: ServerDialogue) throws(IssuanceError) {
    let duration = Duration.seconds(max(seconds, IssuanceLimits.shortestInterval))
    guard duration <= patience else { throw dialogue.failure(.stillPending(seconds: seconds)) }
    patience -= duration
    do { try claim.wait(duration) } catch { throw IssuanceError(.wallet, dialogue.step, .givenUp) }
  }
}

/// The seconds of an `interval`: positive, and a year at most, so that arithmetic with it is safe.
///
/// - Throws: `malformed` for anything else but a member that is not there, which is `usual`.
func interval(_ members: MemberReading, usual: Int = IssuanceLimits.usualInterval) throws(IssuanceError) -> Int {
  guard let value = members["interval"] else { return usual }
  let seconds: Int? =
    switch value {
    case .integer(let number): number
    case .double(let number): Int(exactly: number.rounded(.up))
    default: nil
    }
  guard let seconds, seconds > 0 else { throw members.failure(.malformed("interval")) }
  return min(seconds, 86_400 * 366)
}
