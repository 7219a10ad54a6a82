import Bytes

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

  /// Every block in a text, in order; text around and between them is skipped, of whatever encoding it is.
  package static func blocks(in text: [UInt8]) throws(Violation) -> [Block] {
    var blocks: [Block] = []
    var open: (label: ByteView, line: Int, body: [UInt8])?
    var number = 0
    var rest = text[...]
    while !rest.isEmpty {
      number += 1
      let end = rest.firstIndex(of: 0x0A) ?? rest.endIndex
      let line = trimmed(rest[..<end])
      rest = end == rest.endIndex ? [] : rest[(end + 1)...]
      if let label = enclosed(line, begin) {
        if let open { throw .unterminated(line: open.line) }
        open = (label, number, [])
      } else if let current = open {
        if let label = enclosed(line, finish) {
          guard label == current.label else { throw .unterminated(line: current.line) }
          guard let bytes = try? Base64.standard.decode(String(decoding: current.body, as: UTF8.self)) else {
            throw .notBase64(line: current.line)
          }
          blocks.append(Block(label: String(decoding: label, as: UTF8.self), bytes: bytes))
          open = nil
        } else {
          open?.body += line
        }
      }
    }
    if let open { throw .unterminated(line: open.line) }
    return blocks
  }

  /// Every block in a text.
  package static func blocks(in text: some StringProtocol) throws(Violation) -> [Block] {
    try blocks(in: Array(text.utf8))
  }

  private static let begin = Array("-----BEGIN ".utf8)
  private static let finish = Array("-----END ".utf8)
  private static let dashes = Array("-----".utf8)

  private static func enclosed(_ line: ByteView, _ start: [UInt8]) -> ByteView? {
    guard line.count > start.count + 5, line.starts(with: start), line.suffix(5).elementsEqual(dashes) else {
      return nil
    }
    return line.dropFirst(start.count).dropLast(5)
  }

  private static func trimmed(_ line: ByteView) -> ByteView {
    let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
    guard let start = line.firstIndex(where: { !isBlank($0) }), let end = line.lastIndex(where: { !isBlank($0) }) else {
      return []
    }
    return line[start...end]
  }
}
