// seed: openid-credential-offer://?credential_offer=%7B%22credential_issuer%22%3A%22https%3A%2F%2Fa.example%22%2C%22credential_configuration_ids%22%3A%5B%22x%22%5D%2C%22grants%22%3A%7B%22authorization_code%22%3A%7B%22issuer_state%22%3A%22s%22%7D%7D%7D
// seed: haip-vci://?credential_offer_uri=https%3A%2F%2Fa.example%2Foffer
// seed: {"credential_issuer":"https://a.example","credential_configuration_ids":["x"],"grants":{"urn:ietf:params:oauth:grant-type:pre-authorized_code":{"pre-authorized_code":"c","tx_code":{"length":4}}}}
// seeds files: openid/openid4vci-1.0/*
// options: -max_len=4096
import JSON
import OpenID4VCI

/// Offers as links and as documents: what is read is within the limits, and is the same when it is written and read again.
func fuzz(_ input: [UInt8]) {
  if let invocation = try? CredentialOffer.Invocation(String(decoding: input, as: UTF8.self)) {
    switch invocation {
    case .offer(let offer): check(offer)
    case .reference(let address): expect(address.isSecure || address.host != "", "a reference has a host")
    }
  }
  if let offer = try? CredentialOffer(reading: JSONValue(reading: input)) { check(offer) }
}

private func check(_ offer: CredentialOffer) {
  expect(!offer.configurationIDs.isEmpty, "an offer offers something")
  expect(offer.configurationIDs.count <= IssuanceLimits.offeredConfigurations, "and not too much")
  expect(Set(offer.configurationIDs).count == offer.configurationIDs.count, "and nothing twice")
  expect((try? CredentialOffer(reading: offer.json)) == offer, "an offer is the same when it is written and read again")
}
