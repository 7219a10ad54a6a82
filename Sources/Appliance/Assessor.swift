import CivilTime
import Glibc
import Mdoc
import MdocVerification
import Policy
import ReaderCore

/// Verifies an answer and applies the site's policy: facts first, then what we do about them.
package struct Assessor {
  private let verifier: Verifier
  private let template: RequestTemplate

  package init(verifier: Verifier, template: RequestTemplate) {
    self.verifier = verifier
    self.template = template
  }

  /// - Parameters:
  ///   - now: the one instant of this transaction.
  ///   - utcOffsetSeconds: local time, for calendar dates.
  /// - Returns: what came of it, and where lists about the documents are to be had.
  package func assess(
    _ evaluation: Evaluation, at now: UnixTime, utcOffsetSeconds: Int
  ) -> (Assessment, named: [ListAddresses]) {
    let clock = ContinuousClock()
    let start = clock.now
    let verdict = verifier.verify(
      evaluation.response[...],
      in: Verifier.Circumstances(
        transcript: evaluation.transcript.encoded[...], requested: evaluation.requested,
        readerKey: evaluation.readerKey, now: now, utcOffsetSeconds: utcOffsetSeconds))
    let verified = clock.now
    let decision = template.decision(on: verdict, localDate: now.date(offsetSeconds: utcOffsetSeconds))
    let decided = clock.now
    let document = verdict.documents.first { $0.isVerified } ?? verdict.documents.first
    var reasons: [String] = []
    if case .refuse(let refusals) = decision { reasons = refusals.map(\.text) }
    var assessment = Assessment(
      isGranted: decision.isGranted, reasons: reasons,
      remarks: verdict.allFindings.filter { $0.severity != .failure }.map(\.reason.text),
      docType: document?.docType, issuingCountry: document?.verified?.issuingCountry,
      verifying: verified - start, deciding: decided - verified)
    assessment.signerRevocation = document?.signerRevocation?.rawValue
    assessment.documentStatus = document?.status?.text
    return (assessment, verdict.documents.compactMap(\.lists))
  }

  /// Seconds that local time is ahead of UTC now.
  package static func localOffset(at now: UnixTime) -> Int {
    var seconds = time_t(now.seconds)
    var local = tm()
    localtime_r(&seconds, &local)
    return local.tm_gmtoff
  }
}
