internal import Bytes

/// The text form of certificates, lists and keys (RFC 7468).
package enum PEM {
  package struct Block: Equatable, Sendable {
    /// `CERTIFICATE`, `X509 CRL` and so on.
    package let label: String
    package let bytes: [UInt8]
  }

  package enum Violation: Error, Equatable, Sendable {
    /// A block without its end line, or with the end of another kind; `line` counts from 1.
    case unterminated(line: Int)
    /// The lines of the block that begins at `line` are not base64.
    case notBase64(line: Int)
  }

  package static func encode(_ label: String, _ bytes: some Sequence<UInt8>) -> String {
    var result = "-----BEGIN \(label)-----\n"
    var rest = Base64.standard.encode(bytes)[...]
    while !rest.isEmpty {
      result += rest.prefix(64) + "\n"
      rest = rest.dropFirst(64)
    }
    return result + "-----END \(label)-----\n"
  }

  /// Every block in a text, in order; text around and between them is skipped.
  package static func blocks(in text: some StringProtocol) throws(Violation) -> [Block] {
    var blocks: [Block] = []
    var open: (label: String, line: Int, body: String)?
    var number = 0
    for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      number += 1
      let content = trimmed(line)
      if let label = enclosed(content, "-----BEGIN ") {
        if let open { throw .unterminated(line: open.line) }
        open = (label, number, "")
      } else if let current = open {
        if let label = enclosed(content, "-----END ") {
          guard label == current.label else { throw .unterminated(line: current.line) }
          guard let bytes = try? Base64.standard.decode(current.body) else { throw .notBase64(line: current.line) }
          blocks.append(Block(label: label, bytes: bytes))
          open = nil
        } else {
          open?.body += content
        }
      }
    }
    if let open { throw .unterminated(line: open.line) }
    return blocks
  }

  private static func enclosed(_ line: String, _ start: String) -> String? {
    guard line.hasPrefix(start), line.hasSuffix("-----"), line.utf8.count > start.utf8.count + 5 else { return nil }
    return String(line.dropFirst(start.count).dropLast(5))
  }

  private static func trimmed(_ line: some StringProtocol) -> String {
    let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
    let start = Array(line.utf8.drop(while: isBlank))
    let end = start.lastIndex { !isBlank($0) } ?? -1
    return String(decoding: start[...end], as: UTF8.self)
  }
}
