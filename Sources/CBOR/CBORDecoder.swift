import Bytes

/// What a decoder accepts at most. The defaults suit a message of a stranger's phone.
package struct CBORLimits: Sendable {
  /// Containers and tags inside one another.
  package var depth: Int
  /// Items of all kinds in one document, embedded documents counted apart.
  package var items: Int
  /// Bytes of the encoding.
  package var size: Int

  package init(depth: Int = 24, items: Int = 50_000, size: Int = 4 << 20) {
    self.depth = min(depth, 64)
    self.items = items
    self.size = min(size, Int(UInt32.max) / 2)
  }
}

/// A decoded document: the bytes as received and a flat index of the items in them. Items are views into it.
///
/// RFC 8949, strict: one item and nothing after it, no duplicate keys (compared by value), valid UTF-8, limits on
/// depth, counts and size. Any head length and indefinite lengths are accepted.
package final class CBORDocument: Sendable {
  let bytes: ByteView
  let nodes: [CBORNode]

  /// Decodes the one item that `bytes` holds.
  package init(_ bytes: ByteView, limits: CBORLimits = CBORLimits()) throws(CBORError) {
    guard bytes.count <= limits.size, bytes.endIndex <= Int(UInt32.max) else {
      throw CBORError(.tooLarge, offset: bytes.startIndex + limits.size)
    }
    var decoder = CBORDecoder(bytes: bytes, limits: limits)
    try decoder.decodeItem(depth: 0)
    guard decoder.position == bytes.endIndex else { throw CBORError(.trailingBytes, offset: decoder.position) }
    self.bytes = bytes
    nodes = decoder.nodes
  }

  package var root: CBORItem { CBORItem(document: self, index: 0) }
}

/// Decodes the one item that `bytes` holds; a view of the whole.
package func decodeCBOR(_ bytes: ByteView, limits: CBORLimits = CBORLimits()) throws(CBORError) -> CBORItem {
  try CBORDocument(bytes, limits: limits).root
}

/// Decodes the one item that `bytes` holds; a view of the whole.
package func decodeCBOR(_ bytes: [UInt8], limits: CBORLimits = CBORLimits()) throws(CBORError) -> CBORItem {
  try CBORDocument(bytes[...], limits: limits).root
}

/// One item in the index. Offsets are indices of the document's bytes.
struct CBORNode {
  /// First byte of the head.
  var start: UInt32
  /// First byte after the head.
  var content: UInt32
  /// First byte after the item.
  var end: UInt32
  /// Index of the first node that is not part of this item.
  var next: UInt32
  /// The head's argument; for containers the number of elements or pairs; for indefinite strings the chunks.
  var argument: UInt64
  var kind: CBORItem.Kind
  var isIndefinite: Bool

  /// All four fit: a document ends below 2^32, and every item takes a byte.
  init(
    start: Int, content: Int, end: Int, next: Int, argument: UInt64, kind: CBORItem.Kind, isIndefinite: Bool
  ) {
    self.start = UInt32(truncatingIfNeeded: start)
    self.content = UInt32(truncatingIfNeeded: content)
    self.end = UInt32(truncatingIfNeeded: end)
    self.next = UInt32(truncatingIfNeeded: next)
    self.argument = argument
    self.kind = kind
    self.isIndefinite = isIndefinite
  }

  /// Completes the node of an item with others in it.
  mutating func close(at end: Int, next: Int) {
    self.end = UInt32(truncatingIfNeeded: end)
    self.next = UInt32(truncatingIfNeeded: next)
  }
}

struct CBORDecoder {
  let bytes: ByteView
  let limits: CBORLimits
  var position: Int
  var nodes: [CBORNode] = []

  init(bytes: ByteView, limits: CBORLimits) {
    self.bytes = bytes
    self.limits = limits
    position = bytes.startIndex
    // What documents have: an item for every ten to twenty bytes, up to where pictures begin. Small ones get by with
    // a small block, which allocators have at hand.
    nodes.reserveCapacity(min(bytes.count / 12 + 4, 128))
  }

  /// The major type and additional information of the next byte.
  @inline(__always)
  private mutating func readInitialByte() throws(CBORError) -> (major: UInt8, info: UInt8) {
    guard position < bytes.endIndex else { throw CBORError(.truncated, offset: position) }
    let byte = bytes[position]
    position += 1
    return (byte >> 5, byte & 31)
  }

  @inline(__always)
  private mutating func readArgument(_ info: UInt8, headAt start: Int) throws(CBORError) -> UInt64 {
    if info < 24 { return UInt64(info) }
    // The most frequent of the longer heads.
    if info == 24, position < bytes.endIndex {
      position += 1
      return UInt64(bytes[position - 1])
    }
    guard info < 28 else { throw CBORError(.reservedHead, offset: start) }
    let size = 1 << Int(info - 24)
    guard bytes.endIndex - position >= size else { throw CBORError(.truncated, offset: start) }
    var value: UInt64 = 0
    for index in position..<position + size { value = value << 8 | UInt64(bytes[index]) }
    position += size
    return value
  }

