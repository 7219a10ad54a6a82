import CivilTime
import Testing

@testable import OpenID4VCI

@Suite("OpenID4VCI: what an issuer remembers")
struct ExpiringTableTests {
  @Test("what is remembered is bounded and expires")
  func table() {
    let now = UnixTime(seconds: 1000)
    var table = ExpiringTable<Int>(lifetime: 60)
    table.insert(1, under: "a", at: now)
    #expect(table.value(under: "a", at: now.adding(seconds: 60)) == 1)
    #expect(table.value(under: "a", at: now.adding(seconds: 61)) == nil)
    #expect(table.take("a", at: now) == 1)
    #expect(table.take("a", at: now) == nil)
    for number in 0...ExpiringTable<Int>.most {
      table.insert(number, under: "\(number)", at: now.adding(seconds: number == 0 ? 0 : 1))
    }
    #expect(table.value(under: "0", at: now) == nil)
    #expect(table.value(under: "1", at: now) == 1)
  }
}
