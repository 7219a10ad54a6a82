import Bytes
import CBOR
import COSE
import Crypto

/// How the two sides met: the third element of a SessionTranscript (ISO/IEC 18013-5 section 9.1.5.1).
package enum Handover: Equatable, Sendable {
  /// A QR code: null.
  case qrCode
  /// NFC: the Handover Select message and, in negotiated handover, the Handover Request message, byte for byte.
  case nfc(select: [UInt8], request: [UInt8]?)
  /// Any other form, as one encoded item.
  case encoded([UInt8])

  func write(to writer: inout CBORWriter) {
    switch self {
    case .qrCode: writer.null()
    case .nfc(let select, let request):
      writer.array(count: 2)
      writer.byteString(select)
      if let request { writer.byteString(request) } else { writer.null() }
    case .encoded(let item): writer.raw(item)
    }
  }
}

/// SessionTranscript: what keys and signatures of a session are bound to. A value of bytes, never re-encoded.
package struct SessionTranscript: Equatable, Sendable {
  /// The array of three, not in tag 24: the form inside DeviceAuthentication and ReaderAuthentication.
  package let encoded: [UInt8]

  /// The transcript of a session near the door.
  ///
  /// - Parameters:
  ///   - engagement: the DeviceEngagement as received or as shown, not in tag 24.
  ///   - eReaderKeyBytes: EReaderKeyBytes as sent, tag 24 included.
  package init(engagement: some Collection<UInt8>, eReaderKeyBytes: some Collection<UInt8>, handover: Handover) {
    var writer = CBORWriter(capacity: engagement.count + eReaderKeyBytes.count + 16)
    writer.array(count: 3)
    writer.embedded(engagement)
    writer.raw(eReaderKeyBytes)
    handover.write(to: &writer)
    encoded = writer.bytes
  }

  /// The transcript of a session near the door, from the reader's own key: what a reader needs before it can sign.
  package init(engagement: DeviceEngagement, eReaderKey: PublicKey, handover: Handover) {
    self.init(
      engagement: engagement.encoded, eReaderKeyBytes: CBORValue.embedded(eReaderKey.coseKey).encode(),
      handover: handover)
  }

  /// The transcript of an online flow: null for engagement and reader key, since there are none.
  package init(online handover: Handover) {
    var writer = CBORWriter()
    writer.array(count: 3)
    writer.null()
    writer.null()
    handover.write(to: &writer)
    encoded = writer.bytes
  }

  /// A transcript that comes from elsewhere, in tag 24 or not. Throws unless it is an array of three with tag 24 or
  /// null in the first two places.
  package init(encoded bytes: ByteView) throws(CBORError) {
    var item = try decodeCBOR(bytes)
    if item.tagNumber == 24 { item = try item.embedded() }
    guard item.count == 3, let elements = item.elements else {
      throw CBORError(.unexpectedKind, offset: item.offset)
    }
    for (place, element) in elements.enumerated() where place < 2 {
      guard element.isNull || element.embeddedBytes != nil else {
        throw CBORError(.unexpectedKind, offset: element.offset, path: "[\(place)]")
      }
    }
    encoded = Array(item.encoded)
  }

  /// SessionTranscriptBytes: the transcript in tag 24.
  package var tagged: [UInt8] { embedCBOR(encoded) }

  /// SHA-256 of SessionTranscriptBytes: the salt of every key derivation of the session.
  package var salt: [UInt8] { SessionTranscript.salt(of: encoded[...]) }

  /// The salt of a transcript as an item, without tag 24.
  static func salt(of encoded: ByteView) -> [UInt8] { digest(.sha256, embedCBOR(encoded)) }
}
