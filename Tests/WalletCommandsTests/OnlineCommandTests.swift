import Commands
import Foundation
import Kernel
import TestSupport
import Testing
import Wallet
import WalletCommands

/// Options of a served verifier, and of the wallet that answers it.
private let ways: [[String]] = [
  [], ["--response-mode", "direct_post"], ["--client", "redirect_uri"], ["--client", "x509_hash", "--post"],
  ["--form", "annexB", "--encryption", "A256GCM"], ["--encryption", "A256GCM", "--redirect"],
]

@Suite("Online from the command line: claim, respond and serve on one machine")
struct OnlineCommandTests {
  private let folder: TemporaryFolder
  private var wallet: String { folder.path + "/w" }
  private var anchor: String { folder.path + "/iaca.pem" }
  private var verifierRoot: String { folder.path + "/verifier.pem" }

  init() throws { folder = try TemporaryFolder() }

  private func run(_ words: [String]) -> (status: Int32, out: String, err: String) {
    var out = ""
    var err = ""
    let status = WalletCommands.run(
      words,
      console: Console(program: "mdoc-wallet", input: -1) { text, isData in
        if isData { out += text } else { err += text }
      })
    return (status, out, err)
  }

  private func issue(_ words: String...) throws {
    try #require(run(["issue", "--wallet", wallet, "--anchor-out", anchor] + words).status == 0)
  }

  private func verifier(_ words: [String]) throws -> (RunningWallet, address: String) {
    let server = RunningWallet(
      verb: "serve", ["verifier", "--once", "--anchor", anchor, "--root-out", verifierRoot] + words)
    let scheme = words.contains("annexB") ? "mdoc-openid4vp:" : "openid4vp:"
    return (server, try server.line(scheme))
  }

  private func respond(_ address: String, _ words: String...) -> (status: Int32, out: String, err: String) {
    run(["respond", address, "--wallet", wallet] + words)
  }

