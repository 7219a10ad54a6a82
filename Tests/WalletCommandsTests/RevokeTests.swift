import Commands
import Crypto
import Foundation
import Kernel
import TestSupport
import Testing

import Wallet

@testable import WalletCommands

@Suite("The revocation list of the test issuer")
struct RevokeTests {
  private func run(_ words: [String]) -> (status: Int32, err: String) {
    var err = ""
    let console = Console(program: "mdoc-wallet", input: -1) { if !$1 { err += $0 } }
    return (WalletCommands.run(words, console: console), err)
  }

  @Test(
    "names the signers of the documents given, is the issuer's own unless forged, and lies where the certificates say")
  func lists() throws {
    let folder = NSTemporaryDirectory() + "mdoc-revoke-\(UInt64.random(in: 0 ... .max))"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let address = "http://127.0.0.1:8000/list.crl"
    #expect(run(["issue", "--wallet", folder, "--crl-address", address]).status == 0)
    #expect(run(["issue", "--wallet", folder]).status == 0)
    let documents = try CredentialStore(folder: folder).entries().map(\.name)
    try #require(documents.count == 2)
    let issuer = try #require(try IssuerFolder(folder: folder + "/issuer").load())
    let root = try Certificate(issuer.certificate)
    #expect(root.crlDistributionPoints.value?.uris == [address])
    let signers = try CredentialStore(folder: folder).entries().compactMap { entry in
      try CredentialFacts(entry.content.get()).signer
    }
    // The second document's signer points to the same list, although its root was made before.
    #expect(signers.allSatisfy { $0.crlDistributionPoints.value?.uris == [address] })

    let out = folder + "/list.crl"
    #expect(
      run(["revoke", "--wallet", folder, "--out", out, "--signer-of", documents[1], "--number", "7"]).status == 0)
    let list = try CertificateRevocationList(try Files.read(out, limit: 1 << 16))
    #expect(list.isSigned(by: issuer.key.publicKey) && list.revokedCount == 1)
    #expect(list.names(signers[1].serialNumber) && !list.names(signers[0].serialNumber))
    #expect(list.number?.magnitude == [7])
    #expect(run(["revoke", "--wallet", folder, "--out", out, "--forged"]).status == 0)
    #expect(try !CertificateRevocationList(try Files.read(out, limit: 1 << 16)).isSigned(by: issuer.key.publicKey))
  }

  @Test("what is not there is named")
  func faults() {
    let folder = NSTemporaryDirectory() + "mdoc-revoke-\(UInt64.random(in: 0 ... .max))"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(run(["revoke", "--wallet", folder, "--out", folder + "/x"]).err.contains("there is no test issuer"))
    #expect(run(["issue", "--wallet", folder, "--crl-address", "file:///etc/passwd"]).status == 2)
    #expect(run(["issue", "--wallet", folder]).status == 0)
    let missing = run(["revoke", "--wallet", folder, "--out", folder + "/x", "--signer-of", "none.mdoc"])
    #expect(missing.status == 1 && missing.err.contains("there is no such document"))
  }
}
