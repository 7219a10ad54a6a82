/// A view of bytes: bounds-checked, reference-counted, not copied. Indices are those of the buffer it views.
package typealias ByteView = ArraySlice<UInt8>

extension Collection<UInt8> {
  /// The bytes as lower-case hexadecimal text.
  package var hex: String {
    var text: [UInt8] = []
    text.reserveCapacity(2 * count)
    for byte in self {
      text.append(hexDigit(byte >> 4))
      text.append(hexDigit(byte & 15))
    }
    return String(decoding: text, as: UTF8.self)
  }
}

private func hexDigit(_ value: UInt8) -> UInt8 {
  value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
}

/// The bytes of hexadecimal text of either case, or nil when a character is no digit or one is left over.
package func bytes(hex text: some StringProtocol) -> [UInt8]? {
  let characters = text.utf8
  guard characters.count.isMultiple(of: 2) else { return nil }
  var result: [UInt8] = []
  result.reserveCapacity(characters.count / 2)
  var high: UInt8?
  for character in characters {
    let value: UInt8
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): value = character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): value = character - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): value = character - UInt8(ascii: "A") + 10
    default: return nil
    }
    if let first = high {
      result.append(first << 4 | value)
      high = nil
    } else {
      high = value
    }
  }
  return result
}

/// Whether two byte strings are equal, compared in words: for long ones that are equal nearly always.
package func isEqual(_ left: ByteView, _ right: ByteView) -> Bool {
  guard left.count == right.count else { return false }
  return left.withUnsafeBytes { left in right.withUnsafeBytes { right in isEqual(left, right) } }
}

/// Whether bytes are exactly those of a text.
package func isEqual(_ left: ByteView, _ text: StaticString) -> Bool {
  guard left.count == text.utf8CodeUnitCount else { return false }
  // A static string's bytes live as long as the program.
  let right = UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
  return left.withUnsafeBytes { left in isEqual(left, right) }
}

/// Both of one size.
@inline(__always)
private func isEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
  var place = 0
  while place + 8 <= left.count {
    guard
      left.loadUnaligned(fromByteOffset: place, as: UInt64.self)
        == right.loadUnaligned(fromByteOffset: place, as: UInt64.self)
    else { return false }
    place += 8
  }
  while place < left.count {
    guard left[place] == right[place] else { return false }
    place += 1
  }
  return true
}

/// Whether no byte has its highest bit set, looked at in words.
package func isASCII(_ bytes: ByteView) -> Bool {
  bytes.withUnsafeBytes { bytes in
    var place = 0
    while place + 8 <= bytes.count {
      guard bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 else {
        return false
      }
      place += 8
    }
    while place < bytes.count {
      guard bytes[place] < 0x80 else { return false }
      place += 1
    }
    return true
  }
}

/// Whether two byte strings are equal, in a time that depends on their lengths only.
package func isEqualInConstantTime(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
  guard left.count == right.count else { return false }
  var difference: UInt8 = 0
  for (a, b) in zip(left, right) { difference |= a ^ b }
  return difference == 0
}
