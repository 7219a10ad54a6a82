import CBOR
import CivilTime
import Crypto
import Issuer
import Mdoc
import StatusLists
import Testing
import Trust

@testable import MdocVerification

@Suite("Revocation of signers and documents, by policy")
struct RevocationPolicyTests {
  private static let uri = "https://issuer.example/status/1"

  /// A document with a place in a status list, its issuer's lists, and what is asked of them.
  private struct Case {
    var visit: TestVisit
    let response: [UInt8]
    var statuses = StatusSource()
    var lists: [CertificateRevocationList] = []

    init() throws {
      visit = try TestVisit()
      let credential = try visit.issue { terms in
        terms.status = .map(["status_list": .map(["idx": 1, "uri": .text(RevocationPolicyTests.uri)])])
      }
      response = DeviceResponseDraft(documents: [try visit.presentation(credential).document()]).encode()
    }

    mutating func status(_ value: UInt8) throws {
      let draft = StatusTokenDraft(
        subject: RevocationPolicyTests.uri, .statuses(bits: 2, [0, value, 0, 0]), now: visit.now.adding(seconds: -60))
      var random = RandomSource()
      let signer = try visit.authority.makeSigner(
        notBefore: visit.now.adding(seconds: -60), notAfter: visit.now.adding(seconds: 60), purposes: [.statusSigner],
        random: &random)
      let token = try draft.encoded(signedBy: signer)
      statuses = StatusSource([
        RevocationPolicyTests.uri: .init(
          Result { () throws(StatusFault) in try StatusToken(cwt: token[...]) }, receivedAt: visit.now)
      ])
    }

    mutating func list(revoking isRevoked: Bool) throws {
      let root = try Certificate(visit.authority.certificate)
      let signer = try Certificate(visit.signer.certificate)
      let draft = RevocationListDraft(
        issuer: visit.authority.name, issuerKey: try root.publicKey.get(), thisUpdate: visit.now.adding(seconds: -60),
        nextUpdate: visit.now.adding(seconds: 60), revoked: isRevoked ? [(signer.serialNumber, visit.now)] : [])
      lists = [try CertificateRevocationList(try draft.encoded(signedBy: visit.authority.key))]
    }

    func verdict(_ edit: (inout VerificationPolicy) -> Void = { _ in }) throws -> Verdict {
      var policy = VerificationPolicy()
      edit(&policy)
      let request = ItemsRequest(
        docType: MDLElements.docType,
        nameSpaces: [
          .init(
            nameSpace: TestVisit.nameSpace,
            elements: TestVisit.elements.map { .init(identifier: $0.identifier, intentToRetain: false) })
        ])
      let anchor = TrustAnchor(try Certificate(visit.authority.certificate), source: "test")
      return Verifier(anchors: [anchor], policy: policy, revocation: RevocationLists(lists), statuses: statuses)
        .verify(
          response[...],
          in: .init(
            transcript: visit.transcript[...], requested: [request], readerKey: visit.readerKey, now: visit.now))
    }
  }

  @Test("without lists both are unknown: a warning by default, and said in the verdict")
  func unknown() throws {
    let verdict = try Case().verdict()
    #expect(verdict.isVerified)
    #expect(verdict.texts == ["warning revocationUnknown", "warning statusUnavailable(statusFetchFailed)"])
    #expect(verdict.documents[0].signerRevocation == .unknown)
    #expect(verdict.documents[0].status == .unavailable(.fetchFailed))
  }

  @Test("where nothing is asked for, nothing is found, and the verdict says it all the same")
  func off() throws {
    var one = try Case()
    let off = { (policy: inout VerificationPolicy) in
      policy.signerRevocation = .ignore
      policy.documentStatus = .ignore
    }
    let verdict = try one.verdict(off)
    #expect(verdict.isVerified && verdict.texts == [])
    #expect(verdict.documents[0].signerRevocation == .unknown)
    #expect(verdict.documents[0].status == .unavailable(.fetchFailed))
    try one.status(1)
    try one.list(revoking: true)
    let other = try one.verdict(off)
    #expect(other.isVerified && other.texts == [])
    #expect(other.documents[0].signerRevocation == .revoked && other.documents[0].status == .revoked)
  }

  @Test("lists that tell leave nothing to warn about")
  func good() throws {
    var one = try Case()
    try one.status(0)
    try one.list(revoking: false)
    let verdict = try one.verdict {
      $0.signerRevocation = .require
      $0.documentStatus = .require
    }
    #expect(verdict.isVerified && verdict.texts == [])
    #expect(verdict.documents[0].signerRevocation == .good && verdict.documents[0].status == .valid)
  }

  @Test("a revoked signer, and a revoked or suspended document, is refused though lists are only preferred")
  func revoked() throws {
    var one = try Case()
    try one.status(0)
    try one.list(revoking: true)
    #expect(try one.verdict().failures == ["signerRevoked"])
    try one.list(revoking: false)
    try one.status(1)
    #expect(try one.verdict().failures == ["revoked"])
    try one.status(2)
    #expect(try one.verdict().failures == ["suspended"])
    try one.status(3)
    #expect(try one.verdict().failures == ["statusUnknownValue"])
  }

  @Test("a doc type can have a policy of its own")
  func docTypes() throws {
    let one = try Case()
    let verdict = try one.verdict {
      $0.signerRevocationByDocType = [MDLElements.docType: .require, "other": .ignore]
      $0.documentStatusByDocType = [MDLElements.docType: .ignore]
    }
    #expect(verdict.failures == ["revocationUnknown"] && verdict.texts == ["failure revocationUnknown"])
    let other = try one.verdict {
      $0.documentStatus = .ignore
      $0.documentStatusByDocType = [MDLElements.docType: .require]
    }
    #expect(other.failures == ["statusUnavailable(statusFetchFailed)"])
  }

  @Test("a verified document names the addresses of lists, and another one names nothing")
  func addresses() throws {
    var one = try Case()
    let lists = try #require(try one.verdict().documents[0].lists)
    #expect(lists.status == Self.uri && lists.revocation == ["http://issuer.example/iaca.crl"])
    try one.list(revoking: true)
    #expect(try one.verdict().documents[0].lists == nil)
  }

  @Test("the signer of a status list that is revoked itself is not believed")
  func revokedListSigner() throws {
    var one = try Case()
    let root = try Certificate(one.visit.authority.certificate)
    // The list's signer is the document signer here: it has no other purpose named.
    let signer = DocumentSigner(key: one.visit.signer.key, certificate: one.visit.signer.certificate)
    let draft = StatusTokenDraft(
      subject: Self.uri, .statuses(bits: 1, [0, 0]), now: one.visit.now.adding(seconds: -60))
    let token = try draft.encoded(signedBy: signer)
    one.statuses = StatusSource([
      Self.uri: .init(Result { () throws(StatusFault) in try StatusToken(cwt: token[...]) }, receivedAt: one.visit.now)
    ])
    #expect(root.isAuthority)
    // An mDL signer says what it is for, and that is not lists.
    #expect(try one.verdict().documents[0].status == .unavailable(.signerUntrusted))
  }
}
