import Bytes
import CivilTime
import Commands
import Crypto
import Issuer
import Kernel
import Mdoc
import Wallet

/// `revoke`: the revocation list of a folder's test issuer, for trying out what a reader makes of it.
enum RevokeCommand {
  static let verb = Verb(
    name: "revoke", summary: "Write the list of revoked signers (CRL) of a folder's test issuer.",
    usage: "revoke --wallet DIR --out FILE [OPTIONS]",
    options: [
      CommandOption("--wallet", "DIR", "the folder whose test issuer signs the list"),
      CommandOption("--out", "FILE", "where the list goes (DER)"),
      CommandOption("--signer-of", "FILE", repeatable: true, "revoke the signer of this document of the folder"),
      CommandOption("--number", "N", "the number of the list, which has to grow (default: the seconds of now)"),
      CommandOption("--hours", "N", "hours until the next list is announced, 1 to 2160 (default 24)"),
      CommandOption("--forged", "sign it with another key than the issuer's"),
      CommandOption("--now", "TIME", "take this RFC 3339 instant for now (default: the clock)"),
    ], operandLimit: 0, run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    let folder = try WalletCommands.required("--wallet", "DIR", in: arguments)
    let out = try WalletCommands.required("--out", "FILE", in: arguments)
    let now = try DocumentOptions.instant(arguments)
    guard let issuer = try IssuerFolder(folder: folder + "/issuer").load() else {
      throw CommandError.failure(folder, "there is no test issuer in it", hint: "make one with: mdoc-wallet issue")
    }
    let revoked = try arguments.values("--signer-of").map { name in
      (serialNumber: try signer(of: name, in: folder).serialNumber, date: now)
    }
    let number = try arguments.integer("--number", in: 1...Int(Int32.max)) ?? Int(now.seconds)
    let hours = try arguments.integer("--hours", in: 1...2160) ?? 24
    let draft = RevocationListDraft(
      issuer: issuer.name, issuerKey: issuer.key.publicKey, thisUpdate: now,
      nextUpdate: now.adding(seconds: Int64(hours) * 3600), number: number, revoked: revoked)
    let key = arguments.has("--forged") ? try PrivateKey.generate(issuer.key.publicKey.curve) : issuer.key
    try AtomicFile.write(try draft.encoded(signedBy: key), to: out)
    console.remark("\(out): number \(number), \(revoked.count) revoked")
    return 0
  }

  private static func signer(of name: String, in folder: String) throws -> Certificate {
    let wanted = Files.name(of: name)
    for entry in try CredentialStore(folder: folder).entries() where entry.name == wanted {
      if case .success(let stored) = entry.content, let leaf = CredentialFacts(stored).signer { return leaf }
    }
    throw CommandError.failure(
      name, "there is no such document in \(folder)", hint: "mdoc-wallet list --wallet \(folder) names them")
  }
}
