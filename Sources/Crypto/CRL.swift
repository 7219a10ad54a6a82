internal import Bytes
package import CivilTime

/// An X.509 certificate revocation list: what it says. Nothing in it has been verified.
///
/// A million entries cost their bytes and four to eight bytes each for the look-up. Immutable.
package final class CertificateRevocationList: Sendable {
  /// Longest encoding accepted, in bytes: over a million entries with reasons.
  package static let maximumSize = 64 << 20

  package let issuer: DistinguishedName
  package let thisUpdate: UnixTime
  /// Nil when the list does not say: then it is never current.
  package let nextUpdate: UnixTime?
  package let extensions: [CertificateExtension]
  /// How many entries there are.
  package var revokedCount: Int { serials.count }
  /// Whether the algorithm inside the signed part is that outside of it.
  package let algorithmsAgree: Bool

  private let serials: SerialTable
  private let signedPart: SignedPart

  /// Reads one DER list; bytes after it are refused.
  package init(_ der: some Collection<UInt8>) throws(CertificateError) {
    guard der.count <= CertificateRevocationList.maximumSize else { throw .tooLarge }
    guard let signedPart = SignedPart(Array(der)[...]) else { throw .malformed }
    var reader = signedPart.content
    if let version = reader.next(DERTag.integer), !version.content.elementsEqual([1]) { throw .malformed }
    guard let algorithm = reader.next(DERTag.sequence), algorithm.algorithmIdentifier != nil,
      let issuer = reader.next(DERTag.sequence).flatMap({ DistinguishedName(encoded: $0.encoded) }),
      let start = reader.nextTime()
    else { throw .malformed }
    let end = reader.nextTime()
    guard let serials = SerialTable(revoked: reader.next(DERTag.sequence)?.content ?? []),
      let extensions = readExtensions(&reader, tag: 0), reader.isAtEnd
    else { throw .malformed }
    guard let thisUpdate = UnixTime(der: start) else { throw .dateUnreadable }
    if let end {
      guard let nextUpdate = UnixTime(der: end) else { throw .dateUnreadable }
      self.nextUpdate = nextUpdate
    } else {
      nextUpdate = nil
    }
    self.issuer = issuer
    self.thisUpdate = thisUpdate
    self.extensions = extensions
    self.serials = serials
    self.signedPart = signedPart
    algorithmsAgree = algorithm.encoded == signedPart.algorithmIdentifier
  }

  package var hasCriticalExtension: Bool { extensions.contains { $0.isCritical } }

  /// Whether the list names this serial number, whatever the reason it gives.
  package func names(_ serialNumber: SerialNumber) -> Bool { serials.contains(serialNumber.derContent[...]) }

  /// Whether this key signed this list: ECDSA with SHA-256, SHA-384 or SHA-512 over the bytes as received, the
  /// algorithm named alike inside and outside.
  package func isSigned(by key: PublicKey) -> Bool { algorithmsAgree && signedPart.isSigned(by: key) }

  /// Whether `now` is within thisUpdate and nextUpdate, both included.
  package func isCurrent(at now: UnixTime) -> Bool {
    guard let nextUpdate else { return false }
    return thisUpdate <= now && now <= nextUpdate
  }
}

/// A hash table over serial numbers that stay where they were received.
private struct SerialTable: Sendable {
  let count: Int
  private let bytes: ByteView
  /// Where an entry's INTEGER begins, counted from 1; 0 is a free place. At most half of the places are taken.
  private let places: [UInt32]

  /// From the entries of a list; nil when one cannot be read.
  init?(revoked bytes: ByteView) {
    var starts: [UInt32] = []
    var position = bytes.startIndex
    while position < bytes.endIndex {
      guard let entry = DERReader.extent(in: bytes, at: position, before: bytes.endIndex),
        entry.tag == DERTag.sequence,
        let serial = DERReader.extent(in: bytes, at: entry.contentStart, before: entry.end),
        serial.tag == DERTag.integer, serial.contentStart < serial.end,
        let date = DERReader.extent(in: bytes, at: serial.end, before: entry.end),
        date.tag == DERTag.utcTime || date.tag == DERTag.generalizedTime
      else { return nil }
      if date.end < entry.end {
        guard let extensions = DERReader.extent(in: bytes, at: date.end, before: entry.end),
          extensions.tag == DERTag.sequence, extensions.end == entry.end
        else { return nil }
      }
      starts.append(UInt32(entry.contentStart - bytes.startIndex + 1))
      position = entry.end
    }
    var size = 2
    while size < 2 * starts.count { size *= 2 }
    var places = [UInt32](repeating: 0, count: size)
    for start in starts {
      let serial = SerialTable.serial(at: start, in: bytes)
      var place = SerialTable.hash(serial) & (size - 1)
      // One named again is not entered again: a list of nothing else would make every step longer than the last.
      while places[place] != 0, SerialTable.serial(at: places[place], in: bytes) != serial {
        place = (place + 1) & (size - 1)
      }
      places[place] = start
    }
    count = starts.count
    self.bytes = bytes
    self.places = places
  }

  func contains(_ serial: ByteView) -> Bool {
    var place = SerialTable.hash(serial) & (places.count - 1)
    while places[place] != 0 {
      if SerialTable.serial(at: places[place], in: bytes) == serial { return true }
      place = (place + 1) & (places.count - 1)
    }
    return false
  }

  private static func serial(at start: UInt32, in bytes: ByteView) -> ByteView {
    let position = bytes.startIndex + Int(start) - 1
    guard let serial = DERReader.extent(in: bytes, at: position, before: bytes.endIndex) else { return [] }
    return bytes[serial.contentStart..<serial.end]
  }

  /// Seeded in each process, so that no list can be made for collisions.
  private static func hash(_ serial: ByteView) -> Int {
    var hasher = Hasher()
    serial.withUnsafeBytes { hasher.combine(bytes: $0) }
    return hasher.finalize()
  }
}
