import Bytes
import JSON
import Web

extension CredentialClaim {
  /// Finds out what an offer is about: from the text of a QR code or link to all that is published about it. Nothing is asked of
  /// the issuer that would count as a use of the offer.
  ///
  /// - Throws: also when the offer names a configuration that the metadata does not have: before anybody is asked for a token.
  package func discover(_ invocation: String) throws(IssuanceError) -> DiscoveredOffer {
    switch try CredentialOffer.Invocation(invocation) {
    case .offer(let offer): return try discover(offer)
    case .reference(let address):
      let document = try dialogue(.issuer, .offer).document(at: address, size: IssuanceLimits.offerSize)
      return try discover(CredentialOffer(reading: document))
    }
  }

  /// The same from an offer that the wallet has already.
  package func discover(_ offer: CredentialOffer) throws(IssuanceError) -> DiscoveredOffer {
    let issuer = try issuerMetadata(of: offer.issuer)
    var credentials: [CredentialConfiguration] = []
    var others: [String] = []
    for id in offer.configurationIDs {
      let configuration = try issuer.configuration(id)
      if configuration.isMdoc { credentials.append(configuration) } else { others.append(shown(id)) }
    }
    guard !credentials.isEmpty else { throw IssuanceError(.issuer, .offer, .noMdocOffered) }
    let (server, grant) = try authorizationServer(for: offer, of: issuer)
    return DiscoveredOffer(
      offer: offer, issuer: issuer, server: server, grant: grant, credentials: credentials, otherFormats: others)
  }

  /// The metadata of an issuer.
  package func issuerMetadata(of identifier: WebAddress) throws(IssuanceError) -> IssuerMetadata {
    let document = try wellKnown(IssuerMetadata.wellKnownName, of: identifier, dialogue(.issuer, .issuerMetadata))
    return try IssuerMetadata(reading: document, of: identifier, furtherHosts: options.furtherHosts)
  }

  func dialogue(_ party: IssuanceError.Party, _ step: IssuanceError.Step) -> ServerDialogue {
    ServerDialogue(exchange: exchange, party: party, step: step)
  }

  /// The document between host and path; behind the path too where that is wanted and there is nothing (404) at the right place.
  private func wellKnown(
    _ name: String, of identifier: WebAddress, _ dialogue: ServerDialogue
  ) throws(IssuanceError) -> JSONValue {
    guard let address = identifier.wellKnown(name) else { throw dialogue.failure(.malformed("credential_issuer")) }
    do {
      return try dialogue.document(at: address, size: IssuanceLimits.metadataSize)
    } catch {
      guard options.triesOldWellKnown, error.problem == .status(404), let old = identifier.wellKnownBehind(name),
        old != address
      else { throw error }
      return try dialogue.document(at: old, size: IssuanceLimits.metadataSize)
    }
  }

  /// The server to ask for leave, and how.
  ///
  /// The one that the offer names, which has to be the issuer's; else the first of the issuer's that takes a grant of the offer. An
  /// offer without grants leaves the choice to the wallet, which signs the user in. A pre-authorized code comes before that: the
  /// user has been let in already.
  private func authorizationServer(
    for offer: CredentialOffer, of issuer: IssuerMetadata
  ) throws(IssuanceError) -> (AuthorizationServerMetadata, GrantType) {
    var grants: [(grant: GrantType, server: String?)] = []
    if let grant = offer.preAuthorizedCode { grants.append((.preAuthorizedCode, grant.authorizationServer)) }
    if let grant = offer.authorizationCode { grants.append((.authorizationCode, grant.authorizationServer)) }
    if grants.isEmpty { grants = [(.authorizationCode, nil)] }
    let servers = issuer.authorizationServers.isEmpty ? [issuer.identifier] : issuer.authorizationServers
    var known: [(WebAddress, AuthorizationServerMetadata)] = []
    for (grant, named) in grants {
      var candidates = servers.prefix(IssuanceLimits.authorizationServers)
      if let named {
        guard let server = servers.first(where: { $0.text.utf8.elementsEqual(named.utf8) }) else {
          throw IssuanceError(.issuer, .offer, .unknownAuthorizationServer)
        }
        candidates = [server]
      }
      for candidate in candidates {
        let metadata: AuthorizationServerMetadata
        if let read = known.first(where: { $0.0 == candidate })?.1 {
          metadata = read
        } else {
          metadata = try serverMetadata(of: candidate, for: issuer)
          known.append((candidate, metadata))
        }
        if metadata.takes(grant) { return (metadata, grant) }
      }
    }
    throw IssuanceError(.authorizationServer, .serverMetadata, .noUsableGrant)
  }

  private func serverMetadata(
    of server: WebAddress, for issuer: IssuerMetadata
  ) throws(IssuanceError) -> AuthorizationServerMetadata {
    let name = AuthorizationServerMetadata.wellKnownName
    let document = try wellKnown(name, of: server, dialogue(.authorizationServer, .serverMetadata))
    return try AuthorizationServerMetadata(
      reading: document, of: server, hosts: options.furtherHosts.union([issuer.identifier.hostName]))
  }
}
