import Bytes
import CBOR
import COSE
import CivilTime
import Crypto
import Testing

@testable import Provisioning

private let created = UnixTime(seconds: 1_796_000_000)
private let files = [
  ProvisioningBundle.File(path: "trust/b.pem", contents: [2]),
  ProvisioningBundle.File(path: "reader.toml", contents: [1]),
]

/// A payload signed as a bundle is, whatever is in it.
private func signed(
  _ members: [CBORValue.Pair], by key: PrivateKey, purpose: String = "mdoc-reader provisioning bundle",
  isDetached: Bool = false
) throws -> [UInt8] {
  let signature = try COSESign1.sign(
    CBORValue.map(members).encode(), with: key, externalData: Array(purpose.utf8), isDetached: isDetached)
  return CBORValue.tag(18, signature).encode()
}

private func good(_ change: (inout [CBORValue.Pair]) -> Void = { _ in }) -> [CBORValue.Pair] {
  var members: [CBORValue.Pair] = [
    .init("format", 1), .init("number", 7), .init("created", .tag(0, "2026-11-30T00:53:20Z")),
    .init("files", .map([.init("reader.toml", .bytes([1]))])),
  ]
  change(&members)
  return members
}

private func violation(_ bytes: [UInt8], _ keys: [PublicKey]) -> ProvisioningBundle.Violation? {
  do throws(ProvisioningBundle.Violation) {
    _ = try ProvisioningBundle(bytes[...], signedByAnyOf: keys)
    return nil
  } catch {
    return error
  }
}

@Suite("Provisioning bundles")
struct ProvisioningBundleTests {
  @Test("what was made is read again, by any of the keys", arguments: [Curve.p256, .p384, .ed25519])
  func roundTrip(curve: Curve) throws {
    let key = try PrivateKey.generate(curve)
    let other = try PrivateKey.generate(.p256)
    for serial in [nil, "10000000abcdef"] {
      let bundle = try ProvisioningBundle(number: 7, created: created, serial: serial, files: files)
      let bytes = try bundle.encoded(signedBy: key)
      #expect(try ProvisioningBundle(bytes[...], signedByAnyOf: [other.publicKey, key.publicKey]) == bundle)
      #expect(bundle.files.map(\.path) == ["reader.toml", "trust/b.pem"])
    }
  }

  @Test("nothing is believed without a signature of a known key, made for this purpose")
  func signatures() throws {
    let key = try PrivateKey.generate(.p256)
    let bytes = try signed(good(), by: key)
    #expect(violation(bytes, [key.publicKey]) == nil)
    #expect(violation(bytes, []) == .signatureInvalid)
    #expect(violation(bytes, [try PrivateKey.generate(.p256).publicKey]) == .signatureInvalid)
    #expect(violation(try signed(good(), by: key, purpose: ""), [key.publicKey]) == .signatureInvalid)
    #expect(violation(try signed(good(), by: key, purpose: "another"), [key.publicKey]) == .signatureInvalid)
  }

  @Test("a flipped bit anywhere is refused")
  func flips() throws {
    let key = try PrivateKey.generate(.p256)
    let bytes = try signed(good(), by: key)
    for place in bytes.indices {
      var other = bytes
      other[place] ^= 0x10
      let found = violation(other, [key.publicKey])
      #expect(found == .signatureInvalid || found == .malformed(member: "COSE_Sign1"), "byte \(place)")
    }
    for size in 0..<bytes.count {
      #expect(violation(Array(bytes.prefix(size)), [key.publicKey]) == .malformed(member: "COSE_Sign1"))
    }
    #expect(violation(bytes + [0], [key.publicKey]) == .malformed(member: "COSE_Sign1"))
  }

  @Test("a payload that is none is named by its wrong member")
  func members() throws {
    let key = try PrivateKey.generate(.p256)
    func found(_ change: (inout [CBORValue.Pair]) -> Void) throws -> ProvisioningBundle.Violation? {
      violation(try signed(good(change), by: key), [key.publicKey])
    }
    for (place, member) in ["format", "number", "created", "files"].enumerated() {
      #expect(try found { $0.remove(at: place) } == .malformed(member: member))
      #expect(try found { $0[place] = .init(.text(member), .bool(true)) } == .malformed(member: member))
    }
    #expect(try found { $0[0] = .init("format", 2) } == .formatUnsupported(2))
    #expect(try found { $0[1] = .init("number", -1) } == .malformed(member: "number"))
    #expect(try found { $0[2] = .init("created", "2026-11-30T00:53:20Z") } == .malformed(member: "created"))
    #expect(try found { $0[2] = .init("created", .tag(0, "yesterday")) } == .malformed(member: "created"))
    #expect(try found { $0.append(.init("serial", "")) } == .malformed(member: "serial"))
    #expect(try found { $0.append(.init("serial", 5)) } == .malformed(member: "serial"))
    #expect(try found { $0[3] = .init("files", .map([.init("reader.toml", "text")])) } == .malformed(member: "files"))
    // Members of a later program are no reason to refuse.
    #expect(try found { $0.append(.init("note", "hello")) } == nil)
    let detached = try signed(good(), by: key, isDetached: true)
    #expect(violation(detached, [key.publicKey]) == .malformed(member: "COSE_Sign1"))
  }

  @Test(
    "no path leads out of the folder of the site",
    arguments: [
      "", "/etc/passwd", "../reader.toml", "trust/../reader.toml", "trust//a", "trust/", "a/b/c/d", ".hidden",
      "trust/.x",
      "reader toml", "läser", "a\u{0}b", "trust\\a", String(repeating: "a", count: 201),
    ])
  func paths(path: String) throws {
    #expect(throws: ProvisioningBundle.Violation.path(path)) {
      try ProvisioningBundle(number: 1, created: created, serial: nil, files: [.init(path: path, contents: [])])
    }
    let key = try PrivateKey.generate(.p256)
    let bytes = try signed(good { $0[3] = .init("files", .map([.init(.text(path), .bytes([]))])) }, by: key)
    #expect(violation(bytes, [key.publicKey]) == .path(path))
  }

  @Test("one path twice, and a number beyond 63 bits, make no bundle")
  func limits() throws {
    #expect(throws: ProvisioningBundle.Violation.path("reader.toml")) {
      try ProvisioningBundle(number: 1, created: created, serial: nil, files: files + [files[1]])
    }
    #expect(throws: ProvisioningBundle.Violation.malformed(member: "number")) {
      try ProvisioningBundle(number: 1 << 63, created: created, serial: nil, files: files)
    }
  }
}
