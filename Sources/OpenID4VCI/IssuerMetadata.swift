import Bytes
import JSON
import Web

/// What a credential issuer publishes about itself (OpenID4VCI 1.0, section 12.2).
package struct IssuerMetadata: Equatable, Sendable {
  /// The credential issuer identifier: to the character the one it was asked by.
  package let identifier: WebAddress
  /// Identifiers of its authorization servers; empty when it is its own.
  package let authorizationServers: [WebAddress]
  package let credentialEndpoint: WebAddress
  /// Nil when proofs carry no nonce.
  package let nonceEndpoint: WebAddress?
  /// Nil when nothing is deferred.
  package let deferredCredentialEndpoint: WebAddress?
  /// Nil when it wants to hear nothing.
  package let notificationEndpoint: WebAddress?
  /// Nil when requests cannot be encrypted.
  package let requestEncryption: CredentialRequestEncryption?
  /// Nil when answers cannot be encrypted.
  package let responseEncryption: CredentialResponseEncryption?
  /// Most keys in one request; 1 when nothing is said.
  package let batchSize: Int
  package let display: [CredentialConfiguration.Display]
  /// Those that can be read, in the order of the document.
  package let configurations: [CredentialConfiguration]
  /// What is wrong with the others: one that is not offered may be as it likes.
  private let faults: [Fault]
  /// Where it publishes its IACA roots (`mdoc_iacas_uri`); nil when nowhere.
  package let rootsAddress: WebAddress?

  /// The name under which metadata is to be had.
  package static let wellKnownName = "openid-credential-issuer"

  private struct Fault: Equatable, Sendable {
    let id: String
    let error: IssuanceError
  }

  /// The configuration of exactly this name.
  ///
  /// - Throws: `unknownConfiguration` when there is none, or what is wrong with it.
  package func configuration(_ id: String) throws(IssuanceError) -> CredentialConfiguration {
    if let found = configurations.first(where: { $0.id.utf8.elementsEqual(id.utf8) }) { return found }
    throw faults.first { $0.id.utf8.elementsEqual(id.utf8) }?.error
      ?? IssuanceError(.issuer, .offer, .unknownConfiguration(printable(id)))
  }
}

extension IssuerMetadata {
  /// Reads a metadata document that was asked for under `identifier`.
  ///
  /// - Parameter furtherHosts: host names that may be used beside those the document may name (`ContactRules`).
  package init(
    reading json: JSONValue?, of identifier: WebAddress, furtherHosts: Set<String> = []
  ) throws(IssuanceError) {
    let members = try MemberReading(json, of: .issuer, at: .issuerMetadata)
    // Before everything else: nothing of another issuer's document is used.
    guard try members.requiredText("credential_issuer").utf8.elementsEqual(identifier.text.utf8) else {
      throw members.failure(.otherIdentifier)
    }
    for sign in ["credentials_supported", "credential_manifest"] where members[sign] != nil {
      throw members.failure(.issuerSpeaksDraft(sign))
    }
    var rules = ContactRules(issuer: identifier, furtherHosts: furtherHosts)
    let servers = try IssuerMetadata.servers(members, isLocal: rules.isLocal)
    for server in servers { rules.allow(server) }
    guard let endpoint = try rules.address("credential_endpoint", in: members) else {
      throw members.failure(.missing("credential_endpoint"))
    }
    self.identifier = identifier
    authorizationServers = servers
    credentialEndpoint = endpoint
    nonceEndpoint = try rules.address("nonce_endpoint", in: members)
    deferredCredentialEndpoint = try rules.address("deferred_credential_endpoint", in: members)
    notificationEndpoint = try rules.address("notification_endpoint", in: members)
    rootsAddress = try rules.address("mdoc_iacas_uri", in: members)
    requestEncryption = try members.members("credential_request_encryption").map(CredentialRequestEncryption.init)
    responseEncryption = try members.members("credential_response_encryption").map(CredentialResponseEncryption.init)
    batchSize = try IssuerMetadata.batchSize(members)
    display = try CredentialConfiguration.displays(of: members)
    let key = "credential_configurations_supported"
    guard let supported = members[key] else { throw members.failure(.missing(key)) }
    guard case .object(let entries) = supported else { throw members.failure(.malformed(key)) }
    guard entries.count <= IssuanceLimits.configurations else { throw members.failure(.tooMany(key)) }
    var configurations: [CredentialConfiguration] = []
    var faults: [Fault] = []
    for entry in entries {
      do {
        let members = try MemberReading(entry.value, of: .issuer, at: .issuerMetadata)
        configurations.append(try CredentialConfiguration(id: entry.key, members))
      } catch {
        faults.append(Fault(id: entry.key, error: error))
      }
    }
    self.configurations = configurations
    self.faults = faults
  }

  private static func servers(_ members: MemberReading, isLocal: Bool) throws(IssuanceError) -> [WebAddress] {
    let key = "authorization_servers"
    var servers: [WebAddress] = []
    for text in try members.texts(key, most: 100) ?? [] {
      guard let server = WebAddress(text), server.query == nil else { throw members.failure(.malformed(key)) }
      guard server.isConfidential, isLocal || !server.isLoopback else { throw members.failure(.notConfidential(key)) }
      servers.append(server)
    }
    return servers
  }

  private static func batchSize(_ members: MemberReading) throws(IssuanceError) -> Int {
    guard let batch = try members.members("batch_credential_issuance") else { return 1 }
    guard let size = batch["batch_size"]?.integer, size >= 1 else { throw members.failure(.malformed("batch_size")) }
    return size
  }
}
