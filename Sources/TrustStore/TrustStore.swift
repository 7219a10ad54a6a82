import Bytes
import CivilTime
import Crypto
import Kernel
import Trust

/// The folder of trusted certificates that a technician can read: one certificate a file.
///
/// Issuer roots are in the folder itself, trusted signers in `signers/`, signers of issuer lists in `list-signers/`, and
/// the lists themselves in `lists/`. Files are named by their fingerprint and come
/// and go by one rename each, so that a reader sees the old state or the new one, never a part.
package struct TrustStore: Sendable {
  package let folder: String

  package init(folder: String) { self.folder = folder }

  /// Longest file read, in bytes.
  package static let maximumFileSize = 256 * 1024
  /// How old a temporary file must be to be taken for a leftover, in seconds.
  private static let leftoverAge: Int64 = 600

  /// Everything in the store. What cannot be read is named, and the rest is there all the same.
  ///
  /// - Parameter isRevoked: whether a certificate, issued by the second one, is known to be revoked; asked for the signers
  ///   of lists of issuers and what is above them.
  package func load(isRevoked: (Certificate, Certificate) -> Bool = { _, _ in false }) -> StoreContents {
    var contents = StoreContents()
    for list in TrustList.allCases {
      let path = path(of: list)
      let names: [String]
      do {
        names = try Files.list(path)
      } catch {
        if list == .issuers {
          contents.state = error.name == "ENOENT" ? .missing : .unreadable(error)
          return contents
        }
        // No trusted signers, and no lists, is the usual case.
        if error.name != "ENOENT" {
          contents.problems.append(StoreProblem(file: list.rawValue, reason: .system(error)))
        }
        continue
      }
      for name in names where TrustStore.isCertificateFile(name) {
        let file = list == .issuers ? name : "\(list.rawValue)/\(name)"
        do throws(StoreProblem.Reason) {
          guard let bytes = try read(path + "/" + name) else { throw .noFile }
          contents.add(try StoredCertificate.read(bytes, file: file, list: list))
        } catch {
          contents.problems.append(StoreProblem(file: file, reason: error))
        }
      }
    }
    loadLists(into: &contents, isRevoked: isRevoked)
    if contents.certificates.isEmpty, contents.lists.isEmpty, contents.problems.isEmpty { contents.state = .empty }
    return contents
  }

  /// What became of a certificate that was added.
  package struct Addition: Sendable {
    /// What was written for it, if anything.
    package enum Outcome: Sendable {
      case added
      /// It was there before; at most copies of its file were removed.
      case alreadyThere
      /// It was there with other doc types.
      case docTypesChanged
    }

    package let stored: StoredCertificate
    package let outcome: Outcome
  }

  /// Adds every certificate of an input (see `CertificateInput`), or none when one of them is refused.
  ///
  /// Roots must be certification authorities, trusted signers must not be. Faults against the profile are no reason to
  /// refuse: see `StoredCertificate.remarks`. `now` tells leftovers of an earlier crash from files being written.
  package func add(
    _ input: [UInt8], to list: TrustList = .issuers, docTypes: Set<String>? = nil, at now: UnixTime
  ) throws(TrustStoreError) -> [Addition] {
    let certificates: [Certificate]
    do { certificates = try CertificateInput.certificates(in: input) } catch { throw .input(error) }
    if let bad = docTypes?.first(where: { !StoredCertificate.isDocType($0) }) { throw .docType(bad) }
    if docTypes?.isEmpty == true { throw .docType("") }
    for certificate in certificates where !list.takes(certificate) {
      throw list == .signers ? .authority(certificate.subject) : .noAuthority(certificate.subject)
    }
    do throws(SystemError) {
      try Files.makeFolder(path(of: list))
    } catch {
      throw .system(error)
    }
    removeLeftovers(in: list, at: now)
    let contents = load()
    var additions: [Addition] = []
    for certificate in certificates {
      let stored = StoredCertificate(certificate, list: list, docTypes: docTypes)
      let same = { (other: StoredCertificate) in other.list == list && other.fingerprint == stored.fingerprint }
      let before = contents.certificates.first(where: same) ?? additions.map(\.stored).first(where: same)
      if let before, before.docTypes == docTypes, before.otherFiles.isEmpty {
        additions.append(Addition(stored: before, outcome: .alreadyThere))
        continue
      }
      // One copied in by hand keeps its file name.
      let named = StoredCertificate(certificate, list: list, docTypes: docTypes, file: before?.file)
      do throws(SystemError) {
        try AtomicFile.write(named.fileText.utf8, to: folder + "/" + named.file)
        // What copies say would still count.
        for copy in before?.otherFiles ?? [] { try Files.remove(folder + "/" + copy) }
      } catch {
        throw .system(error)
      }
      additions.append(
        Addition(
          stored: named,
          outcome: before.map { $0.docTypes == docTypes ? .alreadyThere : .docTypesChanged } ?? .added))
    }
    return additions
  }

  /// The one certificate whose fingerprint begins with these hexadecimal digits (colons and case do not count): once for
  /// each list it is in, never empty.
  package func find(_ prefix: String) throws(TrustStoreError) -> [StoredCertificate] {
    try find(prefix, in: load())
  }

  private func find(_ prefix: String, in contents: StoreContents) throws(TrustStoreError) -> [StoredCertificate] {
    let digits = prefix.lowercased().filter { $0 != ":" }
    guard !digits.isEmpty, digits.utf8.count <= 64, TrustStore.isHexadecimal(digits) else {
      throw .noFingerprint(prefix)
    }
    if case .unreadable(let error) = contents.state { throw .system(error) }
    let found = contents.certificates.filter { $0.fingerprint.hasPrefix(digits) }
    guard !found.isEmpty else {
      for stored in contents.lists {
        for entry in stored.list.entries where entry.certificate.fingerprint.hex.hasPrefix(digits) {
          throw .listed(digits, list: stored.name)
        }
      }
      throw .notFound(digits)
    }
    let fingerprints = Set(found.map(\.fingerprint))
    guard fingerprints.count == 1 else { throw .ambiguous(digits, fingerprints.sorted()) }
    return found
  }

  /// What was removed, and what was not.
  package struct Removal: Sendable {
    /// The certificate, once for each list it was in; never empty.
    package let removed: [StoredCertificate]
    /// The lists of issuers that have it, so that it is still a trusted root.
    package let listedIn: [String]
  }

  /// Removes every file of the one certificate whose fingerprint begins with these digits.
  package func remove(_ prefix: String, at now: UnixTime) throws(TrustStoreError) -> Removal {
    let contents = load()
    let found = try find(prefix, in: contents)
    do throws(SystemError) {
      for stored in found {
        for file in stored.otherFiles + [stored.file] { try Files.remove(folder + "/" + file) }
      }
    } catch {
      throw .system(error)
    }
    for stored in found { removeLeftovers(in: stored.list, at: now) }
    let certificate = found[0].certificate
    let lists = contents.lists.filter { $0.list.entries.contains { $0.certificate == certificate } }
    return Removal(removed: found, listedIn: lists.map(\.name))
  }

  private func path(of list: TrustList) -> String { list == .issuers ? folder : "\(folder)/\(list.rawValue)" }

  /// The bytes of a file, or nil when it is not a regular one.
  func read(_ path: String, limit: Int = maximumFileSize) throws(StoreProblem.Reason) -> [UInt8]? {
    do throws(SystemError) {
      // A pipe would be waited for without end.
      guard try Files.facts(path).kind == .file else { return nil }
      return try Files.read(path, limit: limit)
    } catch {
      throw error.name == "EFBIG" ? .tooLarge : .system(error)
    }
  }

  /// Best effort: a leftover that cannot be removed harms nobody, since it is never read.
  private func removeLeftovers(in list: TrustList, at now: UnixTime) {
    removeLeftovers(in: path(of: list), at: now, where: TrustStore.isTemporary)
  }

  func removeLeftovers(in path: String, at now: UnixTime, where isTemporary: (String) -> Bool) {
    for name in (try? Files.list(path)) ?? [] where isTemporary(name) {
      guard let facts = try? Files.facts("\(path)/\(name)"), facts.kind == .file,
        facts.modified / 1_000_000_000 < now.seconds - TrustStore.leftoverAge
      else { continue }
      try? Files.remove("\(path)/\(name)")
    }
  }

  static func file(_ fingerprint: String, in list: TrustList) -> String {
    (list == .issuers ? "" : "\(list.rawValue)/") + fingerprint + ".pem"
  }

  static func isFingerprint(_ text: some StringProtocol) -> Bool { text.utf8.count == 64 && isHexadecimal(text) }

  static func isHexadecimal(_ text: some StringProtocol) -> Bool {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  private static func isCertificateFile(_ name: String) -> Bool {
    !name.hasPrefix(".") && [".pem", ".crt", ".cer", ".der"].contains { name.lowercased().hasSuffix($0) }
  }

  /// The names that atomic writing gives its temporary files here: `.FINGERPRINT.pem.DIGITS`.
  private static func isTemporary(_ name: String) -> Bool {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0].isEmpty && isFingerprint(parts[1]) && parts[2] == "pem"
      && isHexadecimal(parts[3])
  }
}
