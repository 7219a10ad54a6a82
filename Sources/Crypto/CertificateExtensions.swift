import Bytes

/// One extension of a certificate or list, as received.
package struct CertificateExtension: Hashable, Sendable {
  package let oid: OID
  package let isCritical: Bool
  /// The DER inside the octet string.
  package let value: ByteView
}

/// What a certificate says in one known extension. Of an extension that occurs twice the first one counts.
package enum ExtensionReading<Value: Sendable>: Sendable {
  case absent
  /// It is there and cannot be decoded.
  case malformed(isCritical: Bool)
  case present(Value, isCritical: Bool)

  /// The value, when there is one that can be read.
  package var value: Value? {
    if case .present(let value, _) = self { value } else { nil }
  }

  /// Whether the extension is there and marked critical.
  package var isCritical: Bool {
    switch self {
    case .absent: false
    case .malformed(let isCritical), .present(_, let isCritical): isCritical
    }
  }

  package var isPresent: Bool {
    if case .absent = self { false } else { true }
  }
}

extension ExtensionReading: Equatable where Value: Equatable {}

/// The bits of a key usage extension (RFC 5280 section 4.2.1.3); bit n of the standard is 1 << n here.
package struct KeyUsage: OptionSet, Hashable, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let digitalSignature = KeyUsage(rawValue: 1 << 0)
  package static let nonRepudiation = KeyUsage(rawValue: 1 << 1)
  package static let keyEncipherment = KeyUsage(rawValue: 1 << 2)
  package static let dataEncipherment = KeyUsage(rawValue: 1 << 3)
  package static let keyAgreement = KeyUsage(rawValue: 1 << 4)
  package static let keyCertSign = KeyUsage(rawValue: 1 << 5)
  package static let crlSign = KeyUsage(rawValue: 1 << 6)
  package static let encipherOnly = KeyUsage(rawValue: 1 << 7)
  package static let decipherOnly = KeyUsage(rawValue: 1 << 8)

  init?(der: ByteView) {
    guard let bits = DERReader.only(DERTag.bitString, in: der)?.content, let unused = bits.first, unused < 8,
      bits.count > 1 || unused == 0, bits.count <= 5
    else { return nil }
    var value: UInt32 = 0
    for (index, byte) in bits.dropFirst().enumerated() {
      for bit in 0..<8 where byte & (0x80 >> UInt8(bit)) != 0 { value |= 1 << UInt32(8 * index + bit) }
    }
    rawValue = value
  }
}

/// Basic constraints (RFC 5280 section 4.2.1.9).
package struct BasicConstraints: Hashable, Sendable {
  package let isAuthority: Bool
  /// How many certificates of authorities may follow; nil when unlimited.
  package let pathLength: Int?

  init?(der: ByteView) {
    guard var reader = DERReader.only(DERTag.sequence, in: der)?.reader else { return nil }
    var isAuthority = false
    if let flag = reader.next(DERTag.boolean) {
      guard flag.content.count == 1 else { return nil }
      isAuthority = flag.content.first != 0
    }
    var pathLength: Int?
    if let number = reader.next(DERTag.integer) {
      guard (1...4).contains(number.content.count), number.content.first ?? 0x80 < 0x80 else { return nil }
      pathLength = number.content.reduce(0) { $0 << 8 | Int($1) }
    }
    guard reader.isAtEnd else { return nil }
    self.isAuthority = isAuthority
    self.pathLength = pathLength
  }
}

