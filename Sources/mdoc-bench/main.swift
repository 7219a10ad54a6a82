import CivilTime
import Glibc
import Kernel

// mdoc-bench verify FLOOR FILE ROUNDS: verification against the floor program, rounds in turn; one line for each case:
// NAME OURS FLOOR, medians in nanoseconds. FILE is written for the floor program.
// mdoc-bench camera FLOOR FILE ROUNDS: from a camera's buffer to text against bare zbar, in the same way.
// mdoc-bench answer FLOOR FILE ROUNDS: an encrypted answer of 100 KiB to the digests of its items, in the same way.
// mdoc-bench profile new|seen PASSES: verification alone, for a profiler.
// mdoc-bench root FILE: a root certificate in DER, for a reader that must trust something to get ready.
// mdoc-bench trust ROUNDS: lines NAME OURS FLOOR of a reader that trusts many. mdoc-bench vical FILE ROUNDS: import of a list.
// mdoc-bench site FOLDER ANCHORS REVOKED: so many roots in FOLDER/trust, a file each, and a list of so many revoked serial
// numbers in FOLDER/cache, as refresh would have written it.
// mdoc-bench start PROGRAM CONFIG RUNS: one line, NAME NANOSECONDS KILOBYTES, medians.

func median(_ values: [Int64]) -> Int64 { values.sorted()[values.count / 2] }

func write(_ bytes: [UInt8], to path: String) throws {
  guard let file = fopen(path, "w") else { throw BenchError("cannot write \(path)") }
  defer { fclose(file) }
  guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw BenchError("cannot write \(path)") }
}

func makeVerification() throws -> Verification {
  try Verification(Inputs(now: UnixTime(seconds: Int64(time(nil)))))
}

func compare(floor program: String, file: String, rounds: Int) throws {
  let verification = try makeVerification()
  try write(verification.inputs.floorFile, to: file)
  let floor = try FloorProgram(program, file)
  defer { floor.end() }
  for (name, areSignersNew) in [("new", true), ("seen", false)] {
    var ours: [Int64] = []
    var theirs: [Int64] = []
    for _ in 0..<rounds {
      ours.append(try verification.round(passes: 12, areSignersNew: areSignersNew))
      theirs.append(try floor.round(passes: 12, areSignersNew: areSignersNew))
    }
    print("\(name) \(median(ours)) \(median(theirs))")
  }
}

func compareCamera(floor program: String, file: String, rounds: Int) throws {
  let camera = try CameraPath(pictures: 24)
  defer { camera.end() }
  try write(camera.floorFile, to: file)
  let floor = try FloorProgram(program, file)
  defer { floor.end() }
  var ours: [Int64] = []
  var theirs: [Int64] = []
  for _ in 0..<rounds {
    ours.append(try camera.round())
    theirs.append(try floor.round(passes: 1, areSignersNew: false))
  }
  print("frame-to-text \(median(ours)) \(median(theirs))")
}

func compareAnswer(floor program: String, file: String, rounds: Int) throws {
  let answer = try AnswerPath(now: UnixTime(seconds: Int64(time(nil))))
  try write(answer.floorFile, to: file)
  let floor = try FloorProgram(program, file)
  defer { floor.end() }
  var ours: [Int64] = []
  var theirs: [Int64] = []
  for _ in 0..<rounds {
    ours.append(try answer.round(passes: 400))
    theirs.append(try floor.round(passes: 400, areSignersNew: true))
  }
  print("100KiB \(median(ours)) \(median(theirs))")
}

do {
  // As the reader does it
  ProcessFacts.boundKeptMemory()
  let arguments = CommandLine.arguments
  switch (arguments.dropFirst().first, arguments.count) {
  case ("verify", 5): try compare(floor: arguments[2], file: arguments[3], rounds: Int(arguments[4]) ?? 15)
  case ("camera", 5): try compareCamera(floor: arguments[2], file: arguments[3], rounds: Int(arguments[4]) ?? 15)
  case ("answer", 5): try compareAnswer(floor: arguments[2], file: arguments[3], rounds: Int(arguments[4]) ?? 15)
  case ("profile", 4):
    print(try makeVerification().round(passes: Int(arguments[3]) ?? 10, areSignersNew: arguments[2] == "new"))
  case ("root", 3): try write(makeVerification().inputs.root, to: arguments[2])
  case ("trust", 3): try TrustMeasurement.run(rounds: Int(arguments[2]) ?? 15)
  case ("vical", 4): try TrustMeasurement.vical(arguments[2], rounds: Int(arguments[3]) ?? 15)
  case ("site", 5):
    try TrustMeasurement.writeSite(
      arguments[2], anchors: Int(arguments[3]) ?? 1, revoked: Int(arguments[4]) ?? 0,
      now: UnixTime(seconds: Int64(time(nil))))
  case ("start", 5):
    let start = try StartMeasurement(arguments[2], configuration: arguments[3], runs: Int(arguments[4]) ?? 15)
    print("start \(start.nanoseconds) \(start.kilobytes)")
  default: throw BenchError("use Scripts/bench")
  }
} catch {
  let text = "mdoc-bench: \(error)\n"
  _ = Glibc.write(STDERR_FILENO, text, text.utf8.count)
  exit(1)
}
