import Bytes

/// SubjectPublicKeyInfo of a P-256 key with the curve's parameters written out, seed included, as
/// `openssl ecparam -name prime256v1 -param_enc explicit` writes them.
public func explicitP256KeyInfo(x: [UInt8], y: [UInt8]) -> [UInt8] {
  let head = bytes(
    hex: "3082014b3082010306072a8648ce3d02013081f7020101302c06072a8648ce3d0101022100ffffffff00000001000000000000000000"
      + "000000ffffffffffffffffffffffff305b0420ffffffff00000001000000000000000000000000fffffffffffffffffffffffc04205a"
      + "c635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b031500c49d360886e704936a6678e1139d26b7819f7e90"
      + "0441046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33"
      + "576b315ececbb6406837bf51f5022100ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551020101034200"
  )
  return (head ?? []) + [4] + x + y
}
