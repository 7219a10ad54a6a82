import Bytes
import CBOR
import COSE
import CivilTime
import Crypto
import Glibc
import ListCache
import Mdoc
import MdocVerification
import StatusLists
import Trust
import VICAL

/// A reader that trusts many: what it costs it.
struct TrustMeasurement {
  static let anchorCount = 10_000
  static let revokedCount = 1_000_000
  static let statusCount = 1_000_000

  /// Roots of one key with names of their own, in DER. The key and the one root that signs answers come apart.
  static func roots(_ count: Int, now: UnixTime) throws -> [[UInt8]] {
    let key = try PrivateKey.generate(.p256)
    return try (0..<count).map { number in
      try CertificateDraft.issuerRoot(
        serialNumber: SerialNumber(magnitude: [1, UInt8(number >> 8 & 255), UInt8(number & 255)]),
        name: [NameAttribute(.countryName, "UT"), NameAttribute(.commonName, "Root \(number)")],
        notBefore: now.adding(seconds: -86_400), notAfter: now.adding(seconds: 3000 * 86_400),
        publicKey: key.publicKey,
        contact: IssuerContact(email: "r@example.com", crlAddress: "http://example.com/\(number)")
      ).encoded(signedBy: key)
    }
  }

  /// A list of `count` revoked serial numbers of 16 bytes each, under a root made for it.
  static func revocationList(_ count: Int, now: UnixTime) throws -> (root: [UInt8], list: [UInt8]) {
    let key = try PrivateKey.generate(.p256)
    let name = [NameAttribute(.countryName, "UT"), NameAttribute(.commonName, "Revoking root")]
    let root = try CertificateDraft.issuerRoot(
      serialNumber: SerialNumber(magnitude: [1]), name: name, notBefore: now.adding(seconds: -86_400),
      notAfter: now.adding(seconds: 3000 * 86_400), publicKey: key.publicKey,
      contact: IssuerContact(email: "r@example.com", crlAddress: "http://example.com/crl")
    ).encoded(signedBy: key)
    let random = RandomSource()
    let revoked = (0..<count).map { _ -> (serialNumber: SerialNumber, date: UnixTime) in
      let number = [random.next(), random.next()]
      let bytes = number.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
      return (SerialNumber(magnitude: [bytes[0] & 0x7f | 0x40] + bytes[1...]), now)
    }
    let list = try RevocationListDraft(
      issuer: name, issuerKey: key.publicKey, thisUpdate: now.adding(seconds: -3600),
      nextUpdate: now.adding(seconds: 86_400), revoked: revoked
    ).encoded(signedBy: key)
    return (root, list)
  }

  /// Roots and a list of revoked signers where a reader finds them.
  static func writeSite(_ folder: String, anchors: Int, revoked: Int, now: UnixTime) throws {
    for (number, root) in try roots(anchors, now: now).enumerated() {
      try write(Array(PEM.encode("CERTIFICATE", root).utf8), to: "\(folder)/trust/root-\(number).pem")
    }
    guard revoked > 0 else { return }
    let (root, list) = try revocationList(revoked, now: now)
    try write(Array(PEM.encode("CERTIFICATE", root).utf8), to: "\(folder)/trust/revoking.pem")
    let copy = CacheEntry.Copy(digest: digest(.sha256, list).hex, size: list.count, fetched: now, end: nil)
    try ListCache(folder: folder + "/cache").write(
      CacheEntry(ListSource(.revocation, "http://example.com/crl"), copy: copy, due: now.adding(seconds: 86_400)),
      body: list)
  }