/// The parts of general names (RFC 5280 section 4.2.1.6) that mdoc certificates use.
package struct GeneralNames: Hashable, Sendable {
  package private(set) var emails: [String] = []
  package private(set) var dnsNames: [String] = []
  package private(set) var uris: [String] = []
  /// How many names of other kinds there are.
  package private(set) var otherCount = 0

  init() {}

  init?(der: ByteView) {
    guard let sequence = DERReader.only(DERTag.sequence, in: der), !sequence.content.isEmpty else { return nil }
    self.init(content: sequence.content)
  }

  init?(content: ByteView) {
    guard append(content) else { return nil }
  }

  mutating func append(_ content: ByteView) -> Bool {
    var reader = DERReader(content)
    while !reader.isAtEnd {
      guard let name = reader.next(), name.tag & 0xC0 == 0x80 else { return false }
      switch name.tag {
      case DERTag.context(1, constructed: false): emails.append(String(decoding: name.content, as: UTF8.self))
      case DERTag.context(2, constructed: false): dnsNames.append(String(decoding: name.content, as: UTF8.self))
      case DERTag.context(6, constructed: false): uris.append(String(decoding: name.content, as: UTF8.self))
      default: otherCount += 1
      }
    }
    return true
  }
}

/// CRL distribution points (RFC 5280 section 4.2.1.13).
package struct CRLDistributionPoints: Hashable, Sendable {
  /// The names of all points together, in order.
  package let names: GeneralNames
  /// Whether a point has reasons or a cRLIssuer, which the mdoc profile forbids.
  package let hasReasonsOrIssuer: Bool

  package var uris: [String] { names.uris }

  /// Whether one of the addresses can be fetched over HTTP.
  package var hasHTTPAddress: Bool {
    uris.contains { uri in
      let start = uri.utf8.prefix(8).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
      return start.starts(with: "http://".utf8) || start.elementsEqual("https://".utf8)
    }
  }

  init?(der: ByteView) {
    guard var points = DERReader.only(DERTag.sequence, in: der)?.reader, !points.isAtEnd else { return nil }
    var names = GeneralNames()
    var hasMore = false
    while !points.isAtEnd {
      guard var point = points.next(DERTag.sequence)?.reader else { return nil }
      if var name = point.next(DERTag.context(0, constructed: true))?.reader {
        // The other choice, a name relative to the issuer, names no address.
        if let full = name.next(DERTag.context(0, constructed: true)) {
          guard !full.content.isEmpty, names.append(full.content) else { return nil }
        } else if name.next(DERTag.context(1, constructed: true)) == nil {
          return nil
        }
        guard name.isAtEnd else { return nil }
      }
      if point.next(DERTag.context(1, constructed: false)) != nil { hasMore = true }
      if point.next(DERTag.context(2, constructed: true)) != nil { hasMore = true }
      guard point.isAtEnd else { return nil }
    }
    self.names = names
    hasReasonsOrIssuer = hasMore
  }
}

/// Decoders of the extensions that are single values.
enum ExtensionValue {
  /// The purposes of an extended key usage, in order; at least one.
  static func extendedKeyUsage(_ der: ByteView) -> [OID]? {
    guard var reader = DERReader.only(DERTag.sequence, in: der)?.reader, !reader.isAtEnd else { return nil }
    var result: [OID] = []
    while !reader.isAtEnd {
      guard let purpose = reader.next(DERTag.objectIdentifier) else { return nil }
      result.append(OID(encoded: purpose.content))
    }
    return result
  }

  static func subjectKeyIdentifier(_ der: ByteView) -> ByteView? {
    guard let content = DERReader.only(DERTag.octetString, in: der)?.content, !content.isEmpty else { return nil }
    return content
  }

  /// The key identifier of an authority key identifier; `.some(nil)` when it names the issuer in another way only.
  static func authorityKeyIdentifier(_ der: ByteView) -> ByteView?? {
    guard var reader = DERReader.only(DERTag.sequence, in: der)?.reader else { return nil }
    let identifier = reader.next(DERTag.context(0, constructed: false))?.content
    if identifier?.isEmpty == true { return nil }
    _ = reader.next(DERTag.context(1, constructed: true))
    _ = reader.next(DERTag.context(2, constructed: false))
    guard reader.isAtEnd else { return nil }
    return .some(identifier)
  }
}
