import JSON
import OpenID4VCI
import Wallet

/// What an issuer offers, as its taker gets to see it before consenting.
struct OfferReport {
  private let offer: DiscoveredOffer

  init(_ offer: DiscoveredOffer) { self.offer = offer }

  var lines: [String] {
    var lines = ["offered by: " + (offer.issuerName.map { terminalSafe($0) + ", " } ?? "") + offer.offer.issuer.text]
    for credential in offer.credentials {
      lines.append("document: \(terminalSafe(credential.name)) (\(terminalSafe(credential.docType ?? credential.id)))")
      if !credential.claims.isEmpty {
        lines.append("  with: " + credential.claims.map { terminalSafe($0.element) }.joined(separator: ", "))
      }
    }
    if !offer.otherFormats.isEmpty {
      lines.append("not taken, of other formats: " + offer.otherFormats.map(terminalSafe).joined(separator: ", "))
    }
    lines.append("servers: " + offer.hosts.joined(separator: ", "))
    lines.append(
      "leave by: " + (offer.grant == .authorizationCode ? "signing in" : "a code in the offer")
        + (offer.transactionCode == nil ? "" : " and a transaction code"))
    return lines
  }

  var json: JSONValue {
    .object([
      "event": "offered", "issuer": .string(offer.offer.issuer.text),
      "issuerName": offer.issuerName.map(JSONValue.string),
      "authorizationEndpoint": offer.authorizationEndpoint.map { .string($0.text) },
      "tokenEndpoint": .string(offer.tokenEndpoint.text),
      "credentialEndpoint": .string(offer.credentialEndpoint.text),
      "iacas": offer.rootsAddress.map { .string($0.text) }, "grant": .string(offer.grant.rawValue),
      "transactionCode": .bool(offer.transactionCode != nil),
      "credentials": .array(
        offer.credentials.map { credential in
          .object([
            "id": .string(credential.id), "name": .string(credential.name),
            "docType": credential.docType.map(JSONValue.string),
            "claims": .array(
              credential.claims.map { claim in
                [
                  "nameSpace": .string(claim.nameSpace), "element": .string(claim.element),
                  "mandatory": .bool(claim.isMandatory),
                ]
              }),
          ])
        }),
    ])
  }
}
