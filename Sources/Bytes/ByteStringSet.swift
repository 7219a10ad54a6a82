/// A set of byte strings that never changes, packed one after another in order: a million serial numbers take what
/// their bytes take and four bytes each. A look-up is a binary search.
package struct ByteStringSet: Sendable {
  /// All strings, shorter ones first, equally long ones in the order of their bytes.
  private let packed: [UInt8]
  /// Where each string ends in `packed`.
  private let ends: [UInt32]

  /// Most bytes of all strings together.
  package static let maximumSize = Int(UInt32.max) / 2

  /// Collects the strings of a set, given one by one.
  package struct Builder: Sendable {
    /// A string by its place, and what orders it: its length, then its first eight bytes.
    private struct Entry {
      let start: UInt32
      let count: UInt32
      let prefix: UInt64

      func precedes(_ other: Entry) -> Bool {
        count != other.count ? count < other.count : prefix < other.prefix
      }
    }

    private var packed: [UInt8] = []
    private var entries: [Entry] = []
    private var isAscending = true

    package init() {}

    /// For so many strings of so many bytes together; either is only a guess.
    package init(expecting count: Int, bytes: Int) {
      entries.reserveCapacity(min(max(count, 0), 1 << 22))
      packed.reserveCapacity(min(max(bytes, 0), 1 << 27))
    }

    /// False when there is no room for it any more.
    package mutating func insert(_ string: ByteView) -> Bool {
      string.withUnsafeBufferPointer { insert($0) }
    }

    /// The same for bytes in a buffer, of which nothing is kept.
    package mutating func insert(_ string: UnsafeBufferPointer<UInt8>) -> Bool {
      guard packed.count + string.count <= ByteStringSet.maximumSize else { return false }
      var prefix: UInt64 = 0
      for place in 0..<min(8, string.count) { prefix = prefix << 8 | UInt64(string[place]) }
      let entry = Entry(start: UInt32(packed.count), count: UInt32(string.count), prefix: prefix)
      packed.append(contentsOf: string)
      if isAscending, let last = entries.last {
        isAscending = last.precedes(entry) || !entry.precedes(last) && isOrderedBehindPrefix(last, entry)
      }
      entries.append(entry)
      return true
    }

    /// Whether the left one of two that are alike in length and first bytes comes before the right one.
    private func isOrderedBehindPrefix(_ left: Entry, _ right: Entry) -> Bool {
      left.count > 8 && ByteStringSet.precedes(bytes(of: left), bytes(of: right))
    }

    private func bytes(of entry: Entry) -> ByteView { packed[Int(entry.start)..<Int(entry.start + entry.count)] }

    package consuming func build() -> ByteStringSet {
      if isAscending {
        return ByteStringSet(packed: packed, ends: entries.map { $0.start + $0.count })
      }
      // By what is in the entries first, which is nearly all there is to it; those that are alike then by their bytes.
      var order = entries
      order.sort { $0.precedes($1) }
      var start = 0
      while start < order.count {
        var end = start + 1
        while end < order.count, !order[start].precedes(order[end]) { end += 1 }
        if end - start > 1, order[start].count > 8 { order[start..<end].sort(by: isOrderedBehindPrefix) }
        start = end
      }
      var sorted: [UInt8] = []
      sorted.reserveCapacity(packed.count)
      var ends: [UInt32] = []
      ends.reserveCapacity(order.count)
      packed.withUnsafeBufferPointer { packed in
        for entry in order {
          sorted.append(contentsOf: packed[Int(entry.start)..<Int(entry.start + entry.count)])
          ends.append(UInt32(sorted.count))
        }
      }
      return ByteStringSet(packed: sorted, ends: ends)
    }
  }

  private init(packed: [UInt8], ends: [UInt32]) {
    self.packed = packed
    self.ends = ends
  }

  package init(_ strings: some Sequence<ByteView>) {
    var builder = Builder()
    for string in strings { _ = builder.insert(string) }
    self = builder.build()
  }

  /// How many strings were put in; one that came twice counts twice.
  package var count: Int { ends.count }

  package func contains(_ string: some Collection<UInt8>) -> Bool { contains(Array(string)[...]) }

  package func contains(_ string: ByteView) -> Bool {
    var low = 0
    var high = ends.count
    while low < high {
      let middle = low + (high - low) / 2
      let start = middle == 0 ? 0 : Int(ends[middle - 1])
      let other = packed[start..<Int(ends[middle])]
      let isBefore = other.count == string.count ? ByteStringSet.precedes(other, string) : other.count < string.count
      if isBefore {
        low = middle + 1
      } else if other.count == string.count && isEqual(other, string) {
        return true
      } else {
        high = middle
      }
    }
    return false
  }
}

extension ByteStringSet {
  /// Whether the left one of two strings of one length comes first.
  fileprivate static func precedes(_ left: ByteView, _ right: ByteView) -> Bool {
    left.withUnsafeBufferPointer { left in
      right.withUnsafeBufferPointer { right in
        for place in 0..<min(left.count, right.count) where left[place] != right[place] {
          return left[place] < right[place]
        }
        return false
      }
    }
  }

}
