import Bytes
import CivilTime
import TestSupport
import Testing

@testable import Crypto

@Suite("Revocation lists")
struct RevocationListTests {
  private let key: PrivateKey
  private let now = UnixTime(seconds: 1_780_000_000)

  init() throws { key = try PrivateKey.generate(.p256) }

  private func draft(_ serials: [SerialNumber]) -> RevocationListDraft {
    RevocationListDraft(
      issuer: [NameAttribute(.commonName, "Root")], issuerKey: key.publicKey, thisUpdate: now, nextUpdate: nil,
      number: 128, revoked: serials.map { ($0, now) })
  }

  @Test("every serial number of a long list is found, in whatever order they came, and no other one")
  func serials() throws {
    var random = SplitMix64(state: 3)
    var numbers: Set<SerialNumber> = []
    while numbers.count < 2000 {
      let size = Int.random(in: 1...20, using: &random)
      numbers.insert(SerialNumber(magnitude: (0..<size).map { _ in UInt8.random(in: .min ... .max, using: &random) }))
    }
    let list = try CertificateRevocationList(try draft(Array(numbers)).encoded(signedBy: key))
    #expect(list.revokedCount == 2000 && list.isSigned(by: key.publicKey))
    for number in numbers {
      #expect(list.names(number))
      let next = SerialNumber(magnitude: number.magnitude.dropLast() + [(number.magnitude.last ?? 0) ^ 1])
      #expect(list.names(next) == numbers.contains(next))
    }
    #expect(list.number == SerialNumber(magnitude: [128]))
    #expect(list.issuer.commonNames == ["Root"] && list.thisUpdate == now && list.nextUpdate == nil)
  }

  @Test(
    "a signature by another key, and one over changed entries, does not hold", arguments: [Curve.p256, .p384, .p521])
  func signatures(curve: Curve) throws {
    let key = try PrivateKey.generate(curve)
    let der = try draft([SerialNumber(magnitude: [7, 7, 7, 7])]).encoded(signedBy: key)
    #expect(try CertificateRevocationList(der).isSigned(by: key.publicKey))
    #expect(try !CertificateRevocationList(der).isSigned(by: try PrivateKey.generate(curve).publicKey))
    let place = try #require((0..<der.count - 4).first { der[$0..<$0 + 4].elementsEqual([7, 7, 7, 7]) })
    var changed = der
    changed[place] = 8
    let other = try CertificateRevocationList(changed)
    #expect(other.names(SerialNumber(magnitude: [8, 7, 7, 7])) && !other.isSigned(by: key.publicKey))
  }

  @Test("Edwards keys sign lists too", arguments: [Curve.ed25519, .ed448])
  func edwards(curve: Curve) throws {
    let key = try PrivateKey.generate(curve)
    let list = try CertificateRevocationList(try draft([]).encoded(signedBy: key))
    #expect(list.isSigned(by: key.publicKey) && !list.isSigned(by: self.key.publicKey))
    #expect(list.revokedCount == 0)
  }

  /// A list whose entries are written here.
  private func list(entries: [UInt8]) throws -> CertificateRevocationList {
    let algorithm = DER.sequence(DER.objectIdentifier(.ecdsaWithSHA256))
    let name = DER.sequence()
    let date = DER.element(DERTag.utcTime, Array("260601120000Z".utf8))
    let signed = DER.sequence(DER.integer(1), algorithm, name, date, date, DER.element(DERTag.sequence, entries))
    return try CertificateRevocationList(DER.sequence(signed, algorithm, DER.bitString([0x30, 0])))
  }

  private static let date = DER.element(DERTag.utcTime, Array("260601120000Z".utf8))

  private static func extensions(critical: Bool) -> [UInt8] {
    let reason = DER.sequence(
      DER.objectIdentifier(OID(2, 5, 29, 21)), critical ? DER.true : [], DER.octetString([0x0A, 1, 1]))
    return DER.sequence(reason)
  }

  @Test("entries with extensions are read, and a critical one is seen")
  func entryExtensions() throws {
    let plain = DER.sequence(DER.integer(5), Self.date, Self.extensions(critical: false))
    let critical = DER.sequence(DER.integer(6), Self.date, Self.extensions(critical: true))
    let list = try list(entries: plain)
    #expect(list.names(SerialNumber(magnitude: [5])) && !list.hasCriticalExtension)
    let other = try self.list(entries: plain + critical)
    #expect(other.revokedCount == 2 && other.hasCriticalEntryExtension && other.hasCriticalExtension)
    #expect(try self.list(entries: []).revokedCount == 0)
  }

  @Test("entries of the usual form and of others are read in any order")
  func mixedForms() throws {
    let later = DER.element(DERTag.generalizedTime, Array("20600601120000Z".utf8))
    let long = [UInt8](repeating: 0x11, count: 0x70)
    var entries: [UInt8] = []
    for round in 0..<3 {
      entries += DER.sequence(DER.integer(10 + round), Self.date)
      entries += DER.sequence(DER.integer(20 + round), later)
      entries += DER.sequence(DER.integer(30 + round), Self.date, Self.extensions(critical: false))
      entries += DER.sequence(DER.element(DERTag.integer, [UInt8(round + 1)] + long), Self.date)
    }
    let list = try list(entries: entries)
    #expect(list.revokedCount == 12)
    for round in 0..<3 {
      for start in [10, 20, 30] { #expect(list.names(SerialNumber(magnitude: [UInt8(start + round)]))) }
      #expect(list.names(SerialNumber(magnitude: [UInt8(round + 1)] + long)))
    }
    #expect(!list.names(SerialNumber(magnitude: [13])))
    for cut in 1..<19 {
      let plain = DER.sequence(DER.integer(10), Self.date)
      #expect(throws: CertificateError.malformed) { try self.list(entries: plain + plain.prefix(cut)) }
    }
  }

  @Test("entries that are none are malformed")
  func badEntries() throws {
    for entry in [
      DER.sequence(), DER.sequence(DER.integer(5)), DER.sequence(Self.date, DER.integer(5)),
      DER.sequence(DER.integer(5), Self.date, DER.sequence()), DER.sequence(DER.integer(5), Self.date, DER.integer(1)),
      DER.sequence(DER.integer(5), Self.date, Self.extensions(critical: false), DER.integer(1)),
      DER.sequence(DER.element(DERTag.integer, []), Self.date),
      DER.sequence(DER.element(DERTag.integer, [0, 5]), Self.date),
      DER.sequence(DER.element(DERTag.integer, [0xFF, 0x85]), Self.date), DER.integer(5), [0x30], [0x30, 0x80, 0, 0],
    ] as [[UInt8]] {
      #expect(throws: CertificateError.malformed, "\(entry.hex)") { try self.list(entries: entry) }
    }
  }
}
