import Bytes

/// An offer with all that is published about it: what a wallet shows before it asks for anything.
package struct DiscoveredOffer: Sendable {
  package let offer: CredentialOffer
  package let issuer: IssuerMetadata
  package let server: AuthorizationServerMetadata
  /// How the wallet will get leave.
  package let grant: GrantType
  /// The offered configurations that are mdocs, in the order of the offer; at least one.
  package let credentials: [CredentialConfiguration]
  /// Names of offered configurations in other formats.
  package let otherFormats: [String]

  /// For people: the issuer's first display name; nil when it has none.
  package var issuerName: String? { issuer.display.first?.name }
  package var authorizationEndpoint: WebAddress? { server.authorizationEndpoint }
  package var tokenEndpoint: WebAddress { server.tokenEndpoint }
  package var credentialEndpoint: WebAddress { issuer.credentialEndpoint }
  /// Where the issuer publishes its IACA roots; nil when nowhere.
  package var rootsAddress: WebAddress? { issuer.rootsAddress }

  /// What the user has to type; nil when nothing.
  package var transactionCode: CredentialOffer.TransactionCode? {
    grant == .preAuthorizedCode ? offer.preAuthorizedCode?.transactionCode : nil
  }

  /// Hosts that will be talked to.
  package var hosts: [String] {
    let addresses = [
      offer.issuer, issuer.credentialEndpoint, issuer.nonceEndpoint, issuer.deferredCredentialEndpoint,
      issuer.notificationEndpoint, issuer.rootsAddress, server.tokenEndpoint, server.pushedRequestEndpoint,
      grant == .authorizationCode ? server.authorizationEndpoint : nil,
    ]
    return Set(addresses.compactMap { $0?.host }).sorted()
  }
}
