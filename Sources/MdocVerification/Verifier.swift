import Bytes
import CBOR
import CivilTime
import Crypto
import Mdoc
import StatusLists
import Trust

/// Verifies responses: every check of parts A to E that needs no network, in one pass, collecting all findings.
///
/// Holds the anchors and remembers signers it has seen, so that a second document of a signer costs neither parsing
/// nor a signature check of its certificate. Not thread-safe: one reader loop owns it.
package final class Verifier {
  package let policy: VerificationPolicy
  let trust: SignerTrust
  let revocation: RevocationLists
  let statuses: StatusSource

  /// - Parameters:
  ///   - anchors: issuer roots, with the doc types each is trusted for.
  ///   - trustedSigners: certificates trusted as signers themselves, which need no root, with the doc types of each.
  ///   - revocation: the revocation lists of signers, as they were when the verifier was made.
  ///   - statuses: the status lists of documents, as they were when the verifier was made.
  package init(
    anchors: [TrustAnchor], trustedSigners: [TrustedSigner] = [], policy: VerificationPolicy,
    revocation: RevocationLists = RevocationLists([]), statuses: StatusSource = StatusSource()
  ) {
    self.policy = policy
    self.revocation = revocation
    self.statuses = statuses
    trust = SignerTrust(
      anchors: TrustAnchors(anchors), trustedSigners: trustedSigners, nameComparison: policy.nameComparison)
  }

  /// The circumstances of one response.
  package struct Circumstances {
    /// SessionTranscript as an item, without tag 24.
    package let transcript: ByteView
    /// What was asked for, in the order of the request.
    package let requested: [ItemsRequest]
    /// The reader's ephemeral key, which a MAC needs; nil in the online flows.
    package let readerKey: PrivateKey?
    /// The one instant all dates of the transaction are compared with.
    package let now: UnixTime
    /// Local time at the reader, in seconds east of UTC: calendar dates are compared with the local date.
    package let utcOffsetSeconds: Int

    package init(
      transcript: ByteView, requested: [ItemsRequest], readerKey: PrivateKey?, now: UnixTime, utcOffsetSeconds: Int = 0
    ) {
      self.transcript = transcript
      self.requested = requested
      self.readerKey = readerKey
      self.now = now
      self.utcOffsetSeconds = utcOffsetSeconds
    }
  }

  /// The verdict on the bytes of a DeviceResponse. Never throws: what is wrong is a finding.
  package func verify(_ bytes: ByteView, in circumstances: Circumstances) -> Verdict {
    guard bytes.count <= policy.maximumResponseSize else { return rejected(.responseTooLarge) }
    guard let response = try? DeviceResponse(bytes, limits: CBORLimits(size: policy.maximumResponseSize)) else {
      return rejected(.responseMalformed)
    }
    guard response.isVersionSupported else { return rejected(.responseVersionUnsupported) }
    guard response.status == 0 else { return rejected(.responseStatus(response.status)) }
    var findings = response.documentErrors.map {
      Finding(.information, .documentNotReturned(docType: $0.docType, code: $0.code))
    }
    if response.hasZKDocuments { findings.append(Finding(.information, .zkDocumentsUnsupported)) }
    if response.documents.isEmpty, response.documentErrors.isEmpty { findings.append(Finding(.failure, .noDocuments)) }
    let documents = response.documents.enumerated().map { place, document in
      verify(document, at: place, in: circumstances)
    }
    return Verdict(documents: documents, findings: findings)
  }

  private func rejected(_ reason: Reason) -> Verdict {
    Verdict(documents: [], findings: [Finding(.failure, reason)])
  }

  private func verify(_ document: ReturnedDocument, at place: Int, in circumstances: Circumstances) -> DocumentVerdict {
    let requests = circumstances.requested.filter { $0.docType == document.docType }
    guard !requests.isEmpty else {
      return DocumentVerdict(
        docType: document.docType,
        findings: [Finding(.dropped, .unrequestedDocument(docType: document.docType), document: place)],
        verified: nil)
    }
    var check = DocumentVerification(
      document: document, place: place, requests: requests, circumstances: circumstances, policy: policy, trust: trust,
      revocation: revocation, statuses: statuses)
    return check.run()
  }
}
