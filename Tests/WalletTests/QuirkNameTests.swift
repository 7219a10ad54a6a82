import Commands
import Testing

@testable import Wallet

@Suite("Quirk names")
struct QuirkNameTests {
  @Test("take a number where the quirk has one, and have aliases")
  func parameters() throws {
    var quirks = Quirks()
    try quirks.insert(argument: "early-disconnect=30")
    try quirks.insert(argument: "oversized-answer")
    try quirks.insert(argument: "wrong-digest")
    #expect(quirks.parameter(of: .earlyDisconnect) == 30 && quirks.parameter(of: .oversizedAnswer) == 5 << 20)
    #expect(quirks.all == [.earlyDisconnect, .oversizedAnswer, .digestMismatch])
  }

  @Test(
    "are refused with the reason",
    arguments: [
      ("early-disconnect=101", "not a whole number from 0 to 100"),
      ("early-disconnect=", "not a whole number from 0 to 100"),
      ("silent=1", "this quirk takes no number"), ("nonsense", "no such value"),
    ])
  func refused(argument: String, why: String) {
    var quirks = Quirks()
    var found: String?
    do throws(CommandError) { try quirks.insert(argument: argument) } catch { found = error.why }
    #expect(found == why)
  }
}
