import Commands
import Configuration
import Crypto
import Kernel
import Provisioning
import TrustStore

/// What a folder makes of a site, read the way the reader reads it: the same faults stop a bundle and a start.
struct SiteContent {
  let configuration: ReaderConfiguration
  /// The lines of the configuration without comments.
  let lines: [String]
  let certificates: [StoredCertificate]
  let readerCertificate: Certificate?
  /// Every other file, with the digest of its contents.
  let others: [String: String]

  static let configurationName = "reader.toml"

  /// Throws `FileFaults` with every fault.
  init(folder: String) throws {
    let site = try Site(path: "\(folder)/\(SiteContent.configurationName)")
    configuration = site.configuration
    var faults: [FileFaults.Fault] = []
    let text = String(decoding: try Files.read(site.path, limit: 1 << 20), as: UTF8.self)
    lines = text.split(separator: "\n").map { $0.trimmed }.filter { !$0.isEmpty && !$0.hasPrefix("#") }
    let contents = TrustStore(folder: site.trustFolder).load()
    certificates = contents.certificates
    for problem in contents.problems {
      faults.append(.init("\(configuration.trustFolder.text)/\(problem)", remedy: problem.hint))
    }
    if !site.trustFolder.hasPrefix(folder + "/") {
      faults.append(
        .init(
          "\(SiteContent.configurationName): trust.folder: \(quoted(configuration.trustFolder.text)) is not in the bundle",
          remedy: "write folder = \"trust\", so that it goes with the configuration"))
    } else if certificates.isEmpty {
      faults.append(
        .init(
          "\(configuration.trustFolder.text): nobody would be trusted",
          remedy: "add the roots of the issuers: mdoc-reader trust add FILE"))
    }
    var readerCertificate: Certificate?
    if let authentication = configuration.readerAuthentication {
      let path = authentication.certificate.resolved(in: folder)
      if let bytes = try? Files.read(path, limit: CertificateInput.maximumSize),
        let chain = try? CertificateInput.certificates(in: bytes)
      {
        readerCertificate = chain[0]
      } else {
        faults.append(
          .init(
            "\(SiteContent.configurationName): reader_authentication.certificate: there is no certificate in "
              + quoted(authentication.certificate.text),
            remedy: "put it beside the configuration and name it so"))
      }
    }
    self.readerCertificate = readerCertificate
    var others: [String: String] = [:]
    for file in try SiteContent.files(of: folder)
    where file.path != SiteContent.configurationName && !"\(folder)/\(file.path)".hasPrefix(site.trustFolder + "/") {
      others[file.path] = digest(.sha256, file.contents).hex
    }
    self.others = others
    if !faults.isEmpty { throw FileFaults(faults) }
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
    var result: [String] = []
    let before = old?.lines ?? []
    result += before.filter { !lines.contains($0) }.map { "- configuration: \($0)" }
    result += lines.filter { !before.contains($0) }.map { "+ configuration: \($0)" }
    let (was, now) = (old?.certificates ?? [], certificates)
    result += was.filter { one in !now.contains { $0.isSame(one) } }.map { "- trusted: \($0.title)" }
    result += now.filter { one in !was.contains { $0.isSame(one) } }.map { "+ trusted: \($0.title)" }
    if old?.readerCertificate?.encoded != readerCertificate?.encoded {
      if let certificate = old?.readerCertificate { result.append("- reader certificate: \(certificate.subject)") }
      if let certificate = readerCertificate {
        result.append("+ reader certificate: \(certificate.subject), until \(certificate.notAfter)")
      }
    }
    let others = self.others.filter { old?.others[$0.key] != $0.value }.keys.sorted()
    result += (old?.others ?? [:]).keys.filter { self.others[$0] == nil }.sorted().map { "- file: \($0)" }
    result += others.map { "+ file: \($0)" }
    return result
  }
}

extension StoredCertificate {
  fileprivate func isSame(_ other: StoredCertificate) -> Bool {
    fingerprint == other.fingerprint && list == other.list && docTypes == other.docTypes
  }

  fileprivate var title: String {
    "\(fingerprint.prefix(16)) \(certificate.subject)"
      + (docTypes.map { " for \($0.sorted().joined(separator: ", "))" } ?? "")
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
