import Bytes
import CivilTime
import Commands
import Crypto
import JSON
import Kernel
import Trust
import TrustStore
import VICAL

/// Lists of issuers (VICAL) in `trust import` and `trust list`.
extension TrustCommand {
  /// - Parameter revocation: the revocation lists at hand, which may have the signer of the list.
  static func importList(
    _ file: String, to store: TrustStore, revocation: RevocationLists = RevocationLists([]), _ arguments: Arguments,
    _ console: Console
  ) throws -> Int32 {
    let limit = UnverifiedVICAL.maximumSize
    let input = try file == "-" ? Files.readStandardInput(limit: limit) : Files.read(file, limit: limit)
    let now = UnixTime.wallClock()
    let result = try store.importList(input, at: now, isRevoked: revocation.isRevoked)
    let list = result.stored.list
    switch result.outcome {
    case .imported: console.data("imported \(result.stored.name)")
    case .alreadyThere: console.data("already there \(result.stored.name)")
    }
    console.remark("  \(summary(of: list, at: now))")
    if result.outcome == .imported { remark(changesTo: list, from: result.previous, console) }
    for remark in result.remarks {
      switch remark {
      case .lowerIssueID(let number, let before):
        console.remark("  remark: its issue number \(number) is lower than \(before), that of the list before")
      case .sameDate: console.remark("  remark: it has the date of the list before, and other contents")
      }
    }
    if result.replacesUnreadable {
      console.remark("  remark: the file before could not be read, so that nobody knows whether it was a later list")
    }
    for namesake in result.namesakes {
      console.remark(
        "  remark: \(namesake) has the same name of a provider and another signer's root; the issuers of both are trusted. "
          + "When this list has taken its place: mdoc-reader trust remove \(namesake)")
    }
    if list.isStale(at: now) {
      console.remark("  remark: its provider announced a newer list for \(list.nextUpdate?.description ?? "-")")
    }
    for skipped in list.skipped {
      console.remark(
        "  skipped entry \(skipped.number)\(skipped.name.isEmpty ? "" : " (\(skipped.name))"): "
          + "\(skipped.fault.explanation) (\(skipped.fault.rawValue))")
    }
    return 0
  }

  /// Which roots came and went.
  private static func remark(changesTo list: VICAL, from previous: VICAL?, _ console: Console) {
    guard let previous else { return }
    let before = Set(previous.entries.map(\.certificate))
    let after = Set(list.entries.map(\.certificate))
    for entry in list.entries where !before.contains(entry.certificate) {
      console.remark("  new: \(entry.certificate.subject)")
    }
    for entry in previous.entries where !after.contains(entry.certificate) {
      console.remark("  gone: \(entry.certificate.subject)")
    }
  }

  private static func summary(of list: VICAL, at now: UnixTime) -> String {
    var text = "\(printable(list.provider))  issued \(list.date.date()), \(list.age(at: now)) days ago"
    if let next = list.nextUpdate { text += list.isStale(at: now) ? ", stale since \(next.date())" : "" }
    return text + "  \(list.entries.count) roots" + (list.skipped.isEmpty ? "" : ", \(list.skipped.count) skipped")
  }

  static func show(_ stored: StoredList, at now: UnixTime, _ console: Console) {
    console.data("list \(stored.name)  \(summary(of: stored.list, at: now))")
    for entry in stored.list.entries {
      let certificate = entry.certificate
      console.data(
        "  \(certificate.fingerprint.hex.prefix(16))  \(certificate.subject)  \(certificate.notBefore.date()) to "
          + "\(certificate.notAfter.date())")
      console.data("                    only for \(entry.docTypes.sorted().map(printable).joined(separator: ", "))")
    }
  }

  static func document(of stored: StoredList, at now: UnixTime) -> JSONValue {
    let list = stored.list
    let roots = list.entries.map { entry -> JSONValue in
      let certificate = entry.certificate
      return .object([
        "fingerprint": .string(certificate.fingerprint.hex), "subject": .string("\(certificate.subject)"),
        "docTypes": .array(entry.docTypes.sorted().map(JSONValue.string)),
        "notBefore": .string("\(certificate.notBefore)"), "notAfter": .string("\(certificate.notAfter)"),
      ])
    }
    let skipped = list.skipped.map { entry -> JSONValue in
      .object([
        "entry": .integer(entry.number), "name": .string(entry.name), "fault": .string(entry.fault.rawValue),
      ])
    }
    return .object([
      "source": "list", "name": .string(stored.name), "provider": .string(list.provider),
      "date": .string("\(list.date)"), "nextUpdate": list.nextUpdate.map { .string("\($0)") } ?? .null,
      "ageDays": .integer(list.age(at: now)), "isStale": .bool(list.isStale(at: now)), "file": .string(stored.file),
      "roots": .array(roots), "skipped": .array(skipped),
    ])
  }

  private static func printable(_ text: String) -> String {
    let characters = text.unicodeScalars.prefix(80).map { scalar -> Unicode.Scalar in
      (0x20...0x7e).contains(scalar.value) ? scalar : "?"
    }
    return String(String.UnicodeScalarView(characters))
  }
}
