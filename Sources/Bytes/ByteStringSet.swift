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
      guard packed.count + string.count <= ByteStringSet.maximumSize else { return false }
      var prefix: UInt64 = 0
      for byte in string.prefix(8) { prefix = prefix << 8 | UInt64(byte) }
      let entry = Entry(start: UInt32(packed.count), count: UInt32(string.count), prefix: prefix)
      packed += string
      if isAscending, let last = entries.last { isAscending = isOrdered(last, entry) }
      entries.append(entry)
      return true
    }

    /// Whether the left one comes before the right one.
    private func isOrdered(_ left: Entry, _ right: Entry) -> Bool {
      if left.count != right.count { return left.count < right.count }
      if left.prefix != right.prefix || left.count <= 8 { return left.prefix < right.prefix }
      return precedes(bytes(of: left), bytes(of: right))
    }

    private func bytes(of entry: Entry) -> ByteView { packed[Int(entry.start)..<Int(entry.start + entry.count)] }

    package consuming func build() -> ByteStringSet {
      if isAscending {
        return ByteStringSet(packed: packed, ends: entries.map { $0.start + $0.count })
      }
      let order = entries.sorted(by: isOrdered)
      var sorted: [UInt8] = []
      sorted.reserveCapacity(packed.count)
      var ends: [UInt32] = []
      ends.reserveCapacity(order.count)
      for entry in order {
        sorted += bytes(of: entry)
        ends.append(UInt32(sorted.count))
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
      let isBefore = other.count == string.count ? precedes(other, string) : other.count < string.count
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

/// Whether the left one of two strings of one length comes first.
private func precedes(_ left: ByteView, _ right: ByteView) -> Bool {
  left.withUnsafeBufferPointer { left in
    right.withUnsafeBufferPointer { right in
      for place in 0..<min(left.count, right.count) where left[place] != right[place] {
        return left[place] < right[place]
      }
      return false
    }
  }
}
