import CBOR
import CivilTime
import Crypto
import Issuer
import Mdoc
import StatusLists
import TestSupport
import Testing
import Wallet
import Web

@Suite("The status of a document, asked by its holder")
struct CredentialStatusTests {
  private static let address = "https://issuer.example/status"
  private let authority: IssuerAuthority
  private let signer: DocumentSigner
  private let root: Certificate

  init() throws {
    var random = SplitMix64(state: 9)
    authority = try IssuerAuthority(notBefore: testNow.adding(seconds: -86_400), random: &random)
    signer = try authority.makeSigner(
      notBefore: testNow.adding(seconds: -86_400), notAfter: testNow.adding(seconds: 864_000),
      purposes: [.documentSigner, .statusSigner], random: &random)
    root = try Certificate(authority.certificate)
  }

  private func credential(index: Int?) throws -> Credential {
    var random = SplitMix64(state: 10)
    var terms = IssuanceTerms(now: testNow)
    terms.status = index.map {
      .map(["status_list": .map(["idx": .unsigned(UInt64($0)), "uri": .text(CredentialStatusTests.address)])])
    }
    let content = DocumentContent(kind: .mdl, person: TestPerson(age: 30, on: testNow.date()))
    return try signer.issue(
      docType: "org.iso.18013.5.1.mDL", try content.nameSpaces(on: testNow.date()),
      deviceKey: try PrivateKey.make(.p256, random: &random), terms: terms, random: &random)
  }

  private func ask(
    _ index: Int?, roots: [Certificate]? = nil, status: Int = 200, by signer: DocumentSigner? = nil
  ) throws -> CredentialStatus {
    var draft = StatusTokenDraft(
      subject: CredentialStatusTests.address, .statuses(bits: 1, [0, 1]), now: testNow)
    draft.chain = [(signer ?? self.signer).certificate]
    let token = try draft.encoded(signedBy: signer ?? self.signer)
    let exchange = WebExchange { request, _ in
      #expect(request.address.text == CredentialStatusTests.address && request.method == .get)
      return WebAnswer(status: status, body: token)
    }
    return CredentialStatus.ask(
      about: try credential(index: index), through: exchange, roots: roots ?? [root], now: testNow)
  }

  @Test("the list of its issuer says whether it was revoked")
  func answers() throws {
    #expect(try ask(0) == .answered(.valid))
    #expect(try ask(1) == .answered(.revoked))
    #expect(try ask(100) == .answered(.indexOutOfRange))
    #expect(try ask(nil) == .noList)
    #expect(try ask(0, status: 404) == .answered(.unavailable(.fetchFailed)))
  }

  @Test("without a root only the document's own signer speaks for it, and a stranger never")
  func trust() throws {
    var random = SplitMix64(state: 11)
    let stranger = try IssuerAuthority(notBefore: testNow.adding(seconds: -86_400), random: &random)
    let other = try stranger.makeSigner(
      notBefore: testNow.adding(seconds: -86_400), notAfter: testNow.adding(seconds: 864_000),
      purposes: [.statusSigner], random: &random)
    #expect(try ask(1, roots: []) == .answered(.revoked))
    #expect(try ask(0, by: other) == .answered(.unavailable(.signerUntrusted)))
    #expect(try ask(0, roots: [], by: other) == .answered(.unavailable(.signerUntrusted)))
    #expect(try ask(0, roots: [try Certificate(stranger.certificate)]) == .answered(.valid))
  }
}
