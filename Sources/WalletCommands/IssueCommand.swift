import Commands
import Issuer
import JSON
import Wallet

/// `issue`: makes documents of a test issuer and keeps them in a folder.
enum IssueCommand {
  static let verb = Verb(
    name: "issue", summary: "Make a test document and keep it in a folder.",
    usage: "issue --wallet DIR [OPTIONS]",
    options: [
      CommandOption("--wallet", "DIR", "the folder; it keeps its test issuer in DIR/issuer, made when it is not there")
    ] + PassphraseSource.options + DocumentOptions.options + [.json],
    operandLimit: 0, run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    let folder = try WalletCommands.required("--wallet", "DIR", in: arguments)
    let options = try DocumentOptions(arguments)
    let passphrase = try PassphraseSource.read(arguments, console: console, isNew: true)
    let issuer = IssuerFolder(folder: folder + "/issuer")
    let existing = try issuer.load()
    let issued = try options.issue(under: existing)
    if existing == nil { try issuer.save(issued.trusted) }
    let store = CredentialStore(folder: folder, passphrase: passphrase)
    var documents: [JSONValue] = []
    for stored in issued.credentials {
      let path = try store.add(stored)
      documents.append(["file": .string(path), "docType": .string(stored.credential.docType)])
      if arguments.has("--json") { continue }
      console.data(path)
      console.remark("issued \(stored.credential.docType)")
    }
    try options.writeAnchor(issued.trusted)
    if arguments.has("--json") {
      console.data(
        ([
          "documents": .array(documents), "root": .string(issuer.certificatePath),
          "expect": options.flaw.map { .string($0.expectation) } ?? .null,
        ] as JSONValue).text)
    } else {
      console.remark("the root that readers should trust: \(options.anchorPath ?? issuer.certificatePath)")
      if let remark = options.flawRemark { console.remark(remark) }
    }
    return 0
  }
}
