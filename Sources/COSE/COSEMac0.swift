import Bytes
import CBOR
import Crypto

/// A COSE_Mac0 as received: deviceMac.
package struct COSEMac0: Sendable {
  package let structure: COSEStructure

  /// Throws `malformed` for anything but the array of four, untagged or in tag 17.
  package init(_ item: CBORItem) throws(COSEError) {
    structure = try COSEStructure(item, kind: .mac0)
  }

  /// Whether the tag is the HMAC 256/256 of `payload` under `key`; compared in full length and constant time.
  package func isValid(
    for payload: ByteView, key: borrowing SecretBytes, externalData: [UInt8] = []
  ) -> Bool {
    guard structure.algorithm == hmac256AlgorithmNumber else { return false }
    let expected = hmacSHA256(key: key, message: structure.input(payload: payload, externalData: externalData)[...])
    return isEqualInConstantTime(structure.proof, expected)
  }

  /// Makes a COSE_Mac0 with a detached payload.
  package static func authenticate(_ payload: [UInt8], key: borrowing SecretBytes) -> CBORValue {
    let protected = CBORValue.map(labels: [1: .int(hmac256AlgorithmNumber)]).encode()
    let tag = hmacSHA256(
      key: key, message: COSEStructure.input(.mac0, protected: protected[...], payload: payload[...])[...])
    return COSEStructure.encode(protected: protected, unprotected: .map([]), payload: nil, proof: tag)
  }
}
