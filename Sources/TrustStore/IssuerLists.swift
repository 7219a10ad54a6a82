import Bytes
import CivilTime
import Crypto
import Kernel
import Trust
import VICAL

/// Lists of issuers (VICAL) in the store: one file for each provider, exactly as it was published.
///
/// A provider is a name and who vouches for it (`VICAL.isKin`): of several lists of one the last is in force.
///
/// A list is verified when it comes, with the certificates valid at that time, and again whenever it is read, with the
/// certificates as they were when the list was issued: that its signer has expired since does not undo it. How old it is
/// says its own date.
extension TrustStore {
  static let listsFolder = "lists"
  private static let listSuffix = ".cbor"

  private var listsPath: String { "\(folder)/\(TrustStore.listsFolder)" }

  /// What became of a list that was imported.
  package struct Import: Sendable {
    package enum Outcome: Equatable, Sendable {
      case imported
      /// This very list was there, and nothing was written.
      case alreadyThere
    }

    package let stored: StoredList
    package let outcome: Outcome
    /// The list that was in force before; nil for a provider that is new here.
    package let previous: VICAL?
    package let remarks: [VICAL.SuccessionRemark]
    /// Whether a file was overwritten that could not be read: nobody knows how old it was.
    package let replacesUnreadable: Bool
    /// Lists in force by the same name of a provider, for which somebody else vouches.
    package let namesakes: [String]
  }

  /// Verifies a list and puts it in the place of the one before of the same provider (`VICAL.isKin`), by one rename.
  /// Whatever is wrong with it as a whole, the one before stays; also a newer one that does not verify at the moment.
  package func importList(
    _ input: [UInt8], at now: UnixTime, isRevoked: (Certificate, Certificate) -> Bool = { _, _ in false }
  ) throws(TrustStoreError) -> Import {
    let contents = load(isRevoked: isRevoked)
    if case .unreadable(let error) = contents.state { throw .system(error) }
    let list: VICAL
    var remarks: [VICAL.SuccessionRemark] = []
    let previous: StoredList?
    do throws(VICALFault) {
      list = try UnverifiedVICAL(input[...]).verified(under: contents.listSigners, at: now, isRevoked: isRevoked)
      let kin = contents.lists.filter { $0.list.isKin(of: list) }
      previous = kin.max { $0.list.date < $1.list.date }
      for other in kin { remarks += try list.succeed(other.list) }
    } catch {
      throw .issuerList(error)
    }
    // One copied in by hand keeps its file name.
    let stored = StoredList(
      list: list, file: previous?.file ?? TrustStore.listFile(provider: list.provider, trustPoint: list.trustPoints[0]))
    func outcome(_ outcome: Import.Outcome, replacesUnreadable: Bool = false) -> Import {
      Import(
        stored: stored, outcome: outcome, previous: previous?.list, remarks: outcome == .imported ? remarks : [],
        replacesUnreadable: replacesUnreadable,
        namesakes: contents.lists.filter { $0.list.provider == list.provider && !$0.list.isKin(of: list) }.map(\.name))
    }
    if let previous, isEqual(previous.list.encoded, list.encoded) { return outcome(.alreadyThere) }
    let isUnreadable = try doubt(about: list, for: stored.file, in: contents)
    do throws(SystemError) {
      try Files.makeFolder(listsPath)
      removeLeftovers(in: listsPath, at: now) { $0.hasPrefix(".") && $0.contains(TrustStore.listSuffix + ".") }
      try AtomicFile.write(input, to: "\(folder)/\(stored.file)")
    } catch {
      throw .system(error)
    }
    return outcome(.imported, replacesUnreadable: isUnreadable)
  }

