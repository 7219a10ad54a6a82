import Bytes
import CivilTime
import Crypto
import JOSE
import JSON

/// The request object of a transaction, with at most one thing wrong in it.
struct VerifierRequest {
  private let transaction: VerifierTransaction
  private let now: UnixTime

  init(_ transaction: VerifierTransaction, now: UnixTime) {
    self.transaction = transaction
    self.now = now
  }

  private var order: VerifierOrder { transaction.order }
  private var deviation: VerifierDeviation? { order.deviation }

  /// All parameters.
  var claims: JSONValue {
    let isAnnexB = order.form == .annexB
    let clientID = deviation == .otherClientID ? "x509_san_dns:other.example" : transaction.clientID
    var members: [JSONValue.Member] = [
      .init("response_type", .string(deviation == .otherResponseType ? "code" : "vp_token")),
      .init(
        "response_mode", .string(deviation == .otherResponseMode ? "fragment" : order.responseMode.rawValue)),
      .init("client_id", .string(clientID)), .init("response_uri", .string(responseURI)),
    ]
    if isAnnexB { members.append(.init("client_id_scheme", .string(order.client.rawValue))) }
    if deviation != .noNonce { members.append(.init("nonce", .string(transaction.nonce))) }
    members.append(.init("state", .string(transaction.state)))
    members += query
    if deviation == .transactionData { members.append(.init("transaction_data", ["eyJ0eXBlIjoieCJ9"])) }
    members.append(.init("client_metadata", metadata))
    return .object(members)
  }

  private var responseURI: String {
    switch deviation {
    case .otherHost: "https://other.example/response"
    case .insecureResponse: "http://verifier.example/response"
    default: transaction.responseURI
    }
  }

  private var query: [JSONValue.Member] {
    let final = order.query.json
    let definition = PresentationDefinition.json(id: transaction.id, order.query)
    switch deviation {
    case .noQuery: return []
    case .scopeInsteadOfQuery: return [.init("scope", "org.example.everything")]
    case .outdatedQuery: return [.init("presentation_definition", definition)]
    case .bothQueries: return [.init("dcql_query", final), .init("presentation_definition", definition)]
    case .pathAsText: return [.init("dcql_query", outdatedClaim(["path": "$['a']['b']"]))]
    case .namespaceAndClaimName:
      return [.init("dcql_query", outdatedClaim(["namespace": "a", "claim_name": "b"]))]
    default:
      return order.form == .annexB
        ? [.init("presentation_definition", definition)] : [.init("dcql_query", final)]
    }
  }

  private func outdatedClaim(_ claim: JSONValue) -> JSONValue {
    [
      "credentials": [
        [
          "id": "mdl", "format": "mso_mdoc", "meta": ["doctype_value": "org.iso.18013.5.1.mDL"],
          "claims": .array([claim]),
        ]
      ]
    ]
  }

  private var metadata: JSONValue {
    let isAnnexB = order.form == .annexB
    let formats: JSONValue =
      deviation == .otherFormats
      ? ["dc+sd-jwt": ["sd-jwt_alg_values": ["ES256"]]]
      : isAnnexB
        ? ["mso_mdoc": ["alg": ["ES256", "ES384", "ES512"]]]
        : ["mso_mdoc": ["issuerauth_alg_values": [-7, -9], "deviceauth_alg_values": [-7, -9]]]
    var members: [JSONValue.Member] = [
      .init("client_name", "mdoc-wallet test verifier"),
      .init(isAnnexB ? "vp_formats" : "vp_formats_supported", formats),
    ]
    guard let key = transaction.encryptionKey else { return .object(members) }
    var jwk = JSONWebKey(key.publicKey, id: transaction.id, use: "enc", algorithm: "ECDH-ES").json
    switch deviation {
    case .noEncryptionKey: jwk = .null
    case .encryptionKeyWithoutAlgorithm: jwk = JSONWebKey(key.publicKey, id: transaction.id, use: "enc").json
    case .keyOffTheCurve:
      jwk = .object((jwk.members ?? []).map { $0.key == "y" ? .init("y", jwk["x"] ?? .null) : $0 })
    default: break
    }
    members.append(.init("jwks", ["keys": jwk == .null ? [] : .array([jwk])]))
    let names = deviation == .unknownEncryption ? ["A512GCM"] : order.encryptions.map(\.rawValue)
    if isAnnexB {
      members.append(.init("authorization_encrypted_response_alg", "ECDH-ES"))
      members.append(.init("authorization_encrypted_response_enc", names.first.map(JSONValue.string) ?? .null))
    } else {
      members.append(.init("encrypted_response_enc_values_supported", .array(names.map(JSONValue.string))))
    }
    return .object(members)
  }

  // MARK: Signing

  /// The request object; nil when it cannot be signed.
  func signed(by credential: VerifierCredential, walletNonce: String?) -> String? {
    var members = claims.members ?? []
    switch deviation {
    case .noAudience: break
    case .otherAudience: members.append(.init("aud", "https://another-wallet.example"))
    default: members.append(.init("aud", .string(RequestObject.audience)))
    }
    let skew = 2 * RequestObject.skewSeconds
    let start = deviation == .requestOfTomorrow ? now.adding(seconds: 86_400) : now
    let end = deviation == .expiredRequest ? now.adding(seconds: -skew) : now.adding(seconds: skew)
    members.append(.init("iat", .integer(Int(start.seconds))))
    members.append(.init("exp", .integer(Int(end.seconds))))
    if let walletNonce { members.append(.init("wallet_nonce", .string(walletNonce))) }
    var header: [JSONValue.Member] = [.init("typ", .string(deviation == .otherType ? "JWT" : RequestObject.type))]
    switch deviation {
    case .noCertificate: break
    case .brokenCertificate: header.append(.init("x5c", [.string(Base64.standard.encode([0x30, 0]))]))
    default:
      header.append(.init("x5c", .array(credential.chain.map { .string(Base64.standard.encode($0.encoded)) })))
    }
    if deviation == .unsigned { return unsigned(header, .object(members)) }
    let key =
      deviation == .otherKey ? (try? PrivateKey.generate(credential.key.curve)) ?? credential.key : credential.key
    guard let text = try? CompactJWS.sign(.object(members), header: header, with: key) else { return nil }
    switch deviation {
    case .flippedSignature: return flipped(text)
    case .criticalHeader: return withCriticalMember(header, text)
    default: return text
    }
  }

  private func unsigned(_ header: [JSONValue.Member], _ payload: JSONValue) -> String {
    let header = JSONValue.object([.init("alg", "none")] + header)
    return Base64.url.encode(header.text.utf8) + "." + Base64.url.encode(payload.text.utf8) + "."
  }

  /// The library does not sign such a header; a wallet has to refuse it before it looks at the signature.
  private func withCriticalMember(_ header: [JSONValue.Member], _ text: String) -> String {
    let header = JSONValue.object([.init("alg", "ES256"), .init("crit", ["exp"])] + header)
    return Base64.url.encode(header.text.utf8) + text.drop { $0 != "." }
  }

  /// One bit of the signature changed.
  private func flipped(_ text: String) -> String {
    let parts = text.split(separator: ".")
    guard parts.count == 3, var signature = try? Base64.url.decode(parts[2]), !signature.isEmpty else { return text }
    signature[0] ^= 1
    return parts[0] + "." + parts[1] + "." + Base64.url.encode(signature)
  }
}
