import Appliance
import CivilTime
import Commands
import JSON
import Kernel

/// `clock`: what the reader knows about the clock; with `accept`, takes it as it is.
enum ClockCommand {
  static let verb = Verb(
    name: "clock", summary: "Show what is known about the clock; `accept` takes it as it is now.",
    usage: "clock [accept] [--config FILE] [--json]", options: [Site.option, .json], operandLimit: 1,
    run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    let site = try Site(arguments)
    switch arguments.operands.first {
    case nil: return show(site, isJSON: arguments.has("--json"), console: console)
    case "accept": return try accept(site, console: console)
    case let word?:
      throw CommandError.usage(word, "there is no such action", hint: "use: clock, or clock accept")
    }
  }

  private static func show(_ site: Site, isJSON: Bool, console: Console) -> Int32 {
    let now = UnixTime.wallClock()
    var state = ClockState(file: site.clockFile, synchronizedFile: site.synchronizedFile)
    let latest = state.latest
    let doubt = state.doubtWithoutKeeping(about: now)
    if isJSON {
      console.data(
        ([
          "time": .string(now.description), "synchronized": .bool(state.isSynchronized),
          "release": .string(Release.date.description),
          "latest": latest.map { .string($0.time.description) } ?? .null,
          "latestSynchronized": latest.map { .bool($0.isSynchronized) } ?? .null,
          "doubt": doubt.map(JSONValue.string) ?? .null,
        ] as JSONValue).text)
    } else {
      console.data(
        "now           \(now), \(state.isSynchronized ? "set by a time server" : "not set by a time server")")
      console.data("this version  \(Release.date)")
      console.data(
        "good before   "
          + (latest.map { "\($0.time), \($0.isSynchronized ? "" : "not ")set by a time server" } ?? "nothing is kept"))
      console.data(doubt.map { "doubtful: \($0)" } ?? "nothing speaks against it")
    }
    if let problem = state.problem { console.remark(problem) }
    return doubt == nil ? 0 : 1
  }

  private static func accept(_ site: Site, console: Console) throws -> Int32 {
    let now = UnixTime.wallClock()
    guard now >= Release.date else {
      throw CommandError.failure(
        "clock", "it says \(now), before this version was made",
        hint: "set it first: timedatectl set-time, or a time server")
    }
    try ClockState.accept(now, file: site.clockFile)
    console.remark("accepted \(now); a reader that runs takes it after a restart")
    return 0
  }
}