  @Test("each way to ask is answered over HTTP, and the answer verified", arguments: ways)
  func answered(_ words: [String]) throws {
    try issue("--age", "34")
    let (server, address) = try verifier(words)
    let answer = respond(address, "--yes", "--verifier-root", verifierRoot)
    #expect(answer.status == 0, "\(answer.err)")
    #expect(answer.out.contains("asked for: org.iso.18013.5.1.mDL\n  org.iso.18013.5.1 age_over_18\nanswered\n"))
    let isAnonymous = words.contains("redirect_uri")
    #expect(
      answer.out.hasPrefix(isAnonymous ? "asked by: a verifier that does not" : "asked by: C=UT, CN=Test Verifier"))
    #expect(answer.out.contains(", verified\n") == !isAnonymous)
    #expect(answer.out.contains("goes on at: http://localhost:") == words.contains("--redirect"))
    #expect(try server.status() == 0)
    #expect(server.out.contains("\nverified\n"))
    // No value without being asked for.
    #expect(server.out.contains("org.iso.18013.5.1 age_over_18: bool\n"))
    #expect(!(server.out + answer.out + answer.err).contains("Spécimen"))
  }

  @Test("a refusal, a lack and a misbehaviour end as they should on both sides")
  func notAnswered() throws {
    try issue("--age", "34")
    let (refused, first) = try verifier([])
    let no = respond(first, "--no")
    #expect(no.status == 1 && no.out.hasSuffix("refused\n"))
    #expect(no.out.contains("by its own word: no verifier root is known here"))
    #expect(try refused.status() == 1)
    #expect(refused.out.hasSuffix("refused: access_denied\n"))

    let query = folder.path + "/query.json"
    try AtomicFile.write(
      #"{"credentials":[{"id":"c","format":"mso_mdoc","meta":{"doctype_value":"org.example.car"}}]}"#.utf8, to: query)
    let (lacking, second) = try verifier(["--query", query])
    let lack = respond(second, "--yes")
    #expect(lack.status == 1 && lack.out.contains("asked for: org.example.car (not in this wallet)\n"))
    #expect(lack.err.hasPrefix("mdoc-wallet: notSatisfied: this wallet has not what the verifier needs\n"))
    #expect(try lacking.status() == 1)

    let (fooled, third) = try verifier([])
    #expect(respond(third, "--yes", "--quirk", "digest-mismatch").status == 0)
    #expect(try fooled.status() == 1)
    #expect(fooled.out.contains("\nNOT verified\n") && fooled.out.contains("  failure: digestMismatch\n"))

    let (strict, fourth) = try verifier([])
    let wrong = respond(fourth, "--yes", "--quirk", "other-state")
    #expect(wrong.err.contains("the verifier's server answers 400, invalid_request: stateMismatch\n"))
    // The transaction is still open for who knows the state.
    #expect(respond(fourth, "--yes").status == 0)
    #expect(try strict.status() == 0)
  }

  @Test("who is not vouched for is refused where that is demanded")
  func trust() throws {
    try issue()
    let (server, address) = try verifier([])
    let refused = respond(address, "--yes", "--require-trusted")
    #expect(refused.status == 1)
    #expect(
      refused.err.hasPrefix("mdoc-wallet: clientUntrusted: the verifier is not one to trust: verifierUntrusted\n"))
    #expect(respond(address, "--yes", "--require-trusted", "--verifier-root", verifierRoot).status == 0)
    #expect(try server.status() == 0)
  }

  @Test("documents are claimed in both flows, kept with their keys, and answer a verifier")
  func claimed() throws {
    let flows: [([String], [String])] = [
      ([], []),
      (
        [
          "--by-reference", "--path", "/tenant/1", "--require-par", "--require-dpop", "--require-encryption",
          "--grant", "authorization_code",
        ], ["--sign-in", "auto", "--copies", "2"]
      ),
    ]
    for (place, (serving, claiming)) in flows.enumerated() {
      let wallet = wallet + String(place)
      let server = RunningWallet(verb: "serve", ["issuer", "--once", "--anchor-out", anchor] + serving)
      let offer = try server.line("openid-credential-offer:")
      let claim = run(["claim", offer, "--wallet", wallet, "--yes", "--issuer-root", anchor] + claiming)
      #expect(claim.status == 0, "\(claim.err)")
      #expect(claim.out.contains("document: Test driving licence (org.iso.18013.5.1.mDL)\n"))
      #expect(try server.status() == 0)
      #expect(server.out.contains("credential_accepted\n"))
      #expect(try Files.list(wallet).count == (claiming.isEmpty ? 1 : 2))
      let (verifier, address) = try verifier([])
      #expect(run(["respond", address, "--wallet", wallet, "--yes"]).status == 0)
      #expect(try verifier.status() == 0)
    }
  }

  @Test("a transaction code is asked for, and a wrong one named")
  func transactionCode() throws {
    let server = RunningWallet(verb: "serve", ["issuer", "--once", "--transaction-code"])
    let offer = try server.line("openid-credential-offer:")
    let code = try server.line("transaction code: ").split(separator: " ").last.map(String.init) ?? ""
    let wrong = run([
      "claim", offer, "--wallet", wallet, "--yes", "--trust-issuer", "--code", code == "000000" ? "1" : "000000",
    ])
    #expect(wrong.status == 1 && wrong.err.contains("authorization server, token: refused with invalid_grant"))
    #expect(!Files.exists(wallet))
    let trusting = run(["claim", offer, "--wallet", wallet, "--yes", "--allow-untrusted", "--code", code])
    #expect(trusting.status == 0, "\(trusting.err)")
    #expect(trusting.err.hasSuffix("of an issuer that nobody vouches for\n"))
    #expect(try server.status() == 0)
  }

  @Test("a document that fails its checks is not kept, and the issuer hears of it")
  func failing() throws {
    let server = RunningWallet(
      verb: "serve", ["issuer", "--once", "--anchor-out", anchor, "--deviation", "bad-digest"])
    let offer = try server.line("openid-credential-offer:")
    let claim = run(["claim", offer, "--wallet", wallet, "--yes", "--issuer-root", anchor, "--json"])
    #expect(claim.status == 1)
    #expect(claim.out.contains(#""error":"issuer, validation: the document fails its checks: digestMismatch"#))
    #expect(!Files.exists(wallet))
    #expect(try server.status() == 1)
    #expect(server.out.hasSuffix("credential_failure\n"))
  }

  @Test("what has no meaning is refused with what to do")
  func usage() throws {
    try issue()
    let cases: [([String], String)] = [
      (["respond", "--wallet", wallet], "respond: the address is missing"),
      (["respond", "x", "--wallet", wallet, "--yes", "--no"], "--no: --yes says the opposite"),
      (["respond", "x", "--wallet", wallet, "--quirk", "silent"], "--quirk silent: it is about the session"),
      (
        ["respond", "x", "--wallet", wallet, "--quirk", "no-state", "--quirk", "no-token"],
        "--quirk no-token: an answer goes"
      ),
      (["respond", "x", "--wallet", wallet, "--tls-authority", "none"], "--tls-authority 'none': no such file"),
      (["respond", "x", "--wallet", wallet, "--document", "no.mdoc"], "'no.mdoc': no such document"),
      (["respond", "http://x", "--wallet", wallet], "schemeUnsupported: the scheme http is not one of"),
      (["claim", "--wallet", wallet], "claim: the offer is missing"),
      (["claim", "x", "--wallet", wallet], "claim: issuer, offer: no credential offer"),
      (["serve"], "serve: what is to be served?"), (["serve", "lunch"], "serve 'lunch': what is to be served?"),
      (["serve", "verifier", "--grant", "x"], "--grant: it is an option of an issuer"),
      (["serve", "issuer", "--post"], "--post: it is an option of a verifier"),
      (
        ["serve", "issuer", "--deviation", "bad-diges"],
        "--deviation 'bad-diges': no such value\ndid you mean bad-digest?"
      ),
      (["serve", "issuer", "--path", "x"], "--path 'x': no path"),
      (["serve", "verifier", "--form", "annexB", "--client", "x509_hash"], "--client x509_hash: Annex B knows"),
    ]
    for (words, message) in cases {
      let result = run(words)
      #expect(result.status != 0 && result.err.hasPrefix("mdoc-wallet: " + message), "\(words): \(result.err)")
    }
  }

  @Test("a port that is taken is named")
  func port() throws {
    let (server, address) = try {
      try issue(); return try verifier([])
    }()
    let port = address.split(separator: "A")[3].prefix { $0.isNumber }
    let second = run(["serve", "verifier", "--port", String(port)])
    #expect(second.status == 1 && second.err.contains("port \(port)"), "\(second.err)")
    #expect(respond(address, "--yes").status == 0)
    #expect(try server.status() == 0)
  }
}
