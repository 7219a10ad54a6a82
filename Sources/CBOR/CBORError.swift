/// Why bytes were refused, and where.
package struct CBORError: Error, Equatable, Sendable {
  /// What is wrong; the raw value is the stable name.
  package enum Reason: String, Sendable {
    /// The input ends inside an item, or a count or length claims more than is left.
    case truncated
    /// Bytes follow the single top-level item.
    case trailingBytes
    /// Additional information 28 to 30, or 31 where no indefinite length exists.
    case reservedHead
    /// A break outside an indefinite-length item, or between a key and its value.
    case unexpectedBreak
    /// A chunk of an indefinite-length string that is no definite string of the same kind.
    case invalidChunk
    /// A two-byte simple value below 32.
    case invalidSimpleValue
    case invalidUTF8
    case duplicateKey
    /// Nesting deeper than the limit.
    case tooDeep
    /// More items than the limit.
    case tooManyItems
    /// More bytes than the limit.
    case tooLarge
    /// Well-formed, but not the kind of item that belongs here.
    case unexpectedKind
  }

  package let reason: Reason
  /// Index into the buffer that was decoded, from its first byte.
  package let offset: Int
  /// Where in the structure: `documents[0].issuerSigned`; empty at the top. Keys only, never values.
  package let path: String

  package init(_ reason: Reason, offset: Int, path: String = "") {
    self.reason = reason
    self.offset = offset
    self.path = path
  }

  func inside(_ component: String) -> CBORError {
    let separator = path.isEmpty || path.hasPrefix("[") ? "" : "."
    return CBORError(reason, offset: offset, path: component + separator + path)
  }
}

extension CBORError: CustomStringConvertible {
  package var description: String {
    "\(reason.rawValue) at byte \(offset)" + (path.isEmpty ? "" : " in \(path)")
  }
}
