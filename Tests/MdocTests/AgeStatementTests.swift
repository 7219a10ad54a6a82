import Testing

@testable import Mdoc

@Suite("Age statements")
struct AgeStatementTests {
  @Test("two digits make an age, 00 to 99", arguments: 0...99)
  func digits(years: Int) {
    let element = "age_over_" + (years < 10 ? "0\(years)" : "\(years)")
    #expect(AgeOver(element: element)?.years == years)
    #expect(AgeOver(years: years)?.element == element)
  }

  @Test(
    "every other spelling is another element",
    arguments: [
      "age_over_0", "age_over_9", "age_over_018", "age_over_100", "age_over_-1", "age_over_+9", "age_over_1 ",
      "age_over_ 1", "age_over_1x", "Age_over_18", "AGE_OVER_18", "age_over18", "age-over-18", " age_over_18",
      "age_over_18 ", "age_over_\u{661}\u{668}", "age_over_", "age_in_years", "",
    ])
  func spellings(element: String) {
    #expect(AgeOver(element: element) == nil)
  }

  @Test("no age is below 0 or above 99", arguments: [-1, 100, .min, .max])
  func range(years: Int) {
    #expect(AgeOver(years: years) == nil)
  }

  @Test("the nearest statement decides: true at or above, false at or below; silence is no answer")
  func answers() throws {
    func answer(_ limit: Int, _ statements: (Int, Bool)...) throws -> AgeAnswer {
      let known = try statements.map { (try #require(AgeOver(years: $0.0)), $0.1) }
      return try #require(AgeOver(years: limit)).answer(from: known)
    }
    #expect(try answer(23, (25, true)) == .yes)
    #expect(try answer(21, (25, true)) == .yes && answer(21, (18, false)) == .no)
    #expect(try answer(21, (18, true)) == .unknown && answer(21, (25, false)) == .unknown)
    #expect(try answer(21) == .unknown)
    #expect(try answer(21, (18, true), (25, false)) == .unknown)
    #expect(try answer(21, (25, false), (18, true), (21, true)) == .yes)
    #expect(try answer(21, (18, false), (25, true)) == .contradictory)
    #expect(try answer(0, (0, true)) == .yes && answer(99, (99, false)) == .no)
  }
}
