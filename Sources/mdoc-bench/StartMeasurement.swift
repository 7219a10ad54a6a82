import Glibc

/// How long `run` takes from exec until it says that it is ready, and its peak memory by then: medians of several runs.
struct StartMeasurement {
  let nanoseconds: Int64
  /// VmHWM.
  let kilobytes: Int64

  init(_ program: String, configuration: String, runs: Int) throws {
    var times: [Int64] = []
    var sizes: [Int64] = []
    for _ in 0..<runs {
      let (time, size) = try StartMeasurement.run(program, configuration)
      times.append(time)
      sizes.append(size)
    }
    nanoseconds = median(times)
    kilobytes = median(sizes)
  }

  private static func run(_ program: String, _ configuration: String) throws -> (Int64, Int64) {
    let start = now()
    let process = try ChildProgram(program, "run", "--config", configuration)
    defer { process.end(signal: SIGTERM) }
    while let line = process.readLine() {
      guard line.contains("\"event\":\"ready\"") else { continue }
      let time = now() - start
      return (time, try peak(of: process.id))
    }
    throw BenchError("\(program) run ended without the event \"ready\"")
  }

  private static func peak(of process: pid_t) throws -> Int64 {
    guard let file = fopen("/proc/\(process)/status", "r") else { throw BenchError("no status of the process") }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
      if strncmp(line, "VmHWM:", 6) == 0 { return atoll(Array(line.dropFirst(6))) }
    }
    throw BenchError("no VmHWM in the status of the process")
  }
}