  /// Decodes one item and everything in it; appends their nodes.
  mutating func decodeItem(depth: Int) throws(CBORError) {
    let start = position
    let (major, info) = try readInitialByte()
    guard nodes.count < limits.items else { throw CBORError(.tooManyItems, offset: start) }
    let kind = CBORItem.Kind(major: major, info: info)
    if info == 31 { return try decodeIndefinite(kind, major: major, headAt: start, depth: depth) }
    let argument = try readArgument(info, headAt: start)
    let content = position
    switch kind {
    case .unsigned, .negative, .float:
      break
    case .simple:
      if info == 24, argument < 32 { throw CBORError(.invalidSimpleValue, offset: start) }
    case .bytes, .text:
      guard argument <= UInt64(bytes.endIndex - position) else { throw CBORError(.truncated, offset: start) }
      let end = position + Int(argument)
      if kind == .text { try validateUTF8(position..<end) }
      position = end
    case .array, .map, .tag:
      return try decodeContainer(kind, argument: argument, headAt: start, depth: depth)
    }
    nodes.append(
      CBORNode(
        start: start, content: content, end: position, next: nodes.count + 1, argument: argument, kind: kind,
        isIndefinite: false))
  }

  /// Appends the node of an item that has others in it; `close` completes it.
  private mutating func open(
    _ kind: CBORItem.Kind, argument: UInt64, headAt start: Int, isIndefinite: Bool
  ) -> Int {
    nodes.append(
      CBORNode(
        start: start, content: position, end: 0, next: 0, argument: argument, kind: kind, isIndefinite: isIndefinite))
    return nodes.count - 1
  }

  private mutating func close(_ index: Int) {
    nodes[index].close(at: position, next: nodes.count)
  }

  private mutating func decodeContainer(
    _ kind: CBORItem.Kind, argument: UInt64, headAt start: Int, depth: Int
  ) throws(CBORError) {
    let index = open(kind, argument: argument, headAt: start, isIndefinite: false)
    // Every element takes at least one byte, so a count beyond what is left is refused before any work.
    let left = UInt64(bytes.endIndex - position)
    switch kind {
    case .array:
      guard argument <= left else { throw CBORError(.truncated, offset: start) }
      try enter(depth, at: start)
      for element in 0..<Int(argument) {
        do { try decodeItem(depth: depth + 1) } catch { throw error.inside("[\(element)]") }
      }
    case .map:
      guard argument <= left / 2 else { throw CBORError(.truncated, offset: start) }
      try enter(depth, at: start)
      for _ in 0..<Int(argument) { try decodePair(depth: depth) }
    default:
      try enter(depth, at: start)
      try decodeItem(depth: depth + 1)
    }
    close(index)
    if kind == .map { try refuseDuplicateKeys(of: index) }
  }

  private func enter(_ depth: Int, at start: Int) throws(CBORError) {
    guard depth < limits.depth else { throw CBORError(.tooDeep, offset: start) }
  }

  private mutating func decodePair(depth: Int) throws(CBORError) {
    let key = nodes.count
    try decodeItem(depth: depth + 1)
    do { try decodeItem(depth: depth + 1) } catch { throw error.inside(label(ofKey: key)) }
  }

  private mutating func decodeIndefinite(
    _ kind: CBORItem.Kind, major: UInt8, headAt start: Int, depth: Int
  ) throws(CBORError) {
    let index = open(kind, argument: 0, headAt: start, isIndefinite: true)
    switch kind {
    case .bytes, .text: try decodeChunks(of: index, major: major)
    case .array, .map:
      try enter(depth, at: start)
      var count: UInt64 = 0
      while try !readBreak() {
        if kind == .map {
          try decodePair(depth: depth)
        } else {
          do { try decodeItem(depth: depth + 1) } catch { throw error.inside("[\(count)]") }
        }
        count += 1
      }
      nodes[index].argument = count
    case .simple: throw CBORError(.unexpectedBreak, offset: start)
    default: throw CBORError(.reservedHead, offset: start)
    }
    close(index)
    if kind == .map { try refuseDuplicateKeys(of: index) }
  }

  /// Chunks get no nodes; the item's readers walk them again.
  private mutating func decodeChunks(of index: Int, major: UInt8) throws(CBORError) {
    var count: UInt64 = 0
    while try !readBreak() {
      let start = position
      let head = try readInitialByte()
      guard head.major == major, head.info != 31 else { throw CBORError(.invalidChunk, offset: start) }
      let size = try readArgument(head.info, headAt: start)
      guard size <= UInt64(bytes.endIndex - position) else { throw CBORError(.truncated, offset: start) }
      let end = position + Int(size)
      // Each chunk of a text is valid UTF-8 by itself (RFC 8949 section 3.2.3).
      if nodes[index].kind == .text { try validateUTF8(position..<end) }
      position = end
      count += 1
    }
    nodes[index].argument = count
  }

