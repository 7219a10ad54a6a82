import Bytes
import CBOR
import COSE
import Crypto

/// What a reader signs (ISO/IEC 18013-5 section 9.1.4). Whose certificate it is, is a question of trust.
package enum ReaderAuthentication {
  /// ReaderAuthenticationBytes: the detached payload of `readerAuth` for one document.
  ///
  /// - Parameter itemsRequestBytes: as sent, tag 24 included.
  package static func payload(
    transcript: SessionTranscript, itemsRequestBytes: some Collection<UInt8>
  ) -> [UInt8] {
    var inner = CBORWriter(capacity: transcript.encoded.count + itemsRequestBytes.count + 32)
    inner.array(count: 3)
    inner.text("ReaderAuthentication")
    inner.raw(transcript.encoded)
    inner.raw(itemsRequestBytes)
    return embedCBOR(inner.bytes)
  }

  /// ReaderAuthenticationAllBytes: the detached payload of each entry of `readerAuthAll` (second edition).
  ///
  /// - Parameters:
  ///   - itemsRequestBytes: of all documents in the order of the request, tag 24 included.
  ///   - deviceRequestInfoBytes: as sent, tag 24 included; null is written when there are none.
  package static func payloadForAll(
    transcript: SessionTranscript, itemsRequestBytes: [ByteView], deviceRequestInfoBytes: ByteView?
  ) -> [UInt8] {
    var inner = CBORWriter()
    inner.array(count: 4)
    inner.text("ReaderAuthenticationAll")
    inner.raw(transcript.encoded)
    inner.array(count: itemsRequestBytes.count)
    for bytes in itemsRequestBytes { inner.raw(bytes) }
    if let deviceRequestInfoBytes { inner.raw(deviceRequestInfoBytes) } else { inner.null() }
    return embedCBOR(inner.bytes)
  }

  /// A `readerAuth` for one document.
  ///
  /// - Parameter certificates: the reader certificate (DER) and those between it and the root, leaf first.
  package static func sign(
    transcript: SessionTranscript, itemsRequestBytes: some Collection<UInt8>, key: PrivateKey, certificates: [[UInt8]]
  ) throws(COSEError) -> CBORValue {
    let payload = payload(transcript: transcript, itemsRequestBytes: itemsRequestBytes)
    return try COSESign1.sign(payload, with: key, unprotected: header(certificates), isDetached: true)
  }

  /// One entry of `readerAuthAll`.
  package static func signAll(
    transcript: SessionTranscript, itemsRequestBytes: [ByteView], deviceRequestInfoBytes: ByteView?, key: PrivateKey,
    certificates: [[UInt8]]
  ) throws(COSEError) -> CBORValue {
    let payload = payloadForAll(
      transcript: transcript, itemsRequestBytes: itemsRequestBytes, deviceRequestInfoBytes: deviceRequestInfoBytes)
    return try COSESign1.sign(payload, with: key, unprotected: header(certificates), isDetached: true)
  }

  /// Whether `key` made a signature over a payload that is not in the structure, without unknown critical headers.
  package static func isValid(_ signature: COSESign1, over payload: [UInt8], key: PublicKey) -> Bool {
    signature.structure.payload == nil && !signature.structure.hasUnknownCritical
      && signature.isValid(for: payload[...], key: key)
  }

  /// x5chain: one certificate as a byte string, several as an array.
  private static func header(_ certificates: [[UInt8]]) -> CBORValue {
    guard let leaf = certificates.first else { return .map([]) }
    return .map(labels: [33: certificates.count == 1 ? .bytes(leaf) : .array(certificates.map(CBORValue.bytes))])
  }
}
