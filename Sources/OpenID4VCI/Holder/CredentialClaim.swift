import Bytes
import CivilTime
import Crypto
import Trust
import Web

/// The wallet's side of an issuance: discovers what an offer is about, then retrieves the credentials in it.
///
/// Plain sequential steps. Everything of the world is given: what carries requests, the clock, the wait between two polls, the
/// user's sign-in, and the keys. What a stranger's server can make it do is in `IssuanceLimits` and `ContactRules`.
package struct CredentialClaim {
  /// Carries the requests. It must not follow redirects.
  package var exchange: WebExchange
  package var now: () -> UnixTime
  /// Comes back when the time is over; throws to give up.
  package var wait: (Duration) throws -> Void
  /// Lets the user sign in at an address and gives back the address the server sent them to after it, as text; throws to give up.
  package var authorize: (WebAddress) throws -> String
  /// Asks the user for the transaction code; throws to give up.
  package var transactionCode: (CredentialOffer.TransactionCode) throws -> String
  /// Makes that many fresh device keys for a configuration, on P-256; throws to give up.
  package var deviceKeys: (Int, CredentialConfiguration) throws -> [PrivateKey]
  /// Stores a credential before the issuer hears that it was accepted; throws when it cannot. Nothing is done by default: then the
  /// caller stores the results.
  package var keep: (ClaimedCredential) throws -> Void = { _ in }
  package var options: ClaimOptions
  /// So many random bytes, for everything that must not be guessed.
  package var random: (Int) -> [UInt8] = randomBytes

  package init(
    exchange: WebExchange, now: @escaping () -> UnixTime, wait: @escaping (Duration) throws -> Void,
    authorize: @escaping (WebAddress) throws -> String,
    transactionCode: @escaping (CredentialOffer.TransactionCode) throws -> String,
    deviceKeys: @escaping (Int, CredentialConfiguration) throws -> [PrivateKey], options: ClaimOptions
  ) {
    self.exchange = exchange
    self.now = now
    self.wait = wait
    self.authorize = authorize
    self.transactionCode = transactionCode
    self.deviceKeys = deviceKeys
    self.options = options
  }

  /// Gets leave, and retrieves every credential that is wanted: one result for each copy.
  ///
  /// - Parameter configurationIDs: which of the offered; nil for all of them that are mdocs.
  /// - Throws: what fails before the first credential is asked for. What fails after that is in the results, so that the good
  ///   ones are not lost.
  package func retrieve(
    _ offer: DiscoveredOffer, configurationIDs: [String]? = nil
  ) throws(IssuanceError) -> [ClaimResult] {
    var wanted = offer.credentials
    if let configurationIDs {
      wanted = []
      for id in configurationIDs {
        guard let configuration = offer.credentials.first(where: { $0.id == id }) else {
          throw IssuanceError(.wallet, .offer, .unknownConfiguration(printable(id)))
        }
        wanted.append(configuration)
      }
    }
    guard !wanted.isEmpty else { return [] }
    let conversation = ClaimConversation(self, offer)
    try conversation.getToken(for: wanted)
    var results: [ClaimResult] = []
    for configuration in wanted { results += conversation.retrieve(configuration) }
    return results
  }
}

/// What a wallet wants of its claims.
package struct ClaimOptions {
  /// Who the wallet is to authorization servers.
  package var clientID: String
  /// Where servers send the user back to: a scheme of the wallet's own, or http on this machine.
  package var redirectAddress: String
  /// Roots that the wallet trusts.
  package var anchors: [TrustAnchor] = []
  /// Whether roots that the issuer publishes itself make it trusted: somebody who trusts the issuer's host may say so.
  package var trustsIssuerAutomatically = false
  /// Whether a credential of an issuer that nobody vouches for is handed out all the same.
  package var allowsUntrustedIssuer = false
  /// Copies of each credential, as far as the issuer makes so many: each is bound to a key of its own.
  package var copies = 1
  /// Whether answers are to be encrypted where the issuer offers that without asking for it.
  package var wantsEncryption = true
  /// Whether metadata is looked for at the old place too, behind the path, when there is none at the right one.
  package var triesOldWellKnown = false
  /// Host names that metadata may point to beside the issuer's and its authorization servers'.
  package var furtherHosts: Set<String> = []
  /// Longest wait, all polls together, for what the issuer has not ready.
  package var patience = Duration.seconds(600)

  package init(clientID: String, redirectAddress: String) {
    self.clientID = clientID
    self.redirectAddress = redirectAddress
  }
}

/// What came of one credential of a claim.
package struct ClaimResult: Sendable {
  /// Name of the configuration.
  package let configurationID: String
  package let docType: String
  package let outcome: Result<ClaimedCredential, IssuanceError>

  /// The credential; nil when it failed.
  package var credential: ClaimedCredential? { try? outcome.get() }

  /// Why it failed; nil when it did not.
  package var error: IssuanceError? {
    if case .failure(let error) = outcome { return error }
    return nil
  }
}
