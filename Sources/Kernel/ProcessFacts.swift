internal import CLinux
import Glibc

/// What this process uses, and what it must not leave behind.
package enum ProcessFacts {
  /// Resident memory now, in bytes.
  package static func residentBytes() throws(SystemError) -> Int { try status("VmRSS") * 1024 }

  /// How many descriptors are open.
  package static func openDescriptors() throws(SystemError) -> Int {
    try Files.list("/proc/self/fd").count - 1  // one is the listing itself
  }

  /// Sees to it that a crash writes no memory to the disk or an output, and that another process of the same user cannot
  /// read this one's memory: RLIMIT_CORE 0, PR_SET_DUMPABLE 0, and the kernel's own answer to the signals of a crash, where
  /// Swift's runtime may have put one that prints registers and the memory they point to.
  package static func disableCoreDumps() throws(SystemError) {
    for number in [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGTRAP] { signal(number, SIG_DFL) }
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    _ = try check("setrlimit", "RLIMIT_CORE") { setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) }
    _ = try check("prctl", "PR_SET_DUMPABLE") { linux_set_not_dumpable() }
  }

  /// Sees to it that large blocks go back to the system when they are freed: a single answer of the largest size would leave the
  /// process as large as it was then.
  package static func boundKeptMemory() { linux_bound_kept_memory() }

  /// Wipes what the calls that the caller has made before have left on the stack, 256 KiB deep. What lies in freed memory is
  /// wiped when it is freed (`CWipe`).
  package static func wipeStack() { linux_wipe_stack() }

  private static func status(_ key: String) throws(SystemError) -> Int {
    let path = "/proc/self/status"
    let text = String(decoding: try Files.read(path, limit: 64 * 1024), as: UTF8.self)
    for line in text.split(separator: "\n") where line.hasPrefix(key + ":") {
      let digits = line.drop { !$0.isNumber }.prefix { $0.isNumber }
      if let value = Int(digits) { return value }
    }
    throw SystemError("read", code: ENODATA, subject: "\(path) \(key)")
  }
}

/// The clock on the wall: civil time, which may be wrong and may jump. Deadlines use `ContinuousClock`.
package enum WallClock {
  /// Seconds since 1970 and the nanoseconds into the next one.
  package static func now() -> (seconds: Int64, nanoseconds: Int32) {
    var time = timespec()
    // CLOCK_REALTIME exists on every Linux, and the pointer is good: this cannot fail.
    _ = clock_gettime(CLOCK_REALTIME, &time)
    return (Int64(time.tv_sec), Int32(time.tv_nsec))
  }
}
