import Bytes
import CBOR

/// Why an item is no COSE_Sign1 or COSE_Mac0.
package enum COSEError: Error, Equatable, Sendable {
  /// Not an array of four of the right kinds, a wrong tag, or a protected header that is no map.
  case malformed
  /// No key could make or check this with the algorithm.
  case unsupportedAlgorithm
}

/// What COSE_Sign1 and COSE_Mac0 share (RFC 9052 sections 3, 4.2 and 6.2): headers, payload, and bytes that prove it.
package struct COSEStructure: Sendable {
  /// Which of the two: they differ in tag and context text only.
  package enum Kind: Sendable {
    case sign1
    case mac0

    var tag: UInt64 { self == .sign1 ? 18 : 17 }
    var context: String { self == .sign1 ? "Signature1" : "MAC0" }
  }

  package let kind: Kind
  /// The protected header's content as received, empty or the encoding of a map.
  package let protected: ByteView
  /// Label 1 of the protected header, which alone counts; nil when it is absent or no integer of 64 bits.
  package let algorithm: Int64?
  /// Whether a `crit` label demands something that is not understood: anything but alg, or an empty list.
  package let hasUnknownCritical: Bool
  package let unprotected: CBORItem
  /// The attached payload, or nil when it is detached.
  package let payload: ByteView?
  /// The signature or the tag.
  package let proof: ByteView

  /// Reads the structure, with or without its tag.
  package init(_ item: CBORItem, kind: Kind) throws(COSEError) {
    let array = item.untagged(kind.tag)
    guard array.count == 4, var parts = array.elements, let first = parts.next(), let second = parts.next(),
      let third = parts.next(), let fourth = parts.next(), let protected = first.bytes, second.kind == .map,
      third.isNull || third.kind == .bytes, let proof = fourth.bytes
    else { throw .malformed }
    self.kind = kind
    self.protected = protected
    unprotected = second
    payload = third.bytes
    self.proof = proof
    if protected.count == 3, protected.elementsEqual([0xa1, 0x01, 0x26]) {
      // {1: -7}, ES256 and nothing else: what nearly all write needs no document of its own.
      algorithm = -7
      hasUnknownCritical = false
    } else if protected.isEmpty {
      algorithm = nil
      hasUnknownCritical = false
    } else {
      guard let map = try? decodeCBOR(protected), map.kind == .map else { throw .malformed }
      algorithm = map[label: 1]?.int
      hasUnknownCritical = map[label: 2].map(COSEStructure.demandsUnknown) ?? false
    }
  }

  /// A member of the protected header by its label.
  package func protected(label: Int64) -> CBORItem? {
    protected.isEmpty ? nil : (try? decodeCBOR(protected))?[label: label]
  }

  private static func demandsUnknown(_ critical: CBORItem) -> Bool {
    guard let labels = critical.elements, critical.count != 0 else { return true }
    return !labels.allSatisfy { $0.int == 1 }
  }

  /// The certificates of label 33 in the unprotected header, leaf first, not parsed; empty when there are none.
  ///
  /// A byte string or a non-empty array of byte strings; any other kind counts as none.
  package var x5chain: [ByteView] {
    unprotected[label: 33].map(COSEStructure.certificates) ?? []
  }

  /// The certificates of label 33 in the unprotected header or, where it has none, in the protected one. RFC 9360 allows
  /// both places; mdoc structures have the first.
  package var x5chainOfEitherHeader: [ByteView] {
    (unprotected[label: 33] ?? protected(label: 33)).map(COSEStructure.certificates) ?? []
  }

  private static func certificates(_ chain: CBORItem) -> [ByteView] {
    if let single = chain.bytes { return [single] }
    guard let elements = chain.elements else { return [] }
    var certificates: [ByteView] = []
    for element in elements {
      guard let certificate = element.bytes else { return [] }
      certificates.append(certificate)
    }
    return certificates
  }

  /// The bytes that are signed or authenticated: Sig_structure or MAC_structure over `payload`.
  package func input(payload: ByteView, externalData: [UInt8] = []) -> [UInt8] {
    COSEStructure.input(kind, protected: protected, payload: payload, externalData: externalData)
  }

  static func input(
    _ kind: Kind, protected: ByteView, payload: ByteView, externalData: [UInt8] = []
  ) -> [UInt8] {
    var writer = CBORWriter(capacity: protected.count + payload.count + externalData.count + 40)
    writer.array(count: 4)
    writer.text(kind.context)
    // An encoded empty map enters as the empty string (RFC 9052 section 4.4).
    let isEmptyMap = protected.count == 1 && protected.first == 0xa0
    writer.byteString(isEmptyMap ? [] : protected)
    writer.byteString(externalData[...])
    writer.byteString(payload)
    return writer.bytes
  }

  static func encode(
    protected: [UInt8], unprotected: CBORValue, payload: [UInt8]?, proof: [UInt8]
  ) -> CBORValue {
    .array([.bytes(protected), unprotected, payload.map(CBORValue.bytes) ?? .null, .bytes(proof)])
  }
}
