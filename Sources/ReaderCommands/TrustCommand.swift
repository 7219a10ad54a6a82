import Appliance
import CivilTime
import Commands
import Crypto
import JSON
import Kernel
import ListCache
import Trust
import TrustStore

/// `trust add|import|list|show|remove`: the certificates and lists this reader believes.
enum TrustCommand {
  static let verb = Verb(
    name: "trust", summary: "Add, import, list, show or remove what this reader trusts.",
    usage:
      "trust add FILE|- [--doc-type TYPE]... [--signer|--list-signer] | import FILE|- | list | show FINGERPRINT"
      + " | remove FINGERPRINT|LIST|PROVIDER",
    options: [
      CommandOption("--trust", "DIR", "the folder of certificates (default: that of the configuration)"),
      CommandOption(
        "--doc-type", "TYPE", repeatable: true, "the root or signer may sign for this type only; may be repeated"),
      CommandOption("--signer", "trust the certificate as a document signer itself, not as an issuer root"),
      CommandOption("--list-signer", "believe lists of issuers (VICAL) that it vouches for; no document"),
      Site.option, .json,
    ], operandLimit: 2, run: { try run($0, console: $1) })

  private static let actions = ["add", "import", "list", "show", "remove"]

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    guard let action = arguments.operands.first else {
      throw CommandError.usage("trust", "what to do is missing", hint: "one of \(actions.joined(separator: ", "))")
    }
    let site = arguments["--trust"] == nil ? try Site(arguments) : nil
    let store = TrustStore(folder: arguments["--trust"] ?? site?.trustFolder ?? "")
    let operand = arguments.operands.dropFirst().first
    func needed(_ name: String) throws -> String {
      guard let operand else {
        throw CommandError.usage("trust \(action)", "\(name) is missing", hint: "write trust \(action) \(name)")
      }
      return operand
    }
    do {
      switch action {
      case "add": return try add(needed("FILE"), to: store, arguments, console)
      case "import":
        let lists = site.map { CachedListReader(ListCache(folder: $0.cacheFolder)).load() } ?? CachedLists()
        return try importList(
          needed("FILE"), to: store, revocation: RevocationLists(lists.revocation), arguments, console)
      case "list": return list(store, fetched: site?.cacheFolder, arguments, console)
      case "show": return try show(needed("FINGERPRINT"), in: store, arguments, console)
      case "remove": return try remove(needed("FINGERPRINT"), from: store, console)
      default:
        let nearest = nearestName(to: action, in: actions)
        throw CommandError.usage(
          quoted(action), "nothing that can be done with trust",
          hint: nearest.map { "did you mean \($0)?" } ?? "one of \(actions.joined(separator: ", "))")
      }
    } catch let error as TrustStoreError {
      throw CommandError.failure("trust \(action)", "\(error)", hint: error.hint)
    }
  }

  private static func add(
    _ file: String, to store: TrustStore, _ arguments: Arguments, _ console: Console
  ) throws -> Int32 {
    let limit = CertificateInput.maximumSize
    let input = try file == "-" ? Files.readStandardInput(limit: limit) : Files.read(file, limit: limit)
    let docTypes = arguments.values("--doc-type")
    let list: TrustList =
      arguments.has("--list-signer") ? .listSigners : arguments.has("--signer") ? .signers : .issuers
    guard !(arguments.has("--list-signer") && (arguments.has("--signer") || !docTypes.isEmpty)) else {
      throw CommandError.usage(
        "trust add", "--list-signer goes with neither --signer nor --doc-type",
        hint: "the list says which documents each issuer may sign")
    }
    let additions = try store.add(
      input, to: list, docTypes: docTypes.isEmpty ? nil : Set(docTypes), at: .wallClock())
    for addition in additions {
      let stored = addition.stored
      switch addition.outcome {
      case .added: console.data("added \(stored.fingerprint)")
      case .alreadyThere: console.data("already there \(stored.fingerprint)")
      case .docTypesChanged: console.data("doc types changed \(stored.fingerprint)")
      }
      console.remark("  \(summary(of: stored))")
      for remark in stored.remarks { console.remark("  remark: \(remark)") }
      if case .expired = stored.validity(at: .wallClock()) {
        console.remark("  remark: it has expired, so documents of this issuer are refused; ask for the renewed root")
      }
    }
    return 0
  }

  /// Also lists of issuers that were fetched, which are not in the store but beside it.
  private static func list(
    _ store: TrustStore, fetched cache: String?, _ arguments: Arguments, _ console: Console
  ) -> Int32 {
    var contents = store.load()
    if let cache { contents.take(CachedListReader(ListCache(folder: cache)).load()) }
    let now = UnixTime.wallClock()
    if arguments.has("--json") {
      let lists = contents.lists.map { document(of: $0, at: now) }
      console.data(JSONValue.array(contents.certificates.map { document(of: $0, at: now) } + lists).text)
    } else {
      for stored in contents.certificates {
        console.data(
          "\(stored.fingerprint.prefix(16))  \(mark(of: stored.list))\(summary(of: stored))")
        if let types = stored.docTypes {
          console.data("                  only for \(docTypes(types))")
        }
      }
      for stored in contents.lists { show(stored, at: now, console) }
    }
    for problem in contents.problems { console.remark("mdoc-reader: \(problem)\n  \(problem.hint)") }
    switch contents.state {
    case .loaded: return contents.problems.allSatisfy(\.isMinor) ? 0 : 1
    case .empty: console.remark("\(store.folder): empty, so nobody is trusted; add an issuer root with trust add FILE")
    case .missing:
      console.remark("\(store.folder): no such folder, so nobody is trusted; trust add FILE makes it")
    case .unreadable(let error):
      console.remark("mdoc-reader: \(store.folder): \(error.reason)\n  check the folder's owner and mode")
      return 1
    }
    return 0
  }

  private static func show(
    _ fingerprint: String, in store: TrustStore, _ arguments: Arguments, _ console: Console
  ) throws -> Int32 {
    let found = try store.find(fingerprint)
    let now = UnixTime.wallClock()
    if arguments.has("--json") {
      let documents = found.map { document(of: $0, at: now) }
      console.data((documents.count == 1 ? documents[0] : .array(documents)).text)
      return 0
    }
    for stored in found { show(stored, in: store, at: now, console) }
    return 0
  }

  private static func show(
    _ stored: StoredCertificate, in store: TrustStore, at now: UnixTime, _ console: Console
  ) {
    let certificate = stored.certificate
    console.data("fingerprint  \(stored.fingerprint)")
    console.data("trusted as   \(stored.list.title.lowercased())")
    console.data("doc types    \(stored.docTypes.map(docTypes) ?? "all")")
    console.data("subject      \(certificate.subject)")
    console.data("issuer       \(certificate.issuer)")
    console.data("serial       \(certificate.serialNumber)")
    console.data("valid        \(certificate.notBefore) to \(certificate.notAfter) (\(state(of: stored, at: now)))")
    switch certificate.publicKey {
    case .success(let key): console.data("key          \(key.curve.rawValue)")
    case .failure(let fault): console.data("key          not usable: \(fault.rawValue)")
    }
    for file in [stored.file] + stored.otherFiles { console.data("file         \(store.folder)/\(file)") }
    for remark in stored.remarks { console.data("remark       \(remark)") }
  }

  private static func remove(_ name: String, from store: TrustStore, _ console: Console) throws -> Int32 {
    let lists = try store.removeLists(name)
    guard lists.isEmpty else {
      for list in lists { console.data("removed \(list)") }
      return 0
    }
    let removal = try store.remove(name, at: .wallClock())
    console.data("removed \(removal.removed[0].fingerprint)")
    for stored in removal.removed { console.remark("  \(mark(of: stored.list))\(summary(of: stored))") }
    for list in removal.listedIn {
      console.remark(
        "  remark: the list of issuers \(list) has this root, so it is still trusted; the list goes as a whole: "
          + "mdoc-reader trust remove \(list)")
    }
    return 0
  }

  private static func docTypes(_ types: Set<String>) -> String {
    types.isEmpty ? "none" : types.sorted().joined(separator: ", ")
  }

  private static func mark(of list: TrustList) -> String {
    switch list {
    case .issuers: ""
    case .signers: "signer  "
    case .listSigners: "signs lists  "
    }
  }

  private static func summary(of stored: StoredCertificate) -> String {
    let certificate = stored.certificate
    return "\(certificate.subject)  \(certificate.notBefore.date()) to \(certificate.notAfter.date())  "
      + state(of: stored, at: .wallClock())
  }

  static func state(of stored: StoredCertificate, at now: UnixTime) -> String {
    switch stored.validity(at: now) {
    case .notYet(let start): "not valid before \(start)"
    case .valid(let days) where days <= 60: "ends in \(days) days"
    case .valid: "valid"
    case .expired(let days): "expired \(days) days ago"
    }
  }

  private static func document(of stored: StoredCertificate, at now: UnixTime) -> JSONValue {
    let certificate = stored.certificate
    return .object([
      "source": "local", "fingerprint": .string(stored.fingerprint), "trustedAs": .string(stored.list.rawValue),
      "docTypes": stored.docTypes.map { .array($0.sorted().map(JSONValue.string)) } ?? .null,
      "subject": .string("\(certificate.subject)"), "issuer": .string("\(certificate.issuer)"),
      "serialNumber": .string("\(certificate.serialNumber)"), "notBefore": .string("\(certificate.notBefore)"),
      "notAfter": .string("\(certificate.notAfter)"), "state": .string(state(of: stored, at: now)),
      "file": .string(stored.file), "remarks": .array(stored.remarks.map(JSONValue.string)),
    ])
  }
}
