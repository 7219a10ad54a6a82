import CivilTime
import Crypto
import Foundation
import Kernel
import Testing

@testable import TrustStore

private let now = UnixTime(seconds: 1_780_000_000)
private let day: Int64 = 86_400

/// A reader's files in a folder of their own, gone with it.
private final class ReaderFiles {
  let path = FileManager.default.temporaryDirectory.appendingPathComponent("reader-\(UUID().uuidString)").path
  let caKey: PrivateKey
  let key: PrivateKey
  var certificate: String { path + "/reader.pem" }
  var keyFile: String { path + "/reader.key" }
  static let contact = IssuerContact(email: "readers@example.com", crlAddress: "http://example.com/crl")
  static let name = [NameAttribute(.commonName, "Reader CA")]

  init(curve: Curve = .p256) throws {
    caKey = try PrivateKey.generate(.p256)
    key = try PrivateKey.generate(curve)
    try Files.makeFolder(path)
    try write(PEM.encode("CERTIFICATE", leaf()), to: certificate)
    try write(try key.pkcs8PEM(), to: keyFile, mode: 0o600)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func leaf(notAfter: UnixTime = now.adding(seconds: 365 * day)) throws -> [UInt8] {
    try CertificateDraft.readerAuthentication(
      serialNumber: SerialNumber(magnitude: [2]), issuer: ReaderFiles.name, issuerKey: caKey.publicKey,
      subject: [NameAttribute(.commonName, "Door 1")], notBefore: now.adding(seconds: -day), notAfter: notAfter,
      publicKey: key.publicKey, contact: ReaderFiles.contact
    ).encoded(signedBy: caKey)
  }

  func authority() throws -> [UInt8] {
    try CertificateDraft.issuerRoot(
      serialNumber: SerialNumber(magnitude: [1]), name: ReaderFiles.name, notBefore: now.adding(seconds: -day),
      notAfter: now.adding(seconds: 900 * day), publicKey: caKey.publicKey, contact: ReaderFiles.contact
    ).encoded(signedBy: caKey)
  }

  func write(_ text: String, to file: String, mode: Int = 0o644) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
  }

  func problem(_ place: ReaderCredential.KeyPlace? = nil) -> String? {
    do {
      _ = try ReaderCredential(certificates: certificate, key: place ?? .file(keyFile))
      return nil
    } catch {
      #expect(!error.remedy.isEmpty)
      switch error {
      case .unreadable: return "unreadable"
      case .noCertificate: return "noCertificate"
      case .chainOutOfOrder: return "chainOutOfOrder"
      case .exposed(_, let secret, .mode): return "exposed \(secret.rawValue)"
      case .exposed(_, let secret, .group(let name, _)): return "exposed \(secret.rawValue) to \(name)"
      case .noPIN: return "noPIN"
      case .noKey: return "noKey"
      case .store(_, .provider): return "provider"
      case .store(let shown, let fault): return "\(shown) \(fault)"
      case .otherKey: return "otherKey"
      }
    }
  }
}

@Suite("The reader's own certificate and key")
struct ReaderCredentialTests {
  @Test("are read, and belong together", arguments: [Curve.p256, .p521, .brainpoolP384r1, .ed25519])
  func good(curve: Curve) throws {
    let files = try ReaderFiles(curve: curve)
    let credential = try ReaderCredential(certificates: files.certificate, key: .file(files.keyFile))
    #expect(credential.chain.count == 1 && credential.certificate.subject.commonNames == ["Door 1"])
    #expect(credential.findings(at: now) == [])
    #expect(credential.findings(at: now.adding(seconds: -2 * day)).map(\.isHard) == [true])
    #expect(credential.findings(at: now.adding(seconds: 366 * day)).map(\.isHard) == [true])
    #expect(credential.findings(at: now.adding(seconds: 340 * day)).map(\.isHard) == [false])
  }

  @Test("a key is also found by its address in a store of OpenSSL")
  func store() throws {
    let files = try ReaderFiles()
    let credential = try ReaderCredential(
      certificates: files.certificate, key: .store("file:\(files.keyFile)", provider: nil))
    #expect(credential.key.publicKey.x == files.key.publicKey.x)
    #expect(files.problem(.store("file:\(files.path)/none", provider: nil)) == "unreadable")
    #expect(files.problem(.store("pkcs11:token=none", provider: "no-such-provider")) == "provider")
    // Built-in algorithms still work with a provider that was asked for by name.
    #expect(files.problem(.store("file:\(files.keyFile)", provider: "base")) == nil)
    #expect(files.problem(.store("nosuch:x", provider: nil)) == "nosuch:x noStore")
    #expect(files.problem(.store("nosuch:x", provider: "base")) == "nosuch:x noStore")
  }

