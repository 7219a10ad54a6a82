import ReaderCore
import TestSupport
import Testing

@testable import Appliance

@Suite("Every fault at every record of a visit, in virtual time")
struct LinkFaultTests {
  private static let ways = VirtualVisit.Way.allCases

  @Test("undisturbed it opens for who is of age, and for nobody else", arguments: ways)
  func undisturbed(way: VirtualVisit.Way) throws {
    let good = try VirtualVisit(VirtualVisit.Site(age: 30), way).run()
    #expect(good.reports.map(\.outcome) == [.granted] && good.pulses == 1 && good.judged == good.answers)
    #expect(good.records > 90, "hundreds of places for a fault: \(good.records)")
    let young = try VirtualVisit(VirtualVisit.Site(age: 15), way).run()
    #expect(young.reports.map(\.outcome) == [.refused] && young.pulses == 0)
  }

  @Test(
    "a fault anywhere: granted only by the answer that was given, else a reason; ready within a second; nothing is kept",
    arguments: ways)
  func faults(way: VirtualVisit.Way) throws {
    let site = try VirtualVisit.Site(age: 30)
    let records = try VirtualVisit(site, way).run().records
    var granted = 0
    var reasons: [String: Int] = [:]
    for fault in AirFault.allCases {
      for number in stride(from: 1, through: records, by: TestStride.step) {
        let course = try VirtualVisit(site, way, fault: (fault, number), seed: UInt64(number)).run()
        let place = "\(way), \(fault.rawValue) at \(number) of \(records)"
        guard course.reports.count == 1, let report = course.reports.first else {
          Issue.record("\(place): \(course.reports.count) reports")
          continue
        }
        if report.outcome == .granted {
          granted += 1
          #expect(course.judged.count == 1 && course.answers.last == course.judged[0], "\(place)")
          #expect(report.reasons.isEmpty && course.pulses == 1, "\(place)")
        } else {
          // Nothing of what the wallet said was wrong: what the air did is a failure, not a refusal of anybody.
          #expect(report.outcome == .failed, "\(place): \(report.reasons)")
          #expect(report.reasons.count == 1 && !report.reasons[0].isEmpty && course.pulses == 0, "\(place)")
          for reason in report.reasons { reasons[reason, default: 0] += 1 }
        }
        if let readyAfter = course.readyAfter {
          #expect(readyAfter <= .seconds(1), "\(place): ready after \(readyAfter)")
        } else {
          Issue.record("\(place): never ready again")
        }
        let limit = VirtualVisit.timeouts.total + .seconds(1)
        #expect(course.total <= limit, "\(place): \(course.total)")
        #expect(course.hasForgotten && !course.isRelayActive, "\(place)")
      }
    }
    // Faults that never matter, or always, would prove little.
    #expect((granted > 0 || TestStride.step > 1) && reasons.count > 5, "\(granted), \(reasons)")
    let table = reasons.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    let tried = "\(AirFault.allCases.count) faults at \(records / TestStride.step) of \(records) records"
    print("\(way): \(tried): granted \(granted), \(table)")
  }

  @Test("who is too young is granted nothing, whatever the air does", arguments: ways)
  func tooYoung(way: VirtualVisit.Way) throws {
    let site = try VirtualVisit.Site(age: 15)
    let records = try VirtualVisit(site, way).run().records
    for fault in AirFault.allCases {
      for number in stride(from: 1, through: records, by: 7 * TestStride.step) {
        let course = try VirtualVisit(site, way, fault: (fault, number), seed: UInt64(number)).run()
        let outcomes = course.reports.map(\.outcome)
        #expect(outcomes == [.refused] || outcomes == [.failed], "\(way), \(fault.rawValue) at \(number)")
        #expect(course.pulses == 0 && course.readyAfter != nil, "\(way), \(fault.rawValue) at \(number)")
      }
    }
  }
}
