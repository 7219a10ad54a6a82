import Bytes
import CBOR
import Crypto
import Foundation
import Kernel
import TestSupport
import Testing

@testable import Wallet

@Suite("A wallet folder under a passphrase")
struct SealedStoreTests {
  private let folder: TemporaryFolder
  private let sealed: CredentialStore
  private let open: CredentialStore
  private let other: CredentialStore
  private let stored: StoredCredential
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    let wallet = folder.path + "/wallet"
    var sealed = CredentialStore(folder: wallet, passphrase: Passphrase("correct horse".utf8))
    sealed.logN = 10
    self.sealed = sealed
    stored = try storedDocument()
    open = CredentialStore(folder: wallet)
    other = CredentialStore(folder: wallet, passphrase: Passphrase("wrong horse".utf8))
    path = try sealed.add(stored)
  }

  private func texts(_ store: CredentialStore) throws -> [String] {
    try store.entries().map { entry in
      if case .failure(let failure) = entry.content { "\(failure)" } else { "intact" }
    }
  }

  /// The file with some members replaced.
  private func rewrite(_ changes: KeyValuePairs<String, CBORValue>) throws {
    let root = try decodeCBOR(try Files.read(path, limit: 1 << 20))
    let pairs = try #require(root.entries).map { entry -> CBORValue.Pair in
      let key = entry.key.text ?? ""
      let value = changes.first { $0.key == key }?.value
      return CBORValue.Pair(.text(key), value ?? .encoded(Array(entry.value.encoded)))
    }
    try AtomicFile.write(CBORValue.map(pairs).encode(), to: path, mode: 0o600)
  }

  @Test("gives back what was put in, to who knows the passphrase, and shows nothing of it on the disk")
  func roundTrip() throws {
    let read = try #require(try sealed.entries().first?.content.get())
    #expect(read.credential.issuerSigned == stored.credential.issuerSigned)
    #expect(read.credential.deviceKey.publicKey == stored.credential.deviceKey.publicKey)
    let facts = try Files.facts(path)
    #expect(facts.mode == 0o600)
    let contents = String(decoding: try Files.read(path, limit: 1 << 20), as: UTF8.self)
    #expect(!contents.contains("PRIVATE KEY") && !contents.contains("family_name"))
    let first = try Files.read(path, limit: 1 << 20)
    #expect(try sealed.add(stored) == path)
    // Another salt each time, so another file.
    #expect(try Files.read(path, limit: 1 << 20) != first)
    #expect(try Files.list(sealed.folder).count == 1)
  }

  @Test("is closed without its passphrase and under another one, and stays as it is")
  func closed() throws {
    let before = try Files.read(path, limit: 1 << 20)
    #expect(try texts(open) == ["it is encrypted, and no passphrase was given"])
    #expect(try texts(other) == ["it is encrypted under another passphrase"])
    let name = Files.name(of: path)
    let more = try storedDocument(.age)
    #expect(throws: CredentialStore.Refusal.locked(file: name)) { try open.add(more) }
    #expect(throws: CredentialStore.Refusal.otherPassphrase(file: name)) { try other.add(more) }
    #expect(try Files.list(sealed.folder) == [name])
    #expect(try Files.read(path, limit: 1 << 20) == before)
  }

  @Test("has plain documents beside encrypted ones, which a passphrase does not hide")
  func mixed() throws {
    let plain = CredentialStore(folder: folder.path + "/plain")
    let name = Files.name(of: try plain.add(try storedDocument(.age)))
    try AtomicFile.write(
      try Files.read(plain.folder + "/" + name, limit: 1 << 20), to: sealed.folder + "/" + name, mode: 0o600)
    #expect(try texts(sealed) == ["intact", "intact"])
    #expect(try Set(texts(open)) == ["intact", "it is encrypted, and no passphrase was given"])
  }

  @Test(
    "names what was changed in a file, and leaves it alone",
    arguments: [
      ("salt", "it is encrypted under another passphrase"), ("check", "it is encrypted under another passphrase"),
      ("nonce", "the passphrase is right, but its contents were changed"),
      ("sealed", "the passphrase is right, but its contents were changed"),
      ("short salt", "its member salt is missing or of a wrong kind"),
      ("dear", "its member cost is missing or of a wrong kind"),
      ("free", "its member cost is missing or of a wrong kind"),
      ("short nonce", "its member nonce is missing or of a wrong kind"),
      ("no check", "its member check is missing or of a wrong kind"),
      ("no sealed", "its member sealed is missing or of a wrong kind"), ("cut", "not CBOR: truncated at byte"),
    ])
  func tampered(what: String, expected: String) throws {
    let root = try decodeCBOR(try Files.read(path, limit: 1 << 20))
    func flipped(_ key: String) throws -> CBORValue {
      let member = root.entries?.first { $0.key.text == key }?.value
      var bytes = Array(try #require(member?.bytes))
      bytes[bytes.count / 2] ^= 1
      return .bytes(bytes)
    }
    switch what {
    case "short salt": try rewrite(["salt": .bytes([1, 2])])
    case "dear": try rewrite(["cost": 63])
    case "free": try rewrite(["cost": 0])
    case "short nonce": try rewrite(["nonce": .bytes([])])
    case "no check": try rewrite(["check": .null])
    case "no sealed": try rewrite(["sealed": "text"])
    case "cut": try AtomicFile.write(try Files.read(path, limit: 1 << 20).dropLast(), to: path)
    default: try rewrite([what: try flipped(what)])
    }
    let before = try Files.read(path, limit: 1 << 20)
    let found = try texts(sealed)
    // Where a file ends too early is the decoder's business.
    #expect(found.count == 1 && found[0].hasPrefix(expected) && (what == "cut" || found[0] == expected), "\(found)")
    #expect(try Files.read(path, limit: 1 << 20) == before)
  }

  @Test("says which files others can read, where that matters")
  func exposed() throws {
    let plain = CredentialStore(folder: folder.path + "/plain")
    let file = try plain.add(try storedDocument(.age))
    #expect(try plain.entries().map(\.isExposed) == [false])
    #expect(chmod(file, 0o640) == 0 && chmod(path, 0o644) == 0)
    #expect(try plain.entries().map(\.isExposed) == [true])
    #expect(try sealed.entries().map(\.isExposed) == [false])
  }

  @Test("deletes what it is told to, damaged or not, and nothing else")
  func delete() throws {
    let name = Files.name(of: path)
    try AtomicFile.write(Array("x".utf8), to: sealed.folder + "/damaged.mdoc")
    try AtomicFile.write(Array("x".utf8), to: sealed.folder + "/notes.txt")
    let isGone = try open.delete("damaged.mdoc")
    let isThere = try open.delete("notes.txt") || open.delete("../wallet/" + name) || open.delete("damaged.mdoc")
    #expect(isGone && !isThere)
    #expect(try open.delete(name) && Files.list(open.folder) == ["notes.txt"])
  }
}
