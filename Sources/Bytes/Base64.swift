/// Base64 of RFC 4648, strict: canonical spare bits, nothing outside the alphabet.
///
/// `standard` is section 4 with padding; `url` is section 5 without it, as engagements use.
package enum Base64: Sendable {
  case standard
  case url

  /// Why a text is not base64 of this kind.
  package enum Violation: Error, Equatable, Sendable {
    /// A character outside the alphabet; `offset` counts bytes of the text.
    case character(offset: Int)
    /// A number of characters that no byte string encodes to, or padding missing or where none belongs.
    case length
    /// Bits after the last byte are not zero, so that two texts would mean the same bytes.
    case spareBits
  }

  /// The text of `bytes`.
  package func encode(_ bytes: some Sequence<UInt8>) -> String {
    let alphabet = self == .url ? urlAlphabet : standardAlphabet
    var text: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 6 {
        count -= 6
        text.append(alphabet[Int(bits >> UInt32(count) & 63)])
      }
    }
    if count > 0 { text.append(alphabet[Int(bits << UInt32(6 - count) & 63)]) }
    if self == .standard {
      while !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of `text`. Throws when it is not exactly the encoding of some byte string.
  package func decode(_ text: some StringProtocol) throws(Violation) -> [UInt8] {
    var characters = ArraySlice(Array(text.utf8))
    if self == .standard {
      guard characters.count.isMultiple(of: 4) else { throw .length }
      var padding = 0
      while padding < 2, characters.last == UInt8(ascii: "=") {
        characters = characters.dropLast()
        padding += 1
      }
    }
    guard characters.count % 4 != 1 else { throw .length }
    var result: [UInt8] = []
    result.reserveCapacity(characters.count * 3 / 4)
    var bits: UInt32 = 0
    var count = 0
    for (offset, character) in characters.enumerated() {
      guard let value = value(of: character) else { throw .character(offset: offset) }
      bits = bits << 6 | UInt32(value)
      count += 6
      if count >= 8 {
        count -= 8
        result.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    guard bits & (1 << UInt32(count) - 1) == 0 else { throw .spareBits }
    return result
  }

  private func value(of character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): self == .standard ? 62 : nil
    case UInt8(ascii: "/"): self == .standard ? 63 : nil
    case UInt8(ascii: "-"): self == .url ? 62 : nil
    case UInt8(ascii: "_"): self == .url ? 63 : nil
    default: nil
    }
  }
}

private let standardAlphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
private let urlAlphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