  /// Lines NAME OURS FLOOR in nanoseconds, FLOOR 0 where the target is absolute; and `memory` in kilobytes.
  static func run(rounds: Int) throws {
    let today = UnixTime(seconds: Int64(time(nil)))
    let before = try residentKilobytes()
    let anchors = try roots(anchorCount, now: today)
    let (root, encodedList) = try revocationList(revokedCount, now: today)
    let start = now()
    let list = try CertificateRevocationList(encodedList)
    let trusted = try (anchors + [root]).map { TrustAnchor(try Certificate($0), source: "bench") }
    guard list.fault(under: try Certificate(root)) == nil else { throw BenchError("the list is none of the root") }
    let revocation = RevocationLists([list])
    print("load \(now() - start) 0")
    let verification = try Verification(Inputs(now: today))
    var alone: [Int64] = []
    var among: [Int64] = []
    for _ in 0..<rounds {
      alone.append(try verification.round(passes: 12, areSignersNew: false))
      among.append(try verification.round(passes: 12, areSignersNew: false, beside: trusted, revocation: revocation))
    }
    print("verify \(median(among)) \(median(alone))")
    try statuses(rounds: rounds)
    print("memory \(try residentKilobytes() - before) 0")
  }

  /// One look-up in a list of a million, places at random.
  private static func statuses(rounds: Int) throws {
    let zeros = [UInt8](repeating: 0, count: statusCount / 8)
    guard let list = StatusList(bits: 1, compressed: storedZlib(zeros)[...]) else {
      throw BenchError("the status list cannot be read")
    }
    var times: [Int64] = []
    var random = RandomSource()
    var found = 0
    for _ in 0..<rounds {
      let places = (0..<1000).map { _ in UInt64.random(in: 0..<UInt64(statusCount), using: &random) }
      let start = now()
      for place in places { found += list[place] == 0 ? 1 : 0 }
      times.append((now() - start) / 1000)
    }
    guard found == rounds * 1000 else { throw BenchError("a status is not what was written") }
    print("status \(median(times)) 0")
  }

  /// A zlib stream of stored blocks (RFC 1950, RFC 1951): nothing is compressed.
  private static func storedZlib(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = [0x78, 0x01]
    var rest = bytes[...]
    while !rest.isEmpty {
      let block = rest.prefix(65_535)
      rest = rest.dropFirst(block.count)
      let size = UInt16(block.count)
      result += [rest.isEmpty ? 1 : 0, UInt8(size & 255), UInt8(size >> 8), UInt8(~size & 255), UInt8(~size >> 8)]
      result += block
    }
    var (a, b): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
      a = (a + UInt32(byte)) % 65_521
      b = (b + a) % 65_521
    }
    let sum = b << 16 | a
    return result + [UInt8(sum >> 24), UInt8(sum >> 16 & 255), UInt8(sum >> 8 & 255), UInt8(sum & 255)]
  }

  /// How long the import of a published list takes: read, verified, every entry looked at.
  static func vical(_ file: String, rounds: Int) throws {
    let bytes = try read(file)
    guard let item = try? decodeCBOR(bytes, limits: CBORLimits(items: 2_000_000, size: 32 << 20)),
      let leaf = try COSESign1(item).structure.x5chainOfEitherHeader.first
    else { throw BenchError("\(file) is no list") }
    let signer = try Certificate(leaf)
    var times: [Int64] = []
    for _ in 0..<rounds {
      let start = now()
      let list = try UnverifiedVICAL(bytes[...]).verified(under: [signer], at: nil)
      times.append(now() - start)
      guard !list.anchors(source: file).isEmpty else { throw BenchError("\(file) has no root") }
    }
    print("vical \(median(times)) 0")
  }

  private static func read(_ file: String) throws -> [UInt8] {
    guard let stream = fopen(file, "r") else { throw BenchError("cannot read \(file)") }
    defer { fclose(stream) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&buffer, 1, buffer.count, stream), count > 0 { bytes += buffer[..<count] }
    return bytes
  }

  private static func residentKilobytes() throws -> Int64 {
    guard let file = fopen("/proc/self/status", "r") else { throw BenchError("no status of the process") }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
      if strncmp(line, "VmRSS:", 6) == 0 { return atoll(Array(line.dropFirst(6))) }
    }
    throw BenchError("no VmRSS in the status of the process")
  }
}
