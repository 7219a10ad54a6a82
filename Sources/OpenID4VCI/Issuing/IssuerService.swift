import Bytes
import CivilTime
import Crypto
import Issuer
import JOSE
import JSON
import Web

/// A small credential issuer with its authorization server, as rules: a call comes in, an answer goes out. It issues documents of
/// invented people, by OpenID4VCI 1.0, and wrongly in the ways it is told to (`IssuerDeviation`).
///
/// Not thread-safe: one loop owns it. Everything it remembers is bounded and expires.
package final class IssuerService {
  package let authority: IssuerAuthority
  /// The credential issuer identifier, which is its authorization server's too.
  package let identifier: WebAddress
  /// What it issues, by configuration.
  package let documents: [OfferedDocument]
  package var settings: IssuerSettings
  /// In which ways it does wrong.
  package var deviations: Set<IssuerDeviation> = []
  /// What wallets said about what they got, by notification: `credential_accepted` and so on; nil where nothing came yet.
  package internal(set) var notifications: [String: String?] = [:]

  let encryptionKey: PrivateKey
  var random: ServiceRandom
  var signer: (signer: DocumentSigner, expiry: UnixTime)?

  var offers = ExpiringTable<CredentialOffer>(lifetime: 86_400)
  var issuerStates = ExpiringTable<[String]>(lifetime: 86_400)
  var preAuthorizations = ExpiringTable<PreAuthorization>(lifetime: 86_400)
  var pushedRequests = ExpiringTable<AuthorizationRequest>(lifetime: 90)
  var consents = ExpiringTable<AuthorizationRequest>(lifetime: 600)
  var codes = ExpiringTable<AuthorizationRequest>(lifetime: 60)
  var tokens = ExpiringTable<IssuedToken>(lifetime: 3600)
  var nonces = ExpiringTable<Void>(lifetime: 300)
  var possessionNonces = ExpiringTable<Void>(lifetime: 300)
  /// `jti` of proofs of possession: longer than the window in which one is taken.
  var possessionProofs = ExpiringTable<Void>(lifetime: 900)
  var transactions = ExpiringTable<Transaction>(lifetime: 86_400)
  /// How often a nonce was refused, and a nonce was asked for: for deviations that do so once.
  var refusedNonces = 0
  var givenNonces = 0

  /// - Parameters:
  ///   - identifier: https, or http on this machine; with or without a path, without query.
  ///   - random: a seeded generator gives the same service again; only for tests.
  /// - Throws: `cryptography` when the key for encrypted requests cannot be made.
  package init(
    _ authority: IssuerAuthority, identifier: WebAddress, documents: [DocumentContent],
    settings: IssuerSettings = IssuerSettings(), random: any RandomNumberGenerator = RandomSource()
  ) throws(IssuerError) {
    self.authority = authority
    self.identifier = identifier
    self.documents = documents.map(OfferedDocument.init)
    self.settings = settings
    self.random = ServiceRandom(random)
    encryptionKey = try PrivateKey.make(.p256, random: &self.random)
  }

  /// The answer to a call.
  package func handle(_ call: WebCall, at now: UnixTime) -> WebAnswer {
    do throws(ServiceRefusal) {
      return try route(call, at: now)
    } catch {
      return error.answer
    }
  }

  /// The path of the identifier, without a slash at its end.
  var basePath: String { identifier.path.hasSuffix("/") ? String(identifier.path.dropLast()) : identifier.path }

  /// The address of one of its endpoints.
  func address(_ endpoint: Endpoint) -> String { identifier.origin + basePath + endpoint.rawValue }

  enum Endpoint: String, CaseIterable {
    case offer = "/offers/"
    case pushedRequest = "/par"
    case authorization = "/authorize"
    case token = "/token"
    case nonce = "/nonce"
    case credential = "/credential"
    case deferredCredential = "/deferred"
    case notification = "/notification"
    case roots = "/iacas"
  }

  private func route(_ call: WebCall, at now: UnixTime) throws(ServiceRefusal) -> WebAnswer {
    if let document = metadata(at: call.path, at: now) {
      return call.method == .get ? document : WebAnswer(status: 405)
    }
    guard call.path.hasPrefix(basePath) else { return WebAnswer(status: 404) }
    let rest = String(call.path.dropFirst(basePath.count))
    if rest.hasPrefix(Endpoint.offer.rawValue), call.method == .get {
      guard let offer = offers.value(under: String(rest.dropFirst(Endpoint.offer.rawValue.count)), at: now) else {
        return WebAnswer(status: 404)
      }
      return .json(offer.json)
    }
    guard let endpoint = Endpoint(rawValue: rest) else { return WebAnswer(status: 404) }
    switch (endpoint, call.method) {
    case (.roots, .get): return .json(IssuerRoots.json([authority.certificate]))
    case (.authorization, .get): return try authorize(call, at: now)
    case (.authorization, .post): return try consent(call, at: now)
    case (.pushedRequest, .post): return try pushRequest(call, at: now)
    case (.token, .post): return try giveToken(call, at: now)
    case (.nonce, .post): return giveNonce(at: now)
    case (.credential, .post): return try giveCredential(call, at: now)
    case (.deferredCredential, .post): return try giveDeferredCredential(call, at: now)
    case (.notification, .post): return try hear(call, at: now)
    default: return WebAnswer(status: 405)
    }
  }

  /// A text that nobody can guess.
  func unguessable() -> String {
    Base64.url.encode((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) })
  }

  /// Refuses with a code at the place where that code is due, when it is told to.
  func deviate(at place: IssuerDeviation.Place) throws(ServiceRefusal) {
    for case .refuses(let code) in deviations where code.place == place {
      if place == .credential, code == .invalidToken || code == .insufficientScope { throw .unauthorized(code) }
      throw ServiceRefusal(code, "told to refuse")
    }
  }
}

