/// Names and values of a query or of a body in `application/x-www-form-urlencoded` (WHATWG URL, section 5), in their order.
package struct FormFields: Equatable, Sendable {
  /// One name and its value.
  package struct Field: Equatable, Sendable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  package private(set) var fields: [Field] = []

  /// Most fields that are read.
  package static let most = 200

  package init() {}

  /// Reads a query or body. Nil for more than `most` fields, a `%` without two hexadecimal digits, bytes that are no
  /// UTF-8, and a name that is there twice (RFC 6749 section 3.1: parameters are sent once).
  package init?(reading text: some StringProtocol) {
    var names = Set<String>()
    for part in Array(text.utf8).split(separator: UInt8(ascii: "&")) {
      guard names.count < FormFields.most else { return nil }
      let halves = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = decodePercent(halves[0], plusIsSpace: true),
        let value = decodePercent(halves.count == 2 ? halves[1] : [], plusIsSpace: true),
        names.insert(name).inserted
      else { return nil }
      append(name, value)
    }
  }

  package mutating func append(_ name: String, _ value: String) { fields.append(Field(name, value)) }

  /// The value under a name; nil when there is none.
  package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  /// As it is sent: everything but letters, digits and `-._~` percent-encoded, so that it is the same in a query and a body.
  package var text: String {
    fields.map { encodePercent($0.name) + "=" + encodePercent($0.value) }.joined(separator: "&")
  }
}

/// Every byte but the unreserved characters of RFC 3986 as `%XX`.
package func encodePercent(_ text: String) -> String {
  let digits = Array("0123456789ABCDEF".utf8)
  var result: [UInt8] = []
  for byte in text.utf8 {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
      result.append(byte)
    default: result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
  }
  return String(decoding: result, as: UTF8.self)
}

/// Nil for a `%` without two hexadecimal digits, and for bytes that are no UTF-8.
func decodePercent(_ bytes: some Collection<UInt8>, plusIsSpace: Bool) -> String? {
  var result: [UInt8] = []
  var rest = bytes[...]
  while let byte = rest.popFirst() {
    switch byte {
    case UInt8(ascii: "%"):
      guard let high = rest.popFirst().flatMap(hexDigit), let low = rest.popFirst().flatMap(hexDigit) else {
        return nil
      }
      result.append(high << 4 | low)
    case UInt8(ascii: "+") where plusIsSpace: result.append(UInt8(ascii: " "))
    default: result.append(byte)
    }
  }
  return String(validating: result, as: UTF8.self)
}

private func hexDigit(_ byte: UInt8) -> UInt8? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
  case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
  case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
  default: nil
  }
}

extension FormFields: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (String, String?)...) {
    for (name, value) in elements { if let value { append(name, value) } }
  }
}
