import Glibc
import Kernel

// mdoc-soak serve FOLDER MILLISECONDS: the whole reader in this process, on the simulated board in FOLDER, which shows outcomes so
// long; a line "ready" whenever a code may be shown, and "report OUTCOME REASON" after each transaction.
// mdoc-soak run FOLDER COUNT: starts such a reader and sends it so many visitors, one in five of them faulty; prints what it
// took, and leaves the figures in FOLDER/figures for Scripts/bench. Exit status 1 when a target is missed.
// mdoc-soak failures FOLDER COUNT: the same with a reader that shows outcomes as it is configured by default, and visitors whose
// transactions fail; prints the longest time from a failure to ready again, in milliseconds.

/// What keeps the soak from running.
struct SoakError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// Writes a line to a descriptor.
func say(_ line: String, on descriptor: Int32 = STDOUT_FILENO) {
  let bytes = Array((line + "\n").utf8)
  _ = write(descriptor, bytes, bytes.count)
}

do {
  let arguments = CommandLine.arguments
  switch (arguments.dropFirst().first, arguments.count) {
  case ("serve", 4): try SoakReader.serve(in: arguments[2], display: .milliseconds(Int(arguments[3]) ?? 1))
  case ("run", 4):
    guard let count = Int(arguments[3]), count >= 1000 else { throw SoakError("a soak has at least 1000 visitors") }
    let record = try SoakVisitors(in: arguments[2], count: count, faults: .oneInFive, program: arguments[0]).run()
    print(record.table)
    try AtomicFile.write(record.benchLines.utf8, to: arguments[2] + "/figures")
    exit(record.isGood ? 0 : 1)
  case ("failures", 4):
    let count = Int(arguments[3]) ?? 20
    let record = try SoakVisitors(in: arguments[2], count: count, faults: .all, program: arguments[0]).run()
    guard record.recoveries.count == count else { throw SoakError("not every transaction failed") }
    print(record.recoveries.max() ?? 0)
  default: throw SoakError("use Scripts/soak")
  }
} catch {
  say("mdoc-soak: \(error)", on: STDERR_FILENO)
  exit(2)
}
