import Bytes
import CivilTime
import Issuer
import JOSE
import JSON
import Web

extension IssuerService {
  /// The document at a well-known place of this issuer; nil for other paths.
  func metadata(at path: String, at now: UnixTime) -> WebAnswer? {
    let name = IssuerMetadata.wellKnownName
    let place =
      deviations.contains(.oldWellKnownPlace) ? identifier.wellKnownBehind(name) : identifier.wellKnown(name)
    if path == place?.path { return issuerMetadata(at: now) }
    guard path == identifier.wellKnown(AuthorizationServerMetadata.wellKnownName)?.path else { return nil }
    return .json(serverMetadata)
  }

  private func issuerMetadata(at now: UnixTime) -> WebAnswer {
    if deviations.contains(.hugeMetadata) {
      return .json(["padding": .string(String(repeating: " ", count: IssuanceLimits.metadataSize))])
    }
    if deviations.contains(.draftMetadata) {
      return .json([
        "credential_issuer": .string(identifier.text), "credential_endpoint": .string(address(.credential)),
        "credentials_supported": .array(
          documents.map { ["format": "mso_mdoc", "doctype": .string($0.content.kind.docType)] }),
      ])
    }
    let named = deviations.contains(.otherIdentifier) ? identifier.text + "/other" : identifier.text
    let credential =
      deviations.contains(.endpointElsewhere) ? "https://elsewhere.example/credential" : address(.credential)
    let hasNonces = settings.usesNonces && !deviations.contains(.draftNonce)
    let hasEncryption = settings.offersEncryption || requiresEncryption
    return .json(
      .object([
        "credential_issuer": .string(named), "credential_endpoint": .string(credential),
        "nonce_endpoint": hasNonces ? .string(address(.nonce)) : nil,
        "deferred_credential_endpoint": .string(address(.deferredCredential)),
        "notification_endpoint": .string(address(.notification)),
        "mdoc_iacas_uri": settings.announcesRoots ? .string(address(.roots)) : nil,
        "batch_credential_issuance": settings.batchSize > 1 ? ["batch_size": .integer(settings.batchSize)] : nil,
        "credential_request_encryption": hasEncryption
          ? CredentialRequestEncryption(key: requestKey, content: .a256GCM, isRequired: requiresEncryption).json : nil,
        "credential_response_encryption": hasEncryption
          ? CredentialResponseEncryption(content: .a256GCM, isRequired: requiresEncryption).json : nil,
        "display": [["name": "Test issuer", "locale": "en"]],
        "credential_configurations_supported": .object(
          documents.map { JSONValue.Member($0.configurationID, configuration($0, at: now)) }),
      ]))
  }

  /// The key that requests are encrypted to.
  var requestKey: JSONWebKey {
    JSONWebKey(encryptionKey.publicKey, id: "request-1", use: "enc", algorithm: keyAgreement)
  }

  var requiresEncryption: Bool { settings.requiresEncryption || deviations.contains(.encryptionRequired) }

  private func configuration(_ document: OfferedDocument, at now: UnixTime) -> JSONValue {
    let spaces = (try? document.content.nameSpaces(on: now.date())) ?? []
    let claims = spaces.flatMap { space in
      space.elements.map { element -> JSONValue in
        ["path": [.string(space.nameSpace), .string(element.identifier)], "mandatory": true]
      }
    }
    return [
      "format": .string(CredentialConfiguration.mdocFormat), "doctype": .string(document.content.kind.docType),
      "scope": .string(document.scope), "cryptographic_binding_methods_supported": ["cose_key"],
      "credential_signing_alg_values_supported": [-7],
      "proof_types_supported": ["jwt": ["proof_signing_alg_values_supported": [.string(KeyProof.algorithm)]]],
      "credential_metadata": [
        "display": [["name": .string(document.content.kind.displayName), "locale": "en"]], "claims": .array(claims),
      ],
    ]
  }

  private var serverMetadata: JSONValue {
    .object([
      "issuer": .string(identifier.text), "authorization_endpoint": .string(address(.authorization)),
      "token_endpoint": .string(address(.token)),
      "pushed_authorization_request_endpoint": settings.takesPushedRequests || requiresPushedRequests
        ? .string(address(.pushedRequest)) : nil,
      "require_pushed_authorization_requests": .bool(requiresPushedRequests), "response_types_supported": ["code"],
      "grant_types_supported": .array(GrantType.allCases.map { .string($0.rawValue) }),
      "code_challenge_methods_supported": [.string(CodeChallenge.method)],
      "dpop_signing_alg_values_supported": settings.announcesDPoP && !deviations.contains(.possessionDemanded)
        ? [.string(DPoPProof.algorithm)] : nil,
      "authorization_response_iss_parameter_supported": true,
      "pre-authorized_grant_anonymous_access_supported": .bool(settings.allowsAnonymous),
      "authorization_details_types_supported": [.string(AuthorizationDetail.type)],
      "token_endpoint_auth_methods_supported": ["none"],
    ])
  }

  var requiresPushedRequests: Bool {
    settings.requiresPushedRequests || deviations.contains(.pushedRequestRequired)
  }
}

extension DocumentKind {
  /// What wallets call such a document.
  fileprivate var displayName: String {
    switch self {
    case .mdl: "Test driving licence"
    case .pid: "Test person identification"
    case .age: "Test proof of age"
    case .photoid: "Test photo ID"
    }
  }
}
