internal import Bytes
internal import CivilTime

/// A certificate serial number.
package struct SerialNumber: Hashable, Sendable {
  /// The absolute value, big-endian, without leading zeros; empty for zero.
  package let magnitude: [UInt8]
  package let isNegative: Bool

  package init(magnitude: some Sequence<UInt8>, isNegative: Bool = false) {
    self.magnitude = Array(magnitude.drop { $0 == 0 })
    self.isNegative = isNegative && !self.magnitude.isEmpty
  }

  package var isZero: Bool { magnitude.isEmpty }

  /// How many content octets its DER has; the profile allows 20.
  package var octetCount: Int {
    guard let first = magnitude.first else { return 1 }
    let needsSign =
      isNegative ? first > 0x80 || first == 0x80 && magnitude.dropFirst().contains { $0 != 0 } : first >= 0x80
    return magnitude.count + (needsSign ? 1 : 0)
  }
}

extension SerialNumber: CustomStringConvertible {
  /// Hexadecimal, as `openssl x509 -serial` prints it but in lower case.
  package var description: String {
    (isNegative ? "-" : "") + (magnitude.isEmpty ? "00" : magnitude.hex)
  }
}

/// The three parts of everything that X.509 signs, as received.
struct SignedPart: Sendable {
  /// The bytes the signature is over, tag and length included.
  let bytes: ByteView
  /// What `bytes` holds, to be read from its start.
  let content: DERReader
  /// The signature algorithm with its parameters.
  let algorithmIdentifier: ByteView
  let algorithm: OID
  let signature: ByteView

  /// Nil when `encoded` is not one strict DER element of this shape.
  init?(_ encoded: ByteView) {
    guard DERReader.isWellFormed(encoded), var reader = DERReader.only(DERTag.sequence, in: encoded)?.reader,
      let signed = reader.next(DERTag.sequence),
      let algorithm = reader.next(DERTag.sequence), let identifier = algorithm.algorithmIdentifier,
      let signature = reader.next(DERTag.bitString)?.content, signature.first == 0, reader.isAtEnd
    else { return nil }
    bytes = signed.encoded
    content = signed.reader
    algorithmIdentifier = algorithm.encoded
    self.algorithm = identifier
    self.signature = signature.dropFirst()
  }

  func isSigned(by key: PublicKey) -> Bool {
    // Whether the profile allows the algorithm is another question, with a finding of its own.
    if algorithm == .ed25519 && key.curve == .ed25519 || algorithm == .ed448 && key.curve == .ed448 {
      return key.isValid(signature: signature, for: bytes, hash: nil)
    }
    guard let hash = ecdsaHashes[algorithm] else { return false }
    return key.isValid(derSignature: signature, for: bytes, hash: hash)
  }
}

private let ecdsaHashes: [OID: HashAlgorithm] = [
  .ecdsaWithSHA256: .sha256, .ecdsaWithSHA384: .sha384, .ecdsaWithSHA512: .sha512,
]

extension SerialNumber {
  /// From the content of a DER INTEGER; nil when that is not in its shortest form.
  init?(derContent content: ByteView) {
    guard let first = content.first else { return nil }
    if let second = content.dropFirst().first, first == 0 && second < 0x80 || first == 0xFF && second >= 0x80 {
      return nil
    }
    guard first >= 0x80 else {
      self.init(magnitude: content)
      return
    }
    // Two's complement: what is left to add to the next power of 256.
    var magnitude = content.map { ~$0 }
    for index in magnitude.indices.reversed() {
      let (sum, overflow) = magnitude[index].addingReportingOverflow(1)
      magnitude[index] = sum
      if !overflow { break }
    }
    self.init(magnitude: magnitude, isNegative: true)
  }
}

extension DERReader.Element {
  /// The identifier of an AlgorithmIdentifier: one, and at most one parameter.
  var algorithmIdentifier: OID? {
    var reader = reader
    guard let identifier = reader.next(DERTag.objectIdentifier) else { return nil }
    _ = reader.next()
    return reader.isAtEnd ? OID(encoded: identifier.content) : nil
  }
}

extension DERReader {
  /// A UTCTime or GeneralizedTime.
  mutating func nextTime() -> Element? { next(DERTag.utcTime) ?? next(DERTag.generalizedTime) }
}

extension UnixTime {
  /// The instant of an ASN.1 time of RFC 5280: whole seconds, UTC, written with Z. Nil for anything else.
  init?(der: DERReader.Element) {
    let yearDigits = der.tag == DERTag.generalizedTime ? 4 : 2
    guard der.content.count == yearDigits + 11, der.content.last == UInt8(ascii: "Z"),
      var year = decimal(der.content.prefix(yearDigits))
    else { return nil }
    // Two digits stand for 1950 to 2049.
    if yearDigits == 2 { year += year < 50 ? 2000 : 1900 }
    var values: [Int] = []
    var rest = der.content.dropFirst(yearDigits)
    for _ in 0..<5 {
      guard let value = decimal(rest.prefix(2)) else { return nil }
      values.append(value)
      rest = rest.dropFirst(2)
    }
    guard let date = CalendarDate(year: year, month: values[0], day: values[1]), values[2] < 24, values[3] < 60,
      values[4] < 60
    else { return nil }
    self.init(seconds: Int64(date.daysSince1970) * 86_400 + Int64(values[2] * 3600 + values[3] * 60 + values[4]))
  }
}

private func decimal(_ digits: ByteView) -> Int? {
  var value = 0
  for digit in digits {
    guard (0x30...0x39).contains(digit) else { return nil }
    value = value * 10 + Int(digit - 0x30)
  }
  return value
}

/// The version of a certificate as people count it; 1 when it is left out. Nil when it is no small number.
func readVersion(_ reader: inout DERReader) -> Int? {
  guard let wrapper = reader.next(DERTag.context(0, constructed: true)) else { return 1 }
  guard let number = DERReader.only(DERTag.integer, in: wrapper.content)?.content, number.count == 1,
    let value = number.first, value < 0x80
  else { return nil }
  return Int(value) + 1
}

/// The extensions under a context tag, none when it is left out. Nil when they cannot be read.
func readExtensions(_ reader: inout DERReader, tag: UInt8) -> [CertificateExtension]? {
  guard let wrapper = reader.next(DERTag.context(tag, constructed: true)) else { return [] }
  guard var list = DERReader.only(DERTag.sequence, in: wrapper.content)?.reader else { return nil }
  var extensions: [CertificateExtension] = []
  extensions.reserveCapacity(8)
  while !list.isAtEnd {
    guard var reader = list.next(DERTag.sequence)?.reader, let oid = reader.next(DERTag.objectIdentifier) else {
      return nil
    }
    let flag = reader.next(DERTag.boolean)
    guard flag == nil || flag?.content.count == 1, let value = reader.next(DERTag.octetString), reader.isAtEnd else {
      return nil
    }
    extensions.append(
      CertificateExtension(
        oid: OID(encoded: oid.content), isCritical: flag.map { $0.content.first != 0 } ?? false, value: value.content))
  }
  return extensions
}
