import Bytes
import Crypto
import JSON
import Trust

/// The list of roots (IACA) at an issuer's `mdoc_iacas_uri`: `{"iacas": [{"certificate": base64 of DER}]}`.
package enum IssuerRoots {
  package static func json(_ certificates: [[UInt8]]) -> JSONValue {
    .object([
      "iacas": .array(
        certificates.map { certificate in
          .object(["certificate": .string(Base64.standard.encode(certificate))])
        })
    ])
  }

  /// The roots in a document, as anchors for any doc type.
  ///
  /// - Throws: `malformed` for an entry that is no certificate: a list that is partly unreadable is not half believed.
  static func anchors(in document: JSONValue, source: String) throws(IssuanceError) -> [TrustAnchor] {
    let members = try MemberReading(document, of: .issuer, at: .roots)
    guard let list = try members.list("iacas", most: IssuanceLimits.roots) else {
      throw members.failure(.missing("iacas"))
    }
    var anchors: [TrustAnchor] = []
    for entry in list {
      let text = try entry.requiredText("certificate", most: 2 * Certificate.maximumSize)
      guard let der = try? Base64.standard.decode(text), let certificate = try? Certificate(der) else {
        throw entry.failure(.malformed("certificate"))
      }
      anchors.append(TrustAnchor(certificate, source: source))
    }
    return anchors
  }
}
