import Bytes

/// A view of one item in a decoded document. Cheap to pass: a reference and an index.
package struct CBORItem: Sendable {
  let document: CBORDocument
  let index: Int

  /// The kind of an item: the major types of RFC 8949, with floats apart from other simple values.
  package enum Kind: UInt8, Sendable {
    case unsigned
    case negative
    case bytes
    case text
    case array
    case map
    case tag
    case simple
    case float

    @inline(__always)
    init(major: UInt8, info: UInt8) {
      switch major {
      case 0: self = .unsigned
      case 1: self = .negative
      case 2: self = .bytes
      case 3: self = .text
      case 4: self = .array
      case 5: self = .map
      case 6: self = .tag
      default: self = 25...27 ~= info ? .float : .simple
      }
    }
  }

  var node: CBORNode { document.nodes[index] }

  package var kind: Kind { node.kind }

  /// The item exactly as received, head included: what is hashed, signed and put into transcripts.
  package var encoded: ByteView { document.bytes[Int(node.start)..<Int(node.end)] }

  /// Index of the head in the buffer that was decoded.
  package var offset: Int { Int(node.start) }

  // MARK: Scalars; each is nil when the item is of another kind

  /// A non-negative integer.
  package var uint: UInt64? { node.kind == .unsigned ? node.argument : nil }

  /// An integer of either sign that fits 64 bits; beyond, nil.
  package var int: Int64? {
    switch node.kind {
    case .unsigned: Int64(exactly: node.argument)
    case .negative: Int64(exactly: node.argument).map { -1 - $0 }
    default: nil
    }
  }

  /// Whether this is an integer of any size.
  package var isInteger: Bool { node.kind == .unsigned || node.kind == .negative }

  package var bool: Bool? {
    guard node.kind == .simple else { return nil }
    switch node.argument {
    case 20: return false
    case 21: return true
    default: return nil
    }
  }

  package var isNull: Bool { node.kind == .simple && node.argument == 22 }

  /// The number of a simple value, `false` (20) to `undefined` (23) included.
  package var simpleValue: UInt8? { node.kind == .simple ? UInt8(exactly: node.argument) : nil }

  /// A half, single or double precision number.
  package var double: Double? {
    guard node.kind == .float else { return nil }
    switch node.content - node.start {
    case 3: return number(ofHalf: UInt16(truncatingIfNeeded: node.argument))
    case 5: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: node.argument)))
    default: return Double(bitPattern: node.argument)
    }
  }

  // MARK: Strings

  /// The content of a byte string.
  package var bytes: ByteView? { node.kind == .bytes ? CBORItem.stringContent(node, in: document.bytes) : nil }

  /// The content of a text string as UTF-8, for what reads characters and keeps no text.
  package var textBytes: ByteView? { node.kind == .text ? CBORItem.stringContent(node, in: document.bytes) : nil }

  /// The content of a text string.
  package var text: String? {
    node.kind == .text ? String(decoding: CBORItem.stringContent(node, in: document.bytes), as: UTF8.self) : nil
  }

  /// Whether this is exactly this text.
  package func isText(_ expected: StaticString) -> Bool {
    CBORItem.isText(node, expected, in: document.bytes)
  }

  private static func isText(_ node: CBORNode, _ expected: StaticString, in bytes: ByteView) -> Bool {
    guard node.kind == .text else { return false }
    if node.isIndefinite { return isEqual(joinedChunks(node, in: bytes), expected) }
    // Most look-ups end with the size.
    guard Int(node.argument) == expected.utf8CodeUnitCount else { return false }
    return isEqual(bytes[Int(node.content)..<Int(node.end)], expected)
  }

  /// Whether this is exactly this text.
  package func isText(_ expected: String) -> Bool {
    node.kind == .text && CBORItem.stringContent(node, in: document.bytes).elementsEqual(expected.utf8)
  }

  /// The bytes of a string node; copied together when it came in chunks.
  @inline(__always)
  static func stringContent(_ node: CBORNode, in bytes: ByteView) -> ByteView {
    node.isIndefinite ? joinedChunks(node, in: bytes) : bytes[Int(node.content)..<Int(node.end)]
  }

  @inline(never)
  private static func joinedChunks(_ node: CBORNode, in bytes: ByteView) -> ByteView {
    chunks(node, in: bytes).reduce(into: ByteView()) { $0 += $1 }
  }

  /// The chunks of a string node of indefinite length. The decoder has seen them, so nothing is checked again.
  static func chunks(_ node: CBORNode, in bytes: ByteView) -> [ByteView] {
    var result: [ByteView] = []
    var position = Int(node.content)
    for _ in 0..<node.argument {
      let info = bytes[position] & 31
      position += 1
      var size = Int(info)
      if info >= 24 {
        let width = 1 << Int(info - 24)
        size = bytes[position..<position + width].reduce(0) { $0 << 8 | Int($1) }
        position += width
      }
      result.append(bytes[position..<position + size])
      position += size
    }
    return result
  }

  // MARK: Containers

  /// Elements of an array or pairs of a map; nil for other kinds.
  package var count: Int? { node.kind == .array || node.kind == .map ? Int(node.argument) : nil }

  /// The elements of an array, in order.
  package var elements: Elements? {
    let node = node
    return node.kind == .array ? Elements(document, from: index + 1, count: node.argument) : nil
  }

  /// The pairs of a map, in the order received.
  package var entries: Entries? {
    let node = node
    return node.kind == .map ? Entries(Elements(document, from: index + 1, count: 2 * node.argument)) : nil
  }

  /// The element of an array at a place; nil outside it or for other kinds.
  package func element(_ place: Int) -> CBORItem? {
    guard place >= 0, let elements else { return nil }
    return elements.dropFirst(place).first { _ in true }
  }

  /// The value under a text key of a map; nil when there is none or this is no map.
  package subscript(key key: StaticString) -> CBORItem? {
    value { node, bytes in CBORItem.isText(node, key, in: bytes) }
  }

  /// The value under a text key of a map; nil when there is none or this is no map.
  package func value(under key: String) -> CBORItem? {
    value { node, bytes in node.kind == .text && CBORItem.stringContent(node, in: bytes).elementsEqual(key.utf8) }
  }

  /// The value under an integer key of a map; nil when there is none or this is no map.
  package subscript(label label: Int64) -> CBORItem? {
    let kind: Kind = label < 0 ? .negative : .unsigned
    let argument = UInt64(label < 0 ? -1 - label : label)
    return value { node, _ in node.kind == kind && node.argument == argument }
  }

  // For members that are read and let go, without a reference to the document in between.

  /// The non-negative integer under a text key of a map; nil when there is none or this is no map.
  package func uint(under key: StaticString) -> UInt64? {
    guard let node = node(under: key), node.kind == .unsigned else { return nil }
    return node.argument
  }

  /// The content of the byte string under a text key of a map; nil when there is none or this is no map.
  package func bytes(under key: StaticString) -> ByteView? {
    guard let node = node(under: key), node.kind == .bytes else { return nil }
    return CBORItem.stringContent(node, in: document.bytes)
  }

  /// The text under a text key of a map; nil when there is none or this is no map.
  package func text(under key: StaticString) -> String? {
    guard let node = node(under: key), node.kind == .text else { return nil }
    return String(decoding: CBORItem.stringContent(node, in: document.bytes), as: UTF8.self)
  }

  private func node(under key: StaticString) -> CBORNode? {
    place { node, bytes in CBORItem.isText(node, key, in: bytes) }.map { document.nodes[$0] }
  }

  /// The value under the first key that matches. Walks the index itself: most of a message's cost is such look-ups.
  private func value(where matches: (CBORNode, ByteView) -> Bool) -> CBORItem? {
    place(where: matches).map { CBORItem(document: document, index: $0) }
  }

  private func place(where matches: (CBORNode, ByteView) -> Bool) -> Int? {
    let map = document.nodes[index]
    guard map.kind == .map else { return nil }
    var key = index + 1
    for _ in 0..<map.argument {
      let value = Int(document.nodes[key].next)
      if matches(document.nodes[key], document.bytes) { return value }
      key = Int(document.nodes[value].next)
    }
    return nil
  }

  // MARK: Tags

  /// The number of a tag.
  package var tagNumber: UInt64? { node.kind == .tag ? node.argument : nil }

  /// The item inside a tag.
  package var tagged: CBORItem? { node.kind == .tag ? CBORItem(document: document, index: index + 1) : nil }

  /// The item without this tag around it, or itself when another or no tag is there.
  package func untagged(_ number: UInt64) -> CBORItem { tagNumber == number ? tagged ?? self : self }

  /// The content of tag 24 around a byte string (embedded CBOR), not decoded; nil for anything else.
  package var embeddedBytes: ByteView? { tagNumber == 24 ? tagged?.bytes : nil }

  /// Decodes the content of tag 24, with its own limits. Throws `unexpectedKind` for anything but tag 24.
  package func embedded(limits: CBORLimits = CBORLimits()) throws(CBORError) -> CBORItem {
    guard let content = embeddedBytes else { throw CBORError(.unexpectedKind, offset: offset) }
    return try CBORDocument(content, limits: limits).root
  }

  /// Array elements, walked lazily.
  package struct Elements: Sequence, IteratorProtocol, Sendable {
    private let document: CBORDocument
    private var index: Int
    private var left: UInt64

    /// `count` items one after another, the first of them at `index`.
    fileprivate init(_ document: CBORDocument, from index: Int, count: UInt64) {
      self.document = document
      self.index = index
      left = count
    }

    package mutating func next() -> CBORItem? {
      guard left > 0 else { return nil }
      left -= 1
      defer { index = Int(document.nodes[index].next) }
      return CBORItem(document: document, index: index)
    }
  }

  /// Map pairs, walked lazily.
  package struct Entries: Sequence, IteratorProtocol, Sendable {
    /// Keys and values in turn.
    private var items: Elements

    fileprivate init(_ items: Elements) { self.items = items }

    package mutating func next() -> (key: CBORItem, value: CBORItem)? {
      guard let key = items.next(), let value = items.next() else { return nil }
      return (key, value)
    }
  }
}

/// A number of IEEE 754 half precision, as RFC 8949 appendix D computes it.
func number(ofHalf bits: UInt16) -> Double {
  let exponent = Int(bits >> 10 & 31)
  let fraction = Double(bits & 1023)
  let magnitude: Double
  switch exponent {
  case 0: magnitude = fraction * 0x1p-24
  case 31: magnitude = fraction == 0 ? .infinity : .nan
  default: magnitude = Double(sign: .plus, exponent: exponent - 25, significand: fraction + 1024)
  }
  return bits & 0x8000 == 0 ? magnitude : -magnitude
}
