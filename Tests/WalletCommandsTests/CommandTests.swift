import Commands
import Crypto
import Foundation
import Issuer
import Kernel
import TestSupport
import Testing
import Wallet
import WalletCommands

/// Runs the command line in this process.
private func run(_ words: String...) -> (status: Int32, out: String, err: String) {
  var out = ""
  var err = ""
  let status = WalletCommands.run(
    words, console: Console(program: "mdoc-wallet") { text, isData in if isData { out += text } else { err += text } })
  return (status, out, err)
}

private let noVerb =
  "mdoc-wallet: verb: missing\n"
  + "one of issue, claim, present, respond, serve, list, show, delete, revoke, quirks; see --help\n"

@Suite("The command line")
struct CommandTests {
  private let folder: TemporaryFolder
  private var wallet: String { folder.path + "/w" }

  init() throws { folder = try TemporaryFolder() }

  @Test(
    "refuses wrong usage with two lines and status 2",
    arguments: [
      ([], noVerb),
      (["isue"], "mdoc-wallet: 'isue': no such verb\ndid you mean issue?\n"),
      (["issue"], "mdoc-wallet: --wallet: missing\nwrite --wallet DIR\n"),
      (
        ["issue", "--wallet", "/x", "--age", "200"],
        "mdoc-wallet: --age '200': not a whole number from 0 to 120\nwrite --age N\n"
      ),
      (["issue", "--wallet", "/x", "--type", "mld"], "mdoc-wallet: --type 'mld': no such value\ndid you mean mdl?\n"),
      (
        ["issue", "--wallet", "/x", "--birth-date", "2001-02-30"],
        "mdoc-wallet: --birth-date '2001-02-30': no date up to today\nwrite it like 1990-12-31\n"
      ),
      (
        ["issue", "--wallet", "/x", "--key", "X25519", "--auth", "signature"],
        "mdoc-wallet: --auth signature: a key on X25519 cannot sign\nuse --auth mac, or another --key\n"
      ),
      (
        ["issue", "--wallet", "/x", "--issuer-curve", "X448"],
        "mdoc-wallet: --issuer-curve X448: a key on this curve cannot sign\nuse P-256 or another curve\n"
      ),
      (["present"], "mdoc-wallet: --air: missing\nwrite --air DIR\n"),
      (
        ["present", "--air", "/x", "--yes", "--no"], "mdoc-wallet: --no: --yes says the opposite\ngive one of the two\n"
      ),
      (
        ["present", "--air", "/x", "--wallet", "/y", "--quirk", "expired"],
        "mdoc-wallet: --quirk expired: documents of a folder are signed already\nissue one with --flaw expired, or leave --wallet out\n"
      ),
      (
        ["present", "--air", "/x", "--ask-passphrase"],
        "mdoc-wallet: --ask-passphrase: fresh documents are not on the disk\nleave it out, or add --wallet\n"
      ),
      (
        ["present", "--air", "/x", "--psm-in-engagement"],
        "mdoc-wallet: --psm-in-engagement: there is no channel to name\nadd --l2cap\n"
      ),
      (
        ["present", "--air", "/x", "--l2cap", "--psm-in-engagement", "--mode", "central"],
        "mdoc-wallet: --psm-in-engagement: in mode central the channel is the reader's\nleave it out\n"
      ),
      (
        ["present", "--air", "/x", "--l2cap", "--quirk", "invalid-fragment"],
        "mdoc-wallet: --quirk invalid-fragment: a channel has neither State nor parts\nleave --l2cap out\n"
      ),
      (
        ["present", "--air", "/x", "--quirk", "early-disconect"],
        "mdoc-wallet: --quirk 'early-disconect': no such value\ndid you mean early-disconnect?\n"
      ),
    ])
  func usage(words: [String], expected: String) {
    var err = ""
    var out = ""
    let status = WalletCommands.run(
      words, console: Console(program: "mdoc-wallet") { if $1 { out += $0 } else { err += $0 } })
    #expect(status == 2 && out.isEmpty)
    #expect(err == expected)
  }

  @Test("explains itself on standard output")
  func help() {
    #expect(run("--help").status == 0 && run("--help").out.contains("mdoc-wallet VERB --help"))
    for verb in ["issue", "claim", "present", "respond", "serve", "list", "show", "delete", "quirks"] {
      let help = run(verb, "--help")
      #expect(help.status == 0 && help.err.isEmpty && help.out.hasPrefix("usage: mdoc-wallet \(verb)"))
    }
  }

