import Bytes

/// Tags of the DER shapes that certificates are made of.
enum DERTag {
  static let boolean: UInt8 = 0x01
  static let integer: UInt8 = 0x02
  static let bitString: UInt8 = 0x03
  static let octetString: UInt8 = 0x04
  static let objectIdentifier: UInt8 = 0x06
  static let utcTime: UInt8 = 0x17
  static let generalizedTime: UInt8 = 0x18
  static let sequence: UInt8 = 0x30
  static let set: UInt8 = 0x31

  static func context(_ number: UInt8, constructed: Bool) -> UInt8 { (constructed ? 0xA0 : 0x80) | number }
}

/// Reads DER elements one after another: definite lengths in their shortest form, one-byte tags.
///
/// OpenSSL decides what is a certificate; this reads the small values inside one (names, extensions), in memory-safe
/// code and without a copy.
struct DERReader {
  struct Element {
    let tag: UInt8
    let content: ByteView
    /// Tag, length and content as received.
    let encoded: ByteView

    var reader: DERReader { DERReader(content) }
  }

  private(set) var rest: ByteView

  init(_ bytes: ByteView) { rest = bytes }

  var isAtEnd: Bool { rest.isEmpty }

  /// The next element, or nil when there is none or it is not DER.
  mutating func next() -> Element? {
    guard rest.count >= 2 else { return nil }
    let start = rest.startIndex
    let tag = rest[start]
    guard tag & 0x1F != 0x1F else { return nil }
    var contentStart = start + 2
    var length = Int(rest[start + 1])
    if length >= 0x80 {
      let octets = length & 0x7F
      guard (1...4).contains(octets), rest.count >= 2 + octets else { return nil }
      length = rest[contentStart..<contentStart + octets].reduce(0) { $0 << 8 | Int($1) }
      guard length >= 0x80, octets == 1 || length >> (8 * (octets - 1)) != 0 else { return nil }
      contentStart += octets
    }
    guard length <= rest.endIndex - contentStart else { return nil }
    let end = contentStart + length
    let element = Element(tag: tag, content: rest[contentStart..<end], encoded: rest[start..<end])
    rest = rest[end...]
    return element
  }

  /// The next element when it has this tag; otherwise nil, and nothing is consumed.
  mutating func next(_ tag: UInt8) -> Element? {
    guard rest.first == tag else { return nil }
    return next()
  }

  /// The first element when it has this tag.
  func first(_ tag: UInt8) -> Element? {
    var copy = self
    return copy.next(tag)
  }

  /// The only element of `bytes` when it has this tag and nothing follows it.
  static func only(_ tag: UInt8, in bytes: ByteView) -> Element? {
    var reader = DERReader(bytes)
    guard let element = reader.next(tag), reader.isAtEnd else { return nil }
    return element
  }

  /// Whether `bytes` are DER elements down to every primitive one; nesting is bounded.
  static func isWellFormed(_ bytes: ByteView, depth: Int = 0) -> Bool {
    guard depth < 16 else { return false }
    var reader = DERReader(bytes)
    while !reader.isAtEnd {
      guard let element = reader.next() else { return false }
      if element.tag & 0x20 != 0, !isWellFormed(element.content, depth: depth + 1) { return false }
    }
    return true
  }
}

/// Writes DER for drafts of certificates and lists.
enum DER {
  static func element(_ tag: UInt8, _ content: some Collection<UInt8>) -> [UInt8] {
    var result = [tag]
    let count = content.count
    if count < 0x80 {
      result.append(UInt8(count))
    } else {
      let octets = (Int.bitWidth - count.leadingZeroBitCount + 7) / 8
      result.append(0x80 | UInt8(octets))
      for index in (0..<octets).reversed() { result.append(UInt8(truncatingIfNeeded: count >> (8 * index))) }
    }
    result += content
    return result
  }

  static func sequence(_ parts: [UInt8]...) -> [UInt8] { element(DERTag.sequence, Array(parts.joined())) }

  static func objectIdentifier(_ oid: OID) -> [UInt8] { element(DERTag.objectIdentifier, oid.encoded) }

  static func octetString(_ bytes: some Collection<UInt8>) -> [UInt8] { element(DERTag.octetString, bytes) }

  /// A BIT STRING of whole bytes.
  static func bitString(_ bytes: some Collection<UInt8>) -> [UInt8] { element(DERTag.bitString, [0] + Array(bytes)) }

  static let `true`: [UInt8] = [DERTag.boolean, 1, 0xFF]

  static func integer(_ value: Int) -> [UInt8] {
    var bytes = (0..<8).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    while bytes.count > 1, bytes[0] == 0 && bytes[1] < 0x80 || bytes[0] == 0xFF && bytes[1] >= 0x80 {
      bytes.removeFirst()
    }
    return element(DERTag.integer, bytes)
  }
}
