import CBOR
import Crypto

/// The handovers of the online flows. Each binds a response to whom it was made for, what was asked in which request and,
/// where the response is encrypted, to the key; all texts go in as they were sent, character by character.
extension Handover {
  /// OpenID4VP 1.0 by redirect or QR code, response modes `direct_post` and `direct_post.jwt` (appendix B.2.6.1).
  ///
  /// - Parameters:
  ///   - clientID: `client_id` of the request, its prefix included, such as `x509_san_dns:example.com`.
  ///   - nonce: `nonce` of the request.
  ///   - encryptionKeyThumbprint: of the verifier's key that the response was encrypted to (RFC 7638, SHA-256); nil where
  ///     the response is not encrypted.
  ///   - responseURI: `response_uri` of the request, or `redirect_uri` where the response mode uses that.
  package static func openID4VP(
    clientID: String, nonce: String, encryptionKeyThumbprint: [UInt8]?, responseURI: String
  ) -> Handover {
    named("OpenID4VPHandover", infoCount: 4) { info in
      info.text(clientID)
      info.text(nonce)
      info.optionalBytes(encryptionKeyThumbprint)
      info.text(responseURI)
    }
  }

  /// OpenID4VP 1.0 over the browser's Digital Credentials API, response modes `dc_api` and `dc_api.jwt` (appendix
  /// B.2.6.2).
  ///
  /// - Parameters:
  ///   - origin: of the page that asked, without the prefix `origin:` and without a slash at its end.
  ///   - nonce: `nonce` of the request.
  ///   - encryptionKeyThumbprint: as for `openID4VP`.
  package static func openID4VPBrowser(
    origin: String, nonce: String, encryptionKeyThumbprint: [UInt8]?
  ) -> Handover {
    named("OpenID4VPDCAPIHandover", infoCount: 3) { info in
      info.text(origin)
      info.text(nonce)
      info.optionalBytes(encryptionKeyThumbprint)
    }
  }

  /// The browser's handover of drafts 23 and 24 of OpenID4VP, response mode `dc_api`: the same name, other members.
  package static func openID4VPBrowserDraft(origin: String, clientID: String, nonce: String) -> Handover {
    named("OpenID4VPDCAPIHandover", infoCount: 3) { info in
      info.text(origin)
      info.text(clientID)
      info.text(nonce)
    }
  }

  /// ISO/IEC 18013-7:2024 Annex B, built on a draft of OpenID4VP, response mode `direct_post.jwt` (B.4.4).
  ///
  /// - Parameters:
  ///   - clientID: `client_id` of the request; its scheme is a parameter of its own there, so that it has no prefix.
  ///   - responseURI: `response_uri` of the request.
  ///   - nonce: `nonce` of the request.
  ///   - mdocGeneratedNonce: what the wallet chose, the decoded `apu` of its response; an empty one is taken too.
  package static func annexB(
    clientID: String, responseURI: String, nonce: String, mdocGeneratedNonce: String
  ) -> Handover {
    func hash(_ text: String) -> [UInt8] {
      var writer = CBORWriter()
      writer.array(count: 2)
      writer.text(text)
      writer.text(mdocGeneratedNonce)
      return digest(.sha256, writer.bytes)
    }
    var writer = CBORWriter()
    writer.array(count: 3)
    writer.byteString(hash(clientID))
    writer.byteString(hash(responseURI))
    writer.text(nonce)
    return .encoded(writer.bytes)
  }

  /// ISO/IEC 18013-7 Annex C: `org-iso-mdoc` over the browser's Digital Credentials API.
  ///
  /// - Parameters:
  ///   - encryptionInfo: EncryptionInfo in base64url, the very text that the page handed over.
  ///   - origin: of the page that asked, without a slash at its end.
  package static func annexC(encryptionInfo: String, origin: String) -> Handover {
    named("dcapi", infoCount: 2) { info in
      info.text(encryptionInfo)
      info.text(origin)
    }
  }

  /// A name, and the hash of an array of what the handover is about.
  private static func named(_ name: String, infoCount: Int, _ write: (inout CBORWriter) -> Void) -> Handover {
    var info = CBORWriter()
    info.array(count: infoCount)
    write(&info)
    var writer = CBORWriter()
    writer.array(count: 2)
    writer.text(name)
    writer.byteString(digest(.sha256, info.bytes))
    return .encoded(writer.bytes)
  }
}

extension CBORWriter {
  fileprivate mutating func optionalBytes(_ bytes: [UInt8]?) {
    if let bytes { byteString(bytes) } else { null() }
  }
}
