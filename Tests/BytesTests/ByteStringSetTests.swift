import TestSupport
import Testing

@testable import Bytes

@Suite("Packed sets of byte strings")
struct ByteStringSetTests {
  @Test("an empty set contains nothing")
  func empty() {
    let set = ByteStringSet([])
    #expect(set.count == 0 && !set.contains([]) && !set.contains([0]))
  }

  @Test("the empty string is a string")
  func emptyString() {
    let set = ByteStringSet([[], [1]])
    #expect(set.contains([]) && set.contains([1]) && !set.contains([0]))
  }

  @Test(
    "strings of any lengths and in any order are found, and their neighbours are not", arguments: [1, 8, 9, 20, 33])
  func membership(longest: Int) {
    var random = SplitMix64(state: UInt64(longest))
    var strings: Set<[UInt8]> = []
    for _ in 0..<500 {
      // Few values of a byte, so that many begin alike.
      strings.insert(
        (0..<Int.random(in: 1...longest, using: &random)).map { _ in UInt8.random(in: 0...2, using: &random) })
    }
    let set = ByteStringSet(strings.map { $0[...] })
    #expect(set.count == strings.count)
    for string in strings {
      #expect(set.contains(string))
      for other in [string + [0], Array(string.dropLast()), string.map { $0 ^ 1 }] {
        #expect(set.contains(other) == strings.contains(other), "\(other)")
      }
    }
  }

  @Test("ascending input is taken as it is, and gives the same set")
  func ascending() {
    let numbers = (0..<1000).map { [UInt8($0 >> 8), UInt8($0 & 255)] }
    let ordered = ByteStringSet(numbers.map { $0[...] })
    let reversed = ByteStringSet(numbers.reversed().map { $0[...] })
    for number in numbers { #expect(ordered.contains(number) && reversed.contains(number)) }
    #expect(!ordered.contains([3, 232]) && !reversed.contains([3, 232]))
  }
}
