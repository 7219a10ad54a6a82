import CivilTime
import Crypto
import Foundation
import TestSupport
import Testing

@testable import Trust

/// The cases of x509-limbo under the two-level model of mdoc: a root signs the signer, and nothing is between.
///
/// Names in limbo have no country, which D7 refuses in every case; that finding is left aside, but where it is the one
/// that refuses.
@Suite("x509-limbo")
struct LimboTests {
  /// How a case comes out here.
  private enum Account {
    /// As declared; these are the hard findings, none for a success.
    case agrees([ChainReason])
    /// Declared a failure; here a warning, and for a signer a failure where the profile is taken strictly.
    case warned(ChainReason, String)
    /// Declared a failure for its purposes; here it fails where a purpose is asked for.
    case failsByPurpose
    /// Does not apply; these are the hard findings.
    case leftOut([ChainReason], String)
  }

  private static let untrusted = Account.agrees([.noTrustAnchor])
  private static let deep = Account.leftOut(
    [.noTrustAnchor], "a chain of more than two levels: certificates beside the signer's never widen trust")
  private static let configured = "of a root: that somebody configured it is the decision (D6)"

  private static let accounts: [String: Account] = [
    "crl::revoked-certificate-with-crl": .agrees([.signerRevoked]),
    "crl::crlnumber-missing": .agrees([.revocationUnknown]),
    "crl::certificate-not-on-crl": .agrees([]),
    "crl::certificate-serial-on-crl-different-issuer": .agrees([]),
    "crl::crlnumber-critical": .agrees([.revocationUnknown]),
    "crl::issuer-missing-crlsign": .agrees([.revocationUnknown]),
    "crl::issuer-no-keyusage-extension": .agrees([]),
    "crl::issuer-valid-crlsign-and-keycertsign": .agrees([]),
    "invalid::invalid-issuer-key": .agrees([.noTrustAnchor, .signerProfile(.signatureAlgorithm)]),
    "pathlen::ee-with-intermediate-pathlen-0": .agrees([]),
    "pathlen::ee-with-intermediate-pathlen-1": .agrees([]),
    "pathlen::ee-with-intermediate-pathlen-2": .agrees([]),
    "pathlen::validation-ignores-pathlen-in-leaf": .leftOut(
      [.noTrustAnchor, .signerProfile(.keyUsage), .signerProfile(.certificateAuthority)],
      "an authority is no document signer"),
    "pathlen::intermediate-violates-pathlen-0": untrusted,
    "pathlen::intermediate-pathlen-may-increase": deep,
    "pathlen::intermediate-pathlen-too-long": untrusted,
    "pathlen::self-issued-certs-pathlen": deep,
    "pathlen::max-chain-depth-0": .agrees([]),
    "pathlen::max-chain-depth-0-exhausted": untrusted,
    "pathlen::max-chain-depth-1": deep,
    "pathlen::max-chain-depth-1-exhausted": untrusted,
    "pathlen::max-chain-depth-1-self-issued": deep,
    "pathological::multiple-chains-expired-intermediate": .agrees([]),
    "pathological::intermediate-cycle-distinct-cas": untrusted,
    "pathological::intermediate-cycle-distinct-cas-max-depth": untrusted,
    "pathological::intermediate-cycle-same-logical-ca": untrusted,
    "pathological::pathological-chain-distinct-subject-distinct-key": untrusted,
    "pathological::pathological-chain-same-subject-same-key": untrusted,
    "rfc5280::aki::critical-aki": .leftOut([], "whether an identifier is critical, " + configured),
    "rfc5280::aki::leaf-missing-aki": .warned(.signerProfile(.authorityKeyIdentifier), "field: some signers lack it"),
    "rfc5280::aki::intermediate-missing-aki": untrusted,
    "rfc5280::aki::self-signed-root-missing-aki": .agrees([]),
    "rfc5280::aki::cross-signed-root-missing-aki": .leftOut([], "the profile does not require it, " + configured),
    "rfc5280::eku::ee-wrong-eku": .failsByPurpose,
    "rfc5280::eku::ee-without-eku": .agrees([]),
    "rfc5280::eku::ee-eku-empty": .failsByPurpose,
    "rfc5280::pc::ica-noncritical-pc": untrusted,
    "rfc5280::serial::too-long": .warned(.signerProfile(.serialNumber), "says nothing about who signed"),
    "rfc5280::serial::zero": .warned(.signerProfile(.serialNumber), "says nothing about who signed"),
    "rfc5280::serial::negative": .agrees([
      .noTrustAnchor, .signerProfile(.publicKey), .signerProfile(.signatureAlgorithm), .signerProfile(.keyUsage),
      .signerProfile(.certificateAuthority),
    ]),
    "rfc5280::ski::critical-ski": untrusted,
    "rfc5280::ski::root-missing-ski": .warned(.anchorProfile(.subjectKeyIdentifier), configured),
    "rfc5280::ski::intermediate-missing-ski": untrusted,
    "rfc5280::validity::expired-root": .agrees([.noTrustAnchor]),
    "rfc5280::validity::expired-intermediate": .agrees([.anchorExpired]),
    "rfc5280::validity::expired-leaf": .agrees([.signerCertExpired]),
    "rfc5280::validity::notbefore-exact": .agrees([]),
    "rfc5280::validity::notbefore-fractional": .agrees([.signerCertNotYetValid, .anchorNotYetValid]),
    "rfc5280::validity::notafter-exact": .agrees([]),
    "rfc5280::validity::notafter-fractional": .leftOut(
      [.signerCertExpired, .anchorExpired], "the project calls it ambiguous; here a date ends with its instant"),
    "rfc5280::validity::expired-1-second": .agrees([.signerCertExpired, .anchorExpired]),
    "rfc5280::validity::expired-5-seconds": .agrees([.signerCertExpired, .anchorExpired]),
    "rfc5280::validity::not-yet-valid-1-second": .agrees([.signerCertNotYetValid, .anchorNotYetValid]),
    "rfc5280::validity::not-yet-valid-5-seconds": .agrees([.signerCertNotYetValid, .anchorNotYetValid]),
    "rfc5280::ee-empty-issuer": untrusted,
    "rfc5280::ca-empty-subject": .agrees([.countryMismatchChain]),
    "rfc5280::unknown-critical-extension-ee": .agrees([.signerProfile(.unknownCriticalExtension)]),
    "rfc5280::unknown-critical-extension-root": .agrees([.anchorProfile(.unknownCriticalExtension)]),
    "rfc5280::unknown-critical-extension-unrelated-root": .agrees([]),
    "rfc5280::unknown-critical-extension-unrelated-intermediate": deep,
    "rfc5280::unknown-critical-extension-intermediate": .agrees([.anchorProfile(.unknownCriticalExtension)]),
    "rfc5280::chain-untrusted-root": untrusted,
    "rfc5280::intermediate-ca-without-ca-bit": untrusted,
    "rfc5280::intermediate-ca-missing-basic-constraints": untrusted,
    "rfc5280::root-missing-basic-constraints": .warned(.anchorProfile(.basicConstraints), configured),
    "rfc5280::root-non-critical-basic-constraints": .warned(.anchorProfile(.basicConstraints), configured),
    "rfc5280::root-inconsistent-ca-extensions": .warned(.anchorProfile(.keyUsage), configured),
    "rfc5280::ica-ku-keycertsign": untrusted,
    "rfc5280::leaf-ku-keycertsign": .agrees([.signerProfile(.keyUsage)]),
    "rfc5280::ee-aia": .agrees([]),
    "rfc5280::ee-critical-aia-invalid": .agrees([.signerProfile(.unknownCriticalExtension)]),
    "rfc5280::duplicate-extensions": .agrees([.signerProfile(.duplicateExtension)]),
    "rfc5280::no-keyusage": .leftOut([.signerProfile(.keyUsage)], "the profile requires a key usage"),
    "rfc5280::no-basicconstraints": .agrees([]),
    "rfc5280::mismatching-signature-algorithm": .agrees([
      .noTrustAnchor, .signerProfile(.publicKey), .signerProfile(.signatureAlgorithm), .signerProfile(.keyUsage),
    ]),
    "rfc5280::ca-as-leaf": .leftOut(
      [.signerProfile(.keyUsage), .signerProfile(.certificateAuthority)], "an authority is no document signer"),
    "rfc5280::ca-as-leaf-wrong-san": .agrees([.signerProfile(.keyUsage), .signerProfile(.certificateAuthority)]),
    "rfc5280::root-and-intermediate-swapped": .agrees([]),
  ]

