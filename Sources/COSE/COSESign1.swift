import Bytes
import CBOR
import Crypto

/// A COSE_Sign1 as received: issuerAuth, deviceSignature, readerAuth.
package struct COSESign1: Sendable {
  package let structure: COSEStructure

  /// Throws `malformed` for anything but the array of four, untagged or in tag 18.
  package init(_ item: CBORItem) throws(COSEError) {
    structure = try COSEStructure(item, kind: .sign1)
  }

  /// The algorithm of the protected header; nil when it is absent or none that mdoc uses.
  package var algorithm: COSEAlgorithm? { structure.algorithm.flatMap(COSEAlgorithm.init(number:)) }

  /// Whether `key` made the signature over `payload` with the named algorithm, which has to fit the key's curve.
  package func isValid(
    for payload: ByteView, key: PublicKey, strictPairing: Bool = true, externalData: [UInt8] = []
  ) -> Bool {
    guard let algorithm, algorithm.fits(key.curve, strictPairing: strictPairing) else { return false }
    return key.isValid(
      signature: structure.proof, for: structure.input(payload: payload, externalData: externalData)[...],
      hash: algorithm.hash)
  }

  /// Makes a COSE_Sign1 with the classic algorithm of the key's curve.
  ///
  /// - Parameters:
  ///   - algorithm: another number for the header, or nil for the classic one; the hash is that of `algorithm`.
  ///   - isDetached: whether the payload is left out (null).
  package static func sign(
    _ payload: [UInt8], with key: PrivateKey, algorithm: COSEAlgorithm? = nil, unprotected: CBORValue = .map([]),
    externalData: [UInt8] = [], isDetached: Bool
  ) throws(COSEError) -> CBORValue {
    guard let algorithm = algorithm ?? COSEAlgorithm(signingWith: key.publicKey.curve) else {
      throw .unsupportedAlgorithm
    }
    let protected = CBORValue.map(labels: [1: .int(algorithm.number)]).encode()
    let input = COSEStructure.input(
      .sign1, protected: protected[...], payload: payload[...], externalData: externalData)
    guard let signature = try? key.signature(for: input, hash: algorithm.hash) else { throw .unsupportedAlgorithm }
    return COSEStructure.encode(
      protected: protected, unprotected: unprotected, payload: isDetached ? nil : payload, proof: signature)
  }
}
