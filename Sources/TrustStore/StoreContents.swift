import CivilTime
import Crypto
import Kernel
import Trust
import VICAL

/// A file of the store that could not be used.
package struct StoreProblem: Equatable, Sendable {
  /// Why a file could not be used.
  package enum Reason: Error, Equatable, Sendable {
    case system(SystemError)
    case tooLarge
    /// A folder, pipe or device.
    case noFile
    case input(CertificateInput.Violation)
    case severalCertificates(Int)
    /// The line of doc types cannot be read: better none than all.
    case docTypes
    /// The file is named by another fingerprint than its contents have.
    case nameMismatch
    /// No certification authority among the roots, or one among the signers.
    case wrongList
    /// A list of issuers that does not verify, or not any more.
    case issuerList(VICALFault)
    /// An entry of a list of issuers; the rest of the list is used. `number` counts from 1.
    case issuerListEntry(number: Int, VICALEntryFault, name: String)
    /// The certificate of another file of the same list again.
    case duplicate(of: String)
    /// A list of the same provider that is no older is in force, and this one is not.
    case issuerListSuperseded(by: String)
    /// Another list by the same name of a provider is in force too, and nobody vouches for both.
    case issuerListNamesake(of: String)
  }

  /// The file's name within the store.
  package let file: String
  package let reason: Reason
}

extension StoreProblem {
  /// Whether everything that should be trusted is, but for an entry of a list.
  package var isMinor: Bool {
    switch reason {
    case .issuerListEntry, .duplicate, .issuerListSuperseded, .issuerListNamesake: true
    default: false
    }
  }

  /// Whether it stands and falls with the list of the file being in force.
  var isOfListInForce: Bool {
    switch reason {
    case .issuerListEntry, .issuerListNamesake: true
    default: false
    }
  }
}

extension StoreProblem: CustomStringConvertible {
  package var description: String {
    let why: String
    switch reason {
    case .system(let error): why = error.reason
    case .tooLarge: why = "longer than \(TrustStore.maximumFileSize) bytes"
    case .noFile: why = "not a regular file"
    case .input(let violation): why = "\(violation)"
    case .severalCertificates(let count): why = "\(count) certificates in one file"
    case .docTypes: why = "its line of doc types cannot be read"
    case .nameMismatch: why = "its contents are not those it is named by"
    case .wrongList:
      switch TrustList.allCases.first(where: { file.hasPrefix($0.rawValue + "/") }) {
      case .signers: why = "a certification authority among the signers"
      case .listSigners: why = "neither a certification authority nor a signer of issuer lists"
      default: why = "not a certification authority"
      }
    case .issuerList(let fault): why = "\(fault.explanation) (\(fault.rawValue)); its issuers are not trusted"
    case .issuerListEntry(let number, let fault, let name):
      why = "entry \(number)\(name.isEmpty ? "" : " (\(name))"): \(fault.explanation); the rest of the list is used"
    case .duplicate(let other):
      why = "the certificate of \(other) again; only the doc types that both allow count"
    case .issuerListSuperseded(let other):
      why = "\(other) is of the same provider and no older; this list is not used"
    case .issuerListNamesake(let other):
      why = "\(other) has the same name of a provider and another signer's root; the issuers of both are trusted"
    }
    return "\(file): \(why)"
  }

  /// What to do about it.
  package var hint: String {
    switch reason {
    case .system: "check the file's owner and mode: the reader's user must be able to read it"
    case .docTypes: "write `# doc types: all`, or names with commas between them"
    case .severalCertificates: "take the file out of the folder and give it to `mdoc-reader trust add`"
    case .issuerList(let fault) where file.hasPrefix(TrustStore.listsFolder + "/"):
      "\(fault.hint); or remove it: \(removal)"
    case .issuerList(let fault): fault.hint
    case .issuerListSuperseded: "remove it: \(removal)"
    case .issuerListNamesake:
      "when one has taken the place of the other, remove the other: mdoc-reader trust remove NAME"
    case .duplicate:
      "remove one of the files, or add the certificate again with `mdoc-reader trust add`: that leaves one"
    case .issuerListEntry:
      "tell the provider of the list; add the issuer's root with `mdoc-reader trust add` if you need it"
    case .wrongList where !file.contains("/"): "if this signer itself shall be trusted, add it with --signer"
    default: "remove the file, and add the certificate again with `mdoc-reader trust add`"
    }
  }

  private var removal: String { "mdoc-reader trust remove \(StoredList.name(of: file))" }
}