/// How an issuer is set up.
package struct IssuerSettings: Equatable, Sendable {
  /// Most keys in one request.
  package var batchSize = 5
  /// Days that a document is valid.
  package var validDays = 30
  /// Whether proofs of possession (DPoP) are announced. Where they are not, they are taken all the same.
  package var announcesDPoP = true
  /// Whether tokens are given for proofs of possession only.
  package var requiresDPoP = false
  /// Whether proofs of possession must have a nonce of this server's.
  package var demandsDPoPNonce = false
  /// Whether authorization requests can be pushed.
  package var takesPushedRequests = true
  /// Whether authorization requests must be pushed.
  package var requiresPushedRequests = false
  /// Whether requests and answers with credentials must be encrypted.
  package var requiresEncryption = false
  /// Whether encryption is offered.
  package var offersEncryption = true
  /// Whether the user sees a page and says yes before a code is given.
  package var asksConsent = false
  /// Whether a pre-authorized code is taken from wallets that do not say who they are.
  package var allowsAnonymous = true
  /// Whether the token answer names each credential that may be asked for.
  package var namesCredentials = false
  /// Whether proofs carry a nonce of the nonce endpoint.
  package var usesNonces = true
  /// Whether the roots are announced (`mdoc_iacas_uri`).
  package var announcesRoots = true
  /// How often a wallet has to ask before the credential is ready; 0 gives it at once.
  package var pollsUntilReady = 0
  /// Seconds between two polls.
  package var pollInterval = 5

  package init() {}
}

/// A document that an issuer has on offer, with its name in offers and requests.
package struct OfferedDocument: Sendable {
  package let content: DocumentContent
  /// The doc type serves as the name of the configuration.
  package var configurationID: String { content.kind.docType }
  package var scope: String { content.kind.rawValue }

  init(_ content: DocumentContent) { self.content = content }
}

/// The generator of a service, whichever it was given.
struct ServiceRandom: RandomNumberGenerator {
  private var base: any RandomNumberGenerator

  init(_ base: any RandomNumberGenerator) { self.base = base }

  mutating func next() -> UInt64 { base.next() }
}
