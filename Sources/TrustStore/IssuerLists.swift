import Bytes
import CivilTime
import Crypto
import Kernel
import Trust
import VICAL

/// Lists of issuers (VICAL) in the store: one file for each provider, exactly as it was published.
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
  }

  /// Verifies a list and puts it in the place of the one before of the same provider, by one rename. Whatever is wrong
  /// with it as a whole, the one before stays.
  package func importList(
    _ input: [UInt8], at now: UnixTime, isRevoked: (Certificate, Certificate) -> Bool = { _, _ in false }
  ) throws(TrustStoreError) -> Import {
    let contents = load()
    if case .unreadable(let error) = contents.state { throw .system(error) }
    let list: VICAL
    let remarks: [VICAL.SuccessionRemark]
    let previous: VICAL?
    let previousFile: String?
    do throws(VICALFault) {
      list = try UnverifiedVICAL(input[...]).verified(under: contents.listSigners, at: now, isRevoked: isRevoked)
      let before = contents.lists.first { $0.list.provider == list.provider }
      previous = before?.list
      previousFile = before?.file
      remarks = try previous.map { other throws(VICALFault) in try list.succeed(other) } ?? []
    } catch {
      throw .issuerList(error)
    }
    // One copied in by hand keeps its file name.
    let stored = StoredList(list: list, file: previousFile ?? TrustStore.listFile(provider: list.provider))
    if let previous, isEqual(previous.encoded, list.encoded) {
      return Import(stored: stored, outcome: .alreadyThere, previous: previous, remarks: [])
    }
    do throws(SystemError) {
      try Files.makeFolder(listsPath)
      removeLeftovers(in: listsPath, at: now) { $0.hasPrefix(".") && $0.contains(TrustStore.listSuffix + ".") }
      try AtomicFile.write(input, to: "\(folder)/\(stored.file)")
    } catch {
      throw .system(error)
    }
    return Import(stored: stored, outcome: .imported, previous: previous, remarks: remarks)
  }

  /// Removes the list of this name (`StoredList.name`) or provider, whether or not it verifies. Nil when there is none.
  package func removeList(_ name: String) throws(TrustStoreError) -> String? {
    let files = (try? Files.list(listsPath)) ?? []
    let wanted = [name + TrustStore.listSuffix, Files.name(of: TrustStore.listFile(provider: name))]
    guard let file = wanted.first(where: { TrustStore.isListFile($0) && files.contains($0) }) else { return nil }
    do throws(SystemError) {
      try Files.remove("\(listsPath)/\(file)")
    } catch {
      throw .system(error)
    }
    return String(file.dropLast(TrustStore.listSuffix.utf8.count))
  }

  func loadLists(into contents: inout StoreContents) {
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
        do { list = try UnverifiedVICAL(bytes[...]).verified(under: contents.listSigners, at: nil) } catch {
          throw .issuerList(error)
        }
        contents.lists.append(StoredList(list: list, file: file))
        for entry in list.skipped {
          contents.problems.append(
            StoreProblem(
              file: file, reason: .issuerListEntry(number: entry.number, entry.fault, name: entry.name)))
        }
      } catch {
        contents.problems.append(StoreProblem(file: file, reason: error))
      }
    }
  }

  private static func isListFile(_ name: String) -> Bool {
    !name.hasPrefix(".") && !name.contains("/") && name.hasSuffix(listSuffix)
  }

  /// A name that people recognise, and digits that tell providers apart whose names look alike.
  private static func listFile(provider: String) -> String {
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
    let digits = digest(.sha256, Array(provider.utf8)).prefix(4).hex
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
