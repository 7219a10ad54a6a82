import Bytes

/// The `mdoc:` text of a QR code (ISO/IEC 18013-5 section 8.2.2.3): the scheme, then base64url without padding.
///
/// Only the text is checked here; `engagement` is whatever bytes it carries.
package struct EngagementURI: Equatable, Sendable {
  /// Characters accepted at most. Engagements take 150 to 350; a QR code holds up to 4296.
  package static let maximumSize = 4096

  /// The bytes of the DeviceEngagement, not parsed.
  package let engagement: [UInt8]

  /// Why a text or a code's content is no engagement URI. Offsets count bytes from the first character.
  package enum Violation: Error, Equatable, Sendable {
    /// Not an `mdoc:` text: some other code.
    case otherScheme
    /// `mdoc://`, the form of the website flow of ISO/IEC 18013-7, which carries a reader engagement.
    case websiteForm
    /// More than `limit` characters.
    case tooLong(limit: Int)
    /// Nothing after the scheme.
    case empty
    case notASCII(offset: Int)
    case whitespace(offset: Int)
    /// An equals sign: padding is not part of this form.
    case padding(offset: Int)
    /// A character outside the base64url alphabet.
    case character(offset: Int)
    /// A number of characters that no byte string encodes to.
    case length
    /// Bits after the last byte are not zero.
    case spareBits

    /// The stable reason code.
    package var code: String {
      switch self {
      case .otherScheme: "uriOtherScheme"
      case .websiteForm: "uriWebsiteForm"
      case .tooLong: "uriTooLong"
      case .empty: "uriEmpty"
      case .notASCII: "uriNotASCII"
      case .whitespace: "uriWhitespace"
      case .padding: "uriPadding"
      case .character: "uriCharacter"
      case .length: "uriLength"
      case .spareBits: "uriSpareBits"
      }
    }
  }

  /// The URI of an engagement that is about to be shown.
  package init(engagement: [UInt8]) {
    self.engagement = engagement
  }

  /// Reads the text of a code or of a file. A newline that a file ends with is the caller's to take away.
  package init(_ text: String) throws(Violation) {
    try self.init(content: Array(text.utf8))
  }

  /// Reads the raw bytes of a code, so that no guess of a text encoding comes between.
  package init(content: [UInt8]) throws(Violation) {
    let scheme = Array("mdoc:".utf8)
    guard content.count >= scheme.count, zip(content, scheme).allSatisfy({ lowercased($0) == $1 }) else {
      throw .otherScheme
    }
    let data = content.dropFirst(scheme.count)
    if data.starts(with: "//".utf8) { throw .websiteForm }
    guard content.count <= EngagementURI.maximumSize else { throw .tooLong(limit: EngagementURI.maximumSize) }
    guard !data.isEmpty else { throw .empty }
    for (offset, byte) in zip(data.indices, data) {
      switch byte {
      case 0x80...: throw .notASCII(offset: offset)
      case 0x20, 0x09...0x0d: throw .whitespace(offset: offset)
      case UInt8(ascii: "="): throw .padding(offset: offset)
      default: break
      }
    }
    do throws(Base64.Violation) {
      engagement = try Base64.url.decode(String(decoding: data, as: UTF8.self))
    } catch {
      switch error {
      case .character(let offset): throw .character(offset: scheme.count + offset)
      case .length: throw .length
      case .spareBits: throw .spareBits
      }
    }
  }

  /// The text to show as a QR code.
  package var text: String { "mdoc:" + Base64.url.encode(engagement) }
}

private func lowercased(_ byte: UInt8) -> UInt8 {
  (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
}
