import Commands
import JSON
import Kernel
import Wallet

/// `delete`: removes one document, intact, encrypted or damaged.
enum DeleteCommand {
  static let verb = Verb(
    name: "delete", summary: "Delete a document of a folder.", usage: "delete --wallet DIR FILE [--json]",
    options: [CommandOption("--wallet", "DIR", "the folder"), .json], operandLimit: 1,
    run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    let folder = try WalletCommands.required("--wallet", "DIR", in: arguments)
    guard let file = arguments.operands.first else {
      throw CommandError.usage(
        "delete", "the document is missing", hint: "write delete --wallet \(folder) FILE, a name that list gives")
    }
    guard file == Files.name(of: file) || file == folder + "/" + Files.name(of: file) else {
      throw CommandError.usage(quoted(file), "not in \(folder)", hint: "give a name that list gives")
    }
    guard try CredentialStore(folder: folder).delete(Files.name(of: file)) else {
      throw CommandError.failure(
        quoted(file), "no such document in \(folder)", hint: "mdoc-wallet list --wallet \(folder)")
    }
    if arguments.has("--json") {
      console.data((["deleted": .string(Files.name(of: file))] as JSONValue).text)
    } else {
      console.remark("deleted \(Files.name(of: file))")
    }
    return 0
  }
}
