import Bytes
import CBOR
import Commands
import Crypto
import Foundation
import Kernel
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

@Suite("Passphrases and deletion on the command line")
struct PassphraseTests {
  private let folder: TemporaryFolder
  private var wallet: String { folder.path + "/w" }

  init() throws { folder = try TemporaryFolder() }

  private func run(_ words: String..., input: String? = nil) throws -> (status: Int32, out: String, err: String) {
    var out = ""
    var err = ""
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data((input ?? "").utf8))
    try pipe.fileHandleForWriting.close()
    let status = WalletCommands.run(
      words,
      console: Console(program: "mdoc-wallet", input: pipe.fileHandleForReading.fileDescriptor) { text, isData in
        if isData { out += text } else { err += text }
      })
    return (status, out, err)
  }

  private func file(_ name: String, _ text: String) throws -> String {
    let path = folder.path + "/" + name
    try AtomicFile.write(Array(text.utf8), to: path, mode: 0o600)
    return path
  }

  @Test("issues, lists and shows under a passphrase, and deletes without it")
  func flow() throws {
    let secret = try file("secret", "correct horse\nsecond line\n")
    let issued = try run("issue", "--wallet", wallet, "--age", "20", "--passphrase-file", secret)
    let path = issued.out.trimmingCharacters(in: .newlines)
    let name = Files.name(of: path)
    #expect(issued.status == 0)
    #expect(try run("list", "--wallet", wallet, "--passphrase-file", secret).out.hasPrefix(name))
    // The first line and nothing else, typed or in a file.
    let shown = try run("show", "--wallet", wallet, "--ask-passphrase", input: "correct horse\n")
    #expect(shown.status == 0 && shown.out.contains("family_name") && shown.err == "passphrase: \n")
    let closed = try run("list", "--wallet", wallet)
    #expect(closed.status == 1 && closed.out.isEmpty)
    #expect(
      closed.err
        == "mdoc-wallet: \(path): it is encrypted, and no passphrase was given\n"
        + "give --passphrase-file FILE or --ask-passphrase, or set MDOC_WALLET_PASSPHRASE\n")
    let wrong = try run("show", "--wallet", wallet, "--ask-passphrase", input: "another\n")
    #expect(wrong.status == 1 && wrong.err.contains("\(path): it is encrypted under another passphrase\n"))
    let beside = try run("issue", "--wallet", wallet, "--type", "age")
    #expect(
      beside.status == 1
        && beside.err.hasPrefix("mdoc-wallet: \(name): it is encrypted, and what joins it would not be"))
    let deleted = try run("delete", "--wallet", wallet, name)
    #expect(deleted.status == 0 && deleted.err == "deleted \(name)\n" && !Files.exists(path))
    let again = try run("delete", "--wallet", wallet, path)
    #expect(
      again.status == 1
        && again.err.hasSuffix(": no such document in \(wallet)\nmdoc-wallet list --wallet \(wallet)\n"))
  }

  @Test("asks twice before it encrypts, and writes nothing when the two differ")
  func twice() throws {
    let differing = try run("issue", "--wallet", wallet, "--ask-passphrase", input: "one\ntwo\n")
    #expect(differing.status == 1)
    #expect(
      differing.err
        == "passphrase: \nthe same again: \n"
        + "mdoc-wallet: passphrase: two different ones\nnothing was written; try again\n")
    #expect(!Files.exists(wallet))
    #expect(try run("issue", "--wallet", wallet, "--ask-passphrase", input: "one\none\n").status == 0)
    #expect(try run("list", "--wallet", wallet, "--ask-passphrase", input: "one\n").status == 0)
  }

  @Test("says what is wrong with a passphrase or a name before anything is done")
  func usage() throws {
    let empty = try file("empty", "\nsecond line\n")
    let cases: [([String], Int32, String)] = [
      (
        ["--passphrase-file", empty], 2,
        "--passphrase-file \(quoted(empty)): no passphrase in it\nwrite it on the first line\n"
      ),
      (
        ["--passphrase-file", folder.path + "/none"], 1,
        "\(folder.path)/none: No such file or directory\ncheck the path and its permissions\n"
      ),
      (
        ["--passphrase-file", empty, "--ask-passphrase"], 2,
        "--ask-passphrase: --passphrase-file gives it\ngive one of the two\n"
      ),
    ]
    for (words, status, message) in cases {
      var err = ""
      let given = WalletCommands.run(
        ["issue", "--wallet", wallet] + words, console: Console(program: "mdoc-wallet") { err += $1 ? "" : $0 })
      #expect(given == status && err == "mdoc-wallet: " + message)
    }
    let none = try run("list", "--wallet", wallet, "--ask-passphrase")
    #expect(none.err == "passphrase: \nmdoc-wallet: passphrase: none given\nwrite it, and then Enter\n")
    #expect(!Files.exists(wallet))
    let missing = try run("delete", "--wallet", wallet)
    #expect(missing.status == 2 && missing.err.hasPrefix("mdoc-wallet: delete: the document is missing\n"))
    let elsewhere = try run("delete", "--wallet", wallet, "/tmp/x.mdoc")
    #expect(elsewhere.status == 2 && elsewhere.err.hasPrefix("mdoc-wallet: '/tmp/x.mdoc': not in \(wallet)\n"))
  }

  @Test("takes the environment when nothing else is given, and not an empty one")
  func environment() throws {
    let console = Console(program: "mdoc-wallet") { _, _ in }
    func read(_ value: String?, _ words: String...) throws -> Passphrase? {
      try PassphraseSource.read(
        Arguments(words, options: PassphraseSource.options), console: console,
        environment: { $0 == "MDOC_WALLET_PASSPHRASE" ? value : nil })
    }
    let isNone = try read(nil) == nil
    #expect(isNone)
    let store = CredentialStore(folder: wallet, passphrase: try read("correct horse"))
    _ = try store.add(try storedDocument())
    let file = try file("other", "other")
    let sources = [try read("correct horse"), try read("correct horse", "--passphrase-file", file)]
    let opens = try sources.map { passphrase in
      try CredentialStore(folder: wallet, passphrase: passphrase).entries().allSatisfy { entry in
        if case .success = entry.content { true } else { false }
      }
    }
    #expect(opens == [true, false])
    let fault = CommandError.usage(
      "MDOC_WALLET_PASSPHRASE", "empty", hint: "unset it where documents are not to be encrypted")
    #expect(throws: fault) { try read("") }
  }
}