  @Test("issues a document, lists it, and shows its names but no value")
  func issueAndShow() throws {
    let issued = run(
      "issue", "--wallet", wallet, "--age", "20", "--family-name", "Zzyzx", "--now", "2026-06-01T12:00:00Z")
    #expect(issued.status == 0)
    let path = issued.out.trimmingCharacters(in: .newlines)
    #expect(path.hasPrefix(wallet + "/org.iso.18013.5.1.mDL-") && Files.exists(path))
    #expect(
      issued.err
        == "issued org.iso.18013.5.1.mDL\nthe root that readers should trust: \(wallet)/issuer/issuer.pem\n")
    let listed = run("list", "--wallet", wallet)
    #expect(listed.out == "\(Files.name(of: path))  org.iso.18013.5.1.mDL  until 2026-07-01T12:00:00Z\n")
    let shown = run("show", "--wallet", wallet)
    #expect(shown.status == 0 && shown.out.contains("family_name") && !shown.out.contains("Zzyzx"))
    let values = run("show", "--wallet", wallet, "--show-values")
    #expect(values.out.contains("Zzyzx") && values.out.contains("2005-11-28"))
    #expect(!run("list", "--wallet", wallet, "--json").out.contains("Zzyzx"))
  }

  @Test("prints JSON that a parser takes")
  func json() throws {
    let issued = run("issue", "--wallet", wallet, "--type", "age", "--type", "pid", "--flaw", "expired", "--json")
    let object = try #require(try JSONSerialization.jsonObject(with: Data(issued.out.utf8)) as? [String: Any])
    #expect(
      (object["documents"] as? [[String: String]])?.map { $0["docType"] } == [
        "eu.europa.ec.av.1", "eu.europa.ec.eudi.pid.1",
      ])
    #expect(object["expect"] as? String == "expired" && issued.err.isEmpty)
    for words in [
      ["list", "--wallet", wallet, "--json"], ["show", "--wallet", wallet, "--json", "--show-values"],
      ["quirks", "--json"],
    ] {
      var out = ""
      #expect(
        WalletCommands.run(
          words, console: Console(program: "mdoc-wallet") { text, isData in if isData { out += text } }) == 0)
      #expect(try JSONSerialization.jsonObject(with: Data(out.utf8)) is [String: Any])
    }
  }

  @Test("keeps one root for all documents of a wallet, and writes it where it is told to")
  func root() throws {
    let anchor = folder.path + "/root.pem"
    _ = run("issue", "--wallet", wallet, "--anchor-out", anchor)
    let first = try Files.read(wallet + "/issuer/issuer.pem", limit: 1 << 16)
    #expect(try Files.read(anchor, limit: 1 << 16) == first)
    _ = run("issue", "--wallet", wallet, "--type", "age", "--flaw", "untrusted-root", "--anchor-out", anchor)
    #expect(try Files.read(wallet + "/issuer/issuer.pem", limit: 1 << 16) == first)
    #expect(try Files.read(anchor, limit: 1 << 16) == first)
    #expect(try Files.facts(wallet + "/issuer/issuer-key.pem").mode == 0o600)
    let block = try #require(try PEM.blocks(in: String(decoding: first, as: UTF8.self)).first)
    let root = try Certificate(block.bytes)
    #expect(root.isSigned(by: try root.publicKey.get()))
    let other = run("issue", "--wallet", wallet, "--country", "AT")
    #expect(other.status == 2 && other.err.hasPrefix("mdoc-wallet: --country AT: the issuer of this wallet is of UT\n"))
  }

  @Test("says what is wrong with an issuer that is damaged")
  func damagedIssuer() throws {
    _ = run("issue", "--wallet", wallet)
    try AtomicFile.write(Array("nothing".utf8), to: wallet + "/issuer/issuer.pem")
    let again = run("issue", "--wallet", wallet)
    #expect(again.status == 1 && again.out.isEmpty)
    #expect(again.err.hasPrefix("mdoc-wallet: \(wallet)/issuer/issuer.pem: no key and certificate of one issuer\n"))
  }

  @Test("says what is wrong with a folder that is not there")
  func noFolder() {
    let listed = run("list", "--wallet", wallet)
    #expect(
      listed.status == 1
        && listed.err == "mdoc-wallet: \(wallet): No such file or directory\ncheck the path and its permissions\n")
  }

  @Test("lists every quirk and flaw with what to expect")
  func quirks() {
    let listed = run("quirks").out
    for quirk in Quirk.allCases {
      #expect(listed.contains("  \(quirk.rawValue)") && listed.contains(quirk.expectation))
    }
    for flaw in Flaw.allCases { #expect(listed.contains("  \(flaw.rawValue)") && listed.contains(flaw.expectation)) }
  }
}
