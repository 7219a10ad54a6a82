import CivilTime
import Crypto
import Testing

@testable import Trust

@Suite("Lists of revoked signers, by their dates")
struct RevocationDateTests {
  @Test("a list clears from its date to its end; before and after it can only revoke")
  func dates() throws {
    let pki = try TestPKI()
    let signer = try pki.signerCertificate()
    let anchor = try pki.anchor()
    func answer(from start: Int64, to end: Int64, revoked: [SerialNumber]) throws -> (
      RevocationListFault?, RevocationAnswer
    ) {
      let draft = RevocationListDraft(
        issuer: pki.root.subject, issuerKey: pki.rootKey.publicKey, thisUpdate: TestPKI.now.adding(seconds: start),
        nextUpdate: TestPKI.now.adding(seconds: end), revoked: revoked.map { ($0, TestPKI.now) })
      let list = try CertificateRevocationList(try draft.encoded(signedBy: pki.rootKey))
      return (
        list.dateFault(at: TestPKI.now), RevocationLists([list]).answer(for: signer, under: anchor, at: TestPKI.now)
      )
    }
    for (start, end, fault) in [(-10, 10, nil), (1, 10, .notYet), (-10, -1, .outdated)]
      as [(Int64, Int64, RevocationListFault?)]
    {
      let clear = try answer(from: start, to: end, revoked: [])
      #expect(clear == (fault, fault == nil ? .good : .unknown), "\(start) to \(end)")
      let revoked = try answer(from: start, to: end, revoked: [signer.serialNumber])
      #expect(revoked == (fault, .revoked), "\(start) to \(end)")
    }
  }

  @Test("roots whose names are the same but for their writing are asked together, and by bytes each for itself")
  func names() throws {
    var one = try TestPKI()
    var other = try TestPKI()
    one.root.subject = [NameAttribute(.countryName, "UT"), NameAttribute(.commonName, "Test  ROOT")]
    other.root.subject = [NameAttribute(.countryName, "UT"), NameAttribute(.commonName, "test root")]
    let certificates = try [one, other].map { try $0.rootCertificate() }
    let anchors = TrustAnchors(certificates.map { TrustAnchor($0, source: "test") })
    for certificate in certificates {
      #expect(anchors.named(certificate.subject, comparison: .normalized).count == 2)
      #expect(anchors.named(certificate.subject, comparison: .bytes).map(\.certificate) == [certificate])
    }
  }
}
