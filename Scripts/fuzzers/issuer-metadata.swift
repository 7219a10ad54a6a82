// seed: {"credential_issuer":"https://a.example","credential_endpoint":"https://a.example/c","nonce_endpoint":"https://a.example/n","batch_credential_issuance":{"batch_size":5},"credential_configurations_supported":{"x":{"format":"mso_mdoc","doctype":"d","proof_types_supported":{"jwt":{"proof_signing_alg_values_supported":["ES256",-7]}},"credential_metadata":{"display":[{"name":"n"}],"claims":[{"path":["s","e"],"mandatory":true}]}}}}
// seed: {"issuer":"https://a.example","token_endpoint":"https://a.example/t","authorization_endpoint":"https://a.example/a","code_challenge_methods_supported":["S256"],"grant_types_supported":["authorization_code"]}
// seeds files: openid/openid4vci-1.0/*.json
// options: -max_len=8192
import Bytes
import JSON
import OpenID4VCI

/// Metadata of issuers and authorization servers: no address in what is read leads to another host.
func fuzz(_ input: [UInt8]) {
  guard let identifier = WebAddress("https://a.example"), let json = JSONValue(reading: input) else { return }
  if let issuer = try? IssuerMetadata(reading: json, of: identifier) {
    expect(issuer.identifier == identifier, "metadata is of the issuer that was asked")
    expect(issuer.batchSize >= 1, "one credential at least")
    expect(issuer.configurations.count <= IssuanceLimits.configurations, "not too many configurations")
    if issuer.authorizationServers.isEmpty {
      let addresses = [
        issuer.credentialEndpoint, issuer.nonceEndpoint, issuer.deferredCredentialEndpoint,
        issuer.notificationEndpoint, issuer.rootsAddress,
      ]
      for address in addresses.compactMap({ $0 }) { expect(isOwn(address), "its addresses are its own") }
    }
    for configuration in issuer.configurations {
      _ = configuration.name
      expect(!configuration.isMdoc || configuration.docType != nil, "an mdoc has a doc type")
    }
  }
  if let server = try? AuthorizationServerMetadata(reading: json, of: identifier) {
    let addresses = [server.tokenEndpoint, server.authorizationEndpoint, server.pushedRequestEndpoint]
    for address in addresses.compactMap({ $0 }) { expect(isOwn(address), "its addresses are its own") }
  }
}

private func isOwn(_ address: WebAddress) -> Bool {
  address.isSecure && (address.host == "a.example" || address.host.hasPrefix("a.example:"))
}
