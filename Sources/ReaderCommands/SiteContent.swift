import Commands
import Configuration
import Crypto
import Kernel
import Provisioning
import TrustStore

/// What a folder makes of a site, read the way the reader reads it.
struct SiteContent {
  let configuration: ReaderConfiguration
  /// The lines of the configuration without comments.
  let lines: [String]
  let certificates: [StoredCertificate]
  let lists: [StoredList]
  let readerCertificate: Certificate?
  /// Every file that is neither configuration nor trusted, with the digest of its contents.
  let others: [String: String]
  /// What is not as it should be, and is no reason to refuse: a line each.
  let remarks: [String]

  static let configurationName = "reader.toml"

  /// Throws `FileFaults` with every fault, also for files that have no business in a bundle, such as private keys.
  init(folder: String) throws {
    let site = try Site(path: "\(folder)/\(SiteContent.configurationName)")
    configuration = site.configuration
    var faults: [FileFaults.Fault] = []
    let text = String(decoding: try Files.read(site.path, limit: 1 << 20), as: UTF8.self)
    lines = text.split(separator: "\n").map { $0.trimmed }.filter { !$0.isEmpty && !$0.hasPrefix("#") }
    let trust = configuration.trustFolder.text
    let contents = TrustStore(folder: site.trustFolder).load()
    certificates = contents.certificates
    lists = contents.lists
    remarks = contents.problems.filter(\.isMinor).map { "\(trust)/\($0)" }
    for problem in contents.problems where !problem.isMinor {
      faults.append(.init("\(trust)/\(problem)", remedy: problem.hint))
    }
    if !SiteContent.isInside(trust) {
      faults.append(
        .init(
          "\(SiteContent.configurationName): trust.folder: \(quoted(trust)) is not in the bundle",
          remedy: "write folder = \"trust\", so that it goes with the configuration"))
    } else if contents.trustsNobody {
      faults.append(
        .init("\(trust): nobody would be trusted", remedy: "add the roots of the issuers: mdoc-reader trust add FILE"))
    }
    let named = configuration.readerAuthentication?.certificate
    readerCertificate = named.flatMap { SiteContent.certificate(at: $0.resolved(in: folder)) }
    if let named, readerCertificate == nil || !SiteContent.isInside(named.text) {
      faults.append(
        .init(
          "\(SiteContent.configurationName): reader_authentication.certificate: there is no certificate in "
            + quoted(named.text), remedy: "put it beside the configuration and name it so"))
    }
    var others: [String: String] = [:]
    for file in try SiteContent.files(of: folder)
    where file.path != SiteContent.configurationName && !file.path.hasPrefix(trust + "/") {
      if SiteContent.holdsPrivateKey(file.contents) || file.path != named?.text && !file.path.hasPrefix("board/") {
        faults.append(
          .init(
            SiteContent.holdsPrivateKey(file.contents)
              ? "\(file.path): a private key has no business in a bundle"
              : "\(file.path): the configuration does not name it",
            remedy: "take it out of the folder"))
      }
      others[file.path] = digest(.sha256, file.contents).hex
    }
    self.others = others
    if !faults.isEmpty { throw FileFaults(faults) }
  }

  /// Whether a path stays in the folder of the configuration.
  private static func isInside(_ path: String) -> Bool {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    return parts.allSatisfy { !$0.isEmpty && !$0.hasPrefix(".") }
  }

  private static func certificate(at path: String) -> Certificate? {
    guard let bytes = try? Files.read(path, limit: CertificateInput.maximumSize) else { return nil }
    return (try? CertificateInput.certificates(in: bytes))?.first
  }

  private static func holdsPrivateKey(_ contents: [UInt8]) -> Bool {
    let labels = ((try? PEM.blocks(in: contents)) ?? []).map(\.label)
    // A cut block is a key all the same.
    return labels.contains { $0.hasSuffix("PRIVATE KEY") } || contents.contains(text: "PRIVATE KEY-----")
  }

  /// Every file of a folder, two folders deep; names with a dot before them are left out.
  static func files(of folder: String) throws -> [ProvisioningBundle.File] {
    try names(in: folder, depth: 2).map { name in
      .init(path: name, contents: try Files.read("\(folder)/\(name)", limit: ProvisioningBundle.maximumSize))
    }
  }

  private static func names(in folder: String, depth: Int) throws -> [String] {
    var result: [String] = []
    for name in try Files.list(folder) where !name.hasPrefix(".") {
      switch try Files.facts("\(folder)/\(name)").kind {
      case .file: result.append(name)
      case .folder where depth > 0:
        result += try names(in: "\(folder)/\(name)", depth: depth - 1).map { "\(name)/\($0)" }
      case .folder, .socket, .other: break
      }
    }
    return result
  }

  /// What changes, a line each: `+` comes, `-` goes.
  func differences(from old: SiteContent?) -> [String] {
    var result = SiteContent.differences("configuration", from: old?.lines ?? [], to: lines)
    result += SiteContent.differences("trusted", from: old?.trusted ?? [], to: trusted)
    result += SiteContent.differences("list of issuers", from: old?.listTitles ?? [], to: listTitles)
    if old?.readerCertificate?.encoded != readerCertificate?.encoded {
      if let certificate = old?.readerCertificate { result.append("- reader certificate: \(certificate.subject)") }
      if let certificate = readerCertificate {
        result.append("+ reader certificate: \(certificate.subject), until \(certificate.notAfter)")
      }
    }
    let before = (old?.others ?? [:]).map { "\($0.key) \($0.value.prefix(16))" }.sorted()
    return result
      + SiteContent.differences("file", from: before, to: others.map { "\($0.key) \($0.value.prefix(16))" }.sorted())
  }

  private var trusted: [String] {
    certificates.map { stored in
      let docTypes = stored.docTypes.map { " for \($0.sorted().joined(separator: ", "))" } ?? ""
      return "\(stored.list.title) \(stored.fingerprint.prefix(16)) \(stored.certificate.subject)\(docTypes)"
    }
  }

  private var listTitles: [String] {
    lists.map { "\($0.list.provider) of \($0.list.date), \($0.list.entries.count) roots" }
  }

  private static func differences(_ what: String, from old: [String], to new: [String]) -> [String] {
    let (before, after) = (Set(old), Set(new))
    return old.filter { !after.contains($0) }.map { "- \(what): \($0)" }
      + new.filter { !before.contains($0) }.map { "+ \(what): \($0)" }
  }
}

extension [UInt8] {
  fileprivate func contains(text: String) -> Bool {
    let wanted = Array(text.utf8)
    guard count >= wanted.count, let first = wanted.first else { return false }
    var rest = self[...]
    while let place = rest.firstIndex(of: first) {
      if self[place...].starts(with: wanted) { return true }
      rest = self[(place + 1)...]
    }
    return false
  }
}

extension Substring {
  fileprivate var trimmed: String {
    var text = self
    while let first = text.first, first == " " || first == "\t" || first == "\r" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" || last == "\r" { text.removeLast() }
    return String(text)
  }
}
