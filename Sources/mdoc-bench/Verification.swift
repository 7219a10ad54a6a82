import CivilTime
import Crypto
import Glibc
import Mdoc
import MdocVerification
import Trust

/// Nanoseconds of a clock that only goes forward.
func now() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// One round of whole verifications.
struct Verification {
  let inputs: Inputs
  private let anchor: TrustAnchor

  init(_ inputs: Inputs) throws {
    self.inputs = inputs
    anchor = TrustAnchor(try Certificate(inputs.root), source: "bench")
    // A running reader has made its anchor's key long ago; the floor program keeps it too.
    _ = try anchor.certificate.publicKey.get()
  }

  /// The median time of one verification in nanoseconds.
  ///
  /// - Parameter areSignersNew: a verifier that has seen no signer for each pass over the answers, made outside the
  ///   time measured; otherwise one verifier that has seen them all.
  ///   - others: anchors beside the one that issued the answers' signers.
  func round(
    passes: Int, areSignersNew: Bool, beside others: [TrustAnchor] = [],
    revocation: RevocationLists = RevocationLists([])
  ) throws -> Int64 {
    var times: [Int64] = []
    times.reserveCapacity(passes * inputs.answers.count)
    var verifier = makeVerifier(others, revocation)
    try pass(verifier) { _ in }
    for _ in 0..<passes {
      if areSignersNew { verifier = makeVerifier(others, revocation) }
      try pass(verifier) { times.append($0) }
    }
    times.sort()
    return times[times.count / 2]
  }

  private func makeVerifier(_ others: [TrustAnchor], _ revocation: RevocationLists) -> Verifier {
    Verifier(anchors: others + [anchor], policy: VerificationPolicy(), revocation: revocation)
  }

  private func pass(_ verifier: Verifier, _ take: (Int64) -> Void) throws {
    for answer in inputs.answers {
      let circumstances = Verifier.Circumstances(
        transcript: answer.transcript[...], requested: [inputs.request], readerKey: nil, now: inputs.now)
      let start = now()
      let verdict = verifier.verify(answer.response[...], in: circumstances)
      let end = now()
      guard verdict.isVerified else {
        throw BenchError("not verified: \(verdict.allFindings.map { $0.reason.code })")
      }
      take(end - start)
    }
  }
}
