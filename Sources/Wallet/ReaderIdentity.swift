import Bytes
import COSE
import CivilTime
import Crypto
import Mdoc
import Trust

/// What is known about who asks.
package enum ReaderIdentity: Equatable, Sendable {
  case anonymous
  /// Signed with the key of a certificate of this subject, which a known reader root issued.
  case trusted(subject: String)
  /// The same, where no reader root is known: that names a reader, and proves nothing about whose it is.
  case signed(subject: String)
  /// The signature holds, and the certificate is not one to believe.
  case untrusted(subject: String, Distrust)
  /// A signature that does not hold.
  case invalid

  /// Why a certificate whose signature holds is not believed.
  package enum Distrust: String, Equatable, Sendable {
    /// No known root issued it, directly or through the certificates sent with it.
    case readerUntrusted
    /// It breaks the profile of reader certificates in a way that matters.
    case readerProfile
    case readerExpired
    case readerNotYetValid
  }
}

/// The reader roots that a holder knows.
package struct ReaderRoots: Sendable {
  private let roots: [Certificate]
  /// When requests are looked at.
  private let now: UnixTime

  package init(_ roots: [Certificate] = [], now: UnixTime = UnixTime(seconds: 0)) {
    self.roots = roots
    self.now = now
  }

  /// Who signed the request for one document; nil when nobody did.
  func identity(of document: DeviceRequest.DocRequest, transcript: SessionTranscript) -> ReaderIdentity? {
    document.readerAuth.map { signature in
      identity(
        of: signature,
        over: ReaderAuthentication.payload(transcript: transcript, itemsRequestBytes: document.itemsRequestBytes))
    }
  }

  /// Who signed the whole request; nil when nobody did. Of several signers, the best known.
  func identity(of request: DeviceRequest, transcript: SessionTranscript) -> ReaderIdentity? {
    let payload = ReaderAuthentication.payloadForAll(
      transcript: transcript, itemsRequestBytes: request.documents.map(\.itemsRequestBytes),
      deviceRequestInfoBytes: request.deviceRequestInfoBytes)
    let identities = request.readerAuthAll.map { identity(of: $0, over: payload) }
    return identities.first { if case .trusted = $0 { true } else { false } } ?? identities.first
  }

  private func identity(of signature: COSESign1, over payload: [UInt8]) -> ReaderIdentity {
    let chain = signature.structure.x5chain.map { try? Certificate($0) }
    guard let leaf = chain.first ?? nil, let key = try? leaf.publicKey.get(),
      ReaderAuthentication.isValid(signature, over: payload, key: key)
    else { return .invalid }
    let subject = leaf.subject.description
    if roots.isEmpty { return .signed(subject: subject) }
    if let distrust = distrust(of: leaf, chain: chain.compactMap { $0 }) {
      return .untrusted(subject: subject, distrust)
    }
    return .trusted(subject: subject)
  }

  private func distrust(of leaf: Certificate, chain: [Certificate]) -> ReaderIdentity.Distrust? {
    if leaf.readerProfileFaults.contains(where: \.isHard) { return .readerProfile }
    var current = leaf
    // A chain is as long as what came with the request, and every certificate in it is used once.
    var intermediates = Array(chain.dropFirst())
    while true {
      if now < current.notBefore { return .readerNotYetValid }
      if now > current.notAfter { return .readerExpired }
      if let root = roots.first(where: { hasIssued($0, current) }) {
        if now < root.notBefore { return .readerNotYetValid }
        return now > root.notAfter ? .readerExpired : nil
      }
      guard let place = intermediates.firstIndex(where: { $0.isAuthority && hasIssued($0, current) }) else {
        return .readerUntrusted
      }
      current = intermediates.remove(at: place)
    }
  }

  private func hasIssued(_ issuer: Certificate, _ certificate: Certificate) -> Bool {
    guard certificate.issuer == issuer.subject, let key = try? issuer.publicKey.get() else { return false }
    return certificate.isSigned(by: key)
  }
}