  private mutating func readBreak() throws(CBORError) -> Bool {
    guard position < bytes.endIndex else { throw CBORError(.truncated, offset: position) }
    guard bytes[position] == 0xff else { return false }
    position += 1
    return true
  }

  /// Not mutating, so that the range is looked at without a reference of its own.
  private func validateUTF8(_ range: Range<Int>) throws(CBORError) {
    if isASCII(bytes[range]) { return }
    guard String(validating: bytes[range], as: UTF8.self) != nil else {
      throw CBORError(.invalidUTF8, offset: range.lowerBound)
    }
  }

  /// A key as part of a path: short and printable, whatever the peer wrote.
  private func label(ofKey index: Int) -> String {
    let node = nodes[index]
    switch node.kind {
    case .unsigned: return String(node.argument)
    case .negative: return "-1-\(node.argument)"
    case .text where !node.isIndefinite:
      let text = bytes[Int(node.content)..<Int(node.end)].prefix(48)
      return String(decoding: text.map { (0x21...0x7e).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    default: return "?"
    }
  }
}

// MARK: - Duplicate keys

extension CBORDecoder {
  /// Refuses a map in which two keys mean the same, however they are written.
  private func refuseDuplicateKeys(of index: Int) throws(CBORError) {
    let count = nodes[index].argument
    guard count > 1 else { return }
    // The common cases allocate nothing: integers in ascending order, and maps so small that all pairs can be compared.
    var last = index + 1
    var left = count - 1
    while left > 0 {
      let key = keyAfter(last)
      guard precedes(nodes[last], nodes[key]) else { break }
      last = key
      left -= 1
    }
    guard left > 0 else { return }
    if count <= 16 {
      var key = index + 1
      for place in 0..<count {
        var earlier = index + 1
        for _ in 0..<place {
          if areEqual(earlier, key) { throw duplicate(key) }
          earlier = keyAfter(earlier)
        }
        key = keyAfter(key)
      }
      return
    }
    var seen = Set<[UInt8]>(minimumCapacity: Int(count))
    var key = index + 1
    for _ in 0..<count {
      guard seen.insert(normalForm(key)).inserted else { throw duplicate(key) }
      key = keyAfter(key)
    }
  }

  /// The key that follows the value of a key; only its place where that was the last pair.
  private func keyAfter(_ key: Int) -> Int { Int(nodes[Int(nodes[key].next)].next) }

  private func duplicate(_ key: Int) -> CBORError {
    CBORError(.duplicateKey, offset: Int(nodes[key].start), path: label(ofKey: key))
  }

  /// Whether two integer keys are in ascending order: the common case of long maps, checked without allocating.
  private func precedes(_ left: CBORNode, _ right: CBORNode) -> Bool {
    left.kind == .unsigned && right.kind == .unsigned && left.argument < right.argument
  }

  private func areEqual(_ left: Int, _ right: Int) -> Bool {
    let (a, b) = (nodes[left], nodes[right])
    guard a.kind == b.kind else { return false }
    if !a.isIndefinite, !b.isIndefinite {
      // Other values, sizes, counts or numbers; for all kinds, since a float's argument are its bits.
      guard a.argument == b.argument else { return false }
      if a.kind == .unsigned || a.kind == .negative { return true }
      if a.kind == .text || a.kind == .bytes {
        return isEqual(bytes[Int(a.content)..<Int(a.end)], bytes[Int(b.content)..<Int(b.end)])
      }
    }
    return normalForm(left) == normalForm(right)
  }

  /// The item with shortest heads and definite lengths, so that equal values have equal bytes.
  private func normalForm(_ index: Int) -> [UInt8] {
    var writer = CBORWriter()
    var position = index
    appendNormalForm(&position, to: &writer)
    return writer.bytes
  }

  private func appendNormalForm(_ index: inout Int, to writer: inout CBORWriter) {
    let node = nodes[index]
    index += 1
    switch node.kind {
    case .unsigned: writer.head(0, node.argument)
    case .negative: writer.head(1, node.argument)
    case .bytes: writer.byteString(CBORItem.stringContent(node, in: bytes))
    case .text:
      let text = CBORItem.stringContent(node, in: bytes)
      writer.head(3, UInt64(text.count))
      writer.raw(text)
    case .array:
      writer.head(4, node.argument)
      for _ in 0..<node.argument { appendNormalForm(&index, to: &writer) }
    case .map:
      writer.head(5, node.argument)
      for _ in 0..<2 * node.argument { appendNormalForm(&index, to: &writer) }
    case .tag:
      writer.head(6, node.argument)
      appendNormalForm(&index, to: &writer)
    case .simple, .float:
      writer.raw(bytes[Int(node.start)..<Int(node.end)])
    }
  }
}
