import Testing

@testable import ReaderCommands

@Suite("The crypto library the reader starts with")
struct CryptoLibraryTests {
  @Test("is none from before 3.0.7")
  func versions() {
    for good in [(3, 0, 7), (3, 0, 19), (3, 1, 0), (3, 5, 4), (4, 0, 0)] {
      #expect(CryptoLibrary.fault(of: good) == nil)
    }
    for bad in [(3, 0, 6), (3, 0, 0), (1, 1, 1)] {
      #expect(CryptoLibrary.fault(of: bad)?.contains("known faults") == true)
    }
  }
}
