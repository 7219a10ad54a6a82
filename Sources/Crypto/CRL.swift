import Bytes
internal import COpenSSL
import CivilTime

/// An X.509 certificate revocation list: what it says. Nothing in it has been verified.
///
/// OpenSSL reads the frame of the list: issuer, dates, extensions. The entries, of which there may be a million, are read
/// by this target's own DER reader and packed: OpenSSL would keep an object of some hundred bytes for each, and sort them
/// at the first question. Immutable.
package final class CertificateRevocationList: Sendable {
  /// Longest encoding accepted, in bytes: a million entries with reasons.
  package static let maximumSize = 64 << 20

  package let issuer: DistinguishedName
  package let thisUpdate: UnixTime
  /// Nil when the list does not say: then it is never current.
  package let nextUpdate: UnixTime?
  /// Of the list as a whole.
  package let extensions: [CertificateExtension]
  /// How many entries there are.
  package var revokedCount: Int { serialNumbers.count }
  /// Whether an entry has an extension that is critical: the entry may be of another issuer's certificate.
  package let hasCriticalEntryExtension: Bool
  /// Whether the algorithm inside the signed part is that outside of it.
  package let algorithmsAgree: Bool

  /// Content octets of the serial numbers, as DER has them: each number in one form only.
  private let serialNumbers: ByteStringSet
  private let signature: SignatureFacts

  /// Reads one DER list; bytes after it are refused.
  package init(_ der: some Collection<UInt8>) throws(CertificateError) {
    guard der.count <= CertificateRevocationList.maximumSize else { throw .tooLarge }
    let encoded = Array(der)
    guard let parts = Parts(encoded[...]), let frame = SignedPart(parts.frame[...]) else { throw .malformed }
    guard let list = parse(parts.frame) else {
      ERR_clear_error()
      throw .malformed
    }
    // Ours alone; everything is copied out of it below.
    defer { X509_CRL_free(list) }
    guard let issuer = distinguishedName(X509_CRL_get_issuer(list)) else { throw .malformed }
    guard let thisUpdate = unixTime(X509_CRL_get0_lastUpdate(list)) else { throw .dateUnreadable }
    if let time = X509_CRL_get0_nextUpdate(list) {
      guard let nextUpdate = unixTime(time) else { throw .dateUnreadable }
      self.nextUpdate = nextUpdate
    } else {
      nextUpdate = nil
    }
    self.issuer = issuer
    self.thisUpdate = thisUpdate
    extensions = readExtensions(count: X509_CRL_get_ext_count(list)) { X509_CRL_get_ext(list, $0) }
    guard let entries = Entries(parts.entries) else { throw .malformed }
    serialNumbers = entries.serialNumbers
    hasCriticalEntryExtension = entries.hasCriticalExtension
    var reader = frame.content
    _ = reader.next(DERTag.integer)
    algorithmsAgree = reader.next(DERTag.sequence)?.encoded == frame.algorithmIdentifier
    signature = SignatureFacts(frame, signed: parts.signed)
  }

  package var hasCriticalExtension: Bool { extensions.contains { $0.isCritical } || hasCriticalEntryExtension }

  /// Whether it tells only what changed since another list.
  package var isDelta: Bool { extensions.contains { $0.oid == .deltaCRLIndicator } }

  /// Whether it is about some certificates of its issuer only, or about those of others.
  package var hasScope: Bool { extensions.contains { $0.oid == .issuingDistributionPoint } }

  /// The number of the list (RFC 5280 section 5.2.3), which grows with every list of an issuer; nil when there is none
  /// that can be read.
  package var number: SerialNumber? {
    guard let found = extensions.first(where: { $0.oid == .crlNumber }),
      let content = DERReader.only(DERTag.integer, in: found.value)?.content, let first = content.first, first < 0x80
    else { return nil }
    return SerialNumber(magnitude: content)
  }

  /// Whether the list names this serial number, whatever the reason it gives.
  package func names(_ serialNumber: SerialNumber) -> Bool { serialNumbers.contains(serialNumber.derContent[...]) }

  /// Whether this key signed this list: ECDSA with SHA-256, SHA-384 or SHA-512 over the bytes as received, the
  /// algorithm named alike inside and outside.
  package func isSigned(by key: PublicKey) -> Bool { algorithmsAgree && signature.isValid(for: key) }

  /// Whether `now` is within thisUpdate and nextUpdate, both included.
  package func isCurrent(at now: UnixTime) -> Bool {
    guard let nextUpdate else { return false }
    return thisUpdate <= now && now <= nextUpdate
  }
}

extension CertificateRevocationList {
  /// A list taken apart: its entries, and the rest as a list without any.
  private struct Parts {
    /// What is signed, as received.
    let signed: ByteView
    /// The content of the list of entries; empty when there is none.
    let entries: ByteView
    /// The same list without its entries. The signature is not of this.
    let frame: [UInt8]

    init?(_ encoded: ByteView) {
      guard var outer = DERReader.only(DERTag.sequence, in: encoded)?.reader, let signed = outer.next(DERTag.sequence)
      else { return nil }
      let rest = outer.rest
      var reader = signed.reader
      _ = reader.next(DERTag.integer)
      guard reader.next(DERTag.sequence) != nil, reader.next(DERTag.sequence) != nil else { return nil }
      guard reader.next(DERTag.utcTime) ?? reader.next(DERTag.generalizedTime) != nil else { return nil }
      _ = reader.next(DERTag.utcTime) ?? reader.next(DERTag.generalizedTime)
      let head = signed.content[signed.content.startIndex..<reader.rest.startIndex]
      entries = reader.next(DERTag.sequence)?.content ?? []
      self.signed = signed.encoded
      frame = DER.sequence(DER.element(DERTag.sequence, Array(head) + reader.rest), Array(rest))
    }
  }

