import CBOR
import Foundation
import Kernel
import TestSupport
import Testing
import Wallet

@Suite("A wallet folder")
struct CredentialStoreTests {
  private let folder: TemporaryFolder
  private let store: CredentialStore

  init() throws {
    folder = try TemporaryFolder()
    store = CredentialStore(folder: folder.path + "/wallet")
  }

  @Test("gives back what was put in, byte for byte, and for its owner only")
  func roundTrip() throws {
    let stored = try storedDocument(.mdl, key: .p384, method: .mac)
    let path = try store.add(stored)
    let entries = try store.entries()
    #expect(entries.map(\.name) == [Files.name(of: path)])
    let read = try #require(try entries.first?.content.get())
    #expect(read.credential.nameSpaces == stored.credential.nameSpaces)
    #expect(read.credential.issuerAuth == stored.credential.issuerAuth)
    #expect(read.credential.deviceKey.publicKey == stored.credential.deviceKey.publicKey)
    #expect(read.method == .mac && read.credential.docType == "org.iso.18013.5.1.mDL")
    #expect(try Files.facts(path).mode == 0o600)
    #expect(try Files.facts(store.folder).mode == 0o700)
  }

  @Test("keeps one file for one document, and leaves no temporary file behind")
  func once() throws {
    let stored = try storedDocument()
    #expect(try store.add(stored) == store.add(stored))
    _ = try store.add(try storedDocument(.age))
    let names = try Files.list(store.folder)
    #expect(names.count == 2 && names.allSatisfy { $0.hasSuffix(".mdoc") })
  }

  @Test("does not see what a writer that was killed left behind")
  func interrupted() throws {
    let path = try store.add(try storedDocument())
    // A half-written file under the name that atomic writing uses until it is complete.
    let half = try Files.read(path, limit: 1 << 20).prefix(100)
    try Data(half).write(to: URL(fileURLWithPath: store.folder + "/.x.mdoc"))
    try Data(half).write(to: URL(fileURLWithPath: store.folder + "/.\(Files.name(of: path)).12345678"))
    #expect(try store.entries().count == 1)
  }

  @Test("writes nothing when it cannot write everything, and keeps what was there")
  func unwritable() throws {
    let path = try store.add(try storedDocument())
    let before = try Files.read(path, limit: 1 << 20)
    // A folder in the place of the file's name makes the final rename fail.
    let other = CredentialStore(folder: folder.path + "/other")
    let name = Files.name(of: path)
    try FileManager.default.createDirectory(atPath: other.folder + "/" + name, withIntermediateDirectories: true)
    #expect(throws: SystemError.self) { try other.add(try self.storedAgain()) }
    #expect(try Files.list(other.folder) == [name])
    #expect(try Files.read(path, limit: 1 << 20) == before)
  }

  private func storedAgain() throws -> StoredCredential {
    // The name depends on the signature: take the very document that the first store holds.
    try #require(try store.entries().first?.content.get())
  }

  @Test("names what is wrong with a damaged file and still gives the others")
  func damaged() throws {
    let path = try store.add(try storedDocument())
    let whole = try Files.read(path, limit: 1 << 20)
    try AtomicFile.write(whole.dropLast(), to: store.folder + "/a.mdoc")
    try AtomicFile.write(CBORValue.map(["format": "other"]).encode(), to: store.folder + "/b.mdoc")
    let entries = try store.entries()
    #expect(entries.map(\.name) == ["a.mdoc", "b.mdoc", Files.name(of: path)])
    let texts = entries.map { entry in
      if case .failure(let failure) = entry.content { "\(failure)" } else { "intact" }
    }
    #expect(texts[0].hasPrefix("not CBOR: truncated at byte"))
    #expect(texts[1...] == ["its member format is missing or of a wrong kind", "intact"])
  }
}
