import Bytes
import Web

/// Which hosts an issuance may talk to: that of the offer's issuer, those of the authorization servers in the issuer's metadata,
/// and those the caller names. Metadata can point elsewhere; the wallet does not follow.
struct ContactRules: Equatable, Sendable {
  /// Host names without ports: a server's parts may sit behind several.
  private(set) var hosts: Set<String>
  /// Only an issuer on this machine may name addresses on this machine.
  let isLocal: Bool

  init(issuer: WebAddress, furtherHosts: Set<String> = []) {
    hosts = furtherHosts.union([issuer.hostName])
    isLocal = issuer.isLoopback
  }

  mutating func allow(_ address: WebAddress) { hosts.insert(address.hostName) }

  /// - Throws: `otherHost`, `notConfidential`, or what is wrong with the member.
  func address(_ key: String, in members: MemberReading) throws(IssuanceError) -> WebAddress? {
    guard let address = try members.address(key) else { return nil }
    guard isAllowed(address) else { throw members.failure(.otherHost(key)) }
    return address
  }

  func isAllowed(_ address: WebAddress) -> Bool {
    hosts.contains(address.hostName) && (isLocal || !address.isLoopback)
  }
}

extension WebAddress {
  /// Without query, as a proof of possession names its target (RFC 9449, section 4.2).
  var withoutQuery: String { origin + (path.isEmpty ? "/" : path) }
}
