import Bytes

/// An ASN.1 object identifier, kept as its DER content bytes.
package struct OID: Hashable, Sendable {
  package let encoded: [UInt8]

  /// From DER content bytes, unchecked: an identifier that is not known matches nothing.
  init(encoded: some Sequence<UInt8>) { self.encoded = Array(encoded) }

  /// From arcs known to be valid: 1.2.840 is `OID(1, 2, 840)`.
  init(_ first: UInt64, _ second: UInt64, _ rest: UInt64...) {
    encoded = OID.encode([first * 40 + second] + rest)
  }

  /// From dotted decimal text, nil when that is no object identifier.
  package init?(_ text: some StringProtocol) {
    var arcs: [UInt64] = []
    for part in text.split(separator: ".", omittingEmptySubsequences: false) {
      // No signs, no leading zeros: one text for one identifier.
      guard part.utf8.allSatisfy({ (0x30...0x39).contains($0) }), part == "0" || part.utf8.first != 0x30,
        let arc = UInt64(part), arc < 1 << 56
      else { return nil }
      arcs.append(arc)
    }
    guard arcs.count >= 2, arcs[0] <= 2, arcs[0] == 2 || arcs[1] < 40 else { return nil }
    encoded = OID.encode([arcs[0] * 40 + arcs[1]] + arcs.dropFirst(2))
  }

  private static func encode(_ arcs: [UInt64]) -> [UInt8] {
    var result: [UInt8] = []
    for arc in arcs {
      let groups = max(1, (64 - arc.leadingZeroBitCount + 6) / 7)
      for group in (0..<groups).reversed() {
        result.append(UInt8(truncatingIfNeeded: arc >> UInt64(7 * group)) & 0x7F | (group > 0 ? 0x80 : 0))
      }
    }
    return result
  }
}

extension OID: CustomStringConvertible {
  /// Dotted decimal; an identifier with arcs beyond 64 bits or cut short is shown in hexadecimal.
  package var description: String {
    var arcs: [UInt64] = []
    var arc: UInt64 = 0
    for (index, byte) in encoded.enumerated() {
      guard arc < 1 << 56 else { return "0x\(encoded.hex)" }
      arc = arc << 7 | UInt64(byte & 0x7F)
      if byte & 0x80 == 0 {
        arcs.append(arc)
        arc = 0
      } else if index == encoded.count - 1 {
        return "0x\(encoded.hex)"
      }
    }
    guard let first = arcs.first else { return "0x" }
    let root = min(first / 40, 2)
    return ([root, first - root * 40] + arcs.dropFirst()).map(String.init).joined(separator: ".")
  }
}

extension OID {
  package static let commonName = OID(2, 5, 4, 3)
  package static let countryName = OID(2, 5, 4, 6)
  package static let localityName = OID(2, 5, 4, 7)
  package static let stateOrProvinceName = OID(2, 5, 4, 8)
  package static let organizationName = OID(2, 5, 4, 10)

  package static let subjectKeyIdentifier = OID(2, 5, 29, 14)
  package static let keyUsage = OID(2, 5, 29, 15)
  package static let subjectAltName = OID(2, 5, 29, 17)
  package static let issuerAltName = OID(2, 5, 29, 18)
  package static let basicConstraints = OID(2, 5, 29, 19)
  package static let crlNumber = OID(2, 5, 29, 20)
  package static let deltaCRLIndicator = OID(2, 5, 29, 27)
  package static let issuingDistributionPoint = OID(2, 5, 29, 28)
  package static let nameConstraints = OID(2, 5, 29, 30)
  package static let crlDistributionPoints = OID(2, 5, 29, 31)
  package static let policyMappings = OID(2, 5, 29, 33)
  package static let authorityKeyIdentifier = OID(2, 5, 29, 35)
  package static let policyConstraints = OID(2, 5, 29, 36)
  package static let extendedKeyUsage = OID(2, 5, 29, 37)
  package static let authorityInfoAccess = OID(1, 3, 6, 1, 5, 5, 7, 1, 1)
  package static let freshestCRL = OID(2, 5, 29, 46)
  package static let inhibitAnyPolicy = OID(2, 5, 29, 54)

