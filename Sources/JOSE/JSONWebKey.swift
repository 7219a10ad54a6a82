import Bytes
import Crypto
import JSON

/// A public key as JSON (RFC 7517): on P-256, P-384 and P-521 (RFC 7518 section 6.2), or one of the curves of RFC 8037.
///
/// Members that nobody here knows are ignored when it is read, as section 4 of RFC 7517 has it, and not kept.
package struct JSONWebKey: Equatable, Sendable {
  package var key: PublicKey
  /// `kid`.
  package var id: String?
  /// `use`: "sig", "enc" or another word.
  package var use: String?
  /// `alg`.
  package var algorithm: String?

  package init(_ key: PublicKey, id: String? = nil, use: String? = nil, algorithm: String? = nil) {
    self.key = key
    self.id = id
    self.use = use
    self.algorithm = algorithm
  }

  /// Reads a key. Throws `malformed("jwk")` for what is no object, and `key` for a private or symmetric key, another kind
  /// or curve, coordinates that have not the curve's length, and a point that is not on it.
  package init(reading value: JSONValue) throws(JOSEFault) {
    guard case .object(let members) = value else { throw .malformed("jwk") }
    guard !members.contains(where: { JSONWebKey.privateMembers.contains($0.key) }) else { throw .key("private") }
    let kind = value["kty"]?.string
    guard kind == "EC" || kind == "OKP" else { throw .key("kty") }
    guard let curve = value["crv"]?.string.flatMap({ JSONWebKey.curves[$0] }),
      (curve.kind == .weierstrass) == (kind == "EC")
    else { throw .key("crv") }
    let x = try JSONWebKey.coordinate("x", of: value, on: curve)
    do {
      if curve.kind == .weierstrass {
        key = try PublicKey(curve: curve, x: x, y: JSONWebKey.coordinate("y", of: value, on: curve))
      } else {
        key = try PublicKey(curve: curve, raw: x)
      }
    } catch let fault as JOSEFault {
      throw fault
    } catch {
      throw .key("not on the curve")
    }
    id = try JSONWebKey.text("kid", of: value)
    use = try JSONWebKey.text("use", of: value)
    algorithm = try JSONWebKey.text("alg", of: value)
  }

  /// The key as an object.
  package var json: JSONValue {
    .object([
      "kty": .string(key.curve.kind == .weierstrass ? "EC" : "OKP"), "crv": .string(key.curve.rawValue),
      "x": .string(Base64.url.encode(key.x)),
      "y": key.curve.kind == .weierstrass ? .string(Base64.url.encode(key.y)) : nil,
      "kid": id.map { .string($0) }, "use": use.map { .string($0) }, "alg": algorithm.map { .string($0) },
    ])
  }

  /// The thumbprint with SHA-256 (RFC 7638): of the key alone, whatever else its JWK says.
  package var thumbprint: [UInt8] { key.jwkThumbprint }

  /// What private and symmetric keys have (RFC 7518 sections 6.2.2, 6.3.2 and 6.4, RFC 8037 section 2).
  private static let privateMembers: Set = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

  private static let curves: [String: Curve] = Dictionary(
    uniqueKeysWithValues: [.p256, .p384, .p521, .x25519, .x448, .ed25519, .ed448].map { ($0.rawValue, $0) })

  private static func coordinate(_ name: String, of value: JSONValue, on curve: Curve) throws(JOSEFault) -> [UInt8] {
    guard let text = value[name]?.string, let bytes = try? Base64.url.decode(text), bytes.count == curve.fieldSize
    else {
      throw .key(name)
    }
    return bytes
  }

  private static func text(_ name: String, of value: JSONValue) throws(JOSEFault) -> String? {
    guard let member = value[name] else { return nil }
    guard let text = member.string else { throw .key(name) }
    return text
  }
}
