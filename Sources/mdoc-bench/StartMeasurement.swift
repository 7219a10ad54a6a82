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
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw BenchError("pipe: errno \(errno)") }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    for end in ends { posix_spawn_file_actions_addclose(&actions, end) }
    let arguments = [strdup(program), strdup("run"), strdup("--config"), strdup(configuration), nil]
    defer { arguments.forEach { free($0) } }
    var process: pid_t = 0
    let start = now()
    guard posix_spawn(&process, program, &actions, nil, arguments, environ) == 0 else {
      throw BenchError("cannot start \(program)")
    }
    close(ends[1])
    defer {
      kill(process, SIGTERM)
      var status: Int32 = 0
      waitpid(process, &status, 0)
    }
    guard let output = fdopen(ends[0], "r") else { throw BenchError("fdopen: errno \(errno)") }
    defer { fclose(output) }
    var line = [CChar](repeating: 0, count: 4096)
    while fgets(&line, Int32(line.count), output) != nil {
      guard strstr(line, "\"event\":\"ready\"") != nil else { continue }
      let time = now() - start
      return (time, try peak(of: process))
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
