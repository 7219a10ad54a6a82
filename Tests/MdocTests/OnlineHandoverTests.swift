import Bytes
import CBOR
import Crypto
import Foundation
import TestSupport
import Testing

@testable import Mdoc

@Suite("Transcripts of the online flows")
struct OnlineHandoverTests {
  // OpenID4VP 1.0, appendices B.2.6.1 and B.2.6.2
  private let nonce = "exc7gBkxjx1rdc9udRrveKvSsJIq80avlXeLHhGwqtA"
  private let thumbprint = bytes(hex: "4283ec927ae0f208daaa2d026a814f2b22dca52cf85ffa8f3f8626c6bd669047")

  @Test("the figures of OpenID4VP 1.0 come out, by redirect and over the browser")
  func openID4VP() {
    let redirect = SessionTranscript(
      online: .openID4VP(
        clientID: "x509_san_dns:example.com", nonce: nonce, encryptionKeyThumbprint: thumbprint,
        responseURI: "https://example.com/response"))
    #expect(
      redirect.encoded.hex
        == "83f6f682714f70656e494434565048616e646f7665725820"
        + "048bc053c00442af9b8eed494cefdd9d95240d254b046b11b68013722aad38ac")
    let browser = SessionTranscript(
      online: .openID4VPBrowser(origin: "https://example.com", nonce: nonce, encryptionKeyThumbprint: thumbprint))
    #expect(
      browser.encoded.hex
        == "83f6f682764f70656e4944345650444341504948616e646f7665725820"
        + "fbece366f4212f9762c74cfdbf83b8c69e371d5d68cea09cb4c48ca6daab761a")
  }

  @Test("a response that is not encrypted has null for the thumbprint")
  func unencrypted() {
    func expected(_ name: String, _ info: [CBORValue]) -> [UInt8] {
      let handover = CBORValue.array([.text(name), .bytes(digest(.sha256, CBORValue.array(info).encode()))])
      return CBORValue.array([.null, .null, handover]).encode()
    }
    let redirect = Handover.openID4VP(
      clientID: "redirect_uri:https://a", nonce: "n", encryptionKeyThumbprint: nil, responseURI: "https://a")
    #expect(
      SessionTranscript(online: redirect).encoded
        == expected("OpenID4VPHandover", [.text("redirect_uri:https://a"), .text("n"), .null, .text("https://a")]))
    let browser = Handover.openID4VPBrowser(origin: "https://a", nonce: "n", encryptionKeyThumbprint: nil)
    #expect(
      SessionTranscript(online: browser).encoded
        == expected("OpenID4VPDCAPIHandover", [.text("https://a"), .text("n"), .null]))
    let draft = Handover.openID4VPBrowserDraft(origin: "https://a", clientID: "web-origin:https://a", nonce: "n")
    #expect(
      SessionTranscript(online: draft).encoded
        == expected("OpenID4VPDCAPIHandover", [.text("https://a"), .text("web-origin:https://a"), .text("n")]))
  }

  @Test("the figure of ISO/IEC 18013-7 Annex B comes out, and an empty nonce of the wallet is one as well")
  func annexB() {
    func transcript(_ walletNonce: String) -> [UInt8] {
      SessionTranscript(
        online: .annexB(
          clientID: "example.com", responseURI: "https://example.com/12345/response", nonce: "abcdefgh1234567890",
          mdocGeneratedNonce: walletNonce)
      ).encoded
    }
    #expect(
      transcript("1234567890abcdefgh").hex
        == "83f6f6835820da25c527e5fb75bc2dd31267c02237c4462ba0c1bf37071f692e7dd93b10ad0b"
        + "5820f6ed8e3220d3c59a5f17eb45f48ab70aeecf9ee21744b1014982350bd96ac0c5"
        + "72616263646566676831323334353637383930")
    let empty = digest(.sha256, CBORValue.array([.text("example.com"), .text("")]).encode())
    #expect(Array(transcript("")[6..<38]) == empty)
  }

  @Test("the figure of Annex C comes out")
  func annexC() {
    let info =
      "gmVkY2FwaaJlbm9uY2VQAAECAwQFBgcICQoLDA0OD3JyZWNpcGllbnRQdWJsaWNLZXmkAQIgASFYILO0LJXwA8VAp7-rI9YIJvj1wfEQ"
      + "122YdEjwxUFeYAFEIlgg0u68CgTFZk_nslWFmYhDMQQ6vdBNf2vwy3QHKI_80Js"
    let transcript = SessionTranscript(online: .annexC(encryptionInfo: info, origin: "https://verifier.example"))
    #expect(
      transcript.encoded.hex
        == "83f6f68265646361706958203ce0149e8bbf604186a904b8685614cbee8db6c0a64409f7330f2181586f197c")
    #expect(
      digest(.sha256, transcript.encoded).hex == "564a34efc36b9b5a5ccafb6bf2e923cd96cc4a9c3712407f887d1e84d3bb58e4")
  }

  @Test("thumbprints of keys are those of OpenID4VP 1.0, with two coordinates, and RFC 8037, with one")
  func thumbprints() throws {
    let key = try PublicKey(
      curve: .p256, x: Base64.url.decode("DxiH5Q4Yx3UrukE2lWCErq8N8bqC9CHLLrAwLz5BmE0"),
      y: Base64.url.decode("XtLM4-3h5o3HUH0MHVJV0kyq0iBlrBwlh8qEDMZ4-Pc"))
    #expect(key.jwkThumbprint == thumbprint)
    let other = try PublicKey(
      curve: .ed25519, raw: Base64.url.decode("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"))
    #expect(Base64.url.encode(other.jwkThumbprint) == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
  }

  @Test("every transcript of the reference data is made from its inputs")
  func vectors() throws {
    guard let data = try sharedBytes("vectors/transcripts/transcripts.json") else { return }
    let entries = try JSONDecoder().decode([TranscriptVector].self, from: Data(data))
    #expect(entries.count >= 5)
    var tally = VectorTally("transcripts")
    for entry in entries {
      let transcript = SessionTranscript(online: try #require(try entry.handover(), "\(entry.name)"))
      let tagged = try SessionTranscript(encoded: transcript.tagged[...])
      let thumbprint = try entry.inputs.encryptionJwk?.key().jwkThumbprint.hex
      tally.count(
        entry.name,
        [
          "transcript": transcript.encoded.hex == entry.sessionTranscriptHex, "tagged": tagged == transcript,
          "thumbprint": thumbprint == entry.jwkThumbprintHex,
        ])
    }
    #expect(tally.failures == [])
    print(tally)
  }

  @Test("the browser exchange of Annex C that others computed has our transcript, around a request and an answer")
  func annexCExchange() throws {
    struct Exchange: Decodable {
      struct Expected: Decodable {
        let sessionTranscriptCborSha256Hex, deviceResponseCborSha256Hex, docType, requestedElement: String
      }
      let origin, deviceRequestB64, encryptionInfoB64, sessionTranscriptHex, plaintextHex: String
      let expected: Expected
    }
    guard let data = try sharedBytes("vectors/transcripts/annex-c-deterministic-hpke.json") else { return }
    let entry = try JSONDecoder().decode(Exchange.self, from: Data(data))
    let transcript = SessionTranscript(
      online: .annexC(encryptionInfo: entry.encryptionInfoB64, origin: entry.origin))
    let items = try DeviceRequest(Base64.url.decode(entry.deviceRequestB64)).documents.map(\.itemsRequest)
    let plaintext = try #require(bytes(hex: entry.plaintextHex))
    let response = try DeviceResponse(plaintext[...])
    var tally = VectorTally("Annex C exchange")
    tally.count(
      "transcript",
      passes: transcript.encoded.hex == entry.sessionTranscriptHex
        && digest(.sha256, transcript.encoded).hex == entry.expected.sessionTranscriptCborSha256Hex)
    tally.count(
      "request",
      passes: items.map(\.docType) == [entry.expected.docType]
        && items.flatMap(\.nameSpaces).flatMap(\.elements).map(\.identifier) == [entry.expected.requestedElement])
    tally.count(
      "response",
      passes: response.status == 0 && response.documents.isEmpty
        && digest(.sha256, plaintext).hex == entry.expected.deviceResponseCborSha256Hex)
    tally.leaveOut("an HPKE message: the reader has no browser in front of it")
    #expect(tally.failures == [])
    print(tally)
  }
}

