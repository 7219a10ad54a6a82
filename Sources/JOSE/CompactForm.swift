import Bytes
import JSON

/// The compact serialization that RFC 7515 section 7.1 and RFC 7516 section 7.1 share: parts in base64url without padding
/// between dots, the first of which is a JSON object.
struct CompactForm {
  /// The parts as they stand in the text.
  let parts: [String]
  /// The first part, decoded: an object without a name that occurs twice.
  let header: JSONValue

  /// Throws `tooLarge`, `malformed` for another number of parts or a header that is no object, and `unsupported` for a
  /// header with extensions that must be understood (`crit`; none is).
  init(_ text: String, parts count: Int, maximumSize: Int) throws(JOSEFault) {
    guard text.utf8.count <= maximumSize else { throw .tooLarge }
    // over bytes: to find the characters of megabytes costs more than all the rest
    let pieces = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: count, omittingEmptySubsequences: false)
    guard pieces.count == count else { throw .malformed("compact form") }
    parts = pieces.map { String(Substring($0)) }
    guard let value = JSONValue(reading: try CompactForm.bytes(parts[0])), case .object = value else {
      throw .malformed("header")
    }
    header = value
    guard header["crit"] == nil else { throw .unsupported("crit") }
  }

  /// The bytes of one part.
  static func bytes(_ part: String) throws(JOSEFault) -> [UInt8] {
    do { return try Base64.url.decode(part) } catch { throw .malformed("compact form") }
  }

  /// A header member that must be a text.
  static func text(_ name: String, of header: JSONValue) throws(JOSEFault) -> String {
    guard let text = header[name]?.string else { throw .malformed(name) }
    return text
  }
}
