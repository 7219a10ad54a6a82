import Bytes

/// A map of non-negative integers to byte strings, such as the digests of a mobile security object, for look-ups.
///
/// Nothing is copied where the keys ascend, as in all that deterministic encoders write: each key and each value is one
/// entry of the document's index, so that the map can be halved where it lies.
package struct CBORByteStrings: Sendable {
  private let map: CBORItem
  /// Places of the pairs in the order of their keys; nil where they ascend as written.
  private let order: [Int]?
  package let count: Int

  /// Nil unless this is a map of uint to bstr.
  package init?(_ item: CBORItem) {
    guard let count = item.count, item.kind == .map else { return nil }
    map = item
    self.count = count
    let nodes = item.document.nodes
    var isAscending = true
    var last: UInt64 = 0
    for pair in 0..<count {
      let key = item.index + 1 + 2 * pair
      guard nodes[key].kind == .unsigned, nodes[key + 1].kind == .bytes else { return nil }
      if nodes[key].argument < last { isAscending = false }
      last = nodes[key].argument
    }
    order =
      isAscending
      ? nil : (0..<count).sorted { nodes[item.index + 1 + 2 * $0].argument < nodes[item.index + 1 + 2 * $1].argument }
  }

  /// The byte string under a key; nil when there is none.
  package subscript(key: UInt64) -> ByteView? {
    var range = 0..<count
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      let node = map.index + 1 + 2 * (order?[middle] ?? middle)
      let candidate = map.document.nodes[node].argument
      if candidate == key { return CBORItem(document: map.document, index: node + 1).bytes }
      range = candidate < key ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return nil
  }
}
