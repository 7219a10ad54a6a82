import Crypto

/// A signature algorithm of COSE that mdoc structures may name: curve and hash in one table.
///
/// RFC 9053 for ES256, ES384, ES512 and EdDSA; RFC 9864 for the fully specified numbers, which bind the curve.
package struct COSEAlgorithm: Equatable, Sendable {
  /// The registered number, as in label 1 of a protected header.
  package let number: Int64
  /// Nil for EdDSA, which hashes by itself.
  package let hash: HashAlgorithm?
  /// The curves cipher suite 1 pairs with this algorithm.
  package let pairedCurves: [Curve]
  /// Whether the number binds the curve, so that no policy may loosen the pairing.
  package let isFullySpecified: Bool

  private init(_ number: Int64, _ hash: HashAlgorithm?, _ curves: [Curve], isFullySpecified: Bool = true) {
    self.number = number
    self.hash = hash
    pairedCurves = curves
    self.isFullySpecified = isFullySpecified
  }

  private static let all: [COSEAlgorithm] = [
    .es256,
    .init(-35, .sha384, [.p384, .brainpoolP320r1, .brainpoolP384r1], isFullySpecified: false),
    .init(-36, .sha512, [.p521, .brainpoolP512r1], isFullySpecified: false),
    .init(-8, nil, [.ed25519, .ed448], isFullySpecified: false),
    .init(-9, .sha256, [.p256]),
    .init(-51, .sha384, [.p384]),
    .init(-52, .sha512, [.p521]),
    .init(-265, .sha256, [.brainpoolP256r1]),
    .init(-266, .sha384, [.brainpoolP320r1]),
    .init(-267, .sha384, [.brainpoolP384r1]),
    .init(-268, .sha512, [.brainpoolP512r1]),
    .init(-19, nil, [.ed25519]),
    .init(-53, nil, [.ed448]),
  ]

  package static let es256 = COSEAlgorithm(-7, .sha256, [.p256, .brainpoolP256r1], isFullySpecified: false)

  /// Nil for a number that no mdoc signature may use.
  package init?(number: Int64) {
    guard let known = COSEAlgorithm.all.first(where: { $0.number == number }) else { return nil }
    self = known
  }

  /// The classic algorithm cipher suite 1 pairs with a curve; nil for curves that cannot sign.
  package init?(signingWith curve: Curve) {
    guard let paired = COSEAlgorithm.all.first(where: { !$0.isFullySpecified && $0.pairedCurves.contains(curve) })
    else {
      return nil
    }
    self = paired
  }

  /// Whether a key on `curve` may have made a signature of this algorithm.
  ///
  /// - Parameter strictPairing: only the pairs of cipher suite 1; otherwise any Weierstrass curve with a classic
  ///   ECDSA number, as plain COSE allows.
  package func fits(_ curve: Curve, strictPairing: Bool) -> Bool {
    if pairedCurves.contains(curve) { return true }
    return !strictPairing && !isFullySpecified && hash != nil && curve.kind == .weierstrass
  }
}

/// HMAC 256/256: the only MAC algorithm of mdoc structures.
package let hmac256AlgorithmNumber: Int64 = 5
