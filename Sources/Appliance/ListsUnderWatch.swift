import Bytes
import CivilTime
import Configuration
import JSON
import ListCache
import MdocVerification
import ReaderCore

/// What the reader knows about lists and certificates with an end: how old they are, what that costs, what is noted.
struct ListsUnderWatch {
  struct Event {
    let name: String
    let members: [JSONValue.Member]
  }

  /// Most addresses in one event.
  private static let mostNamed = 8

  private var health: HealthWatch
  private var notes: ReaderNotes
  private var hasNews = false
  private var entries: [CacheEntry] = []
  private var certificates: [DatedCertificate] = []
  /// When lists and certificates were looked at; nil when there are others since.
  private var lookedAt: UnixTime?

  init(_ part: Appliance.ListsPart) {
    health = HealthWatch(limits: part.limits)
    notes = part.notesFile.map { ReaderNotes(file: $0) } ?? ReaderNotes()
  }

  mutating func take(_ material: Appliance.TrustMaterial) {
    entries = material.lists
    certificates = material.certificates
    lookedAt = nil
  }

  /// What changed since the last look. Ten thousand certificates and lists are not looked at more than once a minute.
  mutating func judge(at now: UnixTime) -> [Event] {
    if let lookedAt, now >= lookedAt, now < lookedAt.adding(seconds: 60) { return [] }
    lookedAt = now
    var events: [Event] = []
    for kind in health.look(at: entries, now: now) {
      let stale = health.lists[kind]?.stale ?? []
      events.append(
        Event(
          name: stale.isEmpty ? "listsFresh" : "listsStale",
          members: [
            .init("kind", .string(kind.rawValue)), .init("count", .integer(stale.count)),
            .init("policy", .string(health.limits[kind]?.policy.rawValue ?? "")),
            .init("addresses", .array(stale.prefix(ListsUnderWatch.mostNamed).map(JSONValue.string))),
          ]))
    }
    for ending in HealthWatch.endings(of: certificates, announced: &notes.announced, now: now) {
      hasNews = true
      events.append(
        Event(
          name: "certificateEnds",
          members: [
            .init("certificate", .string(ending.certificate.title)),
            .init("fingerprint", .string(ending.certificate.fingerprint)),
            .init("notAfter", .string(ending.certificate.notAfter.description)), .init("days", .integer(ending.days)),
            .init("warning", .integer(ending.warning)),
          ]))
    }
    return events
  }

  /// Takes note of the addresses that documents named.
  mutating func note(_ named: [ListAddresses]) {
    for addresses in named {
      if let status = addresses.status, notes.note(ListSource(.status, status)) { hasNews = true }
      if let list = WantedList(revocation: addresses.revocation), notes.note(list) { hasNews = true }
    }
  }

  /// The notes, when they have to be written.
  mutating func unwrittenNotes() -> ReaderNotes? {
    guard hasNews else { return nil }
    hasNews = false
    return notes
  }

  /// Why the reader is out of service; nil where it is not.
  var fault: String? {
    let kinds = health.stale(.fault)
    guard !kinds.isEmpty else { return nil }
    return kinds.map { "\($0.rawValue): \(health.lists[$0]?.stale.first ?? "")" }.joined(separator: ", ")
  }

  /// A grant that hangs on a stale list, where the site wants none, is a refusal.
  func refusing(_ assessment: Assessment) -> Assessment {
    guard assessment.isGranted else { return assessment }
    let kinds = health.stale(.deny).filter { $0 != .status || assessment.documentStatus != nil }
    guard !kinds.isEmpty else { return assessment }
    var refused = Assessment(
      isGranted: false, reasons: kinds.map { "listsStale(\($0.rawValue))" }, remarks: assessment.remarks,
      docType: assessment.docType, issuingCountry: assessment.issuingCountry, verifying: assessment.verifying,
      deciding: assessment.deciding)
    refused.signerRevocation = assessment.signerRevocation
    refused.documentStatus = assessment.documentStatus
    return refused
  }

  /// For the status file.
  var members: [JSONValue.Member] {
    ListKind.allCases.compactMap { kind in
      guard let lists = health.lists[kind], lists.count > 0 else { return nil }
      return JSONValue.Member(
        kind.rawValue,
        .object([
          "count": .integer(lists.count), "stale": .integer(lists.stale.count),
          "oldest": lists.oldest.map { .string($0.description) },
        ]))
    }
  }
}