/// What a store holds at one moment.
package struct StoreContents: Sendable {
  /// What became of the folder as a whole.
  package enum State: Equatable, Sendable {
    /// There is no such folder.
    case missing
    case unreadable(SystemError)
    /// There is nothing in it.
    case empty
    case loaded
  }

  package internal(set) var state = State.loaded
  /// Sorted by list and file name. The same certificate in a second file of a list is not listed again.
  package private(set) var certificates: [StoredCertificate] = []
  /// Lists of issuers that verify, by file name; of each provider the one issued last.
  package private(set) var lists: [StoredList] = []
  /// Files that could not be used, and entries of lists.
  package internal(set) var problems: [StoreProblem] = []
  private var places: [TrustList: [String: Int]] = [:]

  mutating func add(_ stored: StoredCertificate) {
    guard let place = places[stored.list]?[stored.fingerprint] else {
      places[stored.list, default: [:]][stored.fingerprint] = certificates.count
      certificates.append(stored)
      return
    }
    problems.append(StoreProblem(file: stored.file, reason: .duplicate(of: certificates[place].file)))
    certificates[place] = certificates[place].narrowed(by: stored)
  }

  /// Takes a verified list, wherever it comes from: of a provider (`VICAL.isKin`) the one issued last is in force, and of
  /// two of one date the one taken first. The other is named as a problem.
  package mutating func take(_ stored: StoredList) {
    let kin = lists.filter { $0.list.isKin(of: stored.list) }
    if let present = kin.first(where: { $0.list.date >= stored.list.date }) {
      // What is fetched follows what was imported, as it should: no fault of either.
      if !stored.isFetched, !present.isFetched {
        problems.append(StoreProblem(file: stored.file, reason: .issuerListSuperseded(by: present.file)))
      }
      return
    }
    for old in kin {
      lists.removeAll { $0.file == old.file }
      problems.removeAll { $0.file == old.file && $0.isOfListInForce }
      if !stored.isFetched, !old.isFetched {
        problems.append(StoreProblem(file: old.file, reason: .issuerListSuperseded(by: stored.file)))
      }
    }
    if let namesake = lists.first(where: { $0.list.provider.utf8.elementsEqual(stored.list.provider.utf8) }) {
      problems.append(StoreProblem(file: stored.file, reason: .issuerListNamesake(of: namesake.file)))
    }
    for entry in stored.list.skipped {
      problems.append(
        StoreProblem(file: stored.file, reason: .issuerListEntry(number: entry.number, entry.fault, name: entry.name)))
    }
    lists.append(stored)
  }

  /// The issuer roots, for the verification: those that were added here, then those of lists.
  package var anchors: [TrustAnchor] {
    localAnchors + lists.flatMap { $0.list.anchors(source: $0.file) }
  }

  /// The issuer roots that were added here.
  package var localAnchors: [TrustAnchor] {
    certificates.filter { $0.list == .issuers }.map {
      TrustAnchor($0.certificate, docTypes: $0.docTypes, source: $0.file)
    }
  }

  /// Document signers that are trusted themselves, for the verification.
  package var trustedSigners: [TrustedSigner] {
    certificates.filter { $0.list == .signers }.map { TrustedSigner($0.certificate, docTypes: $0.docTypes) }
  }
}

/// A list of issuers in the store. It was verified when it came and is verified again whenever it is read.
package struct StoredList: Sendable {
  package let list: VICAL
  /// The file's name within the store: `lists/NAME.cbor`; the address of one that was fetched.
  package let file: String
  /// Whether it is in the cache and not in the store.
  package var isFetched = false

  /// What it is called by in `trust remove`; the address of one that was fetched.
  package var name: String { isFetched ? file : StoredList.name(of: file) }

  static func name(of file: String) -> String {
    String(file.dropFirst(TrustStore.listsFolder.utf8.count + 1).dropLast(5))
  }
}

/// Why the store did not do what it was asked.
package enum TrustStoreError: Error, Equatable, Sendable {
  case input(CertificateInput.Violation)
  /// Not a certification authority, and so no issuer root.
  case noAuthority(DistinguishedName)
  /// A certification authority, and so no document signer.
  case authority(DistinguishedName)
  /// Not the name of a doc type.
  case docType(String)
  /// Not hexadecimal digits.
  case noFingerprint(String)
  case notFound(String)
  /// Several fingerprints begin so.
  case ambiguous(String, [String])
  /// An issuer list that is not taken; the one before it stays in force.
  case issuerList(VICALFault)
  /// A stored list of the same provider is newer, and does not verify at the moment.
  case issuerListInDoubt(stored: String, VICALFault)
  /// A certificate of an issuer list, which cannot be removed alone.
  case listed(String, list: String)
  case system(SystemError)
}

extension TrustStoreError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .input(let violation): "\(violation)"
    case .noAuthority(let subject): "\(subject): not a certification authority, so it cannot be an issuer root"
    case .authority(let subject): "\(subject): a certification authority, so it cannot be a document signer"
    case .docType(let text): "\(text.debugDescription): not the name of a doc type"
    case .noFingerprint(let text): "\(text.debugDescription): not the beginning of a fingerprint"
    case .notFound(let prefix): "\(prefix): no certificate of the store has a fingerprint that begins so"
    case .ambiguous(let prefix, let all): "\(prefix): \(all.count) certificates have fingerprints that begin so"
    case .system(let error): "\(error)"
    case .issuerList(let fault):
      "\(fault.explanation) (\(fault.rawValue)); nothing was changed, and the list before it stays in force"
    case .issuerListInDoubt(let stored, let fault):
      "the stored list \(stored) of the same provider is newer, but does not verify at the moment: "
        + "\(fault.explanation) (\(fault.rawValue)); nothing was changed"
    case .listed(let prefix, let list): "\(prefix): this root comes from the list \(list)"
    }
  }

  /// What to do about it.
  package var hint: String {
    switch self {
    case .issuerList(let fault): fault.hint
    case .issuerListInDoubt(let stored, let fault):
      "\(fault.hint); or remove the stored one: mdoc-reader trust remove \(stored)"
    case .listed(_, let list): "remove the list as a whole: mdoc-reader trust remove \(list)"
    case .input: "give the issuer's root certificate (IACA) as PEM, DER or base64"
    case .noAuthority: "ask the issuer for its root (IACA), or trust this one certificate alone with --signer"
    case .authority: "add it without --signer"
    case .docType: "give names like org.iso.18013.5.1.mDL, without spaces and commas"
    case .noFingerprint, .notFound: "`mdoc-reader trust list` shows the fingerprints"
    case .ambiguous(_, let all): "give more digits: \(all.joined(separator: ", "))"
    case .system(let error) where error.name == "EACCES" || error.name == "EROFS":
      "run it as the user that owns the folder"
    case .system: "check the folder and the disk"
    }
  }
}
