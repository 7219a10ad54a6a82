import Bytes
import Web

/// Who asks, by the prefix of `client_id` (OpenID4VP 1.0, section 5.9).
package enum ClientIdentifier: Equatable, Sendable {
  /// The subject of a certificate: one of its DNS names. `x509_san_dns:example.com`.
  case dnsName(String)
  /// A certificate by its hash: base64url of SHA-256 over its DER. `x509_hash:Uvo3…`.
  case certificateHash([UInt8])
  /// Nobody in particular: where the answer goes. `redirect_uri:https://…`; unsigned requests only.
  case redirectURI(String)

  /// Reads a whole `client_id`.
  ///
  /// - Throws: `clientUnsupported` for another prefix, or none (somebody registered beforehand, of whom nothing is known here).
  package init(_ text: String) throws(RequestFault) {
    guard let colon = text.firstIndex(of: ":") else { throw .clientUnsupported("no prefix") }
    let rest = String(text[text.index(after: colon)...])
    guard !rest.isEmpty else { throw .parameter("client_id", .malformed) }
    switch text[..<colon] {
    case "x509_san_dns": self = .dnsName(rest)
    case "x509_hash":
      guard let hash = try? Base64.url.decode(rest), hash.count == 32 else { throw .parameter("client_id", .malformed) }
      self = .certificateHash(hash)
    case "redirect_uri": self = .redirectURI(rest)
    default: throw .clientUnsupported(printable(String(text[..<colon]), limit: 60))
    }
  }

  /// Reads `client_id` and `client_id_scheme` of Annex B and the drafts, where the prefix is a parameter of its own.
  package init(_ text: String, scheme: String) throws(RequestFault) {
    switch scheme {
    case "x509_san_dns": self = .dnsName(text)
    case "redirect_uri": self = .redirectURI(text)
    default: throw .clientUnsupported(printable(scheme, limit: 60))
    }
  }
}
