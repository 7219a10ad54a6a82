import Bytes
import CBOR
import COSE
import CivilTime
import Crypto

/// Everything a site decides in one signed file, for a USB stick: configuration, trusted certificates, the reader's
/// certificate. The reader's private key is not in it.
///
/// A COSE_Sign1 (tag 18) over a CBOR map: `format` 1, `number`, `created` (tag 0), `serial` where it is for one board
/// only, `files`: path to byte string.
package struct ProvisioningBundle: Equatable, Sendable {
  /// Grows with every bundle of a site: an older one is not applied over a newer.
  package let number: UInt64
  package let created: UnixTime
  /// The serial number of the only board it is for; nil for any.
  package let serial: String?
  /// In the order of their paths.
  package let files: [File]

  package struct File: Equatable, Sendable {
    /// Relative to the folder of the site: names of letters, digits, `.`, `_` and `-`, at most two folders deep (`trust/lists/NAME`).
    package let path: String
    package let contents: [UInt8]

    package init(path: String, contents: [UInt8]) {
      self.path = path
      self.contents = contents
    }
  }

  /// Why bytes are no bundle that can be applied.
  package enum Violation: Error, Equatable, Sendable {
    case tooLarge
    /// Not a COSE_Sign1 with a payload, or the payload is not the map it should be; `member` names the wrong part.
    case malformed(member: String)
    /// Made for a later version of this program.
    case formatUnsupported(UInt64)
    /// None of the provisioning keys made the signature.
    case signatureInvalid
    /// A path that leads out of the folder, is written twice, or has other characters.
    case path(String)
  }

  /// Longest bundle, in bytes.
  package static let maximumSize = 32 << 20
  /// Most files in one.
  package static let maximumFiles = 20_000

  private static let maximumNumber = UInt64(Int64.max)

  /// Throws `path` and, for a number beyond 63 bits, `malformed`.
  package init(number: UInt64, created: UnixTime, serial: String?, files: [File]) throws(Violation) {
    guard number <= ProvisioningBundle.maximumNumber else { throw .malformed(member: "number") }
    self.number = number
    self.created = created
    self.serial = serial
    self.files = files.sorted { $0.path < $1.path }
    var previous: String?
    for file in self.files {
      guard ProvisioningBundle.isPath(file.path), file.path != previous else {
        throw .path(file.path)
      }
      previous = file.path
    }
  }

  /// Reads a bundle and checks its signature first: nothing else of it is looked at before.
  ///
  /// - Parameter keys: the provisioning keys; any one of them may have signed.
  package init(_ bytes: ByteView, signedByAnyOf keys: [PublicKey]) throws(Violation) {
    guard bytes.count <= ProvisioningBundle.maximumSize else { throw .tooLarge }
    let limits = CBORLimits(depth: 8, items: 64, size: ProvisioningBundle.maximumSize)
    guard let item = try? decodeCBOR(bytes, limits: limits), item.tagNumber == 18,
      let signed = try? COSESign1(item), let payload = signed.structure.payload
    else { throw .malformed(member: "COSE_Sign1") }
    let isSigned = keys.contains {
      signed.isValid(for: payload, key: $0, externalData: ProvisioningBundle.purpose)
    }
    guard isSigned, !signed.structure.hasUnknownCritical else { throw .signatureInvalid }
    try self.init(payload: payload)
  }

  /// What else is signed: no other signature of the same key can be taken for that of a bundle.
  private static let purpose = Array("mdoc-reader provisioning bundle".utf8)

  private init(payload: ByteView) throws(Violation) {
    let limits = CBORLimits(
      depth: 4, items: 2 * ProvisioningBundle.maximumFiles + 64, size: ProvisioningBundle.maximumSize)
    guard let map = try? decodeCBOR(payload, limits: limits), map.kind == .map else { throw .malformed(member: "") }
    guard let format = map.uint(under: "format") else { throw .malformed(member: "format") }
    guard format == 1 else { throw .formatUnsupported(format) }
    guard let number = map.uint(under: "number"), number <= ProvisioningBundle.maximumNumber else {
      throw .malformed(member: "number")
    }
    guard let date = map[key: "created"], date.tagNumber == 0, let text = date.tagged?.text,
      let created = DateTime(text)
    else { throw .malformed(member: "created") }
    var serial: String?
    if let item = map[key: "serial"] {
      guard let text = item.text, !text.isEmpty else { throw .malformed(member: "serial") }
      serial = text
    }
    guard let entries = map[key: "files"]?.entries else { throw .malformed(member: "files") }
    var files: [File] = []
    for (key, value) in entries {
      guard let path = key.text, let contents = value.bytes, files.count < ProvisioningBundle.maximumFiles else {
        throw .malformed(member: "files")
      }
      files.append(File(path: path, contents: Array(contents)))
    }
    try self.init(number: number, created: created.instant, serial: serial, files: files)
  }

  /// The bundle, signed. Throws `unsupportedAlgorithm` when the key does not sign.
  package func encoded(signedBy key: PrivateKey) throws(COSEError) -> [UInt8] {
    var members: [CBORValue.Pair] = [
      .init("format", 1), .init("number", .int(Int64(number))), .init("created", .tag(0, .text(created.description))),
    ]
    if let serial { members.append(.init("serial", .text(serial))) }
    members.append(.init("files", .map(files.map { .init(.text($0.path), .bytes($0.contents)) })))
    let payload = CBORValue.map(members).encode()
    let signature = try COSESign1.sign(
      payload, with: key, externalData: ProvisioningBundle.purpose, isDetached: false)
    return CBORValue.tag(18, signature).encode()
  }

  private static func isPath(_ path: String) -> Bool {
    let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return (1...3).contains(parts.count) && path.utf8.count <= 200
      && parts.allSatisfy { part in
        part.first != nil && part.first != UInt8(ascii: ".") && part.allSatisfy(isNameCharacter)
      }
  }

  private static func isNameCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
