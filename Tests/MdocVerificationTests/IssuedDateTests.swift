import CBOR
import CivilTime
import Issuer
import Mdoc
import MdocVerification
import Testing

/// Seconds from now, the allowance, and what is wrong then.
private let dates: [(signed: Int64, from: Int64, until: Int64, skew: Int64, failures: Set<String>)] = [
  (-86_400, -86_400, 86_400, 0, []),
  (-86_400, -86_400, -60, 0, ["expired"]),
  (-86_400, -86_400, -1, 0, ["expired"]),
  (-86_400, -86_400, 0, 0, []),
  // An allowance is for clocks that are ahead, not for documents that are over.
  (-86_400, -86_400, -1, 300, ["expired"]),
  (-86_400, 60, 86_400, 0, ["notYetValid"]),
  (-86_400, 1, 86_400, 0, ["notYetValid"]),
  (-86_400, 0, 86_400, 0, []),
  (-86_400, 5, 86_400, 60, []),
  (-86_400, 60, 86_400, 60, []),
  (-86_400, 61, 86_400, 60, ["notYetValid"]),
  (-86_400, 600, 86_400, 60, ["notYetValid"]),
  // Signed on demand by a clock a little ahead.
  (5, 5, 86_400, 60, []),
  (600, 600, 86_400, 60, ["notYetValid"]),
  (5, 5, 86_400, 0, ["notYetValid"]),
  (-100, -200, 86_400, 0, ["validityInfoInconsistent"]),
  (-100, -50, -50, 0, ["expired", "validityInfoInconsistent"]),
]

@Suite("Dates of the issuer")
struct IssuedDateTests {
  @Test("the validity is compared with the reader's clock, to the second", arguments: dates.indices)
  func validity(index: Int) throws {
    let row = dates[index]
    var visit = try TestVisit()
    let now = visit.now
    let credential = try visit.issue { terms in
      terms.signed = now.adding(seconds: row.signed)
      terms.validFrom = now.adding(seconds: row.from)
      terms.validUntil = now.adding(seconds: row.until)
    }
    let verdict = try visit.verdict(on: credential) { $0.clockSkewSeconds = row.skew }
    #expect(verdict.failures == row.failures && verdict.isVerified == row.failures.isEmpty)
  }

  @Test("a document signed before its signer's certificate, if only by the hour, is refused for that")
  func signedTooEarly() throws {
    let midnight = UnixTime(seconds: 1_790_000_000 / 86_400 * 86_400)
    var visit = try TestVisit(signerNotBefore: midnight.adding(seconds: 9 * 3600))
    for (seconds, failures) in [
      (0, ["signedOutsideSignerValidity"]), (9 * 3600 - 1, ["signedOutsideSignerValidity"]), (9 * 3600, []),
    ] as [(Int64, Set<String>)] {
      let credential = try visit.issue { terms in
        terms.signed = midnight.adding(seconds: seconds)
        terms.validFrom = terms.signed
      }
      #expect(try visit.verdict(on: credential).failures == failures)
    }
  }

  @Test("fractions of a second are read, or refused where the site says so", arguments: [1, 3, 6, 9])
  func fractions(digits: Int) throws {
    var visit = try TestVisit()
    let signed = visit.now.adding(seconds: -86_400).description.dropLast()
    let until = visit.now.adding(seconds: 86_400).description.dropLast()
    let fraction = "." + String("123456789".prefix(digits)) + "Z"
    func date(_ text: Substring) -> CBORValue { .tag(0, .text(text + fraction)) }
    let validity = CBORValue.map(["signed": date(signed), "validFrom": date(signed), "validUntil": date(until)])
    let credential = try visit.issue { terms in terms.editMSO = { $0["validityInfo"] = validity } }
    let verdict = try visit.verdict(on: credential)
    #expect(verdict.isVerified && verdict.texts.isEmpty)
    let strict = try visit.verdict(on: credential) { $0.acceptsFractionalSeconds = false }
    #expect(strict.failures == ["msoMalformed"])
  }

  @Test(
    "what is no date makes the object malformed, whichever date it is",
    arguments: ["signed", "validFrom", "validUntil", "expectedUpdate"])
  func noDates(member: String) throws {
    var visit = try TestVisit()
    let now = visit.now
    for value in [
      .tag(0, "2026-02-30T00:00:00Z"), .tag(0, "2026-06-01T00:00:00.Z"), .tag(0, "2026-06-01"), .tag(0, "tomorrow"),
      .tag(1, 1_790_000_000), .tag(1004, "2026-06-01"), .tag(0, 5), .null, 1_790_000_000, "2026-06-01T00:00:00Z",
    ] as [CBORValue] {
      let credential = try visit.issue { terms in
        terms.editMSO = { object in
          let usual = MapDraft([
            "signed": .dateTime(now.adding(seconds: -86_400)), "validFrom": .dateTime(now.adding(seconds: -86_400)),
            "validUntil": .dateTime(now.adding(seconds: 86_400)),
          ])
          var validity = usual
          validity[member] = value
          object["validityInfo"] = validity.value
        }
      }
      #expect(try visit.verdict(on: credential).failures == ["msoMalformed"], "\(value)")
    }
  }

  @Test("a licence that is over is another thing than a proof that is over")
  func twoExpiries() throws {
    var visit = try TestVisit()
    let yesterday = CalendarDate(daysSince1970: visit.now.date().daysSince1970 - 1)
    let elements = [Element("family_name", "Spécimen"), Element("expiry_date", .fullDate(yesterday))]
    let licence = try visit.verdict(on: visit.issue(elements), asking: ["family_name", "expiry_date"])
    #expect(licence.isVerified && licence.texts == ["information documentExpired"])
    #expect(
      licence.documents.first?.verified?.value(of: "expiry_date", in: TestVisit.nameSpace) == .date(yesterday))
    let tomorrow = CalendarDate(daysSince1970: visit.now.date().daysSince1970 + 1)
    let now = visit.now
    let proof = try visit.issue([Element("family_name", "Spécimen"), Element("expiry_date", .fullDate(tomorrow))]) {
      $0.validUntil = now.adding(seconds: -60)
    }
    #expect(try visit.verdict(on: proof, asking: ["family_name", "expiry_date"]).texts == ["failure expired"])
  }
}
