import CBOR
import COSE
import Crypto

/// Who this reader is to wallets: what signs its requests (mdoc reader authentication, ISO/IEC 18013-5 section 9.1.4).
package struct ReaderSigner: Sendable {
  /// When the whole request is signed as well (`readerAuthAll` of the second edition).
  package enum WholeRequest: String, CaseIterable, Sendable {
    case never
    /// When the wallet says in its engagement that it understands that (capability 3).
    case whenOffered = "when_offered"
    case always
  }

  package let key: PrivateKey
  /// The reader certificate (DER) and those between it and the reader root, leaf first.
  package let certificates: [[UInt8]]
  package let wholeRequest: WholeRequest

  package init(key: PrivateKey, certificates: [[UInt8]], wholeRequest: WholeRequest = .whenOffered) {
    self.key = key
    self.certificates = certificates
    self.wholeRequest = wholeRequest
  }

  /// Signs a request for one session: each document, and the whole where the wallet takes that.
  ///
  /// - Parameter takesReaderAuthAll: whether the engagement announces capability 3.
  /// Throws `unsupportedAlgorithm` when the key does not sign.
  package func sign(
    _ request: inout DeviceRequestDraft, transcript: SessionTranscript, takesReaderAuthAll: Bool
  ) throws(COSEError) {
    for place in request.documents.indices {
      request.documents[place].readerAuth = try ReaderAuthentication.sign(
        transcript: transcript, itemsRequestBytes: request.documents[place].itemsRequestBytes, key: key,
        certificates: certificates)
    }
    guard wholeRequest == .always || wholeRequest == .whenOffered && takesReaderAuthAll else { return }
    // A wallet of the first edition may refuse members that it does not know, so that the version says they are there.
    request.version = "1.1"
    request.readerAuthAll = [
      try ReaderAuthentication.signAll(
        transcript: transcript, itemsRequestBytes: request.documents.map { $0.itemsRequestBytes[...] },
        deviceRequestInfoBytes: request.deviceRequestInfoBytes.map { $0[...] }, key: key, certificates: certificates)
    ]
  }
}
