import Bytes
import Commands
import Crypto
import Foundation
import Kernel
import TestSupport
import Testing
import Wallet

@testable import WalletCommands

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