  package static let ecPublicKey = OID(1, 2, 840, 10045, 2, 1)
  package static let ed25519 = OID(1, 3, 101, 112)
  package static let ed448 = OID(1, 3, 101, 113)
  package static let ecdsaWithSHA256 = OID(1, 2, 840, 10045, 4, 3, 2)
  package static let ecdsaWithSHA384 = OID(1, 2, 840, 10045, 4, 3, 3)
  package static let ecdsaWithSHA512 = OID(1, 2, 840, 10045, 4, 3, 4)

  /// Extended key usage of an mDL document signer.
  package static let documentSigner = OID(1, 0, 18013, 5, 1, 2)
  /// Extended key usage of an mdoc reader's authentication key.
  package static let readerAuthentication = OID(1, 0, 18013, 5, 1, 6)
  /// Extended key usage of the signer of a VICAL.
  package static let vicalSigner = OID(1, 0, 18013, 5, 1, 8)
  /// Extended key usage of the signer of a token status list (id-kp-oauthStatusSigning).
  package static let statusSigner = OID(1, 3, 6, 1, 5, 5, 7, 3, 30)
}

/// A subject or issuer name (RFC 5280 section 4.1.2.4): its exact bytes, and what they say.
package struct DistinguishedName: Sendable {
  package struct Attribute: Hashable, Sendable {
    package let type: OID
    /// The DER tag of the value: 12 UTF8String, 19 PrintableString, and so on.
    package let stringTag: UInt8
    /// The value as text; empty for a value that is no string.
    package let text: String
    /// Which relative name it belongs to, counted from 0; attributes of a multi-valued one share the number.
    package let relativeName: Int
    let raw: ByteView
    let isText: Bool
  }

  /// The DER of the name as received.
  package let encoded: ByteView
  /// The attributes in the order of the certificate.
  package let attributes: [Attribute]

  /// Nil when the bytes are no name, a value in it is no string, or is no text of its type.
  init?(encoded: ByteView) {
    guard let sequence = DERReader.only(DERTag.sequence, in: encoded) else { return nil }
    var attributes: [Attribute] = []
    attributes.reserveCapacity(6)
    var relativeNames = sequence.reader
    var number = 0
    while !relativeNames.isAtEnd {
      guard var set = relativeNames.next(DERTag.set)?.reader else { return nil }
      while !set.isAtEnd {
        guard var pair = set.next(DERTag.sequence)?.reader, let type = pair.next(DERTag.objectIdentifier),
          let value = pair.next(), pair.isAtEnd
        else { return nil }
        let text = directoryText(value.content, tag: value.tag)
        // Bit strings (unique identifiers) are the only other type that names have.
        if case .some(nil) = text { return nil }
        if text == nil, value.tag != DERTag.bitString { return nil }
        attributes.append(
          Attribute(
            type: OID(encoded: type.content), stringTag: value.tag, text: (text ?? nil) ?? "", relativeName: number,
            raw: value.content, isText: text != nil))
      }
      number += 1
    }
    self.encoded = encoded
    self.attributes = attributes
  }

  package var commonNames: [String] { texts(.commonName) }
  package var countries: [String] { texts(.countryName) }
  package var states: [String] { texts(.stateOrProvinceName) }

  /// The values of every attribute of one type, in order.
  package func texts(_ type: OID) -> [String] {
    attributes.compactMap { $0.type == type ? $0.text : nil }
  }

  /// Bytes that are equal for two names that differ only in string types, case and spaces.
  ///
  /// RFC 5280 section 7.1, simplified: runs of white space count as one space, none at the ends.
  package var normalized: [UInt8] {
    var relativeNames: [[[UInt8]]] = []
    var previous = -1
    for attribute in attributes {
      let value = attribute.isText ? foldedText(attribute.text) : Array(attribute.raw)
      let pair = DER.sequence(
        DER.objectIdentifier(attribute.type), DER.element(attribute.isText ? 0x0C : attribute.stringTag & 0xDF, value))
      if attribute.relativeName == previous {
        relativeNames[relativeNames.count - 1].append(pair)
      } else {
        relativeNames.append([pair])
      }
      previous = attribute.relativeName
    }
    // DER sorts a set by its encoding, which string types change: sort again.
    return relativeNames.flatMap {
      DER.element(DERTag.set, $0.sorted { $0.lexicographicallyPrecedes($1) }.joined().map { $0 })
    }
  }
}

