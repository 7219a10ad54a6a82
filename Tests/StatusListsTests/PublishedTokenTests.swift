import Bytes
import CBOR
import COSE
import Crypto
import Mdoc
import TestSupport
import Testing

@testable import StatusLists

/// Tokens that others made and published.
@Suite("Published status tokens")
struct PublishedTokenTests {
  @Test("the token of the IETF draft is read, its list has the published entries, and its key made the signature")
  func list() throws {
    guard let json = try sharedJSON("vectors/status-list/status-lists.json") as? [String: Any] else { return }
    let vector = try #require(json["statusListTokenCwt"] as? [String: Any])
    let encoded = try #require(bytes(hex: vector["cborHex"] as? String ?? ""))
    let token = try StatusToken(cwt: encoded[...])
    #expect(token.claims.subject == vector["sub"] as? String)
    #expect(token.claims.issuedAt.seconds == Int64(vector["iat"] as? Int ?? 0))
    #expect(token.claims.expiry?.seconds == Int64(vector["exp"] as? Int ?? 0))
    #expect(token.claims.timeToLive == Int64(vector["ttl"] as? Int ?? 0))
    guard case .statuses(let list)? = token.claims.content else {
      Issue.record("no list")
      return
    }
    let statuses = try #require(vector["statuses"] as? [String: Int])
    #expect(list.count == UInt64(statuses.count))
    for (index, status) in statuses { #expect(list[UInt64(index) ?? .max] == UInt8(status), "\(index)") }
    // It names its key by `kid`: nobody vouches for it, and so it is not valid to a reader.
    #expect(token.path == nil && !token.isSignatureValid)
    #expect(try isSigned(encoded, by: json))
  }

  @Test("the token that refers to it names the list and its place in it")
  func referenced() throws {
    guard let json = try sharedJSON("vectors/status-list/status-lists.json") as? [String: Any] else { return }
    let vector = try #require(json["referencedTokenCwt"] as? [String: Any])
    let encoded = try #require(bytes(hex: vector["cborHex"] as? String ?? ""))
    #expect(try isSigned(encoded, by: json))
    let payload = try #require(try COSESign1(decodeCBOR(encoded)).structure.payload)
    let status = try #require(try decodeCBOR(payload)[label: 65535])
    let reference = try #require(StatusReference(status))
    #expect(reference.uri == "https://example.com/statuslists/1" && reference.place == .index(0))
  }

  @Test("the member that refers to the published identifier list is read")
  func identifierReference() throws {
    guard let json = try sharedJSON("vectors/status-list/identifier-list.json") as? [String: Any] else { return }
    let encoded = try #require(bytes(hex: json["msoStatusCborHex"] as? String ?? ""))
    let reference = try #require(StatusReference(try decodeCBOR(encoded)))
    #expect(reference.uri == "https://example.com/identifierlists/1")
    #expect(reference.place == .identifier([0xcc, 0xcc]))
    #expect(reference.certificate.map { Array($0) } == [0xaa])
  }

  /// Whether the published key made the signature.
  private func isSigned(_ encoded: [UInt8], by json: [String: Any]) throws -> Bool {
    let jwk = try #require(json["signingKeyP256"] as? [String: Any])
    let key = try PublicKey(
      curve: .p256, x: #require(bytes(hex: jwk["x"] as? String ?? "")),
      y: #require(bytes(hex: jwk["y"] as? String ?? "")))
    let structure = try COSESign1(decodeCBOR(encoded))
    return structure.isValid(for: try #require(structure.structure.payload), key: key)
  }
}