  /// The entries of a list.
  private struct Entries {
    let serialNumbers: ByteStringSet
    let hasCriticalExtension: Bool

    /// Nil when one of them is not serial number, date, and perhaps extensions, in strict DER.
    init?(_ encoded: ByteView) {
      // An entry has two heads, a number of up to twenty octets and a date of thirteen.
      var builder = ByteStringSet.Builder(expecting: encoded.count / 24, bytes: encoded.count / 2)
      var isCritical = false
      var rest = encoded
      while !rest.isEmpty {
        rest = rest.dropFirst(Entries.readPlain(rest, into: &builder))
        guard !rest.isEmpty else { break }
        var reader = DERReader(rest)
        guard let entry = reader.next(DERTag.sequence), Entries.read(entry.reader, into: &builder, &isCritical) else {
          return nil
        }
        rest = reader.rest
      }
      serialNumbers = builder.build()
      hasCriticalExtension = isCritical
    }

    /// One entry.
    private static func read(
      _ content: DERReader, into builder: inout ByteStringSet.Builder, _ isCritical: inout Bool
    ) -> Bool {
      var entry = content
      guard let number = entry.next(DERTag.integer)?.content, isShortest(number),
        entry.next(DERTag.utcTime) ?? entry.next(DERTag.generalizedTime) != nil, builder.insert(number)
      else { return false }
      guard !entry.isAtEnd else { return true }
      guard var extensions = entry.next(DERTag.sequence)?.reader, entry.isAtEnd, !extensions.isAtEnd else {
        return false
      }
      while !extensions.isAtEnd {
        guard var found = extensions.next(DERTag.sequence)?.reader, found.next(DERTag.objectIdentifier) != nil else {
          return false
        }
        if let flag = found.next(DERTag.boolean) {
          guard flag.content.count == 1 else { return false }
          if flag.content.first != 0 { isCritical = true }
        }
        guard found.next(DERTag.octetString) != nil, found.isAtEnd else { return false }
      }
      return true
    }

    /// Reads entries that are a number and a UTCTime and nothing else, as nearly all are, in a loop of its own: ten times
    /// as fast for a million of them. Stops at the first that is not so, and gives how many bytes it read.
    private static func readPlain(_ encoded: ByteView, into builder: inout ByteStringSet.Builder) -> Int {
      // Indices are compared with the count before each use; the buffer lives for this closure.
      encoded.withUnsafeBufferPointer { bytes in
        var place = 0
        // The two heads, one octet of the number, and the date.
        while bytes.count - place >= 20 {
          let length = Int(bytes[place + 1])
          let size = Int(bytes[place + 3])
          guard bytes[place] == DERTag.sequence, bytes[place + 2] == DERTag.integer, (1..<0x60).contains(size),
            length == size + 17, bytes.count - place >= length + 2
          else { break }
          let number = UnsafeBufferPointer(rebasing: bytes[place + 4..<place + 4 + size])
          let first = number[0]
          if size > 1, first == 0 && number[1] < 0x80 || first == 0xFF && number[1] >= 0x80 { break }
          guard bytes[place + 4 + size] == DERTag.utcTime, bytes[place + 5 + size] == 13, builder.insert(number) else {
            break
          }
          place += length + 2
        }
        return place
      }
    }
  }

  /// What is kept to check the signature: of ECDSA the digest, so that the bytes of a long list can go.
  private enum SignatureFacts: Sendable {
    case ecdsa(digest: [UInt8], signature: [UInt8])
    case other(SignedBytes)

    struct SignedBytes: Sendable {
      let algorithm: OID
      let signed: [UInt8]
      let signature: [UInt8]
    }

    init(_ frame: SignedPart, signed: ByteView) {
      if let hash = ecdsaHashes[frame.algorithm] {
        self = .ecdsa(digest: digest(hash, signed), signature: Array(frame.signature))
      } else {
        self = .other(
          SignedBytes(algorithm: frame.algorithm, signed: Array(signed), signature: Array(frame.signature)))
      }
    }

    func isValid(for key: PublicKey) -> Bool {
      switch self {
      case .ecdsa(let digest, let signature): return key.isValid(derSignature: signature[...], ofDigest: digest)
      case .other(let bytes):
        let isPaired =
          bytes.algorithm == .ed25519 && key.curve == .ed25519 || bytes.algorithm == .ed448 && key.curve == .ed448
        return isPaired && key.isValid(signature: bytes.signature[...], for: bytes.signed[...], hash: nil)
      }
    }
  }
}

/// Whether the content of an INTEGER has no octet too many.
private func isShortest(_ content: ByteView) -> Bool {
  guard let first = content.first else { return false }
  guard content.count > 1 else { return true }
  let second = content[content.startIndex + 1]
  return !(first == 0 && second < 0x80 || first == 0xFF && second >= 0x80)
}

private func parse(_ encoded: [UInt8]) -> OpaquePointer? {
  encoded.withUnsafeBufferPointer { buffer in
    // d2i moves the pointer, not the bytes; both live for this closure.
    var position = buffer.baseAddress
    guard let list = d2i_X509_CRL(nil, &position, buffer.count) else { return nil }
    guard let start = buffer.baseAddress, position == start + buffer.count else {
      X509_CRL_free(list)
      return nil
    }
    return list
  }
}
