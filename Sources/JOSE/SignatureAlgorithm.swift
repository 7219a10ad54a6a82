import Crypto

extension Curve {
  /// The JWS algorithm that goes with this curve and with no other (RFC 7518 section 3.4); nil where there is none.
  var signatureAlgorithm: String? {
    switch self {
    case .p256: "ES256"
    case .p384: "ES384"
    case .p521: "ES512"
    default: nil
    }
  }
}
