import Testing

@testable import Crypto

@Suite("RandomSource")
struct RandomSourceTests {
  @Test("never gives a number twice, whichever source is asked, a copy included")
  func numbersDiffer() {
    let (one, other) = (RandomSource(), RandomSource())
    let copy = one
    let numbers = (0..<1000).flatMap { _ in [one.next(), other.next(), copy.next()] }
    #expect(Set(numbers).count == numbers.count)
  }

  @Test("fills every bit of a number")
  func bits() {
    let source = RandomSource()
    var (everSet, alwaysSet): (UInt64, UInt64) = (0, .max)
    for _ in 0..<256 {
      let number = source.next()
      everSet |= number
      alwaysSet &= number
    }
    #expect(everSet == .max && alwaysSet == 0)
  }
}
