import Appliance
import Commands
import Kernel

/// `run`: serves visitors until it is told to stop.
enum RunCommand {
  static let verb = Verb(
    name: "run", summary: "Serve visitors until SIGTERM or SIGINT; SIGHUP loads the trusted certificates again.",
    usage: "run [--config FILE]", options: [Site.option], operandLimit: 0, run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    let site = try Site(arguments)
    // Keys and answers are in this process's memory: no copy of it may reach a disk.
    try ProcessFacts.disableCoreDumps()
    let folder = site.trustFolder
    let appliance = try Appliance(site.parts) { Appliance.TrustMaterial(folder: folder) }
    let manager = try ServiceManager(on: appliance.loop)
    try appliance.run()
    manager.stopping()
    return 0
  }
}