  /// Looks at the stored lists that do not verify: a newer one of the same provider must not be passed by silently.
  /// Whether the file that is to be written is there and cannot be read.
  private func doubt(about list: VICAL, for file: String, in contents: StoreContents) throws(TrustStoreError) -> Bool {
    var isUnreadable = false
    for problem in contents.problems where problem.file.hasPrefix(TrustStore.listsFolder + "/") {
      if problem.isMinor { continue }
      if case .issuerList(let fault) = problem.reason, let claims = claims(ofList: problem.file) {
        if claims.provider == list.provider, claims.date > list.date {
          throw .issuerListInDoubt(stored: StoredList.name(of: problem.file), fault)
        }
      } else if problem.file == file {
        isUnreadable = true
      }
    }
    return isUnreadable
  }

  /// What a file says of itself, whether or not it verifies.
  private func claims(ofList file: String) -> UnverifiedVICAL.Claims? {
    guard let bytes = try? read("\(folder)/\(file)", limit: UnverifiedVICAL.maximumSize) else { return nil }
    return (try? UnverifiedVICAL(bytes[...]))?.claims
  }

  /// Removes the list of this name (`StoredList.name`), or all those of a provider of this name, whether or not they
  /// verify and are in force. The names of what was removed.
  package func removeLists(_ name: String) throws(TrustStoreError) -> [String] {
    let files = ((try? Files.list(listsPath)) ?? []).filter(TrustStore.isListFile).map {
      "\(TrustStore.listsFolder)/\($0)"
    }
    var wanted = files.filter { StoredList.name(of: $0) == name }
    if wanted.isEmpty { wanted = files.filter { claims(ofList: $0)?.provider == name } }
    do throws(SystemError) {
      for file in wanted { try Files.remove("\(folder)/\(file)") }
    } catch {
      throw .system(error)
    }
    return wanted.map(StoredList.name)
  }

  func loadLists(into contents: inout StoreContents, isRevoked: (Certificate, Certificate) -> Bool) {
    let names: [String]
    do throws(SystemError) {
      names = try Files.list(listsPath)
    } catch {
      if error.name != "ENOENT" {
        contents.problems.append(StoreProblem(file: TrustStore.listsFolder, reason: .system(error)))
      }
      return
    }
    for name in names where TrustStore.isListFile(name) {
      let file = "\(TrustStore.listsFolder)/\(name)"
      do throws(StoreProblem.Reason) {
        guard let bytes = try read("\(folder)/\(file)", limit: UnverifiedVICAL.maximumSize) else { throw .noFile }
        let list: VICAL
        do {
          list = try UnverifiedVICAL(bytes[...]).verified(under: contents.listSigners, at: nil, isRevoked: isRevoked)
        } catch {
          throw .issuerList(error)
        }
        contents.take(StoredList(list: list, file: file))
      } catch {
        contents.problems.append(StoreProblem(file: file, reason: error))
      }
    }
  }

  private static func isListFile(_ name: String) -> Bool {
    !name.hasPrefix(".") && !name.contains("/") && name.hasSuffix(listSuffix)
  }

  /// A name that people recognise, and digits that tell providers apart whose names look alike or are the same.
  static func listFile(provider: String, trustPoint: Certificate) -> String {
    var readable = ""
    for character in provider.lowercased().utf8.prefix(40) {
      let isPlain = (0x30...0x39).contains(character) || (0x61...0x7A).contains(character)
      if isPlain {
        readable.unicodeScalars.append(Unicode.Scalar(character))
      } else if !readable.isEmpty, !readable.hasSuffix("-") {
        readable += "-"
      }
    }
    if readable.isEmpty { readable = "list" }
    let digits = digest(.sha256, Array(provider.utf8) + [0] + trustPoint.encoded).prefix(4).hex
    return "\(listsFolder)/\(readable)\(readable.hasSuffix("-") ? "" : "-")\(digits)\(listSuffix)"
  }
}

extension StoreContents {
  /// Whoever may sign lists of issuers.
  package var listSigners: [Certificate] { certificates.filter { $0.list == .listSigners }.map(\.certificate) }

  /// Whether nobody's documents are accepted.
  package var trustsNobody: Bool {
    !certificates.contains { $0.list != .listSigners } && lists.allSatisfy { $0.list.entries.isEmpty }
  }
}
