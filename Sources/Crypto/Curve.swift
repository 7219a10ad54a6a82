/// A curve of ISO/IEC 18013-5 cipher suite 1. The raw value is the name that COSE, JOSE and people use.
package enum Curve: String, CaseIterable, Sendable {
  case p256 = "P-256"
  case p384 = "P-384"
  case p521 = "P-521"
  case x25519 = "X25519"
  case x448 = "X448"
  case ed25519 = "Ed25519"
  case ed448 = "Ed448"
  case brainpoolP256r1
  case brainpoolP320r1
  case brainpoolP384r1
  case brainpoolP512r1

  /// What a curve can do: ECDSA and ECDH, key agreement only, or EdDSA only.
  package enum Kind: Sendable {
    case weierstrass
    case montgomery
    case edwards
  }

  package var kind: Kind {
    switch self {
    case .x25519, .x448: .montgomery
    case .ed25519, .ed448: .edwards
    default: .weierstrass
    }
  }

  /// Bytes of one coordinate, of a scalar and of a shared secret; for the other kinds, bytes of a key.
  package var fieldSize: Int {
    switch self {
    case .p256, .x25519, .ed25519, .brainpoolP256r1: 32
    case .p384, .brainpoolP384r1: 48
    case .p521: 66
    case .x448: 56
    case .ed448: 57
    case .brainpoolP320r1: 40
    case .brainpoolP512r1: 64
    }
  }

  /// Bytes of a signature as COSE carries it (r || s, or the EdDSA string), or nil where none is possible.
  package var signatureSize: Int? {
    kind == .montgomery ? nil : 2 * fieldSize
  }

  /// OpenSSL's name: of the group for Weierstrass curves, of the key type for the others.
  var openSSLName: String {
    switch self {
    case .p256: "prime256v1"
    case .p384: "secp384r1"
    case .p521: "secp521r1"
    default: rawValue
    }
  }

  /// The Weierstrass curve with this OpenSSL group name.
  init?(groupName: String) {
    guard let curve = Curve.allCases.first(where: { $0.kind == .weierstrass && $0.openSSLName == groupName }) else {
      return nil
    }
    self = curve
  }

  private static let identifiers: [OID: Curve] = [
    OID(1, 2, 840, 10045, 3, 1, 7): .p256, OID(1, 3, 132, 0, 34): .p384, OID(1, 3, 132, 0, 35): .p521,
    OID(1, 3, 36, 3, 3, 2, 8, 1, 1, 7): .brainpoolP256r1, OID(1, 3, 36, 3, 3, 2, 8, 1, 1, 9): .brainpoolP320r1,
    OID(1, 3, 36, 3, 3, 2, 8, 1, 1, 11): .brainpoolP384r1, OID(1, 3, 36, 3, 3, 2, 8, 1, 1, 13): .brainpoolP512r1,
  ]

  /// The Weierstrass curve that an EC key's parameters name (RFC 5480 section 2.1.1.1, RFC 5639).
  init?(identifier: OID) {
    guard let curve = Curve.identifiers[identifier] else { return nil }
    self = curve
  }
}
