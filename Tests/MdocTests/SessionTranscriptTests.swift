import Bytes
import CBOR
import Crypto
import TestSupport
import Testing

@testable import Mdoc

@Suite("Session transcripts")
struct SessionTranscriptTests {
  @Test("the Annex D transcript is made of engagement, reader key and NFC handover")
  func annexD() throws {
    let figure = try decodeCBOR(AnnexD.sessionTranscript)
    let engagement = try #require(figure.element(0)?.embeddedBytes)
    #expect(try DeviceEngagement(engagement).bluetooth == nil)
    let key = try SessionEstablishment(AnnexD.sessionEstablishment[...]).eReaderKey()
    let transcript = try SessionTranscript(
      engagement: DeviceEngagement(engagement), eReaderKey: key,
      handover: .nfc(select: AnnexD.handoverSelect, request: AnnexD.handoverRequest))
    #expect(transcript.encoded == AnnexD.sessionTranscript)
    #expect(transcript.salt == AnnexD.salt)
    #expect(transcript.tagged.prefix(5).hex == "d818590241")
  }

  @Test("a QR transcript has the heads 83, d8 18 58, and null at its end")
  func qrCode() throws {
    let transcript = SessionTranscript(
      engagement: AnnexD.deviceEngagement, eReaderKeyBytes: AnnexD.eDeviceKeyBytes, handover: .qrCode)
    #expect(transcript.encoded.prefix(5).hex == "83d8185874")
    #expect(Array(transcript.encoded[5..<121]) == AnnexD.deviceEngagement)
    #expect(Array(transcript.encoded[121...]) == AnnexD.eDeviceKeyBytes + [0xf6])
  }

  @Test("static NFC handover has null in place of the request, other forms go in as they are")
  func otherHandovers() {
    func end(_ handover: Handover) -> String {
      SessionTranscript(engagement: [0xa0], eReaderKeyBytes: [0xd8, 24, 0x40], handover: handover).encoded
        .dropFirst(8).hex
    }
    #expect(end(.nfc(select: [1, 2], request: nil)) == "82420102f6")
    #expect(end(.nfc(select: [1], request: [2])) == "8241014102")
    #expect(end(.encoded([0x81, 0x63, 0x66, 0x6f, 0x6f])) == "8163666f6f")
  }

  @Test("a given transcript is kept as it is, in tag 24 or not")
  func given() throws {
    let transcript = try SessionTranscript(encoded: AnnexD.sessionTranscript[...])
    #expect(transcript.encoded == AnnexD.sessionTranscript)
    #expect(try SessionTranscript(encoded: transcript.tagged[...]) == transcript)
    #expect(try SessionTranscript(encoded: [0x83, 0xf6, 0xf6, 0xf6]).encoded == [0x83, 0xf6, 0xf6, 0xf6])
  }

  @Test(
    "what is no transcript is refused at its place",
    arguments: [
      ("82f6f6", CBORError(.unexpectedKind, offset: 0)),
      ("84f6f6f6f6", CBORError(.unexpectedKind, offset: 0)),
      ("a0", CBORError(.unexpectedKind, offset: 0)),
      ("d81843820102", CBORError(.unexpectedKind, offset: 3)),
      ("8340f6f6", CBORError(.unexpectedKind, offset: 1, path: "[0]")),
      ("83f6d81801f6", CBORError(.unexpectedKind, offset: 2, path: "[1]")),
      ("83f6f6", CBORError(.truncated, offset: 0)),
      ("83f6f6f600", CBORError(.trailingBytes, offset: 4)),
    ])
  func refused(hex: String, error: CBORError) throws {
    let encoded = try #require(bytes(hex: hex))
    #expect(throws: error) { try SessionTranscript(encoded: encoded[...]) }
  }
}
