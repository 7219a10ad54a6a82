import Bytes

/// Appends CBOR items: shortest heads, definite lengths. The caller keeps counts and contents in step.
package struct CBORWriter: Sendable {
  package private(set) var bytes: [UInt8] = []

  package init(capacity: Int = 0) {
    bytes.reserveCapacity(capacity)
  }

  package mutating func unsigned(_ value: UInt64) { head(0, value) }

  package mutating func int(_ value: Int64) {
    value < 0 ? head(1, UInt64(-1 - value)) : head(0, UInt64(value))
  }

  package mutating func byteString(_ content: some Collection<UInt8>) {
    head(2, UInt64(content.count))
    bytes.append(contentsOf: content)
  }

  // Views have functions of their own, here and below: generic ones are not specialised across modules, and views are
  // what hot paths have.
  package mutating func byteString(_ content: ByteView) {
    head(2, UInt64(content.count))
    bytes.append(contentsOf: content)
  }

  package mutating func text(_ content: String) {
    head(3, UInt64(content.utf8.count))
    bytes.append(contentsOf: content.utf8)
  }

  package mutating func array(count: Int) { head(4, UInt64(count)) }
  package mutating func map(count: Int) { head(5, UInt64(count)) }
  package mutating func tag(_ number: UInt64) { head(6, number) }
  package mutating func bool(_ value: Bool) { bytes.append(value ? 0xf5 : 0xf4) }
  package mutating func null() { bytes.append(0xf6) }

  /// A whole item that is already encoded.
  package mutating func raw(_ encoded: some Sequence<UInt8>) { bytes.append(contentsOf: encoded) }
  package mutating func raw(_ encoded: ByteView) { bytes.append(contentsOf: encoded) }

  /// Tag 24 around an encoded item.
  package mutating func embedded(_ encoded: some Collection<UInt8>) {
    tag(24)
    byteString(encoded)
  }

  package mutating func embedded(_ encoded: ByteView) {
    tag(24)
    byteString(encoded)
  }

  /// A number in the shortest of the three precisions that keeps its value; not-a-number as f97e00.
  package mutating func double(_ value: Double) {
    let single = Float(value)
    if value.isNaN {
      bytes.append(contentsOf: [0xf9, 0x7e, 0x00])
    } else if let half = halfBits(of: value) {
      bytes.append(0xf9)
      append(UInt64(half), width: 2)
    } else if Double(single) == value {
      bytes.append(0xfa)
      append(UInt64(single.bitPattern), width: 4)
    } else {
      bytes.append(0xfb)
      append(value.bitPattern, width: 8)
    }
  }

  mutating func head(_ major: UInt8, _ argument: UInt64) {
    switch argument {
    case 0..<24: bytes.append(major << 5 | UInt8(argument))
    case 24...0xff:
      bytes.append(major << 5 | 24)
      bytes.append(UInt8(argument))
    case 0x100...0xffff:
      bytes.append(major << 5 | 25)
      append(argument, width: 2)
    case 0x1_0000...0xffff_ffff:
      bytes.append(major << 5 | 26)
      append(argument, width: 4)
    default:
      bytes.append(major << 5 | 27)
      append(argument, width: 8)
    }
  }

  private mutating func append(_ value: UInt64, width: Int) {
    for shift in stride(from: 8 * (width - 1), through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
    }
  }
}

/// An encoded item as a byte string in tag 24.
package func embedCBOR(_ encoded: ByteView) -> [UInt8] {
  var writer = CBORWriter(capacity: encoded.count + 8)
  writer.embedded(encoded)
  return writer.bytes
}

/// An encoded item as a byte string in tag 24.
package func embedCBOR(_ encoded: [UInt8]) -> [UInt8] { embedCBOR(encoded[...]) }

/// The half precision bits of a number that half precision holds exactly.
private func halfBits(of value: Double) -> UInt16? {
  let sign: UInt16 = value.sign == .minus ? 0x8000 : 0
  if value == 0 { return sign }
  if value.isInfinite { return sign | 0x7c00 }
  let exponent = Int(value.exponent)
  guard (-24...15).contains(exponent) else { return nil }
  // A half keeps 10 of the 52 bits of the fraction; below 2^-14 it counts multiples of 2^-24.
  let significand = value.significandBitPattern | 1 << 52
  let dropped = exponent >= -14 ? 42 : 52 - (exponent + 24)
  guard significand & (1 << UInt64(dropped) - 1) == 0 else { return nil }
  let kept = UInt16(truncatingIfNeeded: significand >> UInt64(dropped))
  return exponent >= -14 ? sign | UInt16(exponent + 15) << 10 | kept & 1023 : sign | kept
}

/// CBOR as a value, for what is written member by member: deterministic encoding (RFC 8949 section 4.2.1).
package indirect enum CBORValue: Sendable, Equatable {
  case unsigned(UInt64)
  case int(Int64)
  case bytes([UInt8])
  case text(String)
  case array([CBORValue])
  /// Encoded with its keys in bytewise order, whatever their order here.
  case map([Pair])
  case tag(UInt64, CBORValue)
  case bool(Bool)
  case null
  case double(Double)
  /// A whole item that is already encoded.
  case encoded([UInt8])

  package struct Pair: Sendable, Equatable {
    package let key: CBORValue
    package let value: CBORValue

    package init(_ key: CBORValue, _ value: CBORValue) {
      self.key = key
      self.value = value
    }
  }

  /// Tag 24 around the encoding of a value.
  package static func embedded(_ value: CBORValue) -> CBORValue { .tag(24, .bytes(value.encode())) }

  /// A map with text keys.
  package static func map(_ members: KeyValuePairs<String, CBORValue>) -> CBORValue {
    .map(members.map { Pair(.text($0.key), $0.value) })
  }

  /// A map with integer keys.
  package static func map(labels members: KeyValuePairs<Int64, CBORValue>) -> CBORValue {
    .map(members.map { Pair(.int($0.key), $0.value) })
  }

  package func encode() -> [UInt8] {
    var writer = CBORWriter()
    write(to: &writer)
    return writer.bytes
  }

  package func write(to writer: inout CBORWriter) {
    switch self {
    case .unsigned(let value): writer.unsigned(value)
    case .int(let value): writer.int(value)
    case .bytes(let content): writer.byteString(content)
    case .text(let content): writer.text(content)
    case .array(let elements):
      writer.array(count: elements.count)
      for element in elements { element.write(to: &writer) }
    case .map(let pairs):
      writer.map(count: pairs.count)
      let encoded = pairs.map { (key: $0.key.encode(), value: $0.value) }
      for pair in encoded.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
        writer.raw(pair.key)
        pair.value.write(to: &writer)
      }
    case .tag(let number, let value):
      writer.tag(number)
      value.write(to: &writer)
    case .bool(let value): writer.bool(value)
    case .null: writer.null()
    case .double(let value): writer.double(value)
    case .encoded(let bytes): writer.raw(bytes)
    }
  }
}

extension CBORValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
  package init(stringLiteral value: String) { self = .text(value) }
  package init(integerLiteral value: Int64) { self = .int(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
}
