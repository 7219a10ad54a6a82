import Commands
import Wallet

/// The documents of a folder that can be used.
enum StoredDocuments {
  /// At least one; files that hold none are named and left alone.
  ///
  /// - Parameter names: of files; nil for all.
  static func read(
    _ arguments: Arguments, folder: String, only names: Set<String>? = nil, console: Console
  ) throws -> [StoredCredential] {
    var documents: [StoredCredential] = []
    var remedy: String?
    let passphrase = try PassphraseSource.read(arguments, console: console)
    let entries = try CredentialStore(folder: folder, passphrase: passphrase).entries()
    if let missing = names?.first(where: { name in !entries.contains { $0.name == name } }) {
      throw CommandError.failure(
        quoted(missing), "no such document in \(folder)", hint: "mdoc-wallet list --wallet \(folder)")
    }
    for entry in entries where names?.contains(entry.name) ?? true {
      if entry.isExposed { console.remark(WalletCommands.exposed(folder + "/" + entry.name)) }
      switch entry.content {
      case .success(let stored): documents.append(stored)
      case .failure(let failure):
        console.remark("\(folder)/\(entry.name) is left out: \(failure)")
        remedy = remedy ?? failure.hint
      }
    }
    guard !documents.isEmpty else {
      throw CommandError.failure(
        folder, remedy == nil ? "no document in this folder" : "no document in this folder that can be used",
        hint: remedy ?? "mdoc-wallet issue --wallet \(folder)")
    }
    return documents
  }
}
