import CLinux
import Foundation
import Kernel
import Testing

@Suite struct CoreDumpTests {
  @Test("core dumps are off after they have been switched off")
  func coreDumps() throws {
    // In this process, for good: nothing else here depends on them.
    try ProcessFacts.disableCoreDumps()
    var limit = rlimit()
    #expect(getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0)
    #expect(limit.rlim_cur == 0 && limit.rlim_max == 0)
    #expect(linux_is_dumpable() == 0)
    #expect(try ProcessFacts.openDescriptors() >= 3)
    #expect(try ProcessFacts.residentBytes() > 0)
  }
}