  @Test("a key from a store is the certificate's, or is refused", arguments: [Curve.p256, .p521, .ed25519])
  func storeOfOthers(curve: Curve) throws {
    let files = try ReaderFiles(curve: curve)
    let place = ReaderCredential.KeyPlace.store("file:\(files.keyFile)", provider: nil)
    #expect(files.problem(place) == nil)
    for other in [Curve.p256, .p384, .ed25519, .x25519] {
      try files.write(try PrivateKey.generate(other).pkcs8PEM(), to: files.keyFile, mode: 0o600)
      #expect(files.problem(place) == "otherKey")
    }
    try files.write(PEM.encode("CERTIFICATE", try files.leaf()), to: files.keyFile, mode: 0o600)
    #expect(files.problem(place) == "file:\(files.keyFile) keyAbsent(reasons: [])")
  }

  @Test("a secret that a store reads from a file is as closed as a key")
  func storeModes() throws {
    let files = try ReaderFiles()
    try files.write(try files.key.pkcs8PEM(), to: files.keyFile, mode: 0o644)
    for address in ["file:\(files.keyFile)", "file://\(files.keyFile)", files.keyFile] {
      #expect(files.problem(.store(address, provider: nil)) == "exposed private key")
    }
    let pin = files.path + "/pin"
    func problem() -> String? {
      files.problem(.store("pkcs11:token=t;object=o?pin-source=file:\(pin)", provider: nil))
    }
    #expect(problem() == "unreadable")
    try files.write("1234", to: pin, mode: 0o604)
    #expect(problem() == "exposed PIN")
    for empty in ["", "\n1234\n"] {
      try files.write(empty, to: pin, mode: 0o600)
      #expect(problem() == "noPIN")
    }
    try files.write("1234\n", to: pin, mode: 0o600)
    // What is shown has no query any more.
    #expect(problem() == "pkcs11:token=t;object=o noStore")
  }

  @Test("a chain is leaf first, each signed by the next")
  func chain() throws {
    let files = try ReaderFiles()
    let (leaf, authority) = (
      PEM.encode("CERTIFICATE", try files.leaf()), PEM.encode("CERTIFICATE", try files.authority())
    )
    try files.write(leaf + authority, to: files.certificate)
    #expect(files.problem() == nil)
    try files.write(authority + leaf, to: files.certificate)
    #expect(files.problem() == "chainOutOfOrder")
    let other = try ReaderFiles()
    try files.write(leaf + PEM.encode("CERTIFICATE", try other.authority()), to: files.certificate)
    #expect(files.problem() == "chainOutOfOrder")
  }

  @Test("a key that others may read is refused", arguments: [0o640, 0o644, 0o604, 0o620, 0o602, 0o660, 0o601])
  func modes(mode: Int) throws {
    let files = try ReaderFiles()
    try files.write(try files.key.pkcs8PEM(), to: files.keyFile, mode: mode)
    // Root may share its file with a group that reads, such as its own.
    #expect(files.problem() == (mode == 0o640 && geteuid() == 0 ? nil : "exposed private key"))
    try files.write(try files.key.pkcs8PEM(), to: files.keyFile, mode: 0o400)
    #expect(files.problem() == nil)
  }

  @Test("each other fault has its name")
  func faults() throws {
    let files = try ReaderFiles()
    try files.write("nothing", to: files.keyFile, mode: 0o600)
    #expect(files.problem() == "noKey")
    try files.write(try PrivateKey.generate(.p256).pkcs8PEM(), to: files.keyFile, mode: 0o600)
    #expect(files.problem() == "otherKey")
    try files.write(try PrivateKey.generate(.p384).pkcs8PEM(), to: files.keyFile, mode: 0o600)
    #expect(files.problem() == "otherKey")
    try FileManager.default.removeItem(atPath: files.keyFile)
    #expect(files.problem() == "unreadable")
    try files.write(try files.key.pkcs8PEM(), to: files.certificate)
    #expect(files.problem() == "noCertificate")
    try FileManager.default.removeItem(atPath: files.certificate)
    #expect(files.problem() == "unreadable")
  }
}
