import Bytes

extension PublicKey {
  /// The JWK thumbprint with SHA-256 (RFC 7638): over the required members of the key alone, whatever else its JWK says.
  package var jwkThumbprint: [UInt8] {
    let coordinate = Base64.url.encode(x)
    let json =
      curve.kind == .weierstrass
      ? #"{"crv":"\#(curve.rawValue)","kty":"EC","x":"\#(coordinate)","y":"\#(Base64.url.encode(y))"}"#
      : #"{"crv":"\#(curve.rawValue)","kty":"OKP","x":"\#(coordinate)"}"#
    return digest(.sha256, Array(json.utf8))
  }
}
