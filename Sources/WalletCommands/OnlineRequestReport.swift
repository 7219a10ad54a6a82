import JSON
import OpenID4VP
import Wallet

/// A verifier's request as its holder gets to see it before consenting: who asks, for what, and why. Names only, no values.
struct OnlineRequestReport {
  private let request: AuthorizationRequest
  private let match: QueryMatch

  init(_ session: OnlinePresentationSession) {
    request = session.request
    match = session.match
  }

  var lines: [String] {
    var lines = ["asked by: \(verifier)"]
    if let purpose = request.purpose { lines.append("  in its own words: \(purpose)") }
    lines.append(
      "  answer goes to: \(terminalSafe(request.responseURI.text))" + (isSealed ? ", encrypted" : ", NOT encrypted"))
    for entry in match.entries {
      lines.append("asked for: \(subject(entry.query))" + lack(entry))
      for claim in entry.query.claims {
        lines.append("  \(terminalSafe(claim.name))" + (claim.intentToRetain ? " (to be kept)" : ""))
      }
    }
    return lines
  }

  var json: JSONValue {
    let credentials = match.entries.map { entry -> JSONValue in
      .object([
        "id": .string(entry.query.id), "docType": entry.query.docType.map(JSONValue.string),
        "held": .bool(!entry.candidates.isEmpty),
        "claims": .array(
          entry.query.claims.map { claim in
            [
              "nameSpace": .string(claim.nameSpace), "element": .string(claim.element),
              "intentToRetain": .bool(claim.intentToRetain),
            ]
          }),
      ])
    }
    return .object([
      "event": "asked", "verifier": .string(request.clientID), "trusted": .bool(request.verifier.distrust == nil),
      "why": request.verifier.distrust.map { .string($0.rawValue) },
      "form": .string(request.form.rawValue), "responseMode": .string(request.responseMode.rawValue),
      "credentials": .array(credentials),
    ])
  }

  private var isSealed: Bool { request.encryption != nil }

  private var verifier: String {
    switch request.verifier {
    case .anonymous: "a verifier that does not say who it is"
    case .trusted(let name, let subject): "\(terminalSafe(subject)) (\(name)), verified"
    case .signed(let name, let subject):
      "\(terminalSafe(subject)) (\(name)), by its own word: no verifier root is known here"
    case .untrusted(let name, let subject, let reason):
      "\(terminalSafe(subject)) (\(name)), NOT verified: \(reason.rawValue)"
    }
  }

  private func subject(_ query: DCQLQuery.CredentialQuery) -> String {
    switch query.subject {
    case .mdoc(let docType), .unknownAuthorities(let docType, _): terminalSafe(docType)
    case .other(let format): "a credential of the format \(terminalSafe(format))"
    }
  }

  private func lack(_ entry: QueryMatch.Entry) -> String {
    switch entry.lack {
    case nil: ""
    case .format, .docType: " (not in this wallet)"
    case .authority: " (not of an issuer that is wanted)"
    case .claims(let claims):
      " (without \(claims.map { terminalSafe($0.name) }.joined(separator: ", ")), or with other values)"
    }
  }
}
