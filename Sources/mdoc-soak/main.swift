import Glibc

// mdoc-soak serve FOLDER: the whole reader in this process, on the simulated board in FOLDER; a line "ready" whenever a code may
// be shown, and "report OUTCOME REASON" after each transaction.
// mdoc-soak run FOLDER COUNT: starts such a reader and sends it so many visitors, one in five of them faulty; prints what it
// took. Exit status 1 when a target is missed.

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
  case ("serve", 3): try SoakReader.serve(in: arguments[2])
  case ("run", 4):
    guard let count = Int(arguments[3]), count >= 1000 else { throw SoakError("a soak has at least 1000 visitors") }
    let visitors = try SoakVisitors(in: arguments[2], count: count, program: arguments[0])
    let record = try visitors.run()
    print(record.table)
    exit(record.isGood ? 0 : 1)
  default: throw SoakError("use Scripts/soak")
  }
} catch {
  say("mdoc-soak: \(error)", on: STDERR_FILENO)
  exit(2)
}