  /// Three levels that are about the signer and its issuer: the one between is configured as the root.
  private static let anchoredBetween: Set<String> = [
    "pathlen::ee-with-intermediate-pathlen-0", "pathlen::ee-with-intermediate-pathlen-1",
    "pathlen::ee-with-intermediate-pathlen-2", "rfc5280::validity::expired-intermediate",
    "rfc5280::validity::expired-leaf", "rfc5280::validity::notbefore-exact",
    "rfc5280::validity::notbefore-fractional", "rfc5280::validity::notafter-exact",
    "rfc5280::validity::notafter-fractional", "rfc5280::validity::expired-1-second",
    "rfc5280::validity::expired-5-seconds", "rfc5280::validity::not-yet-valid-1-second",
    "rfc5280::validity::not-yet-valid-5-seconds", "rfc5280::unknown-critical-extension-intermediate",
  ]

  @Test("every case of the subset has its declared outcome, or a reason why not")
  func cases() throws {
    guard let json = try sharedJSON("vectors/x509-limbo/limbo-subset.json") as? [String: Any] else { return }
    let cases = try #require(json["testcases"] as? [[String: Any]])
    #expect(cases.count == 78 && Set(cases.compactMap { $0["id"] as? String }) == Set(LimboTests.accounts.keys))
    var tally = VectorTally("x509-limbo")
    for vector in cases {
      let id = try #require(vector["id"] as? String)
      let account = try #require(LimboTests.accounts[id])
      let isSuccess = vector["expected_result"] as? String == "SUCCESS"
      let findings = try self.findings(of: vector)
      let failures = findings.filter(\.isHard).map(\.reason)
      let hardButCountry = failures.filter { $0 != .countryMismatchChain }
      switch account {
      case .agrees(let reasons):
        let found = Set(reasons.contains(.countryMismatchChain) ? failures : hardButCountry)
        tally.count("\(id): \(failures)", ["outcome": reasons.isEmpty == isSuccess, "reasons": found == Set(reasons)])
      case .warned(let reason, let why):
        #expect(!isSuccess && hardButCountry.isEmpty && findings.contains(soft(reason)), "\(id): \(findings)")
        if case .signerProfile = reason {
          let strict = try self.findings(of: vector, isStrict: true)
          #expect(strict.contains(hard(reason)), "\(id): \(strict)")
        }
        tally.leaveOut("a warning: \(why)")
      case .failsByPurpose:
        #expect(!isSuccess && hardButCountry.isEmpty, "\(id): \(failures)")
        // The same certificate where a purpose is asked for, as of every signer of an mDL.
        let found = try self.findings(of: vector, purpose: .documentSigner)
        tally.leaveOut("fails by the purpose that a doc type asks for")
        #expect(found.contains(ChainFinding(.signerProfile(.extendedKeyUsage))), "\(id): \(found)")
      case .leftOut(let reasons, let why):
        #expect(reasons.isEmpty != isSuccess, "\(id) agrees after all")
        #expect(Set(hardButCountry) == Set(reasons), "\(id): \(failures)")
        tally.leaveOut(why)
      }
    }
    #expect(tally.failures == [] && tally.cases == cases.count)
    print(tally)
  }

