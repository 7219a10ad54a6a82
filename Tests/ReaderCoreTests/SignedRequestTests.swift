import CBOR
import Crypto
import Mdoc
import Testing

@testable import ReaderCore

@Suite("Requests of a reader that says who it is")
struct SignedRequestTests {
  /// The request that a wallet got, decrypted, and the transcript of the session.
  private func received(
    by bench: Bench, capabilities: (inout DeviceEngagementDraft) -> Void = { _ in }
  ) throws -> (DeviceRequest, SessionTranscript) {
    var wallet = try TestWallet(edit: capabilities)
    bench.start()
    bench.feed(.code(wallet.code, capturedAt: epoch))
    bench.feed(.link(1, .started(facts)))
    let first = try #require(bench.sent.first)
    wallet.session.handle(.message(first[...]), at: epoch)
    var received: [UInt8]?
    while let output = wallet.session.nextOutput() {
      if case .request(let bytes) = output { received = bytes }
    }
    let transcript = wallet.session.transcript
    return (try DeviceRequest(try #require(received)), try #require(transcript))
  }

  @Test("are signed over the transcript of the session, and over the whole where the wallet takes that")
  func signed() throws {
    let key = try PrivateKey.generate(.p256)
    let signer = ReaderSigner(key: key, certificates: [[1, 2, 3]])
    for takesAll in [false, true] {
      let (request, transcript) = try received(by: Bench(signer: signer)) {
        guard takesAll else { return }
        $0.version = "1.1"
        $0.extraMembers = [.init(6, .map(labels: [3: .bool(true)]))]
      }
      let document = try #require(request.documents.first)
      let signature = try #require(document.readerAuth)
      let payload = ReaderAuthentication.payload(
        transcript: transcript, itemsRequestBytes: document.itemsRequestBytes)
      #expect(ReaderAuthentication.isValid(signature, over: payload, key: key.publicKey))
      #expect(request.readerAuthAll.count == (takesAll ? 1 : 0))
    }
  }

  @Test("without a signer are not signed")
  func unsigned() throws {
    let (request, _) = try received(by: Bench())
    #expect(request.documents.allSatisfy { $0.readerAuth == nil } && request.readerAuthAll.isEmpty)
  }

  @Test(
    "are not sent unsigned when the key does not sign: the code is refused with its reason, and the reader ready again")
  func unusable() throws {
    let wallet = try TestWallet()
    let bench = Bench(signer: ReaderSigner(key: try PrivateKey.generate(.x25519), certificates: []))
    bench.start()
    bench.feed(.code(wallet.code, capturedAt: epoch))
    #expect(bench.refused == ["readerKeyUnusable"] && bench.plans.isEmpty && bench.shown.last == .incomplete)
    bench.waitForDeadline()
    #expect(bench.isReady)
  }
}
