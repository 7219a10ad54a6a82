import Bytes

/// Finds where one item ends in bytes that come piece by piece, each byte looked at once. It counts heads and nothing
/// more: whether the item is well-formed is for `CBORDecoder` to say, once it is whole.
package struct CBORItemEnd: Sendable {
  /// What has to follow before a container is complete.
  private enum Open {
    case items(UInt64)
    case untilBreak
  }

  /// A head whose argument is still arriving.
  private struct Head {
    let major: UInt8
    var missing: Int
    var argument: UInt64 = 0
  }

  private let depthLimit: Int
  private var open: [Open] = [.items(1)]
  private var head: Head?
  /// Bytes of a string that are still to come.
  private var skipped: UInt64 = 0
  private var offset = 0

  /// - Parameter depthLimit: nesting that is followed; anything deeper is refused.
  package init(depthLimit: Int = 32) {
    self.depthLimit = depthLimit
  }

  /// Takes the next bytes; gives how many of them belong to the item once it ends in them, nil while more has to come.
  /// Not to be used after it has ended or thrown.
  package mutating func advance(_ bytes: ByteView) throws(CBORError) -> Int? {
    var rest = bytes
    while !rest.isEmpty {
      if skipped > 0 {
        let count = min(skipped, UInt64(rest.count))
        skipped -= count
        offset += Int(count)
        rest = rest.dropFirst(Int(count))
        if skipped == 0, complete() { return bytes.count - rest.count }
      } else {
        let byte = rest.removeFirst()
        if try take(byte) { return bytes.count - rest.count }
        offset += 1
      }
    }
    return nil
  }

  /// Whether the item ends with this byte.
  private mutating func take(_ byte: UInt8) throws(CBORError) -> Bool {
    if var head {
      head.argument = head.argument << 8 | UInt64(byte)
      head.missing -= 1
      self.head = head.missing > 0 ? head : nil
      return head.missing > 0 ? false : try begin(head.major, head.argument)
    }
    let major = byte >> 5
    switch byte & 31 {
    case let value where value < 24: return try begin(major, UInt64(value))
    case 24...27:
      head = Head(major: major, missing: 1 << Int(byte & 31 - 24))
      return false
    case 31:
      if major == 7 {
        guard case .untilBreak? = open.popLast() else { throw CBORError(.unexpectedBreak, offset: offset) }
        return complete()
      }
      guard (2...5).contains(major) else { throw CBORError(.reservedHead, offset: offset) }
      try push(.untilBreak)
      return false
    default: throw CBORError(.reservedHead, offset: offset)
    }
  }

  /// A whole head was read; whether that was all of the outermost item.
  private mutating func begin(_ major: UInt8, _ argument: UInt64) throws(CBORError) -> Bool {
    switch major {
    case 2, 3: skipped = argument
    case 4: if argument > 0 { try push(.items(argument)) }
    case 5:
      let (count, isOverflow) = argument.multipliedReportingOverflow(by: 2)
      guard !isOverflow else { throw CBORError(.tooManyItems, offset: offset) }
      if count > 0 { try push(.items(count)) }
    case 6: try push(.items(1))
    default: break
    }
    let isWhole =
      switch major {
      case 2, 3, 4, 5: argument == 0
      case 6: false
      default: true
      }
    return isWhole && complete()
  }

  private mutating func push(_ container: Open) throws(CBORError) {
    // The first entry stands for the item itself.
    guard open.count <= depthLimit else { throw CBORError(.tooDeep, offset: offset) }
    open.append(container)
  }

  /// One item is complete, and with it every container that waited for no more; whether that was the outermost.
  private mutating func complete() -> Bool {
    while case .items(let count)? = open.last {
      guard count == 1 else {
        open[open.count - 1] = .items(count - 1)
        return false
      }
      open.removeLast()
    }
    return open.isEmpty
  }
}
