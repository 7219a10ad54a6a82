import CivilTime
import Configuration
import Crypto
import Issuer
import ListCache
import ReaderCore
import TestSupport
import Testing

@testable import Appliance

@Suite("Health of lists and certificates")
struct HealthTests {
  private let now = UnixTime(seconds: 1_790_000_000)

  private func days(_ count: Int64) -> UnixTime { now.adding(seconds: count * 86_400) }

  private func entry(_ kind: ListKind, fetched: UnixTime?, end: UnixTime? = nil) -> CacheEntry {
    CacheEntry(
      ListSource(kind, "http://a.example/\(kind.rawValue)"),
      copy: fetched.map { .init(digest: "", size: 1, fetched: $0, end: end) }, due: now)
  }

  private func part(_ policy: ReaderConfiguration.StalenessPolicy) -> Appliance.ListsPart {
    var part = Appliance.ListsPart()
    part.limits = [.revocation: .init(days: 14, policy: policy), .status: .init(days: 7, policy: policy)]
    return part
  }

  private func material(_ entries: [CacheEntry], _ certificates: [DatedCertificate] = []) -> Appliance.TrustMaterial {
    var material = Appliance.TrustMaterial(anchors: [], signers: [], problems: [])
    material.lists = entries
    material.certificates = certificates
    return material
  }

  private func granted(_ status: String? = nil) -> Assessment {
    var assessment = Assessment(
      isGranted: true, reasons: [], remarks: [], docType: nil, issuingCountry: nil, verifying: .zero, deciding: .zero)
    assessment.documentStatus = status
    return assessment
  }

  @Test("a list that becomes too old is said once, and once that it is fresh again")
  func changes() {
    var lists = ListsUnderWatch(part(.warn))
    lists.take(material([entry(.revocation, fetched: now)]))
    let seen1 = lists.judge(at: now)
    #expect(seen1.isEmpty)
    let seen2 = lists.judge(at: days(14))
    #expect(seen2.isEmpty)
    let events = lists.judge(at: days(15))
    #expect(events.map { $0.name } == ["listsStale"])
    #expect(events.first?.members.first { $0.key == "kind" }?.value == "revocation")
    let seen3 = lists.judge(at: days(16))
    #expect(seen3.isEmpty)
    #expect(lists.fault == nil && lists.refusing(granted()).isGranted)
    lists.take(material([entry(.revocation, fetched: days(16))]))
    let seen4 = lists.judge(at: days(16))
    #expect(seen4.map { $0.name } == ["listsFresh"])
  }

  @Test("a list that is missing, and one that ended by its own word, are stale")
  func missing() {
    var lists = ListsUnderWatch(part(.fault))
    lists.take(material([entry(.revocation, fetched: nil), entry(.status, fetched: now, end: days(1))]))
    let seen5 = lists.judge(at: now)
    #expect(seen5.count == 1)
    #expect(lists.fault == "revocation: http://a.example/revocation")
    let seen6 = lists.judge(at: days(2))
    #expect(seen6.count == 1)
    #expect(lists.fault == "revocation: http://a.example/revocation, status: http://a.example/status")
  }

  @Test("denying: a stale list of signers concerns everybody, one of documents those that name one")
  func denying() {
    var lists = ListsUnderWatch(part(.deny))
    lists.take(material([entry(.revocation, fetched: now), entry(.status, fetched: nil)]))
    _ = lists.judge(at: now)
    #expect(lists.fault == nil)
    #expect(lists.refusing(granted()).isGranted)
    let refused = lists.refusing(granted("unknown"))
    #expect(!refused.isGranted && refused.reasons == ["listsStale(status)"] && refused.documentStatus == "unknown")
    _ = lists.judge(at: days(15))
    #expect(lists.refusing(granted()).reasons == ["listsStale(revocation)"])
    #expect(lists.refusing(granted("valid")).reasons == ["listsStale(revocation)", "listsStale(status)"])
  }

  @Test("a certificate's end is said 60, 30 and 7 days before, once each, also over a restart")
  func endings() throws {
    var random = SplitMix64(state: 1)
    let root = try IssuerAuthority(notBefore: days(-100), notAfter: days(100), random: &random)
    let certificate = DatedCertificate(try Certificate(root.certificate), title: "issuer root")
    var announced: [String: Int] = [:]
    var said: [Int] = []
    for day in 0..<110 {
      for ending in HealthWatch.endings(of: [certificate], announced: &announced, now: days(Int64(day))) {
        said.append(day)
        #expect(ending.days == max(0, 100 - day))
      }
    }
    #expect(said == [40, 70, 93])
    #expect(announced == [certificate.fingerprint: 7])
    // A reader that was off for long says the nearest one only.
    announced = [certificate.fingerprint: 60]
    let late = HealthWatch.endings(of: [certificate], announced: &announced, now: days(99))
    #expect(late.map { $0.warning } == [7])
  }
}