/// An entry of `vectors/transcripts`.
private struct TranscriptVector: Decodable {
  struct JWK: Decodable {
    let x, y: String

    func key() throws -> PublicKey {
      try PublicKey(curve: .p256, x: Base64.url.decode(x), y: Base64.url.decode(y))
    }
  }

  struct Inputs: Decodable {
    private enum CodingKeys: String, CodingKey {
      case clientID = "client_id"
      case responseURI = "response_uri"
      case mdocGeneratedNonce = "mdoc_generated_nonce"
      case encryptionInfo = "encryptionInfo_base64url"
      case nonce, origin, encryptionJwk
    }

    let clientID, nonce, responseURI, origin, mdocGeneratedNonce, encryptionInfo: String?
    let encryptionJwk: JWK?
  }

  let name, sessionTranscriptHex: String
  let jwkThumbprintHex: String?
  let inputs: Inputs

  /// Nil for a form that nobody here knows.
  func handover() throws -> Handover? {
    let thumbprint = try inputs.encryptionJwk?.key().jwkThumbprint
    switch (inputs.clientID, inputs.responseURI, inputs.origin, inputs.nonce) {
    case (let client?, let response?, nil, let nonce?):
      if let own = inputs.mdocGeneratedNonce {
        return .annexB(clientID: client, responseURI: response, nonce: nonce, mdocGeneratedNonce: own)
      }
      return .openID4VP(
        clientID: client, nonce: nonce, encryptionKeyThumbprint: thumbprint, responseURI: response)
    case (nil, nil, let origin?, let nonce?):
      return .openID4VPBrowser(origin: origin, nonce: nonce, encryptionKeyThumbprint: thumbprint)
    case (nil, nil, let origin?, nil):
      return inputs.encryptionInfo.map { .annexC(encryptionInfo: $0, origin: origin) }
    default: return nil
    }
  }
}