  private func findings(
    of vector: [String: Any], isStrict: Bool = false, purpose: OID? = nil
  ) throws -> [ChainFinding] {
    func der(_ pem: Any?) throws -> [UInt8] { try #require(try PEM.blocks(in: pem as? String ?? "").first).bytes }
    let id = try #require(vector["id"] as? String)
    let list = LimboTests.anchoredBetween.contains(id) ? "untrusted_intermediates" : "trusted_certs"
    let anchors = try (vector[list] as? [String] ?? []).map {
      TrustAnchor(try Certificate(try der($0)), source: "limbo")
    }
    let lists = try (vector["crls"] as? [String] ?? []).map { try CertificateRevocationList(try der($0)) }
    let text = (vector["validation_time"] as? String)?.replacingOccurrences(of: "+00:00", with: "Z")
    let now = text.flatMap { DateTime($0) }?.instant ?? UnixTime(seconds: 1_790_000_000)
    let requirements = ChainRequirements(
      docType: "limbo", keyPurpose: purpose, isStrict: isStrict, revocation: lists.isEmpty ? .ignore : .require)
    let revocation = RevocationLists(lists)
    let peer = try Certificate(try der(vector["peer_certificate"]))
    return SignerTrust(anchors: TrustAnchors(anchors)).assess(peer).verdict(for: requirements, at: now) {
      revocation.answer(for: $0, under: $1, at: now)
    }.findings
  }
}