extension DistinguishedName: Hashable {
  package static func == (left: DistinguishedName, right: DistinguishedName) -> Bool { left.encoded == right.encoded }
  package func hash(into hasher: inout Hasher) { hasher.combine(encoded) }
}

extension DistinguishedName: CustomStringConvertible {
  /// `C=AU, CN=Example IACA`: in the order of the certificate, escaped as in RFC 4514, and safe for a terminal:
  /// control, format and separator characters are hexadecimal too.
  package var description: String {
    var text = ""
    var previous = -1
    for attribute in attributes {
      if previous >= 0 { text += attribute.relativeName == previous ? "+" : ", " }
      previous = attribute.relativeName
      text += attributeNames[attribute.type] ?? attribute.type.description
      text += "="
      text += attribute.isText ? escaped(attribute.text) : "#\(attribute.raw.hex)"
    }
    return text
  }
}

private let attributeNames: [OID: String] = [
  .commonName: "CN", .countryName: "C", .localityName: "L", .stateOrProvinceName: "ST", .organizationName: "O",
  OID(2, 5, 4, 11): "OU", OID(2, 5, 4, 5): "serialNumber", OID(2, 5, 4, 97): "organizationIdentifier",
]

private func escaped(_ text: String) -> String {
  var result = ""
  let scalars = Array(text.unicodeScalars)
  for (index, scalar) in scalars.enumerated() {
    let isEdge = index == 0 || index == scalars.count - 1
    switch scalar {
    case ",", "+", "\"", "\\", "<", ">", ";", "=": result += "\\\(scalar)"
    case " " where isEdge, "#" where index == 0: result += "\\\(scalar)"
    case " ": result += " "
    default:
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned,
        .spaceSeparator:
        for byte in String(scalar).utf8 { result += "\\\([byte].hex)" }
      default: result.unicodeScalars.append(scalar)
      }
    }
  }
  return result
}

private func foldedText(_ text: String) -> [UInt8] {
  var result = ""
  var space = false
  for scalar in text.lowercased().unicodeScalars {
    if scalar.properties.isWhitespace {
      space = true
    } else {
      if space, !result.isEmpty { result += " " }
      space = false
      result.unicodeScalars.append(scalar)
    }
  }
  return Array(result.utf8)
}

/// What a value is as text: nil for a type that is no string, `.some(nil)` for bytes that are no text of their type.
private func directoryText(_ bytes: ByteView, tag: UInt8) -> String?? {
  switch tag {
  case 12:  // UTF8String
    return .some(String(validating: bytes, as: UTF8.self))
  case 18, 19, 20, 22, 26:  // NumericString, PrintableString, TeletexString, IA5String, VisibleString: as Latin-1
    return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  case 28, 30:  // UniversalString, BMPString: big-endian units of 4 and 2 bytes
    let size = tag == 28 ? 4 : 2
    guard bytes.count.isMultiple(of: size) else { return .some(nil) }
    var scalars = String.UnicodeScalarView()
    var unit: UInt32 = 0
    for (index, byte) in bytes.enumerated() {
      unit = unit << 8 | UInt32(byte)
      guard index % size == size - 1 else { continue }
      guard let scalar = Unicode.Scalar(unit) else { return .some(nil) }
      scalars.append(scalar)
      unit = 0
    }
    return String(scalars)
  default: return nil
  }
}
